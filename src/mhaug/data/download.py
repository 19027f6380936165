"""Raw benchmark files from where PyG gets them, into the cache folder."""

from __future__ import annotations

import shutil
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from mhaug.checks import RequestError, one_line
from mhaug.data.fingerprints import check_file
from mhaug.data.folders import replacing

# a machine without network must not hang
TIMEOUT_SECONDS = 15.0


def download(url: str, names: Sequence[str], folder: Path) -> None:
    """Fetch `url/name` for each name into the folder; a file appears there only when it is whole and recognised."""
    for name in names:
        with replacing(folder / name) as partial:
            _fetch(f"{url.rstrip('/')}/{name}", partial)
            check_file(partial, name)


def _fetch(url: str, path: Path) -> None:
    with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer, path.open("wb") as file:
        shutil.copyfileobj(answer, file)


def missing_files(dataset: str, names: Sequence[str], folder: Path, reason: object) -> RequestError:
    """The error for files that are neither there nor could be fetched: which, and where they go."""
    return RequestError(
        f"dataset '{dataset}' needs the files {', '.join(names)} in the folder {folder}, "
        f"which must be put there by hand, since the download failed; got {one_line(reason)}"
    )
