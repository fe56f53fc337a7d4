"""What actions brought beside what they were reckoned to bring, and gains corrected by it.

A gain is reckoned from what was measured before. The ratio of what came to what was reckoned, kind
by kind, corrects the next one, near 1 while few came. The interval is moved so that it would have
held nine of ten of what came (conformalised intervals: Romano, Patterson, Candes, NeurIPS 2019).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from easeml.lifecycle.journey.estimate import Estimate

_WEIGHT = 4  # outcomes that "as reckoned" counts as
_MOST = 3.0  # times what was reckoned that is believed
_LEVEL = 0.9


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an action of a kind was reckoned to gain of score, and what came."""

    kind: str
    reckoned: Estimate
    came: float


@dataclass(frozen=True, slots=True)
class Experience:
    """What ``outcomes`` of a kind say: the share of a gain that comes, and how far ends move.

    ``margin``: of score, by which both ends of an interval move out.
    """

    outcomes: int
    factor: float
    margin: float

    def corrected(self, reckoned: Estimate) -> Estimate:
        """Return a gain as experience has it. A certain one, without an interval, stays."""
        if reckoned.low == reckoned.high:
            return reckoned
        value = self.factor * reckoned.value
        low = self.factor * reckoned.low - self.margin
        high = self.factor * reckoned.high + self.margin
        return Estimate(value, min(low, value), max(high, value))


def experiences(outcomes: Iterable[Outcome]) -> Mapping[str, Experience]:
    """Return the experience with each kind of action."""
    by_kind: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_kind.setdefault(outcome.kind, []).append(outcome)
    return {kind: _experience(some) for kind, some in by_kind.items()}


def _experience(outcomes: list[Outcome]) -> Experience:
    count = len(outcomes)
    told = sum(one.reckoned.value for one in outcomes)
    ratio = sum(one.came for one in outcomes) / told if told > 0 else 1.0
    factor = (count * min(_MOST, max(0.0, ratio)) + _WEIGHT) / (count + _WEIGHT)
    outside = sorted(
        max(factor * one.reckoned.low - one.came, one.came - factor * one.reckoned.high)
        for one in outcomes
    )
    place = min(count, math.ceil(_LEVEL * (count + 1)))
    margin = outside[place - 1] * count / (count + _WEIGHT)
    return Experience(count, factor, margin)
