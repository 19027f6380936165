"""How far work is, on standard error: a bar on a terminal, elsewhere a line now and then."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

EVERY = 60.0  # seconds between two lines

T = TypeVar("T")


class Lines:
    """Says where the work stands, at most once in `EVERY` seconds. A log should show that something goes on, no more.

    Short work says nothing.
    """

    def __init__(self, words: str) -> None:
        self._words = words
        self._said = time.monotonic()

    def __call__(self, standing: str) -> None:
        now = time.monotonic()
        if now - self._said >= EVERY:
            self._said = now
            print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {self._words}: {standing}", file=sys.stderr, flush=True)


def counted(work: Iterable[T], steps: int, words: str, *, shown: bool) -> Iterable[T]:
    """The same items, counted where that is to be shown."""
    if not shown:
        return work
    # takes a tenth of a second to import
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    if console.is_terminal:
        return track(work, words, steps, console=console, transient=True)
    return _with_lines(work, steps, Lines(words))


def _with_lines(work: Iterable[T], steps: int, lines: Lines) -> Iterator[T]:
    for done, item in enumerate(work):
        lines(f"{done} of {steps}")
        yield item
