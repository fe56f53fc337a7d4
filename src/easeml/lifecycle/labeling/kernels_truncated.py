"""Compiled truncated values: the nearest rows exactly, all others as if equally far.

Those others are one group of rows at equal distance.
"""

import numpy as np

from easeml.lifecycle.compiled import njit
from easeml.lifecycle.labeling.kernels import _scan
from easeml.lifecycle.labeling.sorting import sort_nearest_first, squared_distances

_SAMPLE = 512


@njit(cache=True)
def _nearest(distances: np.ndarray, least: int, keys: np.ndarray, ids: np.ndarray) -> int:
    """Write at least ``least`` rows nearer than some bound, unsorted; return how many they are.

    The bound comes from an evenly spaced sample, and grows until enough rows lie within.
    """
    rows = distances.shape[0]
    step = max(1, rows // _SAMPLE)
    sample = distances[::step].copy()
    sample = sample[
        np.argsort(sample, kind="mergesort")
    ]  # compiled already for sorting the rows, unlike np.sort
    expected = least * sample.shape[0] / rows
    place = int(expected + 2.0 * np.sqrt(expected) + 1.0)
    while True:
        bound = sample[place] if place < sample.shape[0] else np.inf
        found = 0
        for i in range(rows):
            keys[found] = distances[i]
            ids[found] = i
            found += distances[i] <= bound
        if found >= least:
            return found
        place = 2 * place + 1


@njit(nogil=True, cache=True)
def add_truncated(
    part: int,
    parts: int,
    blocks: np.ndarray,
    rows: int,
    points: np.ndarray,
    classes: np.ndarray,
    labels: np.ndarray,
    counts: np.ndarray,
    table: np.ndarray,
    sums: np.ndarray,
    same: float,
    least: int,
    totals: np.ndarray,
    far: np.ndarray,
) -> None:
    """Add truncated values to ``totals`` (parts, rows) and ``far`` (parts, classes, 2).

    Each of ``points`` adds to them.

    At least ``least`` rows (fewer than all) are ranked. A row of label c gets, for each class v,
    also ``far[v, 1 if c == v else 0]``: what it would get beyond the ranked rows, which ``totals``
    corrects for the ranked ones. ``counts`` are the rows by class.
    """
    distances = np.empty((4, blocks.shape[0] * blocks.shape[2]))
    keys, near, values, match = (
        np.empty(rows + 1),
        np.empty(rows + 1),
        np.empty(rows),
        np.empty(rows),
    )
    ids, order, own = (
        np.empty(rows + 1, np.int32),
        np.empty(rows + 1, np.int32),
        np.arange(rows).astype(np.int32),
    )
    four = np.zeros((4, points.shape[1]))
    for first in range(part * 4, points.shape[0], parts * 4):
        many = min(4, points.shape[0] - first)
        for point in range(many):
            for column in range(points.shape[1]):
                four[point, column] = points[first + point, column]
        squared_distances(blocks, four, distances)
        for point in range(many):
            wanted = classes[first + point]
            found = _nearest(distances[point, :rows], least, keys, ids)
            sort_nearest_first(keys[:found], own[:found], near, order)
            _add_ranked(
                near, order, found, ids, labels, wanted, float(counts[wanted]), table, sums, same, match, values,
                totals[part], far[part],
            )  # fmt: skip


@njit(cache=True)
def _add_ranked(
    near: np.ndarray,
    order: np.ndarray,
    ranked: int,
    ids: np.ndarray,
    labels: np.ndarray,
    wanted: int,
    matches: float,
    table: np.ndarray,
    sums: np.ndarray,
    same: float,
    match: np.ndarray,
    values: np.ndarray,
    totals: np.ndarray,
    far: np.ndarray,
) -> None:
    """Add the values under one row of class ``wanted``, which ``matches`` rows have in all.

    ``near`` are the sorted distances of the ``ranked`` rows ``ids[order]``; ``match`` and
    ``values`` are scratch.
    """
    for i in range(ranked):
        match[order[i]] = 1.0 if labels[ids[order[i]]] == wanted else 0.0
        matches -= float(match[order[i]])
    alike, other, beyond = _beyond(labels.shape[0], ranked, matches, table, sums)
    _scan(near[:ranked], order[:ranked], match, table, sums, beyond, same, values)
    far[wanted, 1] += alike
    far[wanted, 0] += other
    for i in range(ranked):
        totals[ids[order[i]]] += values[i] - (alike if match[order[i]] else other)


@njit(cache=True)
def _beyond(
    rows: int, ranked: int, matches: float, table: np.ndarray, sums: np.ndarray
) -> tuple[float, float, float]:
    """Return the values of a match and of another row beyond the ranked ones.

    The third is what all of those take away.
    """
    size = rows - ranked
    if size == 0:
        return 0.0, 0.0, 0.0
    mean = (sums[rows] - sums[ranked]) / size
    share = (mean - table[rows]) / (size - 1) if size > 1 else 0.0
    return (
        mean - (matches - 1.0) * share,
        -matches * share,
        matches / size * (table[ranked] - table[rows]) if ranked else 0.0,
    )


@njit(nogil=True, cache=True)
def add_from_cells(
    part: int,
    parts: int,
    rows: np.ndarray,
    ids: np.ndarray,
    cell_start: np.ndarray,
    probes: np.ndarray,
    points: np.ndarray,
    classes: np.ndarray,
    labels: np.ndarray,
    counts: np.ndarray,
    table: np.ndarray,
    sums: np.ndarray,
    most: int,
    totals: np.ndarray,
    far: np.ndarray,
    found: np.ndarray,
) -> None:
    """Add values like ``add_truncated``, from the ``most`` nearest rows of the cells in ``probes``.

    ``rows`` (n, d) are sorted by cell, ``ids`` (n,) their numbers before; cell c ends where
    ``cell_start[c + 1]`` begins. The ranked rows are written to ``found`` (points, most), -1 where
    there are fewer.
    """
    n = rows.shape[0]
    keys, near, values, match = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    chosen, order, own = (
        np.empty(n, np.int32),
        np.empty(n, np.int32),
        np.arange(n).astype(np.int32),
    )
    for point in range(part, points.shape[0], parts):
        count = 0
        for cell in probes[point]:
            for row in range(cell_start[cell], cell_start[cell + 1]):
                total = 0.0
                for column in range(rows.shape[1]):
                    total += (rows[row, column] - points[point, column]) ** 2
                keys[count], chosen[count] = total, ids[row]
                count += 1
        wanted = classes[point]
        if count:
            sort_nearest_first(keys[:count], own[:count], near, order)
        ranked = min(most, count)
        _add_ranked(
            near, order, ranked, chosen, labels, wanted, float(counts[wanted]), table, sums, 1e-12, match, values,
            totals[part], far[part],
        )  # fmt: skip
        for i in range(most):
            found[point, i] = chosen[order[i]] if i < ranked else -1
