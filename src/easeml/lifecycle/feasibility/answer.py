"""From readings to an answer: both bounds, the estimate, the verdict, and what more rows would do."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from easeml.lifecycle.feasibility.bounds import mean_interval
from easeml.lifecycle.feasibility.curve import END_POWERS, Fitted, fit_curve, still_to_fall
from easeml.lifecycle.feasibility.laggards import end_of_laggard
from easeml.lifecycle.feasibility.race import Track
from easeml.lifecycle.feasibility.result import Forecast, Verdict

FARTHEST = 1000.0  # how many times more rows are thought of
FEWEST_POINTS = (
    3  # sizes of the training set that show a curve; with fewer nothing bounds from below
)
DRAWS = 400
CHANCE = 0.05  # that a pattern stronger than ``hidden_error`` allows was missed


@dataclass(frozen=True)
class Sides:
    """Both sides of the Bayes error: what was reached, and what endless rows might reach.

    ``reached``: losses (evaluated rows,) of the ways that were chosen elsewhere.

    ``floors``: losses at endless rows, one a draw, the first for the rows as they are. ``curve``:
    that of the best way, of ``track``.
    """

    track: Track
    way: int
    reached: np.ndarray
    floors: np.ndarray
    curve: Fitted

    def estimate(self, confidence: float) -> float:
        """Return the middle between what is reached and what endless rows would reach.

        The one errs upwards, the other down. The result lies between ``lower`` and ``upper``.
        """
        reached = float(self.reached.mean())
        middle = (reached + min(reached, float(self.curve.at(math.inf)[0]))) / 2
        return float(np.clip(middle, self.lower(confidence), reached))

    def lower(self, confidence: float) -> float:
        """Return the bound from below that holds with ``confidence`` (one-sided)."""
        return float(min(np.quantile(self.floors, 1 - confidence), self.reached.mean()))

    def upper(self, confidence: float) -> float:
        """Return the bound from above that holds with ``confidence`` (one-sided)."""
        return mean_interval(self.reached, 2 * confidence - 1)[1]


@dataclass(frozen=True)
class HiddenError:
    """What a pattern that stayed below the limit of detection could take from an error.

    ``baseline``: loss of always guessing the same. ``strength``: the largest correlation with the
    target that chance alone reaches among all patterns compared, in [0, 1].
    """

    baseline: float
    strength: float
    classes: int

    def at(self, error: np.ndarray) -> np.ndarray:
        """Return the most that ``error`` could still fall.

        A missed pattern moves the shares of the classes by at most ``strength`` standard
        deviations. It changes a guess only where that passes the distance to a tie, which is small
        only where nothing better than the constant guess was found.
        """
        if not self.classes:
            return self.strength**2 * error
        moved = self.strength * np.sqrt(np.clip(error * (1 - error), 0, None))
        return np.maximum(0, moved - np.maximum(0, self.baseline - error))


def hidden_error(baseline: float, compared: int, rows: int, classes: int) -> HiddenError:
    """Return what could have been missed with ``rows`` training rows among ``compared`` patterns.

    Of ``compared`` correlations without substance the largest is below ``sqrt(2 ln(compared /
    chance) / rows)`` with chance 1 - ``CHANCE`` (union of normal tails).
    """
    strength = min(1.0, math.sqrt(2 * math.log(compared / CHANCE) / rows))
    return HiddenError(baseline, strength, classes)


def weigh(
    tracks: list[Track], constant: np.ndarray, rare: np.ndarray, hidden: HiddenError, seed: int
) -> Sides:
    """Return both sides from all competitors that still run.

    ``constant``: losses of always guessing the same. ``rare``: evaluated rows of whose errors
    nothing can be said. ``hidden``: what a missed pattern could take away.
    """
    running = [track for track in tracks if not track.dropped]
    ways: list[tuple[Track, int]] = []
    for track in running:
        ways += [(track, way) for way in track.last.ways]
    losses = np.vstack([*(track.last.losses for track in running), constant])
    # the way is chosen on one half and judged on the other, and the reverse: choosing the least of
    # many costs nothing
    half = np.random.default_rng(seed).permutation(losses.shape[1]) % 2 == 0
    reached = np.empty(losses.shape[1])
    for chosen_on, judged_on in ((half, ~half), (~half, half)):
        reached[judged_on] = losses[losses[:, chosen_on].mean(axis=1).argmin(), judged_on]
    track, way = ways[int(losses[:-1].mean(axis=1).argmin())]
    floors = _floors(running, track, rare, hidden, seed)
    return Sides(
        track,
        way,
        reached,
        np.maximum(0, floors - hidden.at(floors)),
        fit_curve(*track.curve(way), np.random.default_rng(seed)),
    )


def _floors(
    running: list[Track], leader: Track, rare: np.ndarray, hidden: HiddenError, seed: int
) -> np.ndarray:
    """Return losses at endless rows, one a draw.

    They are the leader's, with all that is unsure of its curve, and those of the others where they
    are expected to pass below.
    """
    floors = _end(leader, rare, seed).ends(np.random.default_rng(seed))
    floors = np.minimum(floors, _slowest_end(leader))
    for track in running:
        if len(track.readings) < FEWEST_POINTS:
            return np.zeros(DRAWS)
        if track is leader:
            continue
        end = float(_end(track, rare, seed).at(math.inf)[0])
        if hidden.classes:
            end = end_of_laggard(leader, track, end, hidden.baseline, hidden.classes)
        floors = np.minimum(floors, end)
    return floors


def _slowest_end(track: Track) -> float:
    """Return where the best way ends if its last fall goes on at the slowest rate allowed."""
    way = track.last.ways[int(track.last.losses.mean(axis=1).argmin())]
    _, losses = track.curve(way)
    if len(losses) < FEWEST_POINTS:
        return 0.0
    return max(0.0, float(losses[-1].mean()) - still_to_fall(losses))


def _end(track: Track, rare: np.ndarray, seed: int) -> Fitted:
    """Return the curve of the competitor's best way, where errors in ``rare`` rows are none."""
    way = track.last.ways[int(track.last.losses.mean(axis=1).argmin())]
    counts, losses = track.curve(way)
    # a pattern is found all at once: what came before would be taken for a slow fall
    counts, losses = counts[-FEWEST_POINTS:], losses[-FEWEST_POINTS:]
    possible = np.where(rare, 0.0, losses)
    rng = np.random.default_rng(seed)
    return fit_curve(counts, possible, rng, draws=DRAWS, powers=END_POWERS)


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
    spread = losses.std(ddof=1) / math.sqrt(len(losses))
    return float(t.cdf((losses.mean() - mean) / spread, len(losses) - 1))


def more_examples(
    sides: Sides, goal: float, confidence: float, rows: int
) -> tuple[int, Verdict] | None:
    """Return how many more rows should decide the verdict, and what it then is.

    None if a thousand times as many rows would not decide it.

    More rows lower what is reached and narrow both intervals. So they make a goal realistic where
    the curve ends below its limit, and unrealistic only where the bound from below tends to a value
    above it.
    """
    limit, tail = 1 - goal, (1 + confidence) / 2
    if float(sides.curve.at(math.inf)[0]) <= limit:
        return _until_realistic(sides, limit, tail, rows)
    end = float(np.median(sides.floors))
    if end <= limit:
        return None
    # the interval shrinks with the root of the rows
    factor = ((end - sides.lower(tail)) / (end - limit)) ** 2
    if factor > FARTHEST:
        return None
    return _rounded(rows * max(0.05, factor - 1)), "unrealistic"


def _until_realistic(
    sides: Sides, limit: float, tail: float, rows: int
) -> tuple[int, Verdict] | None:
    count = sides.track.last.count
    reached = float(sides.reached.mean())
    spread = sides.upper(tail) - reached
    fitted = float(sides.curve.at(count)[0])
    for factor in np.geomspace(1.05, FARTHEST, 140):
        fallen = reached + min(0.0, float(sides.curve.at(count * factor)[0]) - fitted)
        if fallen + spread / math.sqrt(factor) <= limit:
            return _rounded(rows * (factor - 1)), "realistic"
    return None


def _rounded(number: float) -> int:
    """Return the number with two digits, upwards: no more is known of it."""
    step = 10 ** max(0, math.floor(math.log10(max(1.0, number))) - 1)
    return int(math.ceil(number / step) * step)


def forecasts(sides: Sides, rows: int) -> tuple[Forecast, ...]:
    """Return what quick learners should reach with twice, ..., sixteen times the rows."""
    count = sides.track.last.count
    reached = float(sides.reached.mean())
    now = sides.curve.at(count)
    found = []
    error = reached
    for factor in (2, 4, 8, 16):
        # no more rows ever make it worse
        errors = np.clip(reached + np.minimum(0, sides.curve.at(count * factor) - now), 0, None)
        error = min(error, float(errors[0]))
        low, high = np.quantile(errors, (0.05, 0.95))
        found.append(
            Forecast(rows * factor, error, min(error, float(low)), max(error, float(high)))
        )
    return tuple(found)
