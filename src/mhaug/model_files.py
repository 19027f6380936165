"""A trained network on disk: weights as safetensors, everything else as JSON."""

import json
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from mhaug.checks import RequestError
from mhaug.data.folders import replacing

WEIGHTS, DESCRIPTION = "model.safetensors", "classifier.json"
KEPT = "kept."  # before the names of what the method keeps, beside those of the weights

Tensors = dict[str, Tensor]


def save(folder: Path, model: nn.Module, description: dict[str, Any], kept: Tensors) -> None:
    """Write both files, making the folder."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    tensors = {**model.state_dict(), **{f"{KEPT}{name}": value for name, value in kept.items()}}
    with replacing(folder / WEIGHTS) as partial:
        save_file({name: value.detach().cpu().contiguous() for name, value in tensors.items()}, partial)
    (folder / DESCRIPTION).write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")


def load(folder: Path) -> tuple[dict[str, Any], Tensors, Tensors]:
    """Read both files: the description, the weights, what the method keeps."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    for name in (WEIGHTS, DESCRIPTION):
        if not (folder / name).is_file():
            raise RequestError(
                f"folder must hold {WEIGHTS} and {DESCRIPTION}, as NodeClassifier.save writes; got {str(folder)!r}"
            )
    try:
        description = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        tensors = load_file(folder / WEIGHTS)
    except (json.JSONDecodeError, SafetensorError) as broken:
        raise RequestError(f"folder must hold whole files; got {str(folder)!r} ({broken})") from broken
    kept = {name: tensors.pop(name) for name in list(tensors) if name.startswith(KEPT)}
    return description, tensors, {name.removeprefix(KEPT): value for name, value in kept.items()}


def fill(model: nn.Module, weights: Tensors, folder: Path) -> None:
    """Load the weights into a network of the same shape."""
    try:
        model.load_state_dict(weights)
    except RuntimeError as wrong:
        reason = " ".join(str(wrong).split())[:300]
        raise RequestError(f"backbone must be of the kind that was saved in {str(folder)!r}; {reason}") from wrong
