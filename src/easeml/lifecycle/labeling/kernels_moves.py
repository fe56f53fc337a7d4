"""Compiled parts of the values of unlabelled rows, where one row changes its place.

A row that moves under a validation row, from one distance to another, changes the ranks of the rows
in between only. So these alone are sorted; what lies nearer sees one constant change, and what lies
farther sees none.
"""

import numpy as np

from easeml.lifecycle.compiled import njit
from easeml.lifecycle.labeling.kernels_pool import first_from, summed_from, value_at
from easeml.lifecycle.labeling.sorting import BLOCK, SAME, sort_nearest_first, squared_distances

_EDGE = 1e-9  # of a distance: ties at the ends of the range are inside it


@njit(cache=True)
def add_moved_row(
    rows: np.ndarray,
    labels: np.ndarray,
    candidates: np.ndarray,
    chances: np.ndarray,
    points: np.ndarray,
    wanted: np.ndarray,
    moved: int,
    place: np.ndarray,
    label: int,
    table: np.ndarray,
    totals: np.ndarray,
) -> None:
    """Add to ``totals`` (p,) how values change when a labelled row goes elsewhere.

    ``rows`` and ``candidates``: blocks of n and p rows, as ``squared_distances`` takes them;
    ``labels`` (n,) codes; ``chances`` (p, classes); ``points`` (t, d) with the labels ``wanted``
    (t,). Row ``moved`` gets the ``place`` (d,) and the ``label``. ``table``: g(0 .. n + 1).
    """
    n, p, t = labels.shape[0], totals.shape[0], points.shape[0]
    near = np.empty((4, rows.shape[0] * BLOCK))
    far = np.empty((4, candidates.shape[0] * BLOCK))
    sums = np.cumsum(table)
    keys, ids = np.empty(n + 1), np.empty(n + 1, np.int32)
    sorted_keys, sorted_ids = np.empty(n), np.empty(n, np.int32)
    asked_keys, asked_ids = np.empty(p + 1), np.empty(p + 1, np.int32)
    asked, asked_of = np.empty(p), np.empty(p, np.int32)
    four = np.empty((4, points.shape[1]))
    for start in range(0, t, 4):
        for j in range(4):
            four[j] = points[min(start + j, t - 1)]
        squared_distances(rows, four, near)
        squared_distances(candidates, four, far)
        for j in range(min(4, t - start)):
            want = wanted[start + j]
            before, after = near[j, moved], _squared(place, four[j])
            low, high = min(before, after) * (1 - _EDGE), max(before, after) * (1 + _EDGE)
            below, inside = _gather(near[j, :n], moved, low, high, keys, ids)
            sort_nearest_first(keys[:inside], ids[:inside], sorted_keys, sorted_ids)
            old = _inserted(
                sorted_keys[:inside], sorted_ids[:inside], labels, want, before, labels[moved]
            )
            new = _inserted(sorted_keys[:inside], sorted_ids[:inside], labels, want, after, label)
            old_taken, old_beyond = summed_from(old[0], old[1], below, table)
            new_taken, new_beyond = summed_from(new[0], new[1], below, table)
            constant = old_beyond[0] - new_beyond[0]
            for i in range(p):
                totals[i] += constant * (far[j, i] < low)
            _, between = _gather(far[j, :p], -1, low, high, asked_keys, asked_ids)
            sort_nearest_first(asked_keys[:between], asked_ids[:between], asked, asked_of)
            at_old, at_new = 0, 0
            for i in range(between):
                at_old = first_from(old[0], asked[i] * (1 - SAME), at_old)
                at_new = first_from(new[0], asked[i] * (1 - SAME), at_new)
                chance = chances[asked_of[i], want]
                totals[asked_of[i]] += value_at(
                    new[0], new_taken, new_beyond, asked[i], at_new, chance, below, table, sums
                ) - value_at(
                    old[0], old_taken, old_beyond, asked[i], at_old, chance, below, table, sums
                )


@njit(cache=True)
def moved_candidate(
    rows: np.ndarray,
    labels: np.ndarray,
    points: np.ndarray,
    wanted: np.ndarray,
    old_place: np.ndarray,
    new_place: np.ndarray,
    old_chances: np.ndarray,
    new_chances: np.ndarray,
    table: np.ndarray,
) -> float:
    """Return how the value of a candidate changes when it goes elsewhere, summed over the points.

    The chances (classes,) are those of its label; the other arguments are as above.
    """
    n, t = labels.shape[0], points.shape[0]
    near = np.empty((4, rows.shape[0] * BLOCK))
    sums = np.cumsum(table)
    keys, ids = np.empty(n + 1), np.empty(n + 1, np.int32)
    sorted_keys, sorted_ids = np.empty(n), np.empty(n, np.int32)
    four = np.empty((4, points.shape[1]))
    total = 0.0
    for start in range(0, t, 4):
        for j in range(4):
            four[j] = points[min(start + j, t - 1)]
        squared_distances(rows, four, near)
        for j in range(min(4, t - start)):
            want = wanted[start + j]
            before, after = _squared(old_place, four[j]), _squared(new_place, four[j])
            low, high = min(before, after) * (1 - _EDGE), max(before, after) * (1 + _EDGE)
            below, inside = _gather(near[j, :n], -1, low, high, keys, ids)
            sort_nearest_first(keys[:inside], ids[:inside], sorted_keys, sorted_ids)
            distances = sorted_keys[:inside]
            matches = labels[sorted_ids[:inside]] == want
            taken, beyond = summed_from(distances, matches, below, table)
            at = np.searchsorted(distances, after * (1 - SAME))
            total += value_at(
                distances, taken, beyond, after, at, new_chances[want], below, table, sums
            )
            at = np.searchsorted(distances, before * (1 - SAME))
            total -= value_at(
                distances, taken, beyond, before, at, old_chances[want], below, table, sums
            )
    return total


@njit(cache=True)
def _squared(place: np.ndarray, point: np.ndarray) -> float:
    """Return a squared distance, summed in the order of ``squared_distances``."""
    total = 0.0
    for column in range(place.shape[0]):
        total += (place[column] - point[column]) * (place[column] - point[column])
    return total


@njit(cache=True)
def _gather(
    distances: np.ndarray,
    left_out: int,
    low: float,
    high: float,
    keys: np.ndarray,
    ids: np.ndarray,
) -> tuple[int, int]:
    """Write the distances in [low, high] and their rows; return how many lie below, and inside."""
    below, inside = 0, 0
    for i in range(distances.shape[0]):
        # Without branches: which rows are meant cannot be foreseen, and a wrong guess costs more.
        distance = distances[i]
        keys[inside], ids[inside] = distance, i
        below += distance < low
        inside += (distance >= low) & (distance <= high) & (i != left_out)
    return below, inside


@njit(cache=True)
def _inserted(
    distances: np.ndarray,
    ids: np.ndarray,
    labels: np.ndarray,
    want: int,
    distance: float,
    label: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return distances, and whether their rows match, with one row more."""
    at = np.searchsorted(distances, distance)
    count = distances.shape[0]
    all_distances, matches = np.empty(count + 1), np.empty(count + 1, np.bool_)
    for i in range(count):
        to = i if i < at else i + 1
        all_distances[to] = distances[i]
        matches[to] = labels[ids[i]] == want
    all_distances[at] = distance
    matches[at] = label == want
    return all_distances, matches
