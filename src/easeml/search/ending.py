"""When a search may be expected to end: how long what its limits leave will take, by simulation.

What is not known is drawn from what was seen: which candidates will be trained, how many wall
seconds a device second took lately against what was believed (others use the devices, too), and how
many runs searches before still had until little was left to gain. Percentiles of the draws are the
interval (B. Efron and R. Tibshirani, An introduction to the bootstrap, 1993, chapters 13 and 25).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_DRAWS = 400
_SEED = 20261126
_LOW, _MIDDLE, _HIGH = 5.0, 50.0, 95.0  # percentiles: nine of ten ends lie between the outer two
FEWEST = 5  # runs, or searches, from which on others are drawn from them
_LEAST_COST = 0.01  # device seconds; nothing is cheaper to start
_TAIL = 5.0  # degrees of freedom of what single runs take
_SPREAD = 0.7  # standard deviation of the logarithm of what is not known yet


class Run(NamedTuple):
    """A run that ended.

    ``wall``: seconds since the one before had; ``cost``: device seconds; ``believed``: what it was
    believed to cost.
    """

    wall: float
    cost: float
    believed: float


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is known of a search that goes on.

    ``runs``: its newest, oldest first. ``costs``: device seconds that untried candidates are
    believed to take; ``under_way``: likewise what is left of those that run or wait. ``tasks_left``,
    ``seconds_left`` (device seconds), ``deadline_in`` (wall seconds): of its limits, None: no such
    limit. ``before``: how many runs each of the searches before still needed from here until it
    rested by itself. ``share``: devices that it may have, as long as no run has ended.
    """

    runs: Sequence[Run]
    costs: Sequence[float]
    under_way: Sequence[float]
    tasks_left: int | None = None
    seconds_left: float | None = None
    deadline_in: float | None = None
    before: Sequence[int] = ()
    share: float = 1.0


class Span(NamedTuple):
    """Wall seconds from now: nine of ten ends are expected between ``low`` and ``high``."""

    low: float
    middle: float
    high: float


def remaining_time(outlook: Outlook) -> Span | None:
    """Return how long a search is expected to go on; None where nothing tells.

    Nothing does where it has no limit, and too few searches have rested before.
    """
    random = np.random.default_rng(_SEED)
    ends: list[NDArray[np.float64]] = []
    runs_left = _runs_left(random, outlook)
    if runs_left is not None:
        ends.append(_until_runs_are_over(random, outlook, runs_left))
    if outlook.seconds_left is not None:
        ends.append(_until_seconds_are_over(random, outlook, outlook.seconds_left))
    if outlook.deadline_in is not None:
        ends.append(np.full(_DRAWS, max(outlook.deadline_in, 0.0)))
    if not ends:
        return None
    first = np.minimum.reduce(ends)
    return Span(*np.percentile(first, [_LOW, _MIDDLE, _HIGH]).tolist())


def _runs_left(random: np.random.Generator, outlook: Outlook) -> NDArray[np.intp] | None:
    """Return how many more runs are begun, by draw; None where neither limit nor experience tells."""
    bounds = []
    if len(outlook.before) >= FEWEST:
        bounds.append(random.choice(np.asarray(outlook.before, dtype=np.intp), _DRAWS))
    if outlook.tasks_left is not None:
        bounds.append(np.full(_DRAWS, outlook.tasks_left, dtype=np.intp))
    return np.minimum.reduce(bounds) if bounds else None


def _until_runs_are_over(
    random: np.random.Generator, outlook: Outlook, runs_left: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the wall seconds that the runs under way and those to come take, by draw."""
    under_way = np.asarray(outlook.under_way, dtype=np.float64)
    chosen = _in_some_order(random, np.asarray(outlook.costs, dtype=np.float64))
    sums = _sum_of_first(chosen, runs_left) + under_way.sum()
    squares = _sum_of_first(chosen**2, runs_left) + (under_way**2).sum()
    seen = [(run.wall, run.believed) for run in outlook.runs if run.believed > 0]
    return _wall_of(random, seen, outlook.share, sums, squares)


def _in_some_order(random: np.random.Generator, costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return costs in the orders in which their runs may come, a row each draw.

    Policies weigh what is gained by its cost: the next is drawn by 1 / cost (Gumbel keys: T. Vieira,
    Gumbel-max trick and weighted reservoir sampling, 2014).
    """
    keys = random.gumbel(size=(_DRAWS, len(costs))) - np.log(np.maximum(costs, _LEAST_COST))
    return costs[np.argsort(-keys, axis=1)]


def _sum_of_first(values: NDArray[np.float64], counts: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return of each row the sum of its first values; those that it lacks are as its mean."""
    there = values.shape[1]
    if there == 0:
        return np.zeros(len(counts))
    sums = np.concatenate([np.zeros((len(values), 1)), values.cumsum(axis=1)], axis=1)
    first = sums[np.arange(len(counts)), np.minimum(counts, there)]
    lacking = np.maximum(counts - there, 0)
    return first + lacking * values.mean(axis=1)


def _until_seconds_are_over(
    random: np.random.Generator, outlook: Outlook, left: float
) -> NDArray[np.float64]:
    """Return the wall seconds in which so many device seconds are used up, by draw."""
    costs = np.asarray([run.cost for run in outlook.runs if run.cost > 0])
    usual = (costs**2).sum() / costs.sum() if costs.size else 1.0  # of a run in a second of it
    sums = np.full(_DRAWS, max(left, 0.0))
    seen = [(run.wall, run.cost) for run in outlook.runs if run.cost > 0]
    return _wall_of(random, seen, outlook.share, sums, sums * usual)


def _wall_of(
    random: np.random.Generator,
    seen: Sequence[tuple[float, float]],
    share: float,
    sums: NDArray[np.float64],
    squares: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the wall seconds of runs, given the sums of their device seconds, and of the squares.

    ``seen``: wall and device seconds of runs. A run of c device seconds takes q c wall seconds, with
    a standard deviation of s c; q is uncertain, too.
    """
    if len(seen) < FEWEST:
        q = random.lognormal(_SPREAD / 2, _SPREAD, _DRAWS) / max(share, 1e-3)
        return q * sums
    known = np.asarray(seen)
    drawn = known[random.integers(0, len(known), (_DRAWS, len(known)))].sum(axis=1)
    q = drawn[:, 0] / drawn[:, 1]
    wall, device = known.T
    rests = wall - device * wall.sum() / device.sum()
    few = len(known) / (len(known) - 2)  # as many runs tell of a spread
    spread = np.sqrt(few * (rests**2).sum() / (device**2).sum())
    others = random.standard_t(_TAIL, _DRAWS)  # now and then a run takes far longer
    return np.maximum(q * sums + spread * np.sqrt(squares) * others, 0.0)
