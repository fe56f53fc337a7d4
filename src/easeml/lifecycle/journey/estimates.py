"""What an action is expected to gain, from what was measured, with an interval.

A gain is one of score, where 1 is best. Where only a bound was measured, the middle between nothing
and the bound is told, and the interval is the whole of it.
"""

from __future__ import annotations

import math

from easeml.lifecycle.journey.facts import Estimate, Facts, Searched, Suspects

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


def of_more_rows(facts: Facts, more: int) -> Estimate | None:
    """Return what ``more`` labelled rows should gain: along the learning curve.

    What twice the rows bring was forecast; the gain is taken to grow with their logarithm, up to
    the best that any model can reach, and no further than that lies above what serves.
    """
    feasible = facts.feasible
    rows = facts.labelled
    if feasible is None or feasible.doubled is None or rows < 1:
        return None
    doubled = feasible.doubled
    best = feasible.best
    doublings = math.log2(1 + more / rows)
    left = _left(facts)
    low = _gained(doublings, doubled.low, feasible.reached, best.low)
    middle = _gained(doublings, doubled.value, feasible.reached, best.value)
    high = _gained(doublings, doubled.high, feasible.reached, best.high)
    low = min(low, left)
    middle = max(low, min(middle, left))
    high = max(middle, min(high, left))
    return Estimate(middle, low, high)


def _gained(doublings: float, doubled: float, reached: float, most: float) -> float:
    """Return what so many doublings of the rows bring a learner that has ``reached`` so much."""
    gain = max(0.0, doubled - reached)
    return min(doublings * gain, max(0.0, most - reached))


def _left(facts: Facts) -> float:
    """Return how far the best that any model can reach may lie above what serves.

    Infinity where it cannot be told.
    """
    feasible = facts.feasible
    quality = facts.quality
    if feasible is None or quality is None or facts.unit != feasible.unit:
        return math.inf
    return max(0.0, feasible.best.high - quality.value)


def of_checked_labels(suspects: Suspects, checked: int) -> Estimate:
    """Return what checking so many of the listed labels should gain.

    Wrong labels of a share cost between nothing and that share of quality.
    """
    if not suspects.listed or not suspects.rows:
        return NO_GAIN
    found = min(suspects.expected, suspects.listed) * min(1.0, checked / suspects.listed)
    return _up_to(found / suspects.rows)


def of_filled_cells(facts: Facts, filled: int) -> Estimate | None:
    """Return what filling so many missing cells should gain.

    All of them bring at most what is left, as far as cells lack; some, their share of that.
    """
    left = _left(facts)
    if left == math.inf or not facts.holes:
        return None
    lack = sum(facts.holes.values())
    missing = lack * (facts.count("train") + facts.count("pool"))
    share = lack / len(facts.holes)
    return _up_to(share * left * min(1.0, filled / max(1.0, missing)))


def _up_to(most: float) -> Estimate:
    return Estimate(most / 2, 0.0, most)
