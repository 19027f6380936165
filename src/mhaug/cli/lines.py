"""Progress as plain lines, where there is no terminal: a log should show that something goes on, and no more."""

import sys
import time

EVERY = 60.0  # seconds between two lines


class Lines:
    """Says where the work stands, at most once in `EVERY` seconds, on standard error. Short work says nothing."""

    def __init__(self, words: str) -> None:
        self._words = words
        self._said = time.monotonic()

    def __call__(self, standing: str) -> None:
        now = time.monotonic()
        if now - self._said >= EVERY:
            self._said = now
            print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {self._words}: {standing}", file=sys.stderr, flush=True)
