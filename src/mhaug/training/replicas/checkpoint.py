"""R fits as one file: every tensor that changes, the random streams, who they are. Safetensors, no pickle."""

import json
from pathlib import Path

import torch

from mhaug.data.folders import replacing
from mhaug.training.replicas.fit import ReplicaFit


def save(path: Path, fitting: ReplicaFit, identity: str) -> None:
    """Write everything; a kill at any moment leaves the old file or the new one, never half of one."""
    from safetensors.torch import save_file

    tensors = {name: value.cpu().contiguous() for name, value in fitting.tensors().items()}
    tensors["rng.cpu"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["rng.cuda"] = torch.cuda.get_rng_state()
    notes = {"identity": identity, "columns": json.dumps(fitting.notebook.columns), "seconds": str(fitting.seconds)}
    with replacing(path) as temporary:
        save_file(tensors, temporary, metadata=notes)


def restore(path: Path, fitting: ReplicaFit, identity: str) -> bool:
    """Put everything back where it was; False where the file is not there, or is of other runs."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            if file.metadata()["identity"] != identity:
                return False
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
            notes = file.metadata()
    except (FileNotFoundError, SafetensorError, KeyError, TypeError):
        return False
    torch.set_rng_state(tensors.pop("rng.cpu"))
    if (state := tensors.pop("rng.cuda", None)) is not None and torch.cuda.is_available():
        torch.cuda.set_rng_state(state)
    fitting.load(tensors, json.loads(notes["columns"]), float(notes["seconds"]))
    return True
