"""The conditions that are looked at: chosen by the inputs alone, never by where mistakes are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np

from easeml.lifecycle.cleaning.frames import Column, Frame
from easeml.lifecycle.debugging.conditions import Condition, numbers_of, words_of
from easeml.lifecycle.labels import class_name

_MOST = 300  # conditions, so that all pairs can be looked at
_CATEGORIES = 20  # of a column
_FEW_VALUES = 12  # different numbers, each a value of its own
_WORDS = 40
_WIDEST = 4  # parts between cuts that a range has, where it has two ends
_SHARES = (0.05, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 0.95)  # where numbers are cut
_HEAP = 0.05  # share of equal numbers, in a column of many, that is a value of its own
_LONG_TEXT = 3.0  # words in a cell, on average


@dataclass(frozen=True, slots=True)
class Candidates:
    """Conditions, and where they hold: ``holds`` (conditions, rows) of bool.

    ``column`` (conditions,): the number of the column that each is about.
    """

    conditions: tuple[Condition, ...]
    holds: np.ndarray
    column: np.ndarray


def candidates_in(rows: Frame, least: int) -> Candidates:
    """Return conditions that hold on at least ``least`` rows, and not on all but so many.

    Categories and heaps of equal numbers, what is missing, ranges between quantiles, and words.
    At most 300, taken from the columns in turn, the widest first. Cells that are no number, text,
    time or category are not looked at.
    """
    conditions: list[Condition] = []
    columns: list[int] = []
    for place, name in enumerate(rows.columns):
        of_column = _of_column(rows[name], str(name), least)
        conditions += of_column
        columns += [place] * len(of_column)
    column = np.array(columns, dtype=np.int64)
    holds = np.zeros((len(conditions), len(rows)), dtype=bool)
    for place, condition in enumerate(conditions):
        holds[place] = condition.holds(rows)
    count = holds.sum(axis=1)

    telling = np.flatnonzero((least <= count) & (count <= len(rows) - least))
    chosen = telling[_in_turn(column[telling], count[telling])][:_MOST]
    return Candidates(tuple(conditions[place] for place in chosen), holds[chosen], column[chosen])


def _in_turn(column: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return places such that the widest of each column come first, then the second, and so on."""
    order = np.lexsort((-count, column))
    ordered = column[order]
    turn = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    return order[np.argsort(turn, kind="stable")]


def _of_column(cells: Column, name: str, least: int) -> list[Condition]:
    found = [Condition(name, "missing")]
    if cells.dtype.kind in "iufM":
        return found + _ranges(cells, name)
    known = cells.dropna()
    first = known.head(1000).tolist()
    if not all(isinstance(one, str | bool | int | float) for one in first):
        return found  # images, tensors
    if str(cells.dtype) != "category" and _is_long(first):
        return found + _words(known, name, least)
    counts = Counter(map(class_name, known))
    frequent = counts.most_common(_CATEGORIES)
    return found + [Condition(name, "is", str(value)) for value, _ in frequent]


def _ranges(cells: Column, name: str) -> list[Condition]:
    """Return ranges between quantiles, and heaps of equal numbers."""
    values = numbers_of(cells)
    values = values[np.isfinite(values)]
    is_time = cells.dtype.kind == "M"
    different, counts = np.unique(values, return_counts=True)
    if len(different) < 2:
        return []
    is_many = len(different) > _FEW_VALUES
    cuts = np.unique(np.quantile(values, _SHARES)) if is_many else different[1:]
    found = [
        Condition(name, "within", "", low, high, is_time) for low, high in _parts(cuts.tolist())
    ]
    if is_many and not is_time:
        heaps = different[counts > _HEAP * len(values)]
        found += [Condition(name, "is", f"{value:.12g}") for value in heaps]
    return found


def _parts(cuts: list[float]) -> list[tuple[float | None, float | None]]:
    """Return the ranges between cuts: all that are open at one end, narrow ones of two ends."""
    edges = [None, *cuts, None]
    end = len(edges) - 1
    found = []
    for first, last in combinations(range(len(edges)), 2):
        open_ends = (first == 0) + (last == end)
        is_narrow = open_ends == 0 and last - first <= _WIDEST
        if open_ends == 1 or is_narrow:
            found.append((edges[first], edges[last]))
    return found


def _is_long(texts: Sequence[object]) -> bool:
    words = sum(len(str(text).split()) for text in texts)
    return words > _LONG_TEXT * len(texts)


def _words(known: Column, name: str, least: int) -> list[Condition]:
    counts = Counter(chain.from_iterable(map(words_of, known)))
    frequent = [word for word, count in counts.most_common(10 * _WORDS) if count >= least]
    return [Condition(name, "word", word) for word in frequent[:_WORDS]]
