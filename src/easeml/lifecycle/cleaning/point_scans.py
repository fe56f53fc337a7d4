"""Scans of many points, a part of them at a time: see ``in_parts`` (compiled)."""

from __future__ import annotations

import numpy as np

from easeml.lifecycle.cleaning.world_scan import new_workspace, possible_winners, scan
from easeml.lifecycle.compiled import njit


@njit(cache=True)
def squared_distances(columns, point, out):
    """Fill ``out`` with the squared Euclidean distances of candidates to a point (D,).

    ``columns`` (D, T) gives the candidates. Coordinates are added in their order, so equal
    candidates are equally far, and zero differences change nothing.
    """
    out[:] = 0.0
    for d in range(columns.shape[0]):
        x = point[d]
        for t in range(columns.shape[1]):
            step = columns[d, t] - x
            out[t] += step * step


@njit(cache=True)
def kth_smallest(values, k):
    """Return the k-th smallest of at least k values; the k are kept in order, since k is small.

    NumPy's partition would take five times as long to compile as all of this file.
    """
    smallest = np.empty(k)
    smallest[:] = np.inf
    for value in values:
        place = k - 1
        if value < smallest[place]:
            while place > 0 and smallest[place - 1] > value:
                smallest[place] = smallest[place - 1]
                place -= 1
            smallest[place] = value
    return smallest[k - 1]


@njit(cache=True)
def nearest_items(distances, first, k, items):
    """Fill ``items`` with the candidates that can be among the k nearest; return how many.

    They come from near to far, and each is among the nearest in some world. ``first`` (N + 1,):
    first candidate of each row. A candidate beyond the k-th smallest of the rows' largest distances
    never votes: k rows are always nearer. Equally far candidates: the smaller row is nearer.
    """
    farthest = np.zeros(first.shape[0] - 1)
    for row in range(farthest.shape[0]):
        for item in range(first[row], first[row + 1]):
            farthest[row] = max(farthest[row], distances[item])
    limit = kth_smallest(farthest, k)
    kept, near = np.empty(distances.shape[0], np.int32), np.empty(distances.shape[0])
    found = 0
    for item in range(distances.shape[0]):
        if distances[item] <= limit:
            kept[found], near[found] = item, distances[item]
            found += 1
    order = np.argsort(near[:found], kind="mergesort")
    for place in range(found):
        items[place] = kept[order[place]]
    return found


@njit(cache=True, nogil=True)
def nearest_of_block(part, parts, columns, first, points, k, items, lengths):
    """Fill ``items[v, :lengths[v]]`` with the candidates that can matter to point v."""
    for v in range(part, points.shape[0], parts):
        distances = np.empty(columns.shape[1])
        squared_distances(columns, points[v], distances)
        lengths[v] = nearest_items(distances, first, k, items[v])


@njit(cache=True, nogil=True)
def possible_of_points(part, parts, items, starts, state, k, enough, chosen, possible):
    """Fill ``possible[v, c]`` for the chosen points; see ``possible_winners``."""
    for index in range(part, chosen.shape[0], parts):
        v = chosen[index]
        possible_winners(items[starts[v] : starts[v + 1]], state, k, enough, possible[v])


@njit(cache=True, nogil=True)
def scan_points(part, parts, items, starts, state, k, chosen, shares, gains, touched):
    """Fill a row of ``shares`` a chosen point, and of ``gains`` and ``touched`` if they have columns."""
    workspace = new_workspace(state, k, gains.shape[1] > 0)
    for index in range(part, chosen.shape[0], parts):
        v = chosen[index]
        near = items[starts[v] : starts[v + 1]]
        scan(near, state, k, shares[index], gains[index], touched[index], workspace)
