"""How few labels any method can need: lower bounds on the expected number of labels of one commit.

A test may call a clause true with probability at most alpha where its value is ``low`` or less, and
false with probability at most alpha where it is ``high`` or more. Where it must tell a truth from a
world at either end, it needs a number of rows that the divergences say, whatever it does. A row of
a difference is +1, -1 (a changed prediction is right, or was) or 0, and needs a label only if it is
changed; a row of a quality is 1 or 0.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq


def least_rows(
    truth: np.ndarray, low: np.ndarray | None, high: np.ndarray | None, alpha: float
) -> float:
    """Return a lower bound on the expected rows until a decision.

    Args:
        truth: probabilities of a row's values.
        low: those of a world at the lower end; None where the truth lies at or below it.
        high: those of a world at the upper end; None where the truth lies at or above it.
        alpha: error probability a side.

    Between both: Hoeffding, "Lower bounds for the expected sample size and the average risk of a
    sequential procedure" (Annals of Mathematical Statistics 1960), theorem 1: with z the larger
    divergence of the truth from either world, and t the standard deviation of ln(high / low) a row,
    ``((t^2 / 16 - z ln(2 alpha))^(1/2) - t / 4)^2 / z^2``. Elsewhere one answer has probability at
    most alpha, and the rows times the divergence are at least ``kl(1 - alpha, alpha)`` (Wald 1945;
    Kaufmann, Cappe and Garivier, JMLR 2016, lemma 1).
    """
    if low is None or high is None:
        other = high if low is None else low
        sure = np.array([1 - alpha, alpha])
        return divergence(sure, sure[::-1]) / divergence(truth, np.asarray(other))
    most = max(divergence(truth, low), divergence(truth, high))
    ratios = np.log(high / low)
    spread = math.sqrt(float(truth @ ratios**2) - float(truth @ ratios) ** 2)
    root = math.sqrt(spread**2 / 16 - most * math.log(2 * alpha)) - spread / 4
    return root**2 / most**2


def divergence(one: np.ndarray, other: np.ndarray) -> float:
    """Return the Kullback-Leibler divergence in nats; ``other`` is positive where ``one`` is."""
    some = one > 0
    return float(one[some] @ np.log(one[some] / other[some]))


def nearest_world(truth: np.ndarray, values: np.ndarray, mean: float) -> np.ndarray:
    """Return the probabilities of the given mean that are hardest to tell from ``truth``: of least
    divergence.

    They are ``truth / (1 + b (values - mean))``, b the best bet against the mean (Honda and
    Takemura, COLT 2010).
    """
    gains = values - mean
    ends = sorted((-1 / gains.max(), -1 / gains.min()))
    bet = brentq(
        lambda b: float(truth @ (gains / (1 + b * gains))),
        ends[0] * (1 - 1e-9),
        ends[1] * (1 - 1e-9),
    )
    return truth / (1 + float(bet) * gains)  # pyright: ignore[reportArgumentType]


def least_labels(
    value: float, low: float, high: float, alpha: float, changed: float | None
) -> tuple[float, float]:
    """Return lower bounds on the labels of a commit: where the share of changed rows is known, and
    from the rows alone.

    ``changed`` is that share, for a difference of qualities; None for a quality, where both bounds
    are the same.
    """
    ends = (None if value <= low else low, None if value >= high else high)
    if changed is None:
        worlds = [None if end is None else np.array([end, 1 - end]) for end in ends]
        rows = least_rows(np.array([value, 1 - value]), *worlds, alpha)
        return rows, rows
    won = (1 + value / changed) / 2
    sides = [None if end is None else (1 + end / changed) / 2 for end in ends]
    worlds = [None if side is None else np.array([side, 1 - side]) for side in sides]
    known = least_rows(np.array([won, 1 - won]), *worlds, alpha)
    truth, values = (
        np.array([changed * won, changed * (1 - won), 1 - changed]),
        np.array([1.0, -1.0, 0.0]),
    )
    worlds = [None if end is None else nearest_world(truth, values, end) for end in ends]
    return known, least_rows(truth, *worlds, alpha) * changed
