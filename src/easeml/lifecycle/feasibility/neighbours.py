"""The nearest training rows of every evaluation row, exactly, while training rows arrive."""

from __future__ import annotations

import numpy as np

from easeml.lifecycle.compiled import njit

BATCH = 2048  # training rows a block: the block of products stays small
EXACT = 1 << 22  # numbers held while winners are measured again


class NearestRows:
    """For each row of ``queries`` the ``k`` nearest of all rows added so far.

    Ties go to the row added first.

    Products of blocks in float32 find the winners (old rows are never looked at again: O(rows added
    x queries x dimensions)); their distances are then measured directly, free of cancellation.
    """

    def __init__(self, queries: np.ndarray, k: int):
        """``queries``: (rows, dimensions), centred by the caller."""
        self._queries = np.ascontiguousarray(queries, dtype=np.float32)
        self._added: list[np.ndarray] = []
        self._count = 0
        self._distances = np.full((len(queries), k), np.inf, dtype=np.float32)
        self._rows = np.full((len(queries), k), -1, dtype=np.int64)

    def add(self, rows: np.ndarray) -> None:
        """Take in more training rows, (rows, dimensions)."""
        rows = np.ascontiguousarray(rows, dtype=np.float32)
        for start in range(0, len(rows), BATCH):
            block = rows[start : start + BATCH]
            norms = np.einsum("ij,ij->i", block, block)
            _keep_nearest(self._queries @ block.T, norms, self._count, self._distances, self._rows)
            self._count += len(block)
        self._added.append(rows)

    def nearest(self) -> np.ndarray:
        """Return (queries, k) positions of added rows, nearest first; k is at most their number."""
        if len(self._added) > 1:
            self._added = [np.concatenate(self._added)]
        known, rows = self._added[0], self._rows[:, : self._count]
        step = max(1, EXACT // max(1, rows.shape[1] * known.shape[1]))
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            gaps = known[part] - self._queries[start : start + step, None, :]
            distances = np.einsum("ijk,ijk->ij", gaps, gaps)
            part[:] = np.take_along_axis(part, np.lexsort((part, distances), axis=1), axis=1)
        return rows.copy()


@njit(cache=True)
def _keep_nearest(products, norms, first, distances, rows):  # pragma: no cover - compiled
    """Insert the block's rows into the sorted lists.

    Compares ``|y|^2 - 2xy``: ``|x|^2`` is the same for all y.
    """
    k = distances.shape[1]
    for i in range(products.shape[0]):
        for j in range(products.shape[1]):
            distance = norms[j] - 2 * products[i, j]
            if distance < distances[i, k - 1]:
                place = k - 1
                while place > 0 and distances[i, place - 1] > distance:
                    distances[i, place] = distances[i, place - 1]
                    rows[i, place] = rows[i, place - 1]
                    place -= 1
                distances[i, place] = distance
                rows[i, place] = first + j
