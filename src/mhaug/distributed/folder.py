"""A division on disk: the facts as JSON, and one file a share. A rank opens no more than the facts and its own."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import torch

from mhaug import checks
from mhaug.checks import RequestError
from mhaug.data.folders import making
from mhaug.distributed.division import Cutting
from mhaug.distributed.facts import Facts
from mhaug.distributed.piece import Piece, Share, local_graph

FACTS, FORMAT = "division.json", 1


@dataclass(frozen=True)
class Folder:
    """A division that `write` has written. `name` is made of all that was divided: files of another do not fit."""

    path: Path
    facts: Facts
    name: str

    def share(self, part: str, turn: int, number: int) -> Share:
        """From the file of this share alone."""
        path = self.path / file_name(part, turn, number)
        try:
            with np.load(path, allow_pickle=False) as arrays:
                name, share = str(arrays["name"]), _share({key: arrays[key] for key in _ARRAYS}, self.facts.directed)
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as broken:
            raise _unfit(path, broken) from broken
        checks.require(name == self.name, "folder", "of one division, and no file of another", str(path))
        return share


def write(cutting: Cutting, folder: str | Path) -> Folder:
    """Put a division into a folder that is not there yet, or is empty; a kill leaves none, never half of one."""
    target, facts, name = free(folder), cutting.facts, _name(cutting)
    with making(target) as partial:
        for part, each in facts.targets.items():
            for turn, numbers in enumerate(each.turns):
                for number in numbers:
                    share = cutting.share(part, turn, number)
                    np.savez(partial / file_name(part, turn, number), name=np.array(name), **_arrays(share))
        head = {"format": FORMAT, "name": name, "facts": json.loads(facts.to_json())}
        (partial / FACTS).write_text(json.dumps(head, indent=1) + "\n", encoding="utf-8")
    return Folder(target, facts, name)


def free(folder: str | Path) -> Path:
    """A place for a division, as an absolute path."""
    path = Path(folder).resolve()
    empty = not path.exists() or (path.is_dir() and not any(path.iterdir()))
    checks.require(empty, "folder", "a new or an empty folder", str(folder))
    # whoever stands in it would be left in a folder that is no more
    checks.require(path != Path.cwd(), "folder", "another than the current one, which it replaces", str(folder))
    return path


def open_folder(folder: str | Path) -> Folder:
    """The facts; shares are read as they are asked for."""
    path = Path(folder) / FACTS
    try:
        head = json.loads(path.read_text(encoding="utf-8"))
        # another format may have other facts
        checks.require(head["format"] == FORMAT, "folder", f"of a division of format {FORMAT}", head["format"])
        return Folder(Path(folder), Facts.from_json(json.dumps(head["facts"])), str(head["name"]))
    except RequestError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as broken:
        raise _unfit(path, broken) from broken


def file_name(part: str, turn: int, number: int) -> str:
    """Which file holds what part `number` needs under layout `turn`."""
    return f"{part}.layout{turn}.part{number}.npz"


_ARRAYS = ("messages", "unit_edges", "nodes", "own", "units", "movable", "original", "owned")


def _arrays(share: Share) -> dict[str, Any]:
    piece = share.piece
    wide = {
        "messages": piece.graph.messages.numpy(),
        "unit_edges": piece.graph.unit_edges.numpy(),
        "nodes": piece.nodes,
        "units": piece.units,
        "movable": np.array(piece.movable),
        "original": share.original,
        "owned": share.owned,
    }
    return {**{name: _narrow(array) for name, array in wide.items()}, "own": piece.own}


def _narrow(array: np.ndarray) -> np.ndarray:
    """Half the bytes where the numbers allow."""
    return array.astype(np.int32) if array.size == 0 or int(array.max()) < 2**31 else array


def _share(arrays: dict[str, np.ndarray], directed: bool) -> Share:
    own = arrays.pop("own")
    wide = {name: array.astype(np.int64) for name, array in arrays.items()}
    ends, messages = (torch.from_numpy(wide[name]) for name in ("unit_edges", "messages"))
    graph = local_graph(len(own), directed, ends, messages)
    piece = Piece(wide["nodes"], own, wide["units"], int(wide["movable"]), graph)
    return Share(piece, wide["original"], wide["owned"])


def _name(cutting: Cutting) -> str:
    """A digest of the graph and of how it is divided: the same for the same, wherever it is made."""
    digest = hashlib.sha256(cutting.facts.to_json().encode())
    digest.update(cutting.graph.messages.contiguous().numpy().data)
    for layouts in cutting.layouts.values():
        for layout in layouts:
            digest.update(layout.owner.contiguous().numpy().data)
            digest.update(layout.mover.contiguous().numpy().data)
    return digest.hexdigest()


def _unfit(path: Path, broken: Exception) -> RequestError:
    reason = checks.one_line(getattr(broken, "strerror", None) or broken)[:120]
    return RequestError(f"'folder' must be one that a division was written to; {str(path)!r} does not fit ({reason})")
