"""Columns of numbers: quantities, codes that are labels, and what counts the rows."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import filterfalse
from typing import TYPE_CHECKING

from easeml.data.inference import name_words as names
from easeml.data.inference.column_values import Values, report_on, text_array
from easeml.data.inference.missing_codes import suspect_numbers
from easeml.data.inference.odd_cells import with_odd, without_odd_numbers
from easeml.data.inference.text_columns import text_report
from easeml.data.types import values as v
from easeml.data.types.clocks import CLOCKS
from easeml.data.types.column_report import ColumnReport, sort_labels
from easeml.data.types.comma_files import are_dots_of_thousands
from easeml.data.types.number_forms import (
    has_errors,
    is_of_accounts,
    number_form,
    plain_numbers,
)

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_FEWEST_TIMES = 10  # of day, that are measured; fewer are those of a timetable
_FEWEST_ROWS = 10  # below which steps from row to row tell nothing
_SURELY_COUNTED = 300  # rows, one after the other: no years
_TOO_LONG = 1e15  # from which on whole numbers cannot be told apart, let alone be quantities
_DENSE = 1.2  # of the numbers between the least and the largest there is one in so many
_WITH_DOTS = "1.234,5"
_LEADING_ZERO = re.compile(r"0\d+")


@dataclass(frozen=True)
class _Numbers:
    """The different numbers of a column, ascending.

    ``rows``: how many rows have each. ``form``: how they are written, as in a schema.
    """

    unique: np.ndarray
    rows: np.ndarray
    form: str

    @property
    def are_whole(self) -> bool:
        return bool((self.unique == self.unique.round()).all())

    @property
    def are_plain(self) -> bool:
        """Whether they could be labels, or count the rows: whole, and written without marks."""
        return self.are_whole and not self.form

    @property
    def classes(self) -> list[str]:
        """The numbers as labels."""
        return list(map(_label, self.unique.tolist()))


def number_report(values: Values, array: pa.Array, told: str, decimal: str) -> ColumnReport | None:
    """The report of a column of numbers, which may be labels or count the rows; None: it is none."""
    if told != "number" and _has_leading_zeros(values.texts):
        return None
    numbers = _read_numbers(values, decimal)
    if numbers is None:
        return _nearly_numbers(values, array, decimal)

    report = _quantity(values, numbers)
    if told == "number":
        report = replace(report, confidence=1.0)
    if not numbers.are_plain:
        return _with_rare_marks(report, values, array)
    if not told and _are_codes(values, numbers.unique):
        return _codes(values)
    if _are_long_identifiers(values, numbers.unique):
        return _long_identifier(report, values)
    return _counted(report, values, array, numbers.unique)


def _nearly_numbers(values: Values, array: pa.Array, decimal: str) -> ColumnReport | None:
    """The report of numbers among which a few cells are none; None where they may be labels."""
    usual = without_odd_numbers(values)
    if usual is None:
        return None
    numbers = _read_numbers(usual, decimal)
    if numbers is None:
        return None
    if _may_be_names(usual, numbers):
        return None
    report = _quantity(values, _numbers_in(values, numbers.form))
    return with_odd(report, values, usual, array)


def _may_be_names(values: Values, numbers: _Numbers) -> bool:
    """Whether numbers may be labels, or name or count something: then an odd one is one of them."""
    if names.names_identifier(values.name):
        return True
    if not numbers.are_plain:
        return False
    is_of_names = names.has_word(values.name, names.CODES | names.CODED | names.COUNTERS)
    count = len(numbers.unique)
    span = numbers.unique[-1] - numbers.unique[0]
    is_counted = count == values.present and span < _DENSE * count
    is_of_somebody = names.names_entity(values.name)
    are_few = _are_few(count, values.present)
    return any((is_of_names, is_counted, is_of_somebody, are_few))


def _with_rare_marks(report: ColumnReport, values: Values, array: pa.Array) -> ColumnReport:
    """The report; where only a few numbers have the unit or currency of their form, they are told."""
    usual = without_odd_numbers(values) if report.format else None
    if usual is None:
        return report
    return with_odd(report, values, usual, array)


def _has_leading_zeros(texts: list[str]) -> bool:
    """Whether one of the texts is a whole number with zeros in front, as codes have them."""
    return any(map(_LEADING_ZERO.fullmatch, texts))


def _read_numbers(values: Values, decimal: str) -> _Numbers | None:
    """The numbers of a column; None where some texts are no numbers.

    ``decimal``: what stands before decimals in the table. Where it is a comma, dots that could be
    of thousands are.
    """
    array = text_array(values.texts)
    form = _WITH_DOTS if decimal == "," and are_dots_of_thousands(array) else ""
    made = v.to_numbers(plain_numbers(array, form))
    if made.bad.any():
        found = number_form(list(filterfalse(_is_missing, values.texts)))
        is_timetable = found in CLOCKS and len(values.texts) < _FEWEST_TIMES
        if found is None or is_timetable:
            return None
        form = found
    return _numbers_in(values, form)


def _is_missing(text: str) -> bool:
    return text.lower() in v.MISSING_NUMBER


def _numbers_in(values: Values, form: str) -> _Numbers:
    """The numbers of a column that are written in a form; other texts are left out."""
    import numpy as np

    made = v.to_numbers(plain_numbers(text_array(values.texts), form))
    good = ~made.missing & ~made.bad
    unique, place = np.unique(made.values[good], return_inverse=True)
    rows = np.bincount(place, weights=values.number_of[good])
    return _Numbers(unique, rows, form)


def _quantity(values: Values, numbers: _Numbers) -> ColumnReport:
    """The report of numbers that are quantities; few whole ones may be classes all the same."""
    few = numbers.are_whole and _are_few(len(numbers.unique), values.present)
    confidence = _number_confidence(numbers, few)
    report = report_on(values, "number", confidence, _range_told(numbers))
    return replace(
        report,
        distinct=len(numbers.unique),
        classes=numbers.classes if few else [],
        format=numbers.form,
        suspected_codes=suspect_numbers(numbers.unique, numbers.rows),
    )


def _range_told(numbers: _Numbers) -> str:
    """The sentence about numbers: what they are, and from where to where they go."""
    low = float(numbers.unique[0])
    high = float(numbers.unique[-1])
    kind = "Whole numbers"
    if not numbers.are_whole:
        low = float(f"{low:.6g}")
        high = float(f"{high:.6g}")
        kind = "Numbers"

    first = _label(low)
    last = _label(high)
    if numbers.form in CLOCKS:
        return f"Times of day, in minutes since midnight: {first} to {last}."
    said = f"{kind} from {first} to {last}, {len(numbers.unique):,} different."
    if is_of_accounts(numbers.form):
        return f"{said} Negative ones are written like {numbers.form}."
    if has_errors(numbers.form):
        return f"{said} Written like {numbers.form}: the error behind the number is left out."
    return f"{said} Written like {numbers.form}." if numbers.form else said


def _label(number: float) -> str:
    return v.plain_number(repr(number))


def _are_few(distinct: int, present: int) -> bool:
    """Whether so many different whole numbers could be classes."""
    are_repeated = distinct * 5 <= present
    return distinct == 2 or (are_repeated and 1 < distinct <= 20)


def _number_confidence(numbers: _Numbers, few: bool) -> float:
    """How sure it is, 0 to 1, that numbers are quantities; ``few``: they may be classes."""
    if numbers.form:
        return 0.85
    if not numbers.are_whole:
        return 0.99
    if not few:
        return 0.95
    return 0.6 if len(numbers.unique) == 2 else 0.75


def _are_codes(values: Values, unique: np.ndarray) -> bool:
    """Whether whole numbers are labels: named so, and repeated, or dialled rather than counted."""
    count = len(unique)
    are_repeated = count * 5 <= values.present
    are_shared = values.present > count > 1

    are_listed = names.has_word(values.name, names.CODES) and are_repeated and 2 < count <= 60
    are_dialled = names.has_word(values.name, names.DIALLED) and are_shared and unique[0] >= 1000
    are_entities = count > 10 and values.each >= 1.3 and names.names_entity(values.name)
    return are_listed or are_dialled or are_entities


def _codes(values: Values) -> ColumnReport:
    """The report of whole numbers that are labels."""
    report = text_report(values)
    evidence = report.evidence[0].lower() + report.evidence[1:]
    return replace(
        report,
        confidence=0.8,
        evidence=f"The name says that these numbers are codes; {evidence}",
        classes=sort_labels(report.classes),
    )


def _are_long_identifiers(values: Values, unique: np.ndarray) -> bool:
    """Whether long numbers, few of them repeated, are named like an identifier."""
    are_long = unique[0] >= _TOO_LONG
    are_seldom_repeated = 2 * len(values.texts) >= values.present
    return bool(are_long and are_seldom_repeated and names.names_identifier(values.name))


def _long_identifier(report: ColumnReport, values: Values) -> ColumnReport:
    evidence = f"Looks like an identifier: {len(values.texts):,} different long numbers."
    return replace(report, nature="identifier", nature_confidence=0.95, evidence=evidence)


def _counted(
    report: ColumnReport, values: Values, array: pa.Array, unique: np.ndarray
) -> ColumnReport:
    """The report, of an identifier where each row has another whole number that counts or names it."""
    all_differ = len(unique) == len(array) >= 3
    if not all_differ:
        return report

    confidence = _counting_confidence(values.name, v.to_numbers(array).values)
    if not confidence:
        return report

    span = f"from {unique[0]:.0f} to {unique[-1]:.0f}"
    evidence = f"Looks like an identifier: a different whole number in every row, {span}."
    return replace(report, nature="identifier", nature_confidence=confidence, evidence=evidence)


def _counting_confidence(name: str, ordered: np.ndarray) -> float:
    """How sure it is that numbers, all different, name or count the rows; 0 where they do not."""
    import numpy as np

    if names.names_identifier(name):
        return 0.97
    steps = np.diff(ordered)
    are_alike = len(ordered) >= _FEWEST_ROWS and np.ptp(steps) == 0
    if not are_alike:
        return 0.0
    # Longer steps are those of a sample of rows that are counted.
    if ordered.min() in (0, 1):
        return 0.97 if abs(steps[0]) == 1 else 0.9
    is_counter = names.has_word(name, names.COUNTERS)
    is_moment = names.has_word(name, names.MOMENTS | names.CALENDAR)
    is_long = len(ordered) >= _SURELY_COUNTED
    is_long_count = all((is_long, abs(steps[0]) == 1, not is_moment))
    if is_counter or is_long_count:
        return 0.9
    return 0.0
