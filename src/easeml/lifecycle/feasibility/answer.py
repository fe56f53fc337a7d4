"""From readings to an answer: both bounds, the estimate, the verdict, and what more rows would do."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from easeml.lifecycle.feasibility.bounds import MOST_DRAWS, MOST_SEED, mean_interval
from easeml.lifecycle.feasibility.curve import (
    END_POWERS,
    Fitted,
    fit_curve,
    samples_of_rows,
    slowest_ends,
)
from easeml.lifecycle.feasibility.laggards import end_of_laggard
from easeml.lifecycle.feasibility.race import Track
from easeml.lifecycle.feasibility.result import Forecast, Verdict

FARTHEST = 1000.0  # how many times more rows are thought of
FEWEST_POINTS = (
    3  # sizes of the training set that show a curve; with fewer nothing bounds from below
)
DRAWS = 400
SURE_SHARES = (1.0, 0.9, 0.8, 0.7)  # of the rows, the least doubtful, whose errors are looked at
FLOOR = 0.05  # the quantile of draws by which bounds are compared
CHANCE = 0.05  # that a pattern stronger than ``hidden_error`` allows was missed


@dataclass(frozen=True)
class Sides:
    """Both sides of the Bayes error: what was reached, and what endless rows might reach.

    ``reached``: losses (evaluated rows,) of the ways that were chosen elsewhere. ``constant``: the
    mean loss of always guessing the same.

    ``floors``: losses at endless rows, one a draw, the first for the rows as they are. ``curve``:
    that of the best way, of ``track``. ``sure``: the best one of those that tell chances.
    """

    track: Track
    way: int
    reached: np.ndarray
    constant: float
    floors: np.ndarray
    curve: Fitted
    sure: Track

    def estimate(self, confidence: float) -> float:
        """Return the middle between what is reached and what endless rows would reach.

        The one errs upwards, the other down. The result lies between ``lower`` and ``upper``.
        """
        reached = self.least_reached
        middle = (reached + min(reached, float(self.curve.at(math.inf)[0]))) / 2
        return float(np.clip(middle, self.lower(confidence), reached))

    @property
    def least_reached(self) -> float:
        """What is reached: of few rows, guessing the same may do better than what was chosen."""
        return min(float(self.reached.mean()), self.constant)

    def lower(self, confidence: float) -> float:
        """Return the bound from below that holds with ``confidence`` (one-sided)."""
        return min(float(np.quantile(self.floors, 1 - confidence)), self.least_reached)

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
    tracks: list[Track],
    constant: np.ndarray,
    rare: np.ndarray,
    hidden: HiddenError,
    seed: int,
    pairs: np.ndarray | None = None,
) -> Sides:
    """Return both sides from all competitors that still run.

    ``constant``: losses of always guessing the same. ``rare``: evaluated rows of whose errors
    nothing can be said. ``hidden``: what a missed pattern could take away. ``pairs``: bounds from
    below (``DRAWS``,) by rows that share a value, where values of one column alone decide.
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
    floors = max(
        (_floors(running, leader, rare, hidden, seed, pairs) for leader in _level(running, track)),
        key=lambda found: float(np.quantile(found, FLOOR)),
    )
    return Sides(
        track,
        way,
        reached,
        float(constant.mean()),
        np.maximum(0, floors - hidden.at(floors)),
        fit_curve(*track.curve(way), seed),
        min(running, key=lambda one: one.best_of_chances),
    )


def _level(running: list[Track], best: Track) -> list[Track]:
    """Return the competitors that are level with the best one, within a standard error.

    Of these the one leads whose curve is most nearly at its end.
    """
    least = _least_losses(best)
    found = []
    for track in running:
        behind = _least_losses(track) - least
        if behind.mean() <= behind.std() / math.sqrt(len(behind)):
            found.append(track)
    return found


def _least_losses(track: Track) -> np.ndarray:
    return track.last.losses[int(track.last.losses.mean(axis=1).argmin())]


def _floors(
    running: list[Track],
    leader: Track,
    rare: np.ndarray,
    hidden: HiddenError,
    seed: int,
    pairs: np.ndarray | None,
) -> np.ndarray:
    """Return losses at endless rows, one a draw.

    They are the leader's, with all that is unsure of its curve, or those of ``pairs``, and those of
    the others where they are expected to pass below.
    """
    floors = _ends_of_leader(leader, rare, _doubts(running), seed) if pairs is None else pairs
    for track in running:
        if len(track.readings) < FEWEST_POINTS:
            return np.zeros(DRAWS)
        if track is leader:
            continue
        end = float(_end(track, rare, seed, draws=1).at(math.inf)[0])
        if hidden.classes:
            end = end_of_laggard(leader, track, end, hidden.baseline, hidden.classes)
        floors = np.minimum(floors, end)
    return floors


def _ends_of_leader(leader: Track, rare: np.ndarray, doubts: np.ndarray, seed: int) -> np.ndarray:
    """Return where the leader ends, one a draw, with all that is unsure of its curve.

    Errors in doubtful rows, which more rows may well take away, count as none: of several shares
    left out the one that gives most. The surer rows are near the end of their curve already.
    """
    found = []
    for share in SURE_SHARES:
        is_open = rare | (doubts > np.quantile(doubts, share))
        ends = _end(leader, is_open, seed).ends(np.random.default_rng(seed))
        found.append(np.minimum(ends, _slowest_ends(leader, is_open, seed)))
    return max(found, key=lambda ends: float(np.quantile(ends, FLOOR)))


def _doubts(running: list[Track]) -> np.ndarray:
    """Return how much each row is in doubt, (rows,): by the best way that tells it; else zeros."""
    best, least = np.zeros(running[0].last.losses.shape[1]), math.inf
    for track in running:
        errors = track.last.losses.mean(axis=1)
        for place, told in enumerate(track.last.floors):
            if errors[place] < least and np.isfinite(told).all():
                best, least = told, float(errors[place])
    return best


def _slowest_ends(track: Track, is_open: np.ndarray, seed: int) -> np.ndarray:
    """Return where the best way ends if its last fall goes on as slowly as it may, a draw each.

    Errors in rows that are ``is_open`` count as none.
    """
    way = track.last.ways[int(track.last.losses.mean(axis=1).argmin())]
    _, losses = track.curve(way)
    if len(losses) < FEWEST_POINTS:
        return np.zeros(DRAWS)
    possible = np.where(is_open, 0.0, losses)
    samples = samples_of_rows(possible.shape[1], DRAWS, seed)
    return slowest_ends(possible, samples)


def _end(track: Track, rare: np.ndarray, seed: int, *, draws: int = DRAWS) -> Fitted:
    """Return the curve of the competitor's best way, where errors in ``rare`` rows are none."""
    way = track.last.ways[int(track.last.losses.mean(axis=1).argmin())]
    counts, losses = track.curve(way)
    # a pattern is found all at once: what came before would be taken for a slow fall
    counts, losses = counts[-FEWEST_POINTS:], losses[-FEWEST_POINTS:]
    possible = np.where(rare, 0.0, losses)
    return fit_curve(counts, possible, seed, draws=draws, powers=END_POWERS)


def judge(sides: Sides, goal: float, confidence: float) -> tuple[Verdict, float | None]:
    """Return the verdict at ``confidence`` and, where there is one, the chance that it is wrong."""
    limit = 1 - goal
    # a goal lies on one side of the truth, so that only one of the two verdicts can be wrong
    if sides.upper(confidence) <= limit:
        return "realistic", _chance_of(sides.reached, limit)
    # the bound from below rests on assumptions: it keeps the distance of both bounds together
    if sides.lower((1 + confidence) / 2) > limit:
        return "unrealistic", float((1 + (sides.floors[1:] <= limit).sum()) / len(sides.floors))
    return "cannot tell", None


def _chance_of(losses: np.ndarray, mean: float) -> float:
    """Return the chance of a mean loss as low as this if the true one were ``mean``: the p-value.

    It belongs to the upper end of ``mean_interval``.
    """
    from scipy.stats import binom, t

    from easeml.sampling_error import most_of_errors

    if np.isin(losses, (0, 1)).all():
        return float(binom.cdf(int(losses.sum()), len(losses), mean))
    spread = losses.std(ddof=1) / math.sqrt(len(losses))
    most = most_of_errors(losses, MOST_DRAWS, MOST_SEED)
    by_t = float(t.cdf((losses.mean() - mean) / spread, len(losses) - 1))
    return max(by_t, float(np.mean(most > mean)))


def more_examples(
    sides: Sides, goal: float, confidence: float, rows: int
) -> tuple[int, Verdict] | None:
    """Return how many more rows should decide the verdict, and what it then is.

    None if a thousand times as many rows would not decide it.

    More rows lower what is reached and narrow both intervals. So they make a goal realistic where
    the curve ends below its limit, and unrealistic only where the bound from below tends to a value
    above it.
    """
    limit = 1 - goal
    if float(sides.curve.at(math.inf)[0]) <= limit:
        return _until_realistic(sides, limit, confidence, rows)
    end = float(np.median(sides.floors))
    if end <= limit:
        return None
    # the interval shrinks with the root of the rows
    factor = ((end - sides.lower((1 + confidence) / 2)) / (end - limit)) ** 2
    if factor > FARTHEST:
        return None
    return _rounded(rows * max(0.05, factor - 1)), "unrealistic"


def _until_realistic(
    sides: Sides, limit: float, confidence: float, rows: int
) -> tuple[int, Verdict] | None:
    count = sides.track.last.count
    reached = float(sides.reached.mean())
    spread = sides.upper(confidence) - reached
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
    """Return what quick learners should reach with twice, ..., sixteen times the rows.

    Nothing where they were read at one size alone: that tells nothing of others.
    """
    if len(sides.track.readings) < 2:
        return ()
    count = sides.track.last.count
    reached = sides.least_reached
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
