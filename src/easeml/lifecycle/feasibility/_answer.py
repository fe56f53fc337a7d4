"""From readings to an answer: both sides, what lies between, the verdict, and what more rows would
do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from easeml.lifecycle.feasibility._curve import SLOW_POWERS, Fitted, fit_curve
from easeml.lifecycle.feasibility._race import Track
from easeml.lifecycle.feasibility.bounds import lower_bound, mean_interval
from easeml.lifecycle.feasibility.result import Forecast, Verdict

FARTHEST = 1000.0  # how many times more rows are thought of


@dataclass(frozen=True)
class Sides:
    """Both sides of the Bayes error. ``reached``: losses (evaluated rows,) of the ways that were
    chosen elsewhere.

    ``floors``: bounds from below at endless rows, one a draw, the first for the rows as they are.
    ``curve``: that of the best way, of ``track``.
    """

    track: Track
    way: int
    reached: np.ndarray
    floors: np.ndarray
    curve: Fitted

    @property
    def estimate(self) -> float:
        """Half way between what is reached and what endless rows would reach: the one errs upwards,
        the other down.
        """
        upper = float(self.reached.mean())
        middle = (upper + min(upper, float(self.curve.at(math.inf)[0]))) / 2
        return min(upper, max(float(min(self.floors[0], upper)), middle))

    def lower(self, confidence: float) -> float:
        """Return the bound from below that holds with ``confidence`` (one-sided)."""
        return float(min(np.quantile(self.floors, 1 - confidence), self.reached.mean()))

    def upper(self, confidence: float) -> float:
        """Return the bound from above that holds with ``confidence`` (one-sided)."""
        return mean_interval(self.reached, 2 * confidence - 1)[1]


def weigh(tracks: list[Track], constant: np.ndarray, classes: int, seed: int) -> Sides:
    """Return both sides from all arms that still run.

    ``constant``: losses of always guessing the same.
    """
    running = [track for track in tracks if not track.dropped]
    ways = [(track, way) for track in running for way in track.last.ways]
    losses = np.vstack([*(track.last.losses for track in running), constant])
    # the way is chosen on one half and judged on the other, and the reverse: choosing the least of
    # many costs nothing
    half = np.random.default_rng(seed).permutation(losses.shape[1]) % 2 == 0
    reached = np.empty(losses.shape[1])
    for chosen_on, judged_on in ((half, ~half), (~half, half)):
        reached[judged_on] = losses[losses[:, chosen_on].mean(axis=1).argmin(), judged_on]
    track, way = ways[int(losses[:-1].mean(axis=1).argmin())]
    floors = [_floors(track, classes, seed) for track in running]
    return Sides(
        track,
        way,
        reached,
        np.min(floors, axis=0),
        fit_curve(*track.curve(way), np.random.default_rng(seed)),
    )


def _floors(track: Track, classes: int, seed: int) -> np.ndarray:
    """Return bounds from below at endless rows, one a draw.

    Of the nearest neighbour's error, by Cover and Hart (1967); for numbers half of it, as two
    values with the same inputs differ by twice the noise's variance.
    """
    rng = np.random.default_rng(seed)
    errors = fit_curve(*track.curve(1), rng, powers=SLOW_POWERS).ends(rng)
    if not classes:
        return errors / 2
    return np.array([lower_bound(min(1.0, max(0.0, error)), classes) for error in errors])


def judge(sides: Sides, goal: float, confidence: float) -> tuple[Verdict, float | None]:
    """Return the verdict at ``confidence`` and, where there is one, the chance that it is wrong."""
    limit, tail = 1 - goal, (1 + confidence) / 2
    if sides.upper(tail) <= limit:
        return "realistic", _chance_of(sides.reached, limit)
    if sides.lower(tail) > limit:
        return "unrealistic", float((1 + (sides.floors[1:] <= limit).sum()) / len(sides.floors))
    return "cannot tell", None


def _chance_of(losses: np.ndarray, mean: float) -> float:
    """Return the chance of a mean loss as low as this if the true one were ``mean``: the p-value."""
    from scipy.stats import binom, t

    if np.isin(losses, (0, 1)).all():
        return float(binom.cdf(int(losses.sum()), len(losses), mean))
    return float(
        t.cdf(
            (losses.mean() - mean) / (losses.std(ddof=1) / math.sqrt(len(losses))), len(losses) - 1
        )
    )


def more_examples(
    sides: Sides, goal: float, confidence: float, rows: int
) -> tuple[int, Verdict] | None:
    """Return how many more rows should decide the verdict, and what it then is; None if a
    thousandfold would not.

    The error follows the curve, intervals shrink with the root of the rows.
    """
    limit = 1 - goal
    count = sides.track.last.count
    tail = (1 + confidence) / 2
    error, floor = float(sides.reached.mean()), float(min(sides.floors[0], sides.reached.mean()))
    spread, depth = sides.upper(tail) - error, floor - sides.lower(tail)
    fitted = float(sides.curve.at(count)[0])
    for factor in np.geomspace(1.05, FARTHEST, 140):
        fallen = error + min(0.0, float(sides.curve.at(count * factor)[0]) - fitted)
        if fallen + spread / math.sqrt(factor) <= limit:
            return _rounded(rows * (factor - 1)), "realistic"
        if floor - depth / math.sqrt(factor) > limit:
            return _rounded(rows * (factor - 1)), "unrealistic"
    return None


def _rounded(number: float) -> int:
    """Return the number with two digits, upwards: no more is known of it."""
    step = 10 ** max(0, math.floor(math.log10(max(1.0, number))) - 1)
    return int(math.ceil(number / step) * step)


def forecasts(sides: Sides, rows: int) -> tuple[Forecast, ...]:
    """Return what quick learners should reach with twice, ..., sixteen times the rows."""
    count = sides.track.last.count
    shift = float(sides.reached.mean()) - float(sides.curve.at(count)[0])
    found = []
    for factor in (2, 4, 8, 16):
        errors = np.maximum(0, sides.curve.at(count * factor) + shift)
        low, high = np.quantile(errors, (0.05, 0.95))
        found.append(Forecast(rows * factor, float(errors[0]), float(low), float(high)))
    return tuple(found)
