"""Bounds of the best quality that any model can reach, once people changed some of the rows."""

from __future__ import annotations

import math

_WIDENED = 0.1  # of what is between the bounds, that changes may add at most


def bounds_after(
    low: float, high: float, share: float, goal: float | None = None, verdict: str = ""
) -> tuple[float, float] | None:
    """Return bounds of an accuracy that hold after a share of the rows changed.

    The least error of any model moves by no more than the distribution of the rows does in total
    variation, which is the share of rows that are others, were added or have another label.

    None where a new study would say more: the bounds would be wider by more than a tenth, or the
    verdict (``realistic`` or ``unrealistic``) on the goal could be another one.
    """
    if share > _WIDENED * (high - low):
        return None
    low, high = max(0.0, low - share), min(1.0, high + share)
    at = math.nan if goal is None else goal  # no number is below or above it
    if verdict == "realistic" and low < at:
        return None
    if verdict == "unrealistic" and high >= at:
        return None
    return low, high
