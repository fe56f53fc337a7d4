"""Columns of numbers: quantities, codes that are labels, and what counts the rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from easeml.data.inference import name_words as names
from easeml.data.inference.column_values import Values, report_on, text_array
from easeml.data.inference.missing_codes import suspect_numbers
from easeml.data.inference.text_columns import text_report
from easeml.data.types import values as v
from easeml.data.types.column_report import ColumnReport, sort_labels
from easeml.data.types.number_forms import CLOCKS, number_form, plain_numbers

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_FEWEST_TIMES = 10  # of day, that are measured; fewer are those of a timetable


def number_report(values: Values, array: pa.Array, told: str) -> ColumnReport | None:
    """The report of a column of numbers, which may be labels or count the rows; None: it is none."""
    import numpy as np

    if told != "number" and _leading_zero(values.texts):
        return None  # whole numbers with leading zeros are codes
    read = _read_numbers(values.texts)
    if read is None:
        return None

    made, form = read
    good = ~made.missing & ~made.bad
    unique, inverse = np.unique(made.values[good], return_inverse=True)
    number_of = np.bincount(inverse, weights=values.number_of[good])
    whole = bool((unique == np.round(unique)).all())
    report = _described(values, unique, whole, form)
    report = replace(report, suspected_codes=suspect_numbers(unique, number_of))
    if told == "number":
        report = replace(report, confidence=1.0)

    # Only plain whole numbers may be labels, or count the rows.
    if not whole or form:
        return report
    codes = None if told else _codes(values, unique)
    if codes is not None:
        return codes
    return _counted(report, values, array, unique)


def _leading_zero(texts: list[str]) -> bool:
    """Whether one of the texts is a whole number written with zeros in front."""
    for text in texts:
        if len(text) > 1 and text.startswith("0") and text.isdigit():
            return True
    return False


def _read_numbers(texts: list[str]) -> tuple[v.Converted, str] | None:
    """The numbers of (distinct) texts and how they are written; None where some are no numbers."""
    array = text_array(texts)
    made = v.to_numbers(array)
    if not made.bad.any():
        return made, ""
    form = number_form(texts)
    is_timetable = form in CLOCKS and len(texts) < _FEWEST_TIMES
    if form is None or is_timetable:
        return None
    return v.to_numbers(plain_numbers(array, form)), form


def _described(values: Values, unique: np.ndarray, whole: bool, form: str) -> ColumnReport:
    few = whole and _are_few(len(unique), values.present)
    confidence = _number_confidence(unique, whole, few, form)
    report = report_on(values, "number", confidence, _range_told(unique, whole, form))
    classes = []
    if few:
        classes = [v.plain_number(repr(float(number))) for number in unique]
    return replace(
        report,
        distinct=len(unique),
        classes=classes,
        format=form,
    )


def _range_told(unique: np.ndarray, whole: bool, form: str) -> str:
    """The sentence about numbers; ``unique``: the different ones, ascending."""
    low = float(unique[0])
    high = float(unique[-1])
    if not whole:
        low = float(f"{low:.6g}")
        high = float(f"{high:.6g}")
    first = v.plain_number(repr(low))
    last = v.plain_number(repr(high))
    if form in CLOCKS:
        return f"Times of day, in minutes since midnight: {first} to {last}."
    kind = "Whole numbers" if whole else "Numbers"
    said = f"{kind} from {first} to {last}, {len(unique):,} different."
    return f"{said} Written like {form}." if form else said


def _are_few(distinct: int, present: int) -> bool:
    """Whether so many different whole numbers could be classes."""
    if distinct == 2:
        return True
    repeated = distinct * 5 <= present
    return repeated and 1 < distinct <= 20


def _number_confidence(unique: np.ndarray, whole: bool, few: bool, form: str) -> float:
    if form:
        return 0.85
    if not whole:
        return 0.99
    # Few whole numbers may be classes.
    if len(unique) == 2:
        return 0.6
    return 0.75 if few else 0.95


def _codes(values: Values, unique: np.ndarray) -> ColumnReport | None:
    """Whole numbers that are labels: named so, and repeated, or dialled rather than counted."""
    words = set(names.words(values.name))
    count = len(unique)

    repeated = count * 5 <= values.present
    listed = bool(words & names.CODES) and repeated and 2 < count <= 60
    dialled = bool(words & names.DIALLED) and values.present > count > 1 and unique[0] >= 1000
    entity = count > 10 and values.each >= 1.3 and names.names_entity(values.name)
    if not (listed or entity or dialled):
        return None

    report = text_report(values)
    evidence = report.evidence[0].lower() + report.evidence[1:]
    return replace(
        report,
        confidence=0.8,
        evidence=f"The name says that these numbers are codes; {evidence}",
        classes=sort_labels(report.classes),
    )


def _counted(
    report: ColumnReport, values: Values, array: pa.Array, unique: np.ndarray
) -> ColumnReport:
    """A different whole number in every row, that counts the rows or is named like an identifier."""
    rows = len(array)
    named = names.names_identifier(values.name)
    if named and _too_long(unique) and 2 * len(values.texts) >= values.present:
        said = f"Looks like an identifier: {len(values.texts):,} different long numbers."
        return replace(
            report,
            nature="identifier",
            nature_confidence=0.95,
            evidence=said,
        )

    all_differ = len(unique) == rows and not values.missing
    if not all_differ or rows < 3:
        return report

    ordered = v.to_numbers(array).values
    certain = named or _counts_rows(ordered)
    if not certain and not _steady(values.name, ordered):
        return report

    span = f"from {unique[0]:.0f} to {unique[-1]:.0f}"
    return replace(
        report,
        nature="identifier",
        nature_confidence=0.97 if certain else 0.9,
        evidence=f"Looks like an identifier: a different whole number in every row, {span}.",
    )


def _too_long(unique: np.ndarray) -> bool:
    """Whether all are too long to be told apart, let alone to be quantities."""
    return bool(unique[0] >= 1e15)


def _counts_rows(ordered: np.ndarray) -> bool:
    """Whether the numbers count the rows from 0 or 1, upwards or downwards."""
    import numpy as np

    if len(ordered) < 10:
        return False
    steps = np.abs(np.diff(ordered))
    begins = min(ordered[0], ordered[-1])
    return bool((steps == 1).all()) and begins in (0, 1)


def _steady(name: str, ordered: np.ndarray) -> bool:
    """Whether the steps are alike, as in a sample of rows that are counted."""
    import numpy as np

    if len(ordered) < 10:
        return False
    steps = np.diff(ordered)
    if not (steps == steps[0]).all():
        return False

    is_counter = bool(set(names.words(name)) & names.COUNTERS)
    return is_counter or min(ordered) in (0, 1)
