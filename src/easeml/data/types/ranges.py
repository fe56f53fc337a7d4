"""Labels that are ranges of numbers, and their order."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from operator import itemgetter

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
    found = list(map(_RANGE.fullmatch, map(str.strip, labels)))
    ranges = list(filter(None, found))
    if len(ranges) < len(found) or not any(map(itemgetter("end"), ranges)):
        return None
    ends = dict(zip(labels, map(_ends, ranges), strict=True))
    return sorted(labels, key=lambda label: (ends[label], label))


def _ends(found: re.Match[str]) -> tuple[float, float]:
    """Where a range begins and ends; a single number is both."""
    start, end = found["start"], found["end"]
    parts = found.groupdict("")
    if parts["sign"].startswith(("<", "≤")):
        return -math.inf, _number(start)
    if parts["sign"] + parts["open"]:
        return _number(start), math.inf
    return _number(start), _number(end or start)


def _number(text: str) -> float:
    return float(text.replace(",", ""))
