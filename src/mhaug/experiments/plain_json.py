"""JSON that every reader takes: what is not a number is null, which Python alone would write as NaN."""

import json
import math
from collections.abc import Mapping
from typing import Any


def plain(value: Any) -> Any:
    """The same value made of dicts, lists, words, finite numbers and None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


def dumps(value: Any, **options: Any) -> str:
    """One line of valid JSON."""
    return json.dumps(plain(value), allow_nan=False, **options)


def number(value: float | None) -> float:
    """The way back, where a number belongs."""
    return math.nan if value is None else value
