"""A run as one file: weights, optimiser, chain, every random stream, the notebook. Safetensors, no pickle."""

import os
import tempfile
from pathlib import Path

import torch
from torch import Tensor

from mhaug.checks import RequestError
from mhaug.methods.method import Learner
from mhaug.training.progress import Progress


def save_checkpoint(path: Path, learner: Learner, optimiser: torch.optim.Optimizer, progress: Progress) -> None:
    """Write everything; a kill at any moment leaves the old file or the new one, never half of one."""
    from safetensors.torch import save_file

    tensors = {
        **{f"model.{name}": value for name, value in learner.model.state_dict().items()},
        **{f"method.{name}": value for name, value in learner.state_dict().items()},
        **_optimiser_tensors(optimiser),
        **progress.tensors(),
        "rng.cpu": torch.get_rng_state(),
    }
    if torch.cuda.is_available():
        tensors["rng.cuda"] = torch.cuda.get_rng_state()
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
    os.close(handle)
    contiguous = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    save_file(contiguous, temporary, metadata={"progress": progress.numbers()})
    os.replace(temporary, path)


def load_checkpoint(path: Path, learner: Learner, optimiser: torch.optim.Optimizer) -> Progress:
    """Put everything back where it was."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
            numbers = file.metadata()["progress"]
        learner.model.load_state_dict(_under("model.", tensors))
    except (SafetensorError, RuntimeError, KeyError, TypeError) as broken:
        reason = " ".join(str(broken).split())[:200]
        raise RequestError(f"checkpoint must be one of this very run; got {str(path)!r} ({reason})") from broken
    device = next(learner.model.parameters()).device
    method = {
        name: value if "rng" in name else value.to(device) for name, value in _under("method.", tensors).items()
    }
    learner.load_state_dict(method)
    _restore_optimiser(optimiser, _under("optimiser.", tensors))
    torch.set_rng_state(tensors["rng.cpu"])
    if "rng.cuda" in tensors and torch.cuda.is_available():
        torch.cuda.set_rng_state(tensors["rng.cuda"])
    return Progress.restore(numbers, tensors)


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def _optimiser_tensors(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    state = optimiser.state_dict()["state"]
    return {f"optimiser.{index}.{name}": value for index, row in state.items() for name, value in row.items()}


def _restore_optimiser(optimiser: torch.optim.Optimizer, saved: dict[str, Tensor]) -> None:
    rows: dict[int, dict[str, Tensor]] = {}
    for key, value in saved.items():
        index, name = key.split(".", 1)
        rows.setdefault(int(index), {})[name] = value
    optimiser.load_state_dict({**optimiser.state_dict(), "state": rows})
