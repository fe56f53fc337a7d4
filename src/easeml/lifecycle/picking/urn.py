"""A set of row numbers with uniform draws and removals in constant time."""

from __future__ import annotations

import numpy as np


class Urn:
    """Rows that can still be drawn."""

    def __init__(self, rows: np.ndarray, universe: int):
        """``rows``: distinct numbers below ``universe``."""
        self._rows = np.array(rows, dtype=np.int64)
        self._place = np.full(universe, -1, dtype=np.int64)
        self._place[self._rows] = np.arange(len(self._rows))
        self._size = len(self._rows)

    def __len__(self) -> int:
        return self._size

    def __contains__(self, row: int) -> bool:
        return bool(self._place[row] >= 0)

    def draw(self, rng: np.random.Generator) -> int:
        """Return a row at random; it stays in the urn."""
        return int(self._rows[rng.integers(self._size)])

    def remove(self, row: int) -> None:
        """Take a row out, if it is there."""
        place = self._place[row]
        if place < 0:
            return
        self._size -= 1
        last = self._rows[self._size]
        self._rows[place] = last
        self._place[last] = place
        self._place[row] = -1
