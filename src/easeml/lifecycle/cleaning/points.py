"""Points beside incomplete rows: what the compiled scans need, kept between steps of cleaning."""

from __future__ import annotations

from typing import Any

import numpy as np

from easeml.lifecycle.cleaning.incomplete import Incomplete, check_k, check_points

_BLOCK = 64
"""Points whose neighbours are looked up at once: bounds the memory."""


class Points:
    """Points, and the candidates that can be among their nearest, from near to far.

    ``clean`` rules candidates out. Their order stays, so a step of cleaning costs no new distances.
    """

    def __init__(self, rows: Incomplete, X: Any, k: int):
        from easeml.lifecycle.cleaning.point_scans import nearest_of_block
        from easeml.lifecycle.cleaning.world_scan import State
        from easeml.lifecycle.compiled import in_parts, parts_of

        self.rows, self.k = rows, min(check_k(k), len(rows))
        # Copies have one memory layout, so kernels are compiled once.
        points = check_points(X, rows.values.shape[1], "X").copy()
        columns = rows.values.T.copy()
        lists = []
        for start in range(0, len(points), _BLOCK):
            block = points[start : start + _BLOCK]
            items = np.empty((len(block), len(rows.values)), np.int32)
            lengths = np.zeros(len(block), np.int64)
            arrays = (columns, rows.first, block, self.k, items, lengths)
            in_parts(nearest_of_block, parts_of(len(block)), *arrays)
            lists.extend(items[v, :length].copy() for v, length in enumerate(lengths))
        self.items = np.concatenate([np.zeros(0, np.int32), *lists])
        self.starts = np.concatenate([[0], np.cumsum(list(map(len, lists)))]).astype(np.int64)
        codes = np.searchsorted(rows.classes, rows.labels).astype(np.int32)
        self.state = State(
            row_of=np.repeat(np.arange(len(rows), dtype=np.int32), rows.sizes),
            mass=rows.weights.copy(),
            alive=np.ones(len(rows.weights), dtype=np.bool_),
            size=rows.sizes.astype(np.int32),
            classes=codes,
            **_trees(codes, rows.sizes, len(rows.classes)),
        )

    def __len__(self) -> int:
        return len(self.starts) - 1

    def clean(self, row: int, candidate: int) -> None:
        """Rule out all candidates of a row but one, counted from 0."""
        state, start, end = self.state, self.rows.first[row], self.rows.first[row + 1]
        state.alive[start:end] = False
        state.alive[start + candidate] = True
        state.mass[start + candidate] = 1.0
        state.size[row] = 1
        state.slot[row] = -1

    def possible(self, chosen: np.ndarray | None = None, enough: int | None = None) -> np.ndarray:
        """Return (V, C) bool: the labels possible for the chosen points.

        At least ``enough`` of a point's labels are found, if there are so many.
        """
        from easeml.lifecycle.cleaning.point_scans import possible_of_points
        from easeml.lifecycle.compiled import in_parts, parts_of

        chosen = self._all(chosen)
        found = np.zeros((len(self), len(self.rows.classes)), np.bool_)
        enough = len(self.rows.classes) if enough is None else enough
        arrays = (self.items, self.starts, self.state, self.k, enough, chosen, found)
        in_parts(possible_of_points, parts_of(len(chosen)), *arrays)
        return found

    def scan(
        self, *, gains: bool, chosen: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what the worlds say of the chosen points, n of them.

        That is (n, C) label probabilities, and with ``gains`` (n, N) the bits that cleaning each
        row takes off a label's entropy on average, and (n, N) bool which rows the answer depends
        on.
        """
        from easeml.lifecycle.cleaning.point_scans import scan_points
        from easeml.lifecycle.compiled import in_parts, parts_of

        chosen = self._all(chosen)
        width = len(self.rows) if gains else 0
        shares = np.zeros((len(chosen), len(self.rows.classes)))
        bits = np.zeros((len(chosen), width))
        touched = np.zeros((len(chosen), width), np.bool_)
        arrays = (self.items, self.starts, self.state, self.k, chosen, shares, bits, touched)
        in_parts(scan_points, parts_of(len(chosen)), *arrays)
        return shares, bits, touched

    def _all(self, chosen: np.ndarray | None) -> np.ndarray:
        if chosen is None:
            return np.arange(len(self), dtype=np.int64)
        return np.asarray(chosen, dtype=np.int64)


def _trees(codes: np.ndarray, sizes: np.ndarray, classes: int) -> dict[str, np.ndarray]:
    """Give every dirty row a leaf in a tree of its class.

    A tree has a power of two leaves and as many other nodes.
    """
    slot = np.full(len(sizes), -1, np.int32)
    leaves = np.ones(classes, np.int32)
    for c in range(classes):
        dirty = np.flatnonzero((codes == c) & (sizes > 1))
        slot[dirty] = np.arange(len(dirty))
        leaves[c] = 1 << max(0, len(dirty) - 1).bit_length()
    base = np.concatenate([[0], np.cumsum(2 * leaves)[:-1]]).astype(np.int32)
    return {"slot": slot, "base": base, "leaves": leaves}
