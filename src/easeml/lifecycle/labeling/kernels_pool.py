"""Compiled values of unlabelled rows: under each validation row, one pass over sorted distances."""

import numpy as np

from easeml.lifecycle.compiled import njit
from easeml.lifecycle.labeling.sorting import BLOCK, SAME, sort_nearest_first, squared_distances


@njit(cache=True)
def add_pool_values(
    rows: np.ndarray,
    labels: np.ndarray,
    candidates: np.ndarray,
    chances: np.ndarray,
    points: np.ndarray,
    wanted: np.ndarray,
    table: np.ndarray,
    totals: np.ndarray,
) -> None:
    """Add the values of candidates under some validation rows to ``totals`` (p,).

    ``rows`` and ``candidates``: blocks of n and p rows, as ``squared_distances`` takes them;
    ``labels`` (n,) codes; ``chances`` (p, classes); ``points`` (t, d) with the labels ``wanted``
    (t,). ``table``: g(0 .. n + 1).
    """
    n, p, t = labels.shape[0], totals.shape[0], points.shape[0]
    near = np.empty((4, rows.shape[0] * BLOCK))
    far = np.empty((4, candidates.shape[0] * BLOCK))
    sums = np.cumsum(table)
    ids, asked_ids = np.arange(n).astype(np.int32), np.arange(p).astype(np.int32)
    distances, sorted_ids = np.empty(n), np.empty(n, np.int32)
    asked, asked_of = np.empty(p), np.empty(p, np.int32)
    four = np.empty((4, points.shape[1]))
    for start in range(0, t, 4):
        for j in range(4):
            four[j] = points[min(start + j, t - 1)]
        squared_distances(rows, four, near)
        squared_distances(candidates, four, far)
        for j in range(min(4, t - start)):
            want = wanted[start + j]
            sort_nearest_first(near[j, :n], ids, distances, sorted_ids)
            sort_nearest_first(far[j, :p], asked_ids, asked, asked_of)
            taken, beyond = summed_from(distances, labels[sorted_ids] == want, 0, table)
            at = 0
            for i in range(p):
                at = first_from(distances, asked[i] * (1 - SAME), at)
                chance = chances[asked_of[i], want]
                totals[asked_of[i]] += value_at(
                    distances, taken, beyond, asked[i], at, chance, 0, table, sums
                )


@njit(cache=True)
def summed_from(
    distances: np.ndarray, matches: np.ndarray, below: int, table: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return matches summed from the nearest, and what rows from a rank on lose to one before them.

    Both are counted within these rows, which ``below`` others precede.
    """
    count = distances.shape[0]
    summed, beyond = np.zeros(count + 1), np.zeros(count + 1)
    for i in range(count):
        summed[i + 1] = summed[i] + matches[i]
    end = count
    while end > 0:
        start = end - 1
        while start > 0 and distances[start] - distances[start - 1] <= SAME * distances[start]:
            start -= 1
        share = (summed[end] - summed[start]) / (end - start)
        for i in range(end - 1, start - 1, -1):
            rank = below + i + 1
            beyond[i] = beyond[i + 1] + share * (table[rank] - table[rank + 1])
        end = start
    return summed, beyond


@njit(cache=True)
def first_from(distances: np.ndarray, least: float, start: int) -> int:
    """Return the first place from ``start`` on with a distance of at least ``least``."""
    while start < distances.shape[0] and distances[start] < least:
        start += 1
    return start


@njit(cache=True)
def value_at(
    distances: np.ndarray,
    summed: np.ndarray,
    beyond: np.ndarray,
    asked: float,
    a: int,
    chance: float,
    below: int,
    table: np.ndarray,
    sums: np.ndarray,
) -> float:
    """Return a candidate's value under one point, but for what lies farther than these rows.

    ``a``: how many of them are nearer than its distance, ``asked``.
    """
    b = first_from(distances, asked * (1 + SAME), a)
    while b < distances.shape[0] and distances[b] <= asked * (1 + SAME):
        b += 1
    size = b - a
    mean = (sums[below + b + 1] - sums[below + a]) / (size + 1)
    others = (summed[b] - summed[a]) / max(size, 1) * (mean - table[below + b + 1])
    return chance * mean - others - beyond[b]
