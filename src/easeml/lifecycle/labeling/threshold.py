"""Shapley values of training rows for a classifier that asks all rows within a radius."""

from __future__ import annotations

from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.labeling.inputs import check_task
from easeml.lifecycle.result import Progress, listener

_PAIRS = 4_000_000  # distances held at a time


def threshold_knn_shapley(
    X: Any,
    y: Any,
    X_valid: Any,
    y_valid: Any,
    radius: float,
    *,
    metric: str = "euclidean",
    progress: Progress | None = None,
) -> np.ndarray:
    """Return the Shapley value (n,) of each training row in the threshold game.

    It is averaged over the validation rows.

    A coalition is worth the share of matches among its rows within ``radius`` (inclusive) of the
    validation row, and 1 / classes where there are none. Linear in n: no rank is needed (Wang, Zhu,
    Wang, Jia and Mittal, "A privacy-friendly approach to data valuation", NeurIPS 2023, Theorem
    13). With c rows inside, a of them matching, and H_c the c-th harmonic number, a row inside has

        s = (m - 1 / classes) / c + (m / c - (a - m) / (c (c - 1))) (H_c - 1),   rows outside 0;

    their sum over all n positions reduces to H_c, since rows outside are null players.

    Args: radius: Distance, above 0, in the units of X (for 'cosine': between unit vectors, in (0,
        2]).

    The other arguments are those of ``knn_shapley``.

    Raises: InvalidInput: if the inputs do not fit each other, are empty or not finite, or
        ``radius`` is not above 0.
    """
    from scipy.spatial.distance import cdist

    task = check_task(X, y, X_valid, y_valid, 1, metric)
    if not 0 < radius < np.inf:
        raise InvalidInput(f"Expected a number above 0, found {radius!r}.", where="radius")
    n = len(task.X)
    t = len(task.X_valid)
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, n + 1))])
    totals = np.zeros(n)
    tell = listener(progress)
    step = max(1, _PAIRS // n)
    for start in range(0, t, step):
        some = slice(start, min(start + step, t))
        inside = cdist(task.X_valid[some], task.X) <= radius
        match = inside & (task.y_valid[some, None] == task.y)
        c = np.maximum(inside.sum(axis=1), 1)
        a = match.sum(axis=1)
        rest = (harmonic[c] - 1) / (c * np.maximum(c - 1, 1))
        totals += (1 / c + (harmonic[c] - 1) / c + rest) @ match - (
            1 / (c * len(task.classes)) + a * rest
        ) @ inside
        tell(some.stop / t)
    return totals / t
