"""The look that all pictures share, and the one place that imports matplotlib."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mhaug import checks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# told apart by people who do not see all colours (Okabe and Ito)
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#000000")
SUFFIXES = (".png", ".svg", ".pdf")


def figure(rows: int, columns: int, *, size: tuple[float, float], **options: Any) -> "tuple[Figure, Any]":
    """A figure with axes [rows, columns], drawn without a screen."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as missing:
        raise checks.RequestError("pictures need matplotlib: pip install 'mhaug[plot]'") from missing
    canvas = Figure(figsize=size, layout="constrained", dpi=150)
    FigureCanvasAgg(canvas)
    axes = canvas.subplots(rows, columns, squeeze=False, **options)
    for each in axes.flat:
        each.spines[["top", "right"]].set_visible(False)
    return canvas, axes


def save(picture: "Figure", path: str | Path) -> Path:
    """Write the picture, making its folder."""
    path = check_path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.savefig(path)
    return path


def check_path(path: str | Path) -> Path:
    """A path that a picture can be written to; asked before any long work."""
    checks.require(Path(path).suffix in SUFFIXES, "plot", "a file name that ends in .png, .svg or .pdf", str(path))
    return Path(path)
