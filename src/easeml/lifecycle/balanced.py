"""Two models by balanced accuracy: what a run of requests says of it, as gains of a bet.

Each row of a run is a gain of -1, 0, or 1, times a weight. The rows of each class weigh the same in
sum: a number that was fixed before the rows came, shared among the rows of the class in this run.
The bets of a roll-out multiply ``1 - bet * weight * gain``. Given the classes of the rows, the mean
of that product is at most ``exp(-bet * sum of weight * mean gain)``, as ``1 - x <= exp(-x)``, and
the sum is the difference of balanced accuracy times a positive number. So a bet on "the new model
is worse" wins no money in the mean where the new model is not, however common each class is, and
however that changes. A run without enough rows of some class tells nothing.

The class of a row without truth may be any. So a gain for the released model weighs as if no such
row were of its class, and one against it as if all were.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from operator import attrgetter

from easeml.lifecycle.rollout import Outcome

STEP = 50
"""Runs have a multiple of so many rows."""

MOST_ROWS = 2_000
"""Of a run, however rare a class is."""

_EXPECTED = 8.0  # rows of the rarest class in a run


@dataclass(frozen=True, slots=True)
class Answered:
    """A row: what the new and the old model say, and the truth; None: not known.

    ``spared``: it may not speak against the new model.
    """

    new: str | None
    old: str | None
    true: str | None
    spared: bool = False

    @property
    def gain(self) -> int:
        """1 where the new model alone is right, -1 where the old alone is."""
        return (self.new == self.true) - (self.old == self.true)


def run_of(rarest: float) -> tuple[int, int]:
    """Return the rows of a run, and how many of each class it has to have.

    ``rarest``: share of the rarest class, in (0, 1]. Half of its rows that are to be expected have
    to be there.
    """
    rows = min(MOST_ROWS, STEP * math.ceil(_EXPECTED / rarest / STEP))
    return rows, max(1, int(rows * rarest / 2))


def outcomes(
    rows: Sequence[Answered], classes: Collection[str | None], least: int
) -> list[Outcome]:
    """Return what came of each row of a run; nothing where the run tells nothing.

    ``classes``: all of the target. ``least``: rows of each class that a run has to have.
    """
    counts = Counter(map(attrgetter("true"), rows))
    unknown = counts.pop(None, 0)
    rarest = min(map(counts.__getitem__, classes))
    if rarest + unknown < least:
        return []
    telling = list(filter(_tells, rows))
    spread = len(telling) / len(classes)
    found = []
    for row in telling:
        if row.true is None:  # at best the new model alone was right
            found.append(Outcome(min(1.0, least / max(1, counts[row.new])), 0.0, shown=0.0))
            continue
        count = counts[row.true]
        may_lose = not row.spared and rarest >= least
        weights = {1: least / count, 0: 0.0, -1: may_lose * least / (count + unknown)}
        weight = min(1.0, weights[row.gain])
        in_unit = spread / count
        right = float(row.old == row.true)
        found.append(Outcome(weight * row.gain, right * in_unit, shown=row.gain * in_unit))
    return found


def _tells(row: Answered) -> bool:
    """Whether a row tells something: its truth is known, or it might have been a gain."""
    return row.true is not None or row.new != row.old
