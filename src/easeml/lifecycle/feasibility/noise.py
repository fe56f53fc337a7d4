"""How many labels are wrong, judged where answers should be beyond doubt, and what cleaning does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from easeml.lifecycle.feasibility.arms import BLEND, DIRECT, KERNEL, Reading
from easeml.lifecycle.feasibility.bounds import binomial_interval, without_noise
from easeml.lifecycle.feasibility.curve import END_POWERS, fit_curve, still_to_fall
from easeml.lifecycle.feasibility.race import Track
from easeml.lifecycle.feasibility.result import LabelNoise

SUREST = 0.25  # share of the rows guessed as a class that counts as beyond doubt
FEWEST = 20
MOST_GAP = 0.75  # of the errors in the surest rows, by which the next may surely differ
ENOUGH = 100  # rows in each band, that show of one class whether errors are level
FEWEST_POINTS = 3  # sizes of the training set, to see that errors there stay


def label_noise(
    track: Track, estimate: float, goal: float | None, classes: int, rows: int
) -> LabelNoise | None:
    """Estimate the share of wrong labels and the error once they are put right.

    Anchor points (Liu and Tao, 2016; Scott, 2015): if each class has inputs where it is certain,
    the share of other labels among the rows that the votes are surest of is the noise of that
    class. The interval begins above 0 only where there is evidence: errors there are more than more
    training rows would take away, and as frequent as in the next surest rows (doubt grows towards a
    border, mistakes do not). The error without noise follows ``without_noise``, which takes wrong
    labels as uniform draws from all classes. None if no way tells how sure it is.
    """
    way = _way(track.last)
    if way is None:
        return None
    wrong = track.last.losses[way]
    guesses = track.last.guesses[way].astype(int)
    surest, next_surest = _bands(track.last.floors[way], guesses)
    expected = 0.0
    for guess in np.unique(guesses):
        own = guesses == guess
        expected += wrong[own & surest].mean() * own.mean()
    low, high = binomial_interval(int(wrong[surest].sum()), int(surest.sum()))
    ratio = expected / max(wrong[surest].mean(), 1e-12)
    chance = (classes - 1) / classes
    most = min(estimate, 0.999 * chance)
    share = min(float(expected), most)
    curve = []
    for step in np.linspace(0, 1, 5).tolist():
        error = cleaned(estimate, share, step, classes)
        curve.append((step, float(error)))
    noise = LabelNoise(
        share=share,
        low=0.0,
        high=float(np.clip(high * ratio, share, 1.0)),
        cleaned=tuple(curve),
        labels_to_fix=None,
    )
    stays = _stays(track, track.last.ways[way], surest)
    if not stays or not _are_level(wrong, surest, next_surest, guesses):
        return noise
    return replace(
        noise,
        low=min(share, float(low * ratio)),
        labels_to_fix=_labels_to_fix(estimate, share, goal, classes, rows),
    )


def cleaned(error: float, wrong: float, share: float, classes: int) -> float:
    """Return the error once a ``share`` of the ``wrong`` labels (a share of all) is put right.

    Uniform noise of rho = wrong C / (C - 1) leaves ``wrong`` labels wrong; the rest of it is put
    back.
    """
    chance = (classes - 1) / classes
    clean = without_noise(error, wrong / chance, classes)
    return clean + (1 - share) * (error - clean)


def _bands(doubts: np.ndarray, guesses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows are the surest of their guessed class, and which are the next."""
    surest, next_surest = np.zeros((2, len(doubts)), dtype=bool)
    for guess in np.unique(guesses):
        own = np.flatnonzero(guesses == guess)
        ordered = np.sort(doubts[own])
        width = max(FEWEST, int(SUREST * len(own)))
        limit = ordered[min(len(own) - 1, width)]
        further = ordered[min(len(own) - 1, 2 * width)]
        surest[own[doubts[own] <= limit]] = True
        next_surest[own[(doubts[own] > limit) & (doubts[own] <= further)]] = True
    return surest, next_surest


def _stays(track: Track, way: int, rows: np.ndarray) -> bool:
    """Tell whether errors in these rows would stay with endless training rows.

    Two tests: their own curve ends above 0, and so it does if they lose as much as all rows
    together may still lose (while much still falls, nobody knows yet what is beyond doubt).
    """
    counts, losses = track.curve(way)
    if len(counts) < FEWEST_POINTS:
        return False
    if losses[-1, rows].mean() <= still_to_fall(losses):
        return False
    fitted = fit_curve(counts, losses[:, rows], 0, powers=END_POWERS)
    ends = fitted.ends(np.random.default_rng(0))
    return bool(np.quantile(ends, 0.025) > 0)


def _are_level(
    wrong: np.ndarray, surest: np.ndarray, next_surest: np.ndarray, guesses: np.ndarray
) -> bool:
    """Tell whether errors are level in all rows, and in each guessed class with rows enough."""
    groups = [np.ones(len(guesses), dtype=bool)]
    for guess in np.unique(guesses):
        own = guesses == guess
        if min((own & surest).sum(), (own & next_surest).sum()) >= ENOUGH:
            groups.append(own)
    return all(_is_level(wrong, surest & own, next_surest & own) for own in groups)


def _is_level(wrong: np.ndarray, surest: np.ndarray, next_surest: np.ndarray) -> bool:
    """Tell whether errors are surely about as frequent among the surest rows as among the next.

    That too few rows show a difference is no evidence that there is none: where classes overlap
    everywhere, nothing tells wrong labels from right ones.
    """
    if next_surest.sum() < FEWEST:
        return True
    among_surest = wrong[surest].mean()
    gap = wrong[next_surest].mean() - among_surest
    spread = wrong[next_surest].var() / next_surest.sum() + wrong[surest].var() / surest.sum()
    return bool(gap + 2 * np.sqrt(spread) <= MOST_GAP * among_surest)


def _labels_to_fix(
    error: float, wrong: float, goal: float | None, classes: int, rows: int
) -> int | None:
    """Return how many wrong labels to put right to reach the goal.

    It is 0 if none, and None if all are not enough.
    """
    if goal is None:
        return None
    if error <= 1 - goal:
        return 0
    clean = cleaned(error, wrong, 1.0, classes)
    if clean > 1 - goal:
        return None
    return int(np.ceil((error - (1 - goal)) / (error - clean) * wrong * rows))


def _way(reading: Reading) -> int | None:
    """Return the best way among those that tell how sure they are, with neighbours enough."""
    most = max(reading.ways)
    able = []
    for place, way in enumerate(reading.ways):
        has_few = DIRECT < way < min(9, most)
        # what a ridge regression gives is no chance: it is surest where it was led astray
        if has_few or way in (KERNEL, BLEND):
            continue
        if np.isfinite(reading.floors[place]).all():
            able.append(place)
    return min(able, key=lambda place: reading.losses[place].mean(), default=None)
