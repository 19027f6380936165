"""sha256 of the raw benchmark files. The Planetoid files are pickles, so none is opened before it is recognised."""

import hashlib
import json
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from mhaug.checks import RequestError, one_line

READ_ARRAYS = tuple(f"{name}_{part}" for name in ("adj", "attr") for part in ("data", "indices", "indptr", "shape"))


@cache
def _known() -> dict[str, list[str]]:
    """File name -> the hashes it may have: as published, and for npz files also repacked with compression."""
    content = files("mhaug.data").joinpath("fingerprints.json").read_text(encoding="utf-8")
    known: dict[str, list[str]] = json.loads(content)
    return known


def fingerprint(path: Path) -> str:
    """The sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_file(path: Path, name: str) -> None:
    """Refuse the file at `path` unless its sha256 is one that the raw file `name` is known to have.

    No hash of the physics graph is known to us. It is an npz, and npz arrays can be read without running anything:
    so it is enough that the arrays that are going to be read are plain ones.
    """
    found = fingerprint(path)
    allowed = _known()[name]
    if not allowed:
        _check_plain(path)
    elif found not in allowed:
        rule = " or ".join(f"{digest[:12]}..." for digest in allowed)
        raise RequestError(f"{path} must have the sha256 {rule} and is not opened; got {found[:12]}...")


def _check_plain(path: Path) -> None:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            for key in (*READ_ARRAYS, "labels"):
                arrays[key]
    except Exception as error:
        raise RequestError(
            f"{path} must be an npz of plain arrays and is not opened; got {one_line(error)}"
        ) from None
