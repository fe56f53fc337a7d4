"""Inputs that know the answer too well: what names, single columns, gaps, sums and products show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from easeml.data.inference import name_words as names
from easeml.data.inference.arithmetic import (
    factors,
    parts,
    rows_without_gaps,
    whole_and_parts,
)
from easeml.data.inference.formulas import product_in_words, sum_in_words
from easeml.data.inference.likeness import correlation, in_same_order, is_line
from easeml.data.types import values as v
from easeml.data.types.column_report import ColumnReport
from easeml.data.types.number_forms import plain_numbers

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

Leaks = dict[str, str]  # suspects by name: what shows it

_ROWS = 4000
_FEWEST = 40  # rows, below which chance tells an answer as well
_BINS = 64
_RIGHT = 0.995  # share of rows in which a column alone tells the target
_RIGHT_BY_GAPS = 0.97
_EXPLAINED = 0.999  # of the variance of a number
_MOST_TIES = 0.1  # share of rows with a value that others have, above which ranks tell little
_OF_CLASS = 0.25  # share of a class that a column has to tell, where it tells no other
_AMOUNTS = 20  # different numbers, from which on 0 may mean that there is none
_LEARNED = slice(0, None, 2)  # rows that bins learn from
_CHECKED = slice(1, None, 2)  # and those that show whether they learned the target
_IS_WHOLE = "the target seems to be a part of it: it is never smaller, and both rise together"
_COPIES = "it orders the rows as the target does: a copy in another scale"
_EXPLAINS = "alone it explains the target all but fully"


@dataclass(frozen=True)
class _Looked:
    """A column in the rows that are looked at.

    Numbers or codes (NaN is missing), and bins of them (0 is missing). ``commonest``: the number or
    code that most rows have; None where each has its own.
    """

    report: ColumnReport
    values: np.ndarray
    bins: np.ndarray
    commonest: float | None

    @property
    def name(self) -> str:
        return self.report.name

    @property
    def is_number(self) -> bool:
        return self.report.type == "number"

    @property
    def is_time(self) -> bool:
        return self.report.type == "timestamp"

    @property
    def is_measured(self) -> bool:
        """Whether, as a target, it is a number and not one of few classes."""
        return self.is_number and not self.report.classes


@dataclass(frozen=True)
class _Answer:
    """A target, in the rows that have one.

    ``known``: which rows of the table these are. ``codes``: of the values, in their order.
    ``counts``: rows of each code. ``is_measured``: it is a number and not one of few classes.
    """

    known: np.ndarray
    values: np.ndarray
    codes: np.ndarray
    counts: np.ndarray
    is_measured: bool

    @property
    def can_be_told(self) -> bool:
        """Whether there are enough rows, of several values, for more than chance to show."""
        return len(self.values) >= _FEWEST and len(self.counts) > 1


class LeakFinder:
    """The columns of a table, made ready to be looked at with one target after the other."""

    def __init__(self, reports: Sequence[ColumnReport], table: dict[str, pa.Array]):
        self._columns: dict[str, _Looked] = {}
        for report in reports:
            if report.name in table:
                array = table[report.name]
                self._columns[report.name] = _looked(report, array.take(_spread(len(array))))

    def leaks(self, target: str) -> Leaks:
        """Suspected inputs of a target: why. ``target`` is one of the table's columns."""
        import numpy as np

        inputs = self._inputs_beside(target)
        found = _called_predictions(inputs)
        answer = _answer_of(self._columns[target])
        if not answer.can_be_told:
            return found
        # Numbers near the largest there are give infinite sums, which show nothing.
        with np.errstate(over="ignore", invalid="ignore"):
            return {**_shown(inputs, answer), **found}

    def _inputs_beside(self, target: str) -> list[_Looked]:
        others = [column for name, column in self._columns.items() if name != target]
        return list(filter(_is_input, others))


def _is_input(column: _Looked) -> bool:
    return column.report.role == "input"


def _called_predictions(inputs: Sequence[_Looked]) -> Leaks:
    """The columns that are called predictions."""
    called = [one.name for one in inputs if names.has_word(one.name, names.PREDICTIONS)]
    return dict.fromkeys(called, "its name is that of a prediction")


def _answer_of(column: _Looked) -> _Answer:
    import numpy as np

    known = ~np.isnan(column.values)
    values = column.values[known]
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    return _Answer(known, values, codes, counts, column.is_measured)


def _shown(inputs: Sequence[_Looked], answer: _Answer) -> Leaks:
    """Suspects by what they hold, alone or together."""
    found = {}
    others = []
    for column in inputs:
        why = _alone(column, answer)
        if why:
            found[column.name] = why
        else:
            others.append(column)
    if not answer.is_measured:
        return found
    # Beside a column that tells all by itself, others would not be needed.
    return {**_together(others, answer), **found}


def _spread(rows: int) -> np.ndarray:
    """Evenly spaced row numbers."""
    import numpy as np

    return np.unique(np.linspace(0, rows - 1, min(rows, _ROWS)).astype(np.int64))


def _looked(report: ColumnReport, array: pa.Array) -> _Looked:
    import numpy as np

    if report.type == "number":
        values = v.to_numbers(plain_numbers(array, report.format)).values
        return _Looked(report, values, _binned(values), _commonest(values))
    codes = array.dictionary_encode().indices.to_numpy(zero_copy_only=False).astype(float)
    codes[v.missing_mask(array, report.type)] = np.nan
    bins = np.nan_to_num(codes, nan=-1).astype(np.int64) + 1
    values = _seconds(array, report.format) if report.type == "timestamp" else codes
    return _Looked(report, values, bins, _commonest(values))


def _commonest(values: np.ndarray) -> float | None:
    import numpy as np

    different, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    if counts.max(initial=0) <= 1:
        return None
    return float(different[counts.argmax()])


def _seconds(array: pa.Array, form: str) -> np.ndarray:
    import numpy as np

    times = np.asarray(v.convert(array, "timestamp", form=form).values, dtype="datetime64[us]")
    seconds = times.astype(np.int64) / 1e6
    return np.where(np.isnat(times), np.nan, seconds)


def _binned(values: np.ndarray) -> np.ndarray:
    import numpy as np

    known = values[~np.isnan(values)]
    if not len(known):
        return np.zeros(len(values), dtype=np.int64)
    edges = np.unique(np.quantile(known, np.linspace(0, 1, _BINS + 1)[1:-1]))
    return np.where(np.isnan(values), 0, np.searchsorted(edges, values, side="right") + 1)


def _alone(column: _Looked, answer: _Answer) -> str:
    """What shows that a column alone gives the answer; empty where nothing does."""
    if column.report.nature == "time":
        return ""  # what changes with time is no leak
    bins = column.bins[answer.known]
    shown = _explains(column, answer) if answer.is_measured else _tells(bins, answer)
    shown = shown or _gaps_tell(bins, answer) or _one_value_tells(column, answer)
    return shown or _only_one_class_has(column, answer)


def _tells(bins: np.ndarray, answer: _Answer) -> str:
    """Whether a column, learned on every second row, gives the class in (nearly) all others."""
    if _too_many(bins):
        return ""
    share, base = _right(bins, answer)
    is_no_chance = 1 - share < (1 - base) / 20
    if share >= _RIGHT and is_no_chance:
        return f"alone it tells the target in {share:.1%} of rows"
    return ""


def _explains(column: _Looked, answer: _Answer) -> str:
    """Whether a column alone gives a number: by its values, in a line, or in the same order."""
    import numpy as np

    bins = column.bins[answer.known]
    if _explained(bins, answer.values) > _EXPLAINED:
        return _EXPLAINS
    given = column.values[answer.known]
    both = ~np.isnan(given)
    if not column.is_number or both.sum() < _FEWEST:
        return ""

    values = given[both]
    actual = answer.values[both]
    if abs(correlation(values, actual)) > _EXPLAINED or is_line(values, actual):
        return _EXPLAINS
    # Where the target has many ties, an order tells little.
    different = len(answer.counts)
    has_few_ties = different >= len(answer.values) * _MOST_TIES
    if has_few_ties and in_same_order(values, actual):
        return _COPIES
    return ""


def _gaps_tell(bins: np.ndarray, answer: _Answer) -> str:
    """Whether a column is empty exactly where the target has a class, or a number has its mode."""
    return _one_label_where(bins == 0, ("empty", "filled"), answer)


def _one_value_tells(column: _Looked, answer: _Answer) -> str:
    """As ``_gaps_tell``, where the commonest value stands for a gap: code 00000 for no case."""
    given = column.values[answer.known]
    commonest = column.commonest if answer.known.all() else _commonest(given)
    if commonest is None:
        return ""
    common = given == commonest
    return _one_label_where(common, ("its commonest value", "another value"), answer)


def _only_one_class_has(column: _Looked, answer: _Answer) -> str:
    """Whether a column is filled, or not 0, for one class only: the fee of a debt that is due.

    A part of the class's rows may be without.
    """
    import numpy as np

    if answer.is_measured:
        return ""
    given = column.values[answer.known]
    is_filled = ~np.isnan(given)
    amounts = np.unique(given[is_filled & (given != 0)])
    if column.is_number and len(amounts) >= _AMOUNTS:
        is_filled &= given != 0
    rows = int(is_filled.sum())
    if rows < _FEWEST or rows == len(given):
        return ""
    having = np.bincount(answer.codes[is_filled], minlength=len(answer.counts))
    one = having.argmax()
    is_pure = having[one] >= _RIGHT * rows
    is_much = having[one] >= _OF_CLASS * answer.counts[one]
    is_common = answer.counts[one] > len(given) / 2
    if is_common or not (is_pure and is_much):
        return ""
    return f"only where the target has one value it is filled ({having[one]:,} of {rows:,} rows)"


def _one_label_where(side: np.ndarray, words: tuple[str, str], answer: _Answer) -> str:
    """Whether the target has one value just on one side; a number is looked at by its mode."""
    import numpy as np

    rows = len(side)
    inside = int(side.sum())
    if min(inside, rows - inside) < _FEWEST // 2:
        return ""
    looked_at = np.arange(len(answer.counts))[:_BINS]
    if answer.is_measured:
        looked_at = np.array([answer.counts.argmax()])
    having = answer.counts[looked_at]
    both = np.bincount(answer.codes[side], minlength=len(answer.counts))[looked_at]
    rare = np.minimum(having, rows - having)
    agree = 2 * both + rows - inside - having  # rows on the side with the value, or without both
    in_side, outside = words
    return _just_where(in_side, agree, rare, rows) or _just_where(outside, rows - agree, rare, rows)


def _just_where(word: str, agreeing: np.ndarray, rare: np.ndarray, rows: int) -> str:
    """Whether a value of the target is (nearly) just where the column is ``word``.

    ``agreeing``: rows, by value, in which both or neither are; ``rare``: rows with it or, if these
    are fewer, without it, which may err less often.
    """
    shows = (agreeing >= _RIGHT_BY_GAPS * rows) & (rows - agreeing < rare / 10)
    if not shows.any():
        return ""
    share = float(agreeing[shows.argmax()] / rows)
    return f"it is {word} just where the target has one value ({share:.1%} of rows)"


def _together(inputs: Sequence[_Looked], answer: _Answer) -> Leaks:
    """Suspects that are parts, factors or wholes of a number."""
    actual = answer.values
    summands = {
        one.name: one.values[answer.known] for one in inputs if one.is_number or one.is_time
    }
    rows = rows_without_gaps(summands)
    if rows is not None:
        actual = actual[rows]
        summands = {name: values[rows] for name, values in summands.items()}
    numbers = {one.name: summands[one.name] for one in inputs if one.is_number}
    added, multiplied = parts(summands, actual), factors(numbers, actual)
    # the time between two is known too early; what rises or falls with one is no leak
    if len({*added}.difference(numbers)) == 1:
        added = parts(numbers, actual)
    of_sum = f"the target is {sum_in_words(summands, added, actual)}"
    of_product = f"the target is {product_in_words(numbers, multiplied, actual)}"
    found: Leaks = dict.fromkeys(multiplied, of_product) | dict.fromkeys(added, of_sum)
    for whole, rest in whole_and_parts(numbers, actual).items():
        beside = dict.fromkeys(rest, f"with the target it makes up '{whole}'")
        found = {whole: _IS_WHOLE, **beside, **found}
    return found


def _too_many(bins: np.ndarray) -> bool:
    """Whether there are too many values to learn from."""
    return bins.max(initial=0) + 1 > len(bins) // 4


def _explained(bins: np.ndarray, actual: np.ndarray) -> float:
    """R squared, on the rows checked, of the mean of each bin on the rows learned.

    0 where there are too many bins to learn from, or the target does not vary.
    """
    import numpy as np

    if _too_many(bins):
        return 0.0
    size = int(bins.max()) + 1
    learned, checked = actual[_LEARNED], actual[_CHECKED]
    number = np.bincount(bins[_LEARNED], minlength=size)
    total = np.bincount(bins[_LEARNED], weights=learned, minlength=size)
    means = np.where(number > 0, total / np.maximum(number, 1), learned.mean())
    spread = float(((checked - checked.mean()) ** 2).sum())
    missed = float(((checked - means[bins[_CHECKED]]) ** 2).sum())
    if not 0 < spread < np.inf:
        return 0.0
    return 1 - missed / spread


def _right(bins: np.ndarray, answer: _Answer) -> tuple[float, float]:
    """Share of the rows checked for which the most frequent answer of each bin is right.

    Answers are counted on the rows learned. The second share is that of all bins together.
    """
    import numpy as np

    codes = answer.codes
    shape = (int(bins.max()) + 1, len(answer.counts))
    cells = bins[_LEARNED] * shape[1] + codes[_LEARNED]
    counts = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
    base = counts.sum(axis=0).argmax()
    guess = np.where(counts.sum(axis=1) > 0, counts.argmax(axis=1), base)
    right = float((guess[bins[_CHECKED]] == codes[_CHECKED]).mean())
    return right, float((codes[_CHECKED] == base).mean())
