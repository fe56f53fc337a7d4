"""The type of a column, and what it says about itself alone.

That is whether it is an identifier or a constant, and which codes stand for missing values.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from easeml.data.inference import name_words as names
from easeml.data.inference.column_values import Values, report_on, text_array
from easeml.data.inference.number_columns import number_report
from easeml.data.inference.odd_cells import with_odd, without_odd_times
from easeml.data.inference.text_columns import MOST_CLASSES, text_report
from easeml.data.types import values as v
from easeml.data.types.arrow import arrow_compute
from easeml.data.types.column_report import ColumnReport, sort_labels

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_LEAST_PRESENT, _LEAST_SHARE = 5, 0.01  # rows, and share of the rows, with and without a value


def look(name: str, array: pa.Array, told: str = "", *, decimal: str = ".") -> ColumnReport:
    """Infer type and nature of a column of text.

    ``told``: the type that the file itself states, if any. ``decimal``: what stands before the
    decimals in other columns of the table.
    """
    counts = arrow_compute().value_counts(array)
    distinct = counts.field("values")
    number_of = counts.field("counts").to_numpy(zero_copy_only=False)

    # More texts stand for a missing number than for a missing label.
    strict = _values(name, distinct, number_of, len(array), "number")
    loose = _values(name, distinct, number_of, len(array), "text")
    if not loose.texts:
        return _empty(name)
    if not strict.texts:
        return _finished(text_report(loose), loose)

    if told in ("category", "text"):
        return _finished(replace(_told(loose, told), confidence=1.0), loose)

    report = None if told == "number" else _timestamp(strict)
    if report is None:
        report = number_report(strict, array, told, decimal)
    if report is None:
        report = _nearly_timestamps(strict, array)
    if report is None:
        return _finished(text_report(loose), loose)
    return _finished(report, strict)


def _empty(name: str) -> ColumnReport:
    return ColumnReport(
        name,
        "text",
        "drop",
        1.0,
        evidence="Has no value in any row.",
        nature="constant",
    )


def _values(name: str, distinct: pa.Array, number_of: np.ndarray, rows: int, kind: str) -> Values:
    here = ~v.missing_mask(distinct, kind)
    present = int(number_of[here].sum())
    return Values(
        name,
        distinct.filter(here).to_pylist(),
        number_of[here],
        present,
        1 - present / max(rows, 1),
    )


def _told(values: Values, told: str) -> ColumnReport:
    """The report of a column whose file says that it is text or a category."""
    count = len(values.texts)
    if told == "text" or count > MOST_CLASSES:
        return text_report(values)

    said = f"The file says that it is a category; {count} different values."
    report = report_on(values, "category", 1.0, said)
    return replace(report, classes=sort_labels(values.texts))


def _timestamp(values: Values) -> ColumnReport | None:
    form = v.timestamp_format(values.texts, compact=_dated(values))
    if form is None:
        return None

    said = f"Dates or times, written like {values.texts[0]}."
    confidence = 0.98
    twin = v.swapped_day(form)
    if twin and not v.to_timestamps(text_array(values.texts), twin).bad.any():
        said += f" Day and month cannot be told apart; read {v.form_in_words(form)}."
        confidence = 0.7
    return replace(report_on(values, "timestamp", confidence, said), format=form)


def _nearly_timestamps(values: Values, array: pa.Array) -> ColumnReport | None:
    """The report of dates or times among which a few cells are none."""
    found = without_odd_times(values)
    if found is None:
        return None
    report = _timestamp(found)
    return report and with_odd(report, values, found, array)


def _dated(values: Values) -> bool:
    """Whether eight digits may be a day: the name says so, or there are many of them."""
    return len(values.texts) >= 30 or names.has_word(values.name, names.MOMENTS)


def _finished(report: ColumnReport, values: Values) -> ColumnReport:
    """The report with what holds for every type: constants, what is dropped, and what to confirm."""
    if report.distinct == 1:
        report = _of_one_value(report, values)
    if report.nature in ("identifier", "constant"):
        report = replace(report, role="drop")
    if report.suspected_codes:
        codes = ", ".join(f"'{code}'" for code in report.suspected_codes)
        more = f" {codes} may stand for a missing value."
        report = replace(report, evidence=report.evidence + more)
    return report


def _of_one_value(report: ColumnReport, values: Values) -> ColumnReport:
    """The report of a column with a single value: a constant, or a mark that some rows have."""
    value = report.examples[0]
    if _tells_by_presence(values):
        return replace(
            report,
            type="category",
            classes=list(report.classes or [value]),
            evidence=f"{value!r} or empty: it tells by being there.",
        )
    tail = " that has a value." if report.missing else "."
    return replace(
        report,
        nature="constant",
        nature_confidence=0.99,
        evidence=f"Constant: {value!r} in every row{tail}",
    )


def _tells_by_presence(values: Values) -> bool:
    """Whether one value and gaps are both frequent enough to tell rows apart.

    A column of a list of what is in a basket is such.
    """
    gaps = values.present * values.missing / (1 - values.missing)
    there, empty = 1 - values.missing, values.missing
    return min(values.present, gaps) >= _LEAST_PRESENT and min(there, empty) >= _LEAST_SHARE
