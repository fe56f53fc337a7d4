"""How many labels are wrong, judged where the answer should be beyond doubt, and what cleaning them
would do.
"""

from __future__ import annotations

import numpy as np

from easeml.lifecycle.feasibility._arms import Reading
from easeml.lifecycle.feasibility.bounds import binomial_interval, without_noise
from easeml.lifecycle.feasibility.result import LabelNoise

SUREST = 0.25  # share of the rows guessed as a class that counts as beyond doubt
FEWEST = 20


def label_noise(
    reading: Reading, estimate: float, goal: float | None, classes: int, rows: int
) -> LabelNoise:
    """Estimate the share of wrong labels and the error once they are put right.

    Anchor points (Liu and Tao, 2016; Scott, 2015): if each class has inputs where it is certain,
    the share of other labels among the rows that the neighbours are surest of is the noise of that
    class. Where no input is certain this counts doubt as noise, so the share is an upper figure.
    The error without noise follows ``without_noise``, which takes wrong labels as uniform draws
    from all classes.
    """
    way = _way(reading)
    wrong, doubts, guesses = (
        reading.losses[way],
        reading.floors[way],
        reading.guesses[way].astype(int),
    )
    surest = np.zeros(len(wrong), dtype=bool)
    expected = 0.0
    for guess in np.unique(guesses):
        own = np.flatnonzero(guesses == guess)
        limit = np.sort(doubts[own])[min(len(own) - 1, max(FEWEST, int(SUREST * len(own))))]
        anchors = own[doubts[own] <= limit]
        surest[anchors] = True
        expected += wrong[anchors].mean() * len(own) / len(wrong)
    low, high = binomial_interval(int(wrong[surest].sum()), int(surest.sum()))
    ratio = expected / max(wrong[surest].mean(), 1e-12)
    chance = (classes - 1) / classes
    share = min(float(expected), estimate, 0.999 * chance)
    steps = np.linspace(0, 1, 5)
    errors = [cleaned(estimate, share, step, classes) for step in steps]
    return LabelNoise(
        share=share,
        low=float(low * ratio),
        high=float(min(1.0, high * ratio)),
        cleaned=tuple(
            (float(step), float(error)) for step, error in zip(steps, errors, strict=True)
        ),
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


def _labels_to_fix(
    error: float, wrong: float, goal: float | None, classes: int, rows: int
) -> int | None:
    """Return how many wrong labels to put right to reach the goal: 0 if none, None if all are not
    enough.
    """
    if goal is None:
        return None
    if error <= 1 - goal:
        return 0
    clean = cleaned(error, wrong, 1.0, classes)
    if clean > 1 - goal:
        return None
    return int(np.ceil((error - (1 - goal)) / (error - clean) * wrong * rows))


def _way(reading: Reading) -> int:
    """Return the best way among those with enough neighbours to be sure of something."""
    most = max(reading.ways)
    able = [place for place, way in enumerate(reading.ways) if way >= min(9, most)]
    return min(able, key=lambda place: reading.losses[place].mean())
