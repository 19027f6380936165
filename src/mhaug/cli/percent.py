"""Shares in percent, for people."""

import math

NOTHING = "–"


def percent(share: float, digits: int = 2) -> str:
    """0.815 -> 81.50%; a dash where nothing could be measured."""
    return NOTHING if math.isnan(share) else f"{share:.{digits}%}"
