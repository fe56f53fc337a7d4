"""Compiled values of games over nearest neighbours that are linear in the matches.

For one validation point with rows sorted nearest first and matches m (1 where the label agrees, or
the probability that it does), the Shapley value of rank i in these games is

    s_i = m_i g(i) - sum_{l > i} m_l (g(l - 1) - g(l)) + constant

with a falling table g: ``tables.hard`` and ``tables.soft`` derive it. Rows at equal distance get
the mean over all their orders: for ranks a + 1 .. b with g's mean G and M matches in all,

    s = m G - (M - m) / (b - a - 1) (G - g(b)) - (sum of the ranks beyond b).
"""

import numpy as np

from easeml.lifecycle.compiled import njit
from easeml.lifecycle.labeling.sorting import sort_nearest_first, squared_distances


@njit(cache=True)
def _scan(
    keys: np.ndarray,
    ids: np.ndarray,
    match: np.ndarray,
    table: np.ndarray,
    sums: np.ndarray,
    beyond: float,
    same: float,
    values: np.ndarray,
) -> None:
    """Write the value of each of the sorted rows into ``values``, from the farthest to the nearest.

    ``match`` is by row, ``table`` and its running ``sums`` by rank; ``beyond`` is what the farther
    rows take away.
    """
    stop = keys.shape[0]
    while stop > 0:
        start = stop - 1
        while start > 0 and keys[start] - keys[start - 1] <= same * keys[start]:
            start -= 1
        if stop - start == 1:
            m = float(match[ids[start]])
            values[start] = m * table[stop] - beyond
            if start > 0:
                beyond += float(m * (table[start] - table[stop]))
        else:
            matches = 0.0
            for i in range(start, stop):
                matches += float(match[ids[i]])
            size = stop - start
            mean = (sums[stop] - sums[start]) / size
            share = (mean - table[stop]) / (size - 1)
            for i in range(start, stop):
                m = float(match[ids[i]])
                values[i] = m * mean - (matches - m) * share - beyond
            if start > 0:
                beyond += float(matches / size * (table[start] - table[stop]))
        stop = start


@njit(nogil=True, cache=True)
def add_exact(
    part: int,
    parts: int,
    blocks: np.ndarray,
    rows: int,
    points: np.ndarray,
    classes: np.ndarray,
    constants: np.ndarray,
    labels: np.ndarray,
    posterior: np.ndarray,
    table: np.ndarray,
    sums: np.ndarray,
    same: float,
    totals: np.ndarray,
    squares: np.ndarray,
) -> None:
    """Add the values of all rows under each of ``points`` to ``totals`` (parts, rows).

    ``labels`` (rows,) are codes, compared with ``classes`` (points,); or ``posterior`` (rows,
    classes), unless it is empty, gives the matches. ``constants`` (points,) are the constants of
    the values. ``squares`` has the shape of ``totals``, or no rows where they are not wanted.
    """
    distances = np.empty((4, blocks.shape[0] * blocks.shape[2]))
    keys, values, match = np.empty(rows), np.empty(rows), np.empty(rows)
    order, own = np.empty(rows, np.int32), np.arange(rows).astype(np.int32)
    four = np.zeros((4, points.shape[1]))
    for first in range(part * 4, points.shape[0], parts * 4):
        many = min(4, points.shape[0] - first)
        for point in range(many):
            for column in range(points.shape[1]):
                four[point, column] = points[first + point, column]
        squared_distances(blocks, four, distances)
        for point in range(many):
            wanted = classes[first + point]
            if posterior.shape[0]:
                for i in range(rows):
                    match[i] = posterior[i, wanted]
            else:
                for i in range(rows):
                    match[i] = 1.0 if labels[i] == wanted else 0.0
            sort_nearest_first(distances[point, :rows], own, keys, order)
            _scan(keys, order, match, table, sums, 0.0, same, values)
            constant = constants[first + point]
            for i in range(rows):
                totals[part, order[i]] += values[i] + constant
            if squares.shape[0]:
                for i in range(rows):
                    squares[part, order[i]] += (values[i] + constant) ** 2
