"""A run as one file: weights, optimiser, chain, every random stream, the notebook. Safetensors, no pickle."""

import json
from pathlib import Path

import torch
from torch import Tensor

from mhaug.checks import RequestError
from mhaug.data.folders import replacing
from mhaug.distributed.world import World
from mhaug.methods.method import Learner
from mhaug.training.averaging import WeightAveraging
from mhaug.training.progress import Progress
from mhaug.training.ranks import Sharing


def save_checkpoint(
    path: Path,
    learner: Learner,
    optimiser: torch.optim.Optimizer,
    progress: Progress,
    world: World | None = None,
    *,
    mean: WeightAveraging | None = None,
) -> None:
    """Write everything; a kill at any moment leaves the old file or the new one, never half of one.

    All ranks call it, rank 0 writes. What ranks do not share (chain and random streams) is kept for each of them.
    """
    from safetensors.torch import load, save, save_file

    world = world or World.alone()
    mine = {**{f"method.{name}": value for name, value in learner.state_dict().items()}, **_random_states()}
    others = world.bytes_of_all(save(_plain(mine)) if world.rank else b"")
    if not world.leads:
        return
    tensors = {
        **{f"model.{name}": value for name, value in learner.model.state_dict().items()},
        **mine,
        **_optimiser_tensors(optimiser),
        **({f"mean.{name}": value for name, value in mean.state_dict().items()} if mean is not None else {}),
        **progress.tensors(),
    }
    for rank, content in enumerate(others[1:], start=1):
        tensors |= {f"rank{rank}.{name}": value for name, value in load(content).items()}
    with replacing(path) as temporary:
        save_file(_plain(tensors), temporary, metadata={"progress": progress.numbers()})


def load_checkpoint(
    path: Path,
    learner: Learner,
    optimiser: torch.optim.Optimizer,
    world: World | None = None,
    *,
    mean: WeightAveraging | None = None,
) -> Progress | None:
    """Put everything back where it was; None where rank 0 finds no file.

    The number of ranks may have changed: a rank that the file does not know keeps its fresh chain and streams. Curves
    are those of rank 0, of its own chain too.
    """
    world = world or World.alone()
    content = world.bytes_from_first(path.read_bytes() if world.leads and path.exists() else b"")
    if not content:
        return None
    tensors, numbers = _read(content, path)
    try:
        learner.model.load_state_dict(_under("model.", tensors))
        if mean is not None:
            mean.load_state_dict(_under("mean.", tensors))
    except (RuntimeError, ValueError) as broken:
        raise _foreign(path, broken) from broken
    _restore_optimiser(optimiser, _under("optimiser.", tensors))
    mine = _under(f"rank{world.rank}.", tensors) if world.rank else tensors
    device = next(learner.model.parameters()).device
    if "rng.cpu" in mine:
        learner.load_state_dict(_of_method(mine, device))
        torch.set_rng_state(mine["rng.cpu"])
        if "rng.cuda" in mine and torch.cuda.is_available():
            torch.cuda.set_rng_state(mine["rng.cuda"])
    if world.rank and isinstance(learner, Sharing):
        learner.join(_of_method(tensors, device))
    return Progress.restore(numbers, tensors)


def _of_method(tensors: dict[str, Tensor], device: torch.device) -> dict[str, Tensor]:
    method = _under("method.", tensors).items()
    return {name: value if "rng" in name else value.to(device) for name, value in method}


def _read(content: bytes, path: Path) -> tuple[dict[str, Tensor], str]:
    """Tensors and counters."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        # the header is JSON after eight bytes that say how long it is
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        return load(content), header["__metadata__"]["progress"]
    except (SafetensorError, ValueError, KeyError, TypeError) as broken:
        raise _foreign(path, broken) from broken


def _foreign(path: Path, broken: Exception) -> RequestError:
    reason = " ".join(str(broken).split())[:200]
    return RequestError(f"checkpoint must be one of this very run; got {str(path)!r} ({reason})")


def _random_states() -> dict[str, Tensor]:
    """Of torch's global generators."""
    states = {"rng.cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        states["rng.cuda"] = torch.cuda.get_rng_state()
    return states


def _plain(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """As they can be written: safetensors refuses two names for the same memory."""
    plain: dict[str, Tensor] = {}
    taken: set[int] = set()
    for name, value in tensors.items():
        plain[name] = value.detach().cpu().contiguous()
        if (place := plain[name].untyped_storage().data_ptr()) in taken:
            plain[name] = plain[name].clone()
        taken.add(place)
    return plain


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
