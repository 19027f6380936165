"""Pictures as data URIs, so that the page is one file."""

import base64
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = {".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg"}
_COORDINATES = re.compile(rb' d="[^"]*"')


def drawn(picture: "Figure") -> str:
    """A figure as a drawing. Its text stays text: small, and sharp at every size."""
    import matplotlib as mpl

    target = io.BytesIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "mhaug"}):
        picture.savefig(target, format="svg", metadata={"Date": None})
    return _uri(_COORDINATES.sub(_rounded, target.getvalue()), KINDS[".svg"])


def from_file(path: Path) -> str:
    """An image file as it is."""
    return _uri(path.read_bytes(), KINDS[path.suffix.lower()])


def _rounded(match: "re.Match[bytes]") -> bytes:
    """A hundredth of a point is enough, and half the size."""
    return re.sub(rb"(\.\d\d)\d+", rb"\1", match[0])


def _uri(content: bytes, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"
