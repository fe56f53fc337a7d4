"""Cells that look broken in a slice: more often than in the rows that they are compared with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from easeml.lifecycle.cleaning.frames import Column, Frame
from easeml.lifecycle.debugging.conditions import Slice, numbers_of
from easeml.lifecycle.debugging.shares import is_more

_METHODS = ("missing", "outlier")
_REFERENCE = 2000  # rows that others are compared with
_PART = 0.2  # rows that are looked at together, as a share of those: what is usual has to stay so
_LEAST = 20
_STUCK = 0.3  # share of equal numbers in a slice
_HEAP = 0.03  # share of equal numbers that is usual where something is measured
_MOVED = 0.5  # Kolmogorov-Smirnov distance
_SHARE = 0.25  # of the cells of a column, that have to be broken
_LEVEL = 0.01
_NEEDED = 2.0  # standard errors by which a column has to matter


@dataclass(frozen=True, slots=True)
class BrokenCells:
    """A column whose cells look broken in a slice. ``where`` (n,): in which of the rows looked at.

    ``found``: what is wrong with them. ``usual``: share of such cells in the rows compared with.
    """

    column: str
    where: np.ndarray
    found: str
    usual: float


def broken_cells(
    rows: Frame, others: Frame, everywhere: Frame, place: Slice, *, same_place: bool
) -> list[BrokenCells]:
    """Return the columns whose cells look broken in ``rows``, all of them in the slice ``place``.

    At least a quarter of its cells, by the detectors of ``easeml.lifecycle.cleaning`` (missing, far
    from all others), and where a column of many numbers is stuck at one of them. ``others``: the
    rows that they are compared with, ``everywhere``: these and those of the slice; what is usual is
    learned from them, as a slice may be a range of the column. ``same_place``: those of them that
    are in the slice, but for its conditions on the column itself, are what its cells should look
    like; then a column whose numbers have moved as a whole is found, too.
    """
    suspect = suspicious(rows, everywhere)
    found = []
    for name in map(str, rows.columns):
        usual = others
        moved = None
        if same_place:
            usual = _in_same_place(others, place, name)
            moved = _moved(rows[name], usual[name], name)
        one = _stuck(rows[name], usual[name], name) or moved
        one = one or _suspicious_column(name, suspect, len(rows))
        if one is not None and _is_beyond_chance(one, len(usual), rows.shape[1]):
            found.append(one)
    return sorted(found, key=lambda one: -int(one.where.sum()))


def _in_same_place(others: Frame, place: Slice, name: str) -> Frame:
    """Return the rows of a slice but for its conditions on one column; all where these are few."""
    rest = tuple(one for one in place.conditions if one.column != name)
    alike = others[Slice(rest).holds(others)]
    return alike if len(alike) >= _LEAST else others


def _is_beyond_chance(cells: BrokenCells, usual: int, columns: int) -> bool:
    """Whether so many cells are broken that it is no chance; ``usual``: rows compared with."""
    if cells.where.mean() < _SHARE:
        return False
    strange = round(cells.usual * usual)
    p_value = is_more(int(cells.where.sum()), len(cells.where), strange, usual)
    return p_value * columns <= _LEVEL


@dataclass(frozen=True, slots=True)
class _Suspects:
    """Cells that look wrong, by column: rows with what is wrong; and their share elsewhere."""

    cells: dict[str, dict[int, str]]
    usual: dict[str, float]


def suspicious(rows: Frame, others: Frame) -> _Suspects:
    """Return the cells of ``rows`` that the detectors find beside ``others``, part by part."""
    import pandas as pd

    from easeml.lifecycle.cleaning import detect_errors

    reference = spread_over(others, _REFERENCE)
    size = max(_LEAST, int(_PART * len(reference)))
    cells: dict[str, dict[int, str]] = {}
    strange: Counter[str] = Counter()
    looked_at = 0
    for start in range(0, len(rows), size):
        part = rows.iloc[start : start + size]
        table = pd.concat([reference.astype(object), part.astype(object)])
        looked_at += len(reference)
        for cell in detect_errors(table, methods=_METHODS).cells:
            if not cell.column:
                continue
            if cell.row < len(reference):
                strange[cell.column] += 1
            else:
                row = start + cell.row - len(reference)
                cells.setdefault(cell.column, {}).setdefault(row, cell.method)
    usual = {name: strange[name] / max(looked_at, 1) for name in map(str, rows.columns)}
    return _Suspects(cells, usual)


def needed_columns(
    predict: Callable[[Frame], Any],
    inputs: Frame,
    is_wrong: Callable[[Any], np.ndarray],
    columns: list[str],
    seed: int,
) -> dict[str, float]:
    """Return the mistakes a row that a model makes more when a column is shuffled.

    Only of columns that cost more than two standard errors. ``is_wrong``: which of the predictions
    for ``inputs`` are mistakes.
    """
    before = is_wrong(predict(inputs)).astype(float)
    needed = {}
    for number, name in enumerate(columns):
        random = np.random.default_rng([seed, number])
        shuffled = inputs.copy(deep=False)
        order = random.permutation(len(inputs))
        shuffled[name] = inputs[name].iloc[order].set_axis(inputs.index)
        more = is_wrong(predict(shuffled)).astype(float) - before
        if more.mean() > _NEEDED * more.std() / np.sqrt(len(more)):
            needed[name] = float(more.mean())
    return needed


def _suspicious_column(name: str, suspect: _Suspects, rows: int) -> BrokenCells | None:
    cells = suspect.cells.get(name)
    if not cells:
        return None
    where = np.zeros(rows, dtype=bool)
    where[list(cells)] = True
    method = Counter(cells.values()).most_common(1)[0][0]
    told = {"missing": "missing", "outlier": "far from all others"}
    return BrokenCells(name, where, told[method], suspect.usual[name])


def _stuck(cells: Column, usual: Column, name: str) -> BrokenCells | None:
    """Find a column of many numbers that has one of them again and again."""
    if cells.dtype.kind not in "iuf":
        return None
    values = numbers_of(cells)
    others = numbers_of(usual)
    known = others[np.isfinite(others)]
    if not len(known) or np.unique(known, return_counts=True)[1].max() > _HEAP * len(known):
        return None  # equal numbers are usual
    different, counts = np.unique(values[np.isfinite(values)], return_counts=True)
    if not len(different) or counts.max() < max(_STUCK * len(values), 5):
        return None
    heap = different[counts.argmax()]
    share = float((known == heap).mean())
    if 2 * share > counts.max() / len(values):
        return None
    return BrokenCells(name, values == heap, f"stuck at {heap:.6g}", share)


def _moved(cells: Column, usual: Column, name: str) -> BrokenCells | None:
    """Find a column whose numbers have moved as a whole."""
    from scipy.stats import ks_2samp

    if cells.dtype.kind not in "iuf":
        return None
    numbers = numbers_of(cells)
    others = numbers_of(usual)
    values = numbers[np.isfinite(numbers)]
    others = others[np.isfinite(others)]
    if len(values) < _LEAST or len(others) < _LEAST:
        return None
    tested: Any = ks_2samp(values, others)
    if tested.statistic < _MOVED:
        return None
    low, high = np.quantile(others, [0.025, 0.975])
    where = np.isfinite(numbers) & ((numbers < low) | (numbers > high))
    if where.sum() / len(values) < _STUCK:
        return None
    now = float(np.median(values))
    then = float(np.median(others))
    return BrokenCells(name, where, f"about {now:.4g} where it was about {then:.4g}", 0.05)


def spread_over(rows: Frame, most: int) -> Frame:
    """Return at most so many rows, evenly spread."""
    if len(rows) <= most:
        return rows
    return rows.iloc[np.linspace(0, len(rows) - 1, most).astype(int)]
