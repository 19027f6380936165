"""Argument checks: the one wording of every error that a wrong request gets.

Each message is one line that names the argument, says the rule, and shows the value.
"""

import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any, TypeVar

from torch import Tensor

T = TypeVar("T")


class RequestError(ValueError):
    """The request was wrong. The command line prints the message as it is and exits with status 2."""


def _fail(name: str, rule: str, value: object) -> RequestError:
    return RequestError(f"'{name}' must be {rule}; got {value!r}")


def require(condition: bool, name: str, rule: str, value: object) -> None:
    """Raise `RequestError` unless `condition` holds."""
    if not condition:
        raise _fail(name, rule, value)


def number_in(value: float, name: str, low: float, high: float = math.inf, *, open_low: bool = False) -> None:
    """A finite number in [low, high], or in (low, high] with `open_low`."""
    rule = f"a finite number {'above' if open_low else 'of at least'} {low:g}"
    if high < math.inf:
        rule = f"a number in {'(' if open_low else '['}{low:g}, {high:g}]"
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    require(is_number and (value > low if open_low else value >= low) and value <= high, name, rule, value)


def whole_number(value: int, name: str, low: int) -> None:
    """A whole number of at least `low`."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    require(is_whole and value >= low, name, f"a whole number of at least {low}", value)


def one_of(value: T, name: str, allowed: Collection[T]) -> None:
    """One of the allowed values, which the message lists; a word that is nearly one gets a guess."""
    try:
        known = value in allowed
    except TypeError:  # a list, which no table can look up
        known = False
    if not known:
        words = [str(each) for each in allowed]
        raise RequestError(f"{_fail(name, 'one of ' + ', '.join(words), value)}{guess(value, words)}")


def guess(value: object, words: Collection[str]) -> str:
    """What ends a message about a wrong word: the nearest right one, if any is near."""
    near = get_close_matches(value, words, n=1) if isinstance(value, str) else []
    return f" (did you mean {near[0]!r}?)" if near else ""


def shape(tensor: Any, name: str, expected: Sequence[int]) -> None:
    """A tensor of exactly this shape."""
    got = tuple(tensor.shape) if isinstance(tensor, Tensor) else type(tensor).__name__
    require(got == tuple(expected), name, f"a tensor of shape {tuple(expected)}", got)


def finite(tensor: Tensor, name: str) -> None:
    """A tensor without NaN or infinite values (dense or sparse)."""
    values = tensor if tensor.layout.__str__() == "torch.strided" else tensor.values()
    bad = int((~values.isfinite()).sum())
    require(bad == 0, name, "finite everywhere", f"{bad} values that are NaN or infinite")


def edge_index(tensor: Any, name: str, num_nodes: int) -> None:
    """A long tensor [2, E] of node numbers in 0..num_nodes-1."""
    is_index = isinstance(tensor, Tensor) and tensor.dim() == 2 and tensor.shape[0] == 2
    got = tuple(tensor.shape) if isinstance(tensor, Tensor) else type(tensor).__name__
    require(is_index and not tensor.is_floating_point(), name, "a tensor of whole numbers, [2, edges]", got)
    if tensor.numel():
        low, high = int(tensor.min()), int(tensor.max())
        rule = f"made of node numbers in 0..{num_nodes - 1}"
        require(low >= 0 and high < num_nodes, name, rule, low if low < 0 else high)


@contextmanager
def called(**names: str) -> Iterator[None]:
    """Inside, arguments that a message would name as an inner part does have the names that the user gave them."""
    try:
        yield
    except RequestError as wrong:
        inner, quote, rest = str(wrong).removeprefix("'").partition("'")
        if not (quote and inner in names and str(wrong).startswith("'")):
            raise
        raise RequestError(f"'{names[inner]}'{rest}") from wrong


def one_line(text: object) -> str:
    """The text of another library's error without its line breaks, to be put into one of ours."""
    return " ".join(str(text).split())
