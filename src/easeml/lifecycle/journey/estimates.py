"""What an action is expected to gain, from what was measured, with an interval.

A gain is one of score, where 1 is best. Where only a bound was measured, the middle between nothing
and the bound is told, and the interval is the whole of it.
"""

from __future__ import annotations

import math

from easeml.lifecycle.journey.facts import Estimate, Facts, Feasible, Searched, Suspects

_Z = 1.645  # a 90 % interval
NO_GAIN = Estimate(0.0, 0.0, 0.0)
"""Of actions that tell something and change no model."""


def of_search(search: Searched) -> Estimate | None:
    """Return what the rest of the search should gain: the search's own belief."""
    if search.expected is None:
        return None
    spread = _Z * search.error
    return Estimate(search.expected, max(0.0, search.expected - spread), search.expected + spread)


def seconds_of_search(search: Searched) -> float:
    """Return device seconds that the rest of the search should take: those of its mean task."""
    left = max(0, search.candidates - search.tried)
    return left * search.mean_cost


def of_more_rows(feasible: Feasible, rows: int, more: int) -> Estimate | None:
    """Return what ``more`` labelled rows should gain beside ``rows``: along the learning curve.

    What twice the rows bring was forecast; the gain is taken to grow with their logarithm.
    """
    doubled = feasible.doubled
    if doubled is None or rows < 1:
        return None
    share = math.log2(1 + more / rows)
    low = max(0.0, doubled.low - feasible.reached)
    middle = max(low, doubled.value - feasible.reached)
    high = max(middle, doubled.high - feasible.reached)
    return Estimate(share * middle, share * low, share * high)


def of_checked_labels(suspects: Suspects, checked: int) -> Estimate:
    """Return what checking so many of the listed labels should gain.

    Wrong labels of a share cost between nothing and that share of quality.
    """
    if not suspects.listed or not suspects.rows:
        return NO_GAIN
    found = min(suspects.expected, suspects.listed) * min(1.0, checked / suspects.listed)
    return _up_to(found / suspects.rows)


def of_filled_cells(facts: Facts) -> Estimate | None:
    """Return what filling missing cells should gain: at most what is left, as far as cells lack."""
    feasible, quality = facts.feasible, facts.quality
    if feasible is None or quality is None or not facts.holes or facts.unit != feasible.unit:
        return None
    share = sum(facts.holes.values()) / len(facts.holes)
    left = max(0.0, feasible.best.high - quality.value)
    return _up_to(share * left)


def _up_to(most: float) -> Estimate:
    return Estimate(most / 2, 0.0, most)
