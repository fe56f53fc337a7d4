"""Shapley values of training rows for nearest neighbours whose votes are weighted by distance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from easeml.lifecycle.labeling.inputs import check_count, check_task
from easeml.lifecycle.result import Progress, listener


def weighted_knn_shapley(
    X: Any,
    y: Any,
    X_valid: Any,
    y_valid: Any,
    k: int = 5,
    *,
    levels: int = 8,
    nearest: int | None = None,
    metric: str = "euclidean",
    progress: Progress | None = None,
) -> np.ndarray:
    """Return the Shapley value (n,) of each training row for the weighted vote.

    It is averaged over the validation rows.

    A coalition is worth 1 where, among its k nearest rows, those of the validation label weigh more
    than all others, 0 where they weigh less, 1/2 where it is equal (and for the empty one). A row's
    weight falls linearly from ``levels`` at the nearest training row to 1 at the farthest, rounded
    to whole numbers, as in Wang, Mittal and Jia, "Efficient data Shapley for weighted nearest
    neighbor algorithms", AISTATS 2024, Section 4.1; rows at equal distance count in the order of
    their indices.

    The paper counts coalitions by size in O(levels k^2 n^2) a validation row. Here the value is the
    integral over p in [0, 1] of what a row adds when the others are present with probability p each
    (Owen, "Multilinear extensions of games", 1972), a polynomial of degree n - 1 that
    Gauss-Legendre nodes integrate exactly; all rows together cost O(levels k^2 n) a node, and about
    sqrt(n) nodes reach rounding error.

    Args:
        levels: Whole weights 1 .. levels, at least 1 (1: the plain vote).
        nearest: Rank only so many rows and give the others 0. Exact where it is None.

    The other arguments are those of ``knn_shapley``.

    Raises:
        InvalidInput: if the inputs do not fit each other, are empty or not finite.
    """
    from scipy.spatial.distance import cdist

    from easeml.lifecycle.compiled import in_parts, parts_of
    from easeml.lifecycle.labeling.kernels_vote import add_vote_values

    task = check_task(X, y, X_valid, y_valid, k, metric)
    check_count(levels, "levels")
    n = len(task.X)
    t = len(task.X_valid)
    ranked = n if nearest is None else min(n, check_count(nearest, "nearest"))
    voters = min(task.k, ranked)
    nodes, weights = unit_quadrature(ranked)
    totals = np.zeros(n)
    tell = listener(progress)
    step = 16
    for start in range(0, t, step):
        some = slice(start, min(start + step, t))
        distances = cdist(task.X_valid[some], task.X)
        order = np.argsort(distances, axis=1, kind="stable")[:, :ranked]
        votes = _levels(distances, levels) * np.where(task.y_valid[some, None] == task.y, 1, -1)
        sorted_votes = np.take_along_axis(votes, order, axis=1)
        values = np.zeros(sorted_votes.shape)
        arrays = (sorted_votes, voters, voters * levels, nodes, weights, values)
        in_parts(add_vote_values, parts_of(len(values)), *arrays)
        np.add.at(totals, order, values)
        tell(some.stop / t)
    return totals / t


def unit_quadrature(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights on [0, 1] for one of ``n`` players: exact, or to rounding.

    n / 2 nodes are exact for polynomials of degree n - 1. What a neighbour adds is a bump around p
    = k / n, and nodes lie as densely as 1 / nodes^2 there, so a multiple of sqrt(n) resolves it.
    """
    nodes, weights = np.polynomial.legendre.leggauss(min((n + 1) // 2, 16 + 4 * math.isqrt(n)))
    return (nodes + 1) / 2, weights / 2


def _levels(distances: np.ndarray, levels: int) -> np.ndarray:
    low = distances.min(axis=1, keepdims=True)
    high = distances.max(axis=1, keepdims=True)
    share = (high - distances) / np.where(high > low, high - low, 1.0)
    return np.rint(1 + (levels - 1) * share).astype(np.int64)
