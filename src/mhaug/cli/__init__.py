"""The command line: words in, words out. One file a command.

Exit status: 0 done, 2 the request was wrong (one line on standard error), 1 anything else.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


def main(arguments: list[str] | None = None) -> None:
    """Run one command and exit."""
    # imports take seconds, in which people press Ctrl-C too
    try:
        _run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        _exit(1, "stopped")


def _run(words: list[str]) -> None:
    try:
        with _stopped_at_once():
            from mhaug.cli.app import app
    except ModuleNotFoundError as missing:
        if missing.name not in ("typer", "rich"):
            raise
        _exit(1, f"the command line needs '{missing.name}': pip install typer rich")
    from typer import TyperException

    from mhaug.checks import RequestError, called
    from mhaug.distributed.world import RankLostError
    from mhaug.objectives.non_finite import NonFiniteLossError

    if int(os.environ.get("WORLD_SIZE", "1")) > 1 and words[:1] != ["train"]:
        _exit_once(2, f"torchrun must be given 'mhaug train', the command for several ranks; got {' '.join(words)!r}")
    try:
        # what Python calls root is --data-dir here
        with called(root="data_dir"):
            status = app(args=words or ["--help"], standalone_mode=False, prog_name="mhaug")
    except RequestError as wrong:
        _exit(2, str(wrong))
    except TyperException as wrong:
        context = getattr(wrong, "ctx", None)
        _exit_once(2, f"{wrong.format_message()} (see '{context.command_path if context else 'mhaug'} --help')")
    except (RankLostError, NonFiniteLossError) as lost:
        _exit(1, str(lost))
    except Exception as failure:
        if os.environ.get("MHAUG_DEBUG"):
            raise
        _exit(1, f"{type(failure).__name__}: {failure} (MHAUG_DEBUG=1 shows where)")
    # typer turns Ctrl-C into this number, and does not raise it
    if status == 130:
        raise KeyboardInterrupt


@contextmanager
def _stopped_at_once() -> Iterator[None]:
    """Inside, Ctrl-C ends the program, and raises nothing: there is nothing to save yet.

    Packages that are half imported swallow a KeyboardInterrupt, or Python dies of SIGINT although it was caught, as
    it does where one has passed through an `exec`.
    """
    can_be_set = threading.current_thread() is threading.main_thread()
    if not (can_be_set and signal.getsignal(signal.SIGINT) is signal.default_int_handler):
        yield
        return
    signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: object) -> None:
    print("mhaug: stopped", file=sys.stderr, flush=True)
    os._exit(1)


def _exit_once(status: int, line: str) -> NoReturn:
    """For what is wrong with the words that all ranks were given: the first says so, before torchrun ends all."""
    if os.environ.get("RANK", "0") != "0":
        time.sleep(1.0)
        raise SystemExit(status)
    _exit(status, line)


def _exit(status: int, line: str) -> NoReturn:
    print("mhaug: " + " ".join(line.split()), file=sys.stderr)
    raise SystemExit(status)
