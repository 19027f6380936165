"""Where benchmark files are looked for, and where downloads are put: never into a folder that was given."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

from mhaug.checks import require


def cache_folder() -> Path:
    """The folder for downloads: `$XDG_CACHE_HOME/mhaug`, else `~/.cache/mhaug`."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "mhaug"


def data_folder(root: str | Path | None) -> Path:
    """The folder with raw benchmark files: `root`, else `MHAUG_DATA`, else the cache folder."""
    given = root if root is not None else os.environ.get("MHAUG_DATA") or None
    if given is None:
        return cache_folder()
    folder = Path(given).expanduser()
    name = "root" if root is not None else "MHAUG_DATA"
    require(folder.is_dir(), name, "an existing folder", str(given))
    return folder


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` that takes its place at the end: readers see the whole file or none."""
    path = path.absolute()  # what is written meanwhile may change the current folder
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{uuid4().hex}.part")
    try:
        partial.touch()
        usual = partial.stat().st_mode
        yield partial
        # some writers (safetensors) make files that nobody else can read
        partial.chmod(usual)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


@contextlib.contextmanager
def making(folder: Path) -> Iterator[Path]:
    """A temporary folder beside `folder` that becomes it at the end: there is a whole one or none."""
    folder = folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = folder.with_name(f".{folder.name}.{uuid4().hex}.part")
    partial.mkdir()
    try:
        yield partial
        os.replace(partial, folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
