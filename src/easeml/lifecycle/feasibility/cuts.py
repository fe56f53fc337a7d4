"""Cuts of a table into cells: what the cells of each say of the target, and what chance would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from easeml.lifecycle.compiled import njit

CHANCE = 0.01  # that the best of many cuts is found where there is none
PRIOR = 1.0  # rows of the whole table's shares added to every cell


@dataclass(frozen=True)
class Cut:
    """A way to give every row of the table a cell: (rows,) numbers from 0."""

    name: str
    codes: np.ndarray


def may_be_chance(surprise: float, compared: int) -> bool:
    """Tell whether the best of ``compared`` sets could be as good by chance.

    ``surprise``: the logarithm of the chance that a single set is.
    """
    return bool(surprise + np.log(compared) > np.log(CHANCE))


def raw_indicators(target: np.ndarray, classes: int) -> np.ndarray:
    """Return (C, rows) 0 or 1 a class; a single row for two classes, and for numbers themselves."""
    if not classes:
        return target[None, :].astype(float)
    if classes == 2:
        return (target == 1)[None, :].astype(float)
    return (target == np.arange(classes)[:, None]).astype(float)


def indicators(target: np.ndarray, classes: int) -> np.ndarray:
    """Return the same without their means: what is left to explain."""
    raw = raw_indicators(target, classes)
    return raw - raw.mean(axis=1, keepdims=True)


def standardised(left: np.ndarray) -> np.ndarray:
    """Return what is left, each row of unit variance (0 where nothing is left)."""
    spread = left.std(axis=1, keepdims=True)
    return (left - left.mean(axis=1, keepdims=True)) / np.where(spread > 1e-9, spread, np.inf)


def take_away(cuts: Sequence[Cut], left: np.ndarray, rows: np.ndarray) -> None:
    """Subtract the cells' means from what is left to explain, in place."""
    for cut in cuts:
        own = cut.codes[rows]
        counts = np.bincount(own) + PRIOR
        for place, values in enumerate(left):
            left[place] = values - (np.bincount(own, values) / counts)[own]


def gain_of(codes: np.ndarray, standard: np.ndarray) -> float:
    """Return what cells explain, (rows,), whatever their number."""
    sizes = np.array([codes.max() + 1])
    return float(gains_of(codes[None], sizes, np.zeros((1, 1), np.int64), standard)[0][0])


@njit(cache=True)
def gains_of(codes, sizes, sets, left):  # pragma: no cover - compiled
    """Return what the cells of every set explain, and their degrees of freedom.

    A set explains the sum over its cells of (sum of what is left)^2 / rows.

    ``codes``: (columns, rows) cells, ``sizes`` (columns,), ``sets``: (sets, order), ``left``: (C,
    rows) of unit variance.
    """
    gains = np.zeros(len(sets))
    freedom = np.zeros(len(sets), dtype=np.int64)
    rows = codes.shape[1]
    width = len(left)
    cell = np.empty(rows, dtype=np.int64)
    for number in range(len(sets)):
        size = 1
        cell[:] = 0
        for member in sets[number]:
            for row in range(rows):
                cell[row] = cell[row] * sizes[member] + codes[member, row]
            size *= sizes[member]
        counts = np.zeros(size, dtype=np.int64)
        sums = np.zeros((width, size))
        for row in range(rows):
            counts[cell[row]] += 1
        for place in range(width):
            for row in range(rows):
                sums[place, cell[row]] += left[place, row]
        filled = 0
        for c in range(size):
            if counts[c]:
                filled += 1
                for place in range(width):
                    gains[number] += sums[place, c] ** 2 / counts[c]
        freedom[number] = max(0, filled - 1) * max(1, width - 1)
    return gains, freedom
