"""Columns that are shuffled together, where there is no time to shuffle each alone.

The group that costs most is divided into halves, and so on: columns that matter are found in about
as many steps as there are halves, whatever the number of columns. The importance of a group by
permutation: Gregorutti, Michel and Saint-Pierre, Computational Statistics & Data Analysis 90, 2015.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import filterfalse
from operator import attrgetter

import numpy as np

ALONE = 64  # columns; of more, groups come first


@dataclass(frozen=True, slots=True)
class Group:
    """Columns by their places, and what they cost when they are shuffled together; None: unknown."""

    places: tuple[int, ...]
    loss: float | None = None

    @property
    def cost(self) -> float:
        """What it costs; of what is not known nothing."""
        return self.loss or 0.0


cost_of = attrgetter("cost")


def first_groups(columns: int) -> tuple[Group, ...]:
    """Return the groups to begin with, about as many as columns in each; none of few columns."""
    if columns <= ALONE:
        return ()
    parts = np.array_split(np.arange(columns), round(math.sqrt(columns)))
    return tuple(map(_group_of, parts))


def _group_of(places: np.ndarray) -> Group:
    return Group(tuple(places.tolist()))


def next_group(groups: Sequence[Group]) -> Group | None:
    """Return a group that is to be shuffled; None where all are known."""
    return next(filter(_is_unknown, groups), None)


def _is_unknown(one: Group) -> bool:
    return one.loss is None


def costs_known(groups: Sequence[Group]) -> list[float]:
    """Return what the groups cost that were shuffled."""
    return list(map(cost_of, filterfalse(_is_unknown, groups)))


def divided(groups: Sequence[Group]) -> tuple[Group, ...]:
    """Return the groups with the costliest in halves, once all are known and while one costs."""
    if next_group(groups) is not None:
        return tuple(groups)
    costliest = max(groups, key=cost_of, default=Group(()))
    if costliest.cost <= 0:
        return tuple(groups)
    middle = len(costliest.places) // 2
    halves = Group(costliest.places[:middle]), Group(costliest.places[middle:])
    return (*without(groups, costliest), *halves)


def without(groups: Sequence[Group], one: Group) -> tuple[Group, ...]:
    """Return the other groups."""
    return tuple(filter(one.__ne__, groups))
