"""Compiled parts of the nearest-neighbour values: squared distances and their order.

Imported only where it is used: Numba takes a while to load. Everything here counts ranks from 1,
nearest first.
"""

import numpy as np

from easeml.lifecycle.compiled import njit

BLOCK = 256
"""Training rows that a pass over the columns handles together: their distances stay in the
first-level cache.
"""

SAME = 1e-12
"""Squared distances that differ by less than this share count as equal, so that rounding does not
decide.
"""

_SMALL = 2048  # so many elements are sorted within the first-level cache
_COARSE = 1024  # buckets of the first pass at most: each is a stream that is written to
_CROWDED = 32  # a bucket this full is sorted by comparisons instead of insertion


@njit(cache=True)
def squared_distances(blocks: np.ndarray, points: np.ndarray, out: np.ndarray) -> None:
    """Write squared distances of four ``points`` (4, d) to all rows to ``out`` (4, rows + padding).

    ``blocks`` (n_blocks, d, BLOCK) holds the rows block by block, columns first. The sum runs over
    the columns in their order, whatever the row, so equal rows get equal distances to the last bit.
    """
    for block in range(blocks.shape[0]):
        start = block * BLOCK
        a, b = out[0, start : start + BLOCK], out[1, start : start + BLOCK]
        c, d = out[2, start : start + BLOCK], out[3, start : start + BLOCK]
        a[:] = 0.0
        b[:] = 0.0
        c[:] = 0.0
        d[:] = 0.0
        for column in range(blocks.shape[1]):
            values = blocks[block, column]
            p, q, r, s = points[0, column], points[1, column], points[2, column], points[3, column]
            for i in range(BLOCK):
                x = values[i]
                a[i] += (x - p) * (x - p)
                b[i] += (x - q) * (x - q)
                c[i] += (x - r) * (x - r)
                d[i] += (x - s) * (x - s)


@njit(cache=True)
def _distribute(
    keys: np.ndarray,
    ids: np.ndarray,
    sorted_keys: np.ndarray,
    sorted_ids: np.ndarray,
    ends: np.ndarray,
    buckets: int,
) -> None:
    """Write keys and ids by bucket; buckets have equal widths and ascend, and each keeps its order.

    Afterwards ``ends`` holds, for each bucket, the place after its last element.
    """
    low, high = keys[0], keys[0]
    for i in range(keys.shape[0]):
        low = min(low, keys[i])
        high = max(high, keys[i])
    scale = (buckets - 1) / (high - low) if high > low else 0.0
    if not np.isfinite(scale):
        scale = 0.0
    ends[: buckets + 1] = 0
    for i in range(keys.shape[0]):
        ends[int((keys[i] - low) * scale) + 1] += 1
    for bucket in range(buckets):
        ends[bucket + 1] += ends[bucket]
    for i in range(keys.shape[0]):
        bucket = int((keys[i] - low) * scale)
        place = ends[bucket]
        ends[bucket] = place + 1
        sorted_keys[place] = keys[i]
        sorted_ids[place] = ids[i]


@njit(cache=True)
def _sort_by_comparing(keys: np.ndarray, ids: np.ndarray) -> None:
    order = np.argsort(keys, kind="mergesort")
    sorted_keys, sorted_ids = keys[order], ids[order]
    for i in range(keys.shape[0]):
        keys[i], ids[i] = sorted_keys[i], sorted_ids[i]


@njit(cache=True)
def _insert(keys: np.ndarray, ids: np.ndarray) -> None:
    for i in range(1, keys.shape[0]):
        key, chosen, j = keys[i], ids[i], i
        while j > 0 and keys[j - 1] > key:
            keys[j], ids[j] = keys[j - 1], ids[j - 1]
            j -= 1
        keys[j], ids[j] = key, chosen


@njit(cache=True)
def _sort_small(
    keys: np.ndarray, ids: np.ndarray, ends: np.ndarray, spare: np.ndarray, spare_ids: np.ndarray
) -> None:
    """Sort in place what fits the cache: a bucket an element, then insertion within each."""
    n = keys.shape[0]
    for i in range(n):
        spare[i], spare_ids[i] = keys[i], ids[i]
    _distribute(spare[:n], spare_ids[:n], keys, ids, ends, n)
    start = 0
    for bucket in range(n):
        stop = ends[bucket]
        if stop - start > _CROWDED:
            _sort_by_comparing(keys[start:stop], ids[start:stop])
        elif stop - start > 1:
            _insert(keys[start:stop], ids[start:stop])
        start = stop


@njit(cache=True)
def sort_nearest_first(
    keys: np.ndarray, ids: np.ndarray, sorted_keys: np.ndarray, sorted_ids: np.ndarray
) -> None:
    """Write ``keys`` (n,) ascending, and the ``ids`` that belong to them; equal keys keep order.

    A distribution sort in two passes, the second within the cache: linear in n for the distances of
    real data. What crowds into one bucket twice (far outliers, ties) is sorted by comparisons.
    """
    n = keys.shape[0]
    ends, fine = np.empty(_COARSE + 1, np.int32), np.empty(_SMALL + 1, np.int32)
    spare, spare_ids = np.empty(_SMALL), np.empty(_SMALL, np.int32)
    buckets = max(1, min(_COARSE, n // (_SMALL // 8)))
    _distribute(keys, ids, sorted_keys, sorted_ids, ends, buckets)
    start = 0
    for bucket in range(buckets):
        stop = ends[bucket]
        if stop - start > _SMALL:
            _sort_by_comparing(sorted_keys[start:stop], sorted_ids[start:stop])
        elif stop - start > 1:
            _sort_small(sorted_keys[start:stop], sorted_ids[start:stop], fine, spare, spare_ids)
        start = stop
