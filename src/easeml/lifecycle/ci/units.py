"""What a clause averages: one value a row or, of groups, one a block of rows of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from easeml.lifecycle.ci.condition import Clause, Part
from easeml.lifecycle.ci.examples import Examples


@dataclass(frozen=True)
class Units:
    """Independent values, in the order in which rows are looked at.

    ``values`` (m,): their mean is about the clause's left side; ``ends`` (m,): how many rows were
    looked at when each was known.
    """

    values: np.ndarray
    ends: np.ndarray

    def __len__(self) -> int:
        return len(self.values)

    def rows(self, units: int) -> int:
        """Return how many rows were looked at for the first ``units``."""
        return int(self.ends[units - 1]) if units else 0


def units_of(clause: Clause, examples: Examples) -> Units:
    """Return the units of an upward clause, up to the first that lacks a label.

    Rows behind a missing label are not looked at: who labels would choose what the test sees.

    A clause over groups has as many units as its smallest group has rows. A unit joins one row of
    that with as many of each other group as there are for each: the mean over a block varies less
    than a row, so that no row of a large group is left out. Given which rows are in which group,
    the units have no row in common, so that they are as independent as rows.
    """
    members = [np.flatnonzero(of_part(part, examples)) for part in clause.parts]
    units = min(map(len, members))
    if not units:
        return Units(np.zeros(0), np.zeros(0, dtype=np.intp))
    values = np.zeros(units)
    ends = np.zeros(units, dtype=np.intp)
    lacks_label = np.zeros(units + 1, dtype=bool)
    lacks_label[units] = True  # there are no more
    for part, rows in zip(clause.parts, members, strict=True):
        size = len(rows) // units
        blocks = rows[: size * units].reshape(units, size)
        values += _values(part, examples)[blocks].mean(axis=1)
        ends = np.maximum(ends, blocks[:, -1] + 1)
        lacking = _depends_on_label(part, examples) & ~examples.known
        lacks_label[:units] |= lacking[blocks].any(axis=1)
    first = int(lacks_label.argmax())
    return Units(values[:first], ends[:first])


def most_units(clause: Clause, examples: Examples) -> int:
    """Return how many units all examples make, with all their labels."""
    return min(int(of_part(part, examples).sum()) for part in clause.parts)


def needs_label(clause: Clause, examples: Examples) -> np.ndarray:
    """Tell for each row (N,) whether the clause's value there depends on the label."""
    needed = [of_part(part, examples) & _depends_on_label(part, examples) for part in clause.parts]
    return np.logical_or.reduce(needed)


def of_part(part: Part, examples: Examples) -> np.ndarray:
    """Tell for each row (N,) whether it is one of those that a part is about."""
    if part.group is None:
        return np.ones(len(examples), dtype=bool)
    return examples.groups[part.group]


def _depends_on_label(part: Part, examples: Examples) -> np.ndarray:
    if not part.asks_truth:
        return np.zeros(len(examples), dtype=bool)
    if part.is_difference and examples.new.ndim == 1:
        # Equal predictions have equal scores, so their difference is 0 without a label.
        return examples.differ
    return np.ones(len(examples), dtype=bool)


def _values(part: Part, examples: Examples) -> np.ndarray:
    if not part.asks_truth:
        return part.d * examples.differ
    return part.n * examples.new + part.o * examples.old + part.d * examples.differ
