"""Labels that are ranges of numbers, and their order."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
_RANGE = re.compile(
    rf"(?P<sign>[<>≤≥]=?)?\s*[\[(]?\s*[$€£]?(?P<start>{_NUMBER})"
    rf"(?:\s*(?:-|–|to|,|\.\.)\s*[$€£]?(?P<end>{_NUMBER}))?\s*[\])]?(?P<open>\s*\+)?"
)


def in_order_of_ranges(labels: Sequence[str]) -> list[str] | None:
    """Return ranges of numbers by where they begin, then by where they end.

    They are written as "5-9", "10 to 14", "[20, 25)", "<18" or "65+", beside single numbers. None
    where a label is none of these, or no label is a range with two ends.
    """
    found = {}
    has_two_ends = False
    for label in labels:
        match = _RANGE.fullmatch(label.strip())
        if match is None:
            return None
        found[label] = (*_ends(match), label)
        has_two_ends = has_two_ends or match["end"] is not None
    return sorted(labels, key=found.__getitem__) if has_two_ends else None


def _ends(found: re.Match[str]) -> tuple[float, float]:
    """Where a range begins and ends; a single number is both."""
    start = _number(found["start"])
    sign = found["sign"] or ""
    if sign.startswith(("<", "≤")):
        return -math.inf, start
    if sign or found["open"]:
        return start, math.inf
    return start, _number(found["end"] or found["start"])


def _number(text: str) -> float:
    return float(text.replace(",", ""))
