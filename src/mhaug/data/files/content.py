"""What is in a user's graph file or folder, as a hash: the same path may hold another graph tomorrow."""

import hashlib
from functools import cache
from pathlib import Path


def content_hash(path: str | Path) -> str:
    """Of a file, or of the names and contents of the files in a folder. Read again only where something changed."""
    path = Path(path).expanduser().resolve()
    files = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())
    whole = hashlib.sha256()
    for file in files:
        # a folder that was moved is the same; so is a file that was given another name
        name = file.relative_to(path).as_posix()
        now = file.stat()
        whole.update(f"{name}\0{_hash(file, now.st_mtime_ns, now.st_size)}\0".encode())
    return whole.hexdigest()


@cache
def _hash(file: Path, changed: int, size: int) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
