"""Columns whose rows are of the same somebody: a few rows a value, with like answers.

Divided at random, rows of one country train and test, and the quality is that for known countries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from easeml.data.inference import name_words as names
from easeml.data.types import values as v
from easeml.data.types.column_report import ColumnReport
from easeml.data.types.number_forms import plain_numbers

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_FEWEST_EACH = 2  # rows of a value, on average
_CALLED_SO = (math.inf, 2)  # rows of a value at most, values at least, by the column's name
_NOT_CALLED_SO = (50, 15)
_MOST_UNEVEN = 0.6  # as well: deviation of the rows of a value, as a share of their mean
_FEWEST_ROWS = 100  # that share their value with others, below which chance makes answers alike
_MOST_APART = 0.7  # difference of the answers of one value, as a share of that of any two rows
_MOST_WORDS = 4  # of a value: those of texts are more
_TIMES = names.MOMENTS | names.CALENDAR | {"period"}


@dataclass(frozen=True)
class _Column:
    """Who or what each row is of: ``codes`` (N,), where a missing value is -1."""

    name: str
    is_named: bool  # as columns are that name somebody
    codes: np.ndarray


@dataclass(frozen=True)
class _Found:
    """A column whose rows are alike. ``apart``: how little, from 0; ``fact``: in words."""

    column: _Column
    apart: float
    fact: str


@dataclass(frozen=True)
class _Answers:
    """The ``values`` (N,) of a target, and which ``are_known``.

    ``apart``: how far those of one group lie apart in the mean; ``told``: the fact in words.
    """

    values: np.ndarray
    are_known: np.ndarray
    apart: Callable[[np.ndarray, np.ndarray], float]
    told: Callable[[str, float, float], str]


class EntityFinder:
    """The columns of a table that may name somebody, to be looked at with one target each time."""

    def __init__(self, reports: Sequence[ColumnReport], table: dict[str, pa.Array], rows: int):
        """``table``: the rows that are looked at, by column; ``rows``: those of the whole table."""
        self._reports = {report.name: report for report in reports}
        self._table = table
        self._columns: list[_Column] = []
        for report in reports:
            if report.name in table and _may_name_somebody(report, rows):
                self._columns += _evenly_shared(report, table[report.name])

    def likest(self, target: str) -> dict[str, str]:
        """Return the column whose rows are most alike in the target, with the fact in words.

        Nothing where there is none. Columns that are named like somebody come first.
        """
        others = [column for column in self._columns if column.name != target]
        if not others:
            return {}
        report = self._reports[target]
        answers = _answers(report, self._table[target])
        alike = chain.from_iterable(map(partial(_alike, target, answers), others))
        found = sorted(alike, key=lambda one: (not one.column.is_named, one.apart))
        return {one.column.name: one.fact for one in found[:1]}


def _may_name_somebody(report: ColumnReport, rows: int) -> bool:
    """Whether a column has values of a few words, each in a few rows."""
    is_time = names.has_word(report.name, _TIMES)
    is_label = report.type in ("category", "text") and report.nature in ("input", "group")
    if not all((is_label, report.distinct, not is_time)):
        return False
    words = sum(map(len, map(str.split, report.examples)))
    is_short = words <= _MOST_WORDS * len(report.examples)
    each = rows * (1 - report.missing) / report.distinct
    most, fewest_values = _CALLED_SO if report.nature == "group" else _NOT_CALLED_SO
    return all((is_short, _FEWEST_EACH <= each <= most, report.distinct >= fewest_values))


def _evenly_shared(report: ColumnReport, array: pa.Array) -> list[_Column]:
    """The column, where it is named like somebody or its values have about equally many rows.

    Nothing else: a few frequent values and many rare ones are those of an ordinary category.
    """
    import numpy as np

    codes = _codes(report, array)
    is_named = report.nature == "group"
    each = np.bincount(codes[codes >= 0])
    each = each[each > 0]
    is_even = len(each) > 0 and each.std() <= _MOST_UNEVEN * each.mean()
    if not (is_named or is_even):
        return []
    return [_Column(report.name, is_named, codes)]


def _codes(report: ColumnReport, array: pa.Array) -> np.ndarray:
    """A number for each value (N,); -1 where it is missing."""
    import numpy as np

    codes = array.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    return np.where(v.missing_mask(array, report.type), -1, codes).astype(np.int64)


def _answers(report: ColumnReport, array: pa.Array) -> _Answers:
    """The values of a column as a target: those of a number, or which class each is."""
    import numpy as np

    if (report.type, report.classes) != ("number", []):
        codes = _codes(report, array)
        return _Answers(codes, codes >= 0, _share_unlike, _sameness_told)
    values = v.to_numbers(plain_numbers(array, report.format)).values
    return _Answers(values, np.isfinite(values), _mean_difference, _difference_told)


def _alike(target: str, answers: _Answers, column: _Column) -> list[_Found]:
    """What is found of a column and a target: nothing where rows of one value are not alike."""
    import numpy as np

    known = answers.are_known & (column.codes >= 0)
    _, groups = np.unique(column.codes[known], return_inverse=True)
    sizes = np.bincount(groups)
    if sizes[sizes > 1].sum() < _FEWEST_ROWS:
        return []
    # Numbers near the largest there are give infinite sums, which show nothing.
    with np.errstate(over="ignore", invalid="ignore"):
        within = max(0.0, answers.apart(groups, answers.values[known]))
        between = answers.apart(np.zeros_like(groups), answers.values[known])
    is_much = 0 < between < np.inf and within <= _MOST_APART * between
    if not is_much:
        return []
    return [_Found(column, within / between, answers.told(target, within, between))]


def _mean_difference(groups: np.ndarray, values: np.ndarray) -> float:
    """How far two numbers of one group lie apart, in the mean over the rows that share theirs."""
    import numpy as np

    order = np.lexsort((values, groups))
    group = groups[order]
    sizes = np.bincount(groups)
    place = np.arange(len(group)) - (np.cumsum(sizes) - sizes)[group]
    # Of the sorted values of a group, each is added for those below, and taken off for those above.
    of_all_pairs = np.bincount(group, weights=(2 * place + 1 - sizes[group]) * values[order])
    is_shared = sizes > 1
    of_rows = 2 * of_all_pairs[is_shared] / (sizes[is_shared] - 1)
    return float(of_rows.sum() / sizes[is_shared].sum())


def _share_unlike(groups: np.ndarray, codes: np.ndarray) -> float:
    """How often two rows of one group differ, in the mean over the rows that share theirs."""
    import numpy as np

    width = int(codes.max()) + 1
    cells, counts = np.unique(groups * width + codes, return_counts=True)
    sizes = np.bincount(groups)
    same = np.bincount(cells // width, weights=counts * (counts - 1.0), minlength=len(sizes))
    is_shared = sizes > 1
    of_rows = same[is_shared] / (sizes[is_shared] - 1)
    return 1 - float(of_rows.sum() / sizes[is_shared].sum())


def _difference_told(target: str, within: float, between: float) -> str:
    return (
        f"two of them differ in '{target}' by {_plain(within)} on average, any two rows "
        f"by {_plain(between)}"
    )


def _plain(number: float) -> str:
    """A number as people say it: three digits, and no power of ten where it is large."""
    if number >= 100:
        return f"{number:,.0f}"
    return f"{number:.3g}"


def _sameness_told(target: str, within: float, between: float) -> str:
    return (
        f"two of them have the same '{target}' in {1 - within:.0%} of cases, any two rows "
        f"in {1 - between:.0%}"
    )
