"""The look that all pictures share, and the one place that imports matplotlib."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mhaug import checks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# told apart by people who do not see all colours (Okabe and Ito)
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#000000")
SUFFIXES = (".png", ".svg", ".pdf")
WIDTH = 7.0  # inches of a figure: the text of a page, so that points in print are points
_TEXT = {
    "font.size": 8.5, "axes.titlesize": 9, "axes.labelsize": 8.5, "xtick.labelsize": 8, "ytick.labelsize": 8,
    "legend.fontsize": 8.5, "legend.frameon": False, "lines.linewidth": 1.3, "lines.markersize": 4,
}  # fmt: skip


@contextmanager
def at_print_size() -> Iterator[None]:
    """Text as large as that of a page, for figures of `WIDTH`: readable in print, and where a telephone scrolls."""
    with _matplotlib().rc_context(_TEXT):
        yield


def _matplotlib() -> Any:
    try:
        import matplotlib as mpl
    except ImportError as missing:
        raise checks.RequestError("pictures need matplotlib: pip install 'mhaug[plot]'") from missing
    return mpl


def figure(rows: int, columns: int, *, size: tuple[float, float], **options: Any) -> "tuple[Figure, Any]":
    """A figure with axes [rows, columns], drawn without a screen."""
    _matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    canvas = Figure(figsize=size, layout="constrained", dpi=200)
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


def check_path(path: str | Path, name: str = "plot") -> Path:
    """A path that a picture can be written to, by matplotlib if it is here; asked before any long work."""
    checks.require(Path(path).suffix in SUFFIXES, name, "a file name that ends in .png, .svg or .pdf", str(path))
    _matplotlib()
    return Path(path)
