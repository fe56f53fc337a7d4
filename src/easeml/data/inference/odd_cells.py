"""A few cells among numbers or dates that are none: mistyped, or words for no value."""

from __future__ import annotations

from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING

from easeml.data.inference.column_values import Values, text_array
from easeml.data.types import values as v
from easeml.data.types.arrow import arrow_compute
from easeml.data.types.column_report import ColumnReport
from easeml.data.types.number_forms import number_form_of_most
from easeml.data.types.odd_cells import told_odd

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_FEWEST = 20  # usual cells, below which a column is what all of its cells say
_ONE_IN = 50  # cells is odd at most; a single one always may be
_MOST_TEXTS = 20  # that are odd and differ
_GUESSED_BY = 9  # texts, by which it is guessed how most dates are written


def without_odd_numbers(values: Values) -> Values | None:
    """Return the values but for a few that are written otherwise than most, which are numbers.

    None where most are not, or where there is no odd one, or more than a few.
    """
    form = number_form_of_most(values.texts)
    if form is None:
        return None
    return _without_few(values, form.mask(text_array(values.texts)))


def without_odd_times(values: Values) -> Values | None:
    """As ``without_odd_numbers``, of dates and times."""
    import numpy as np

    array = text_array(values.texts)
    places = np.linspace(0, len(values.texts) - 1, _GUESSED_BY).astype(int).tolist()
    guesses = {v.timestamp_format([values.texts[place]]) for place in places}
    bad = []
    for form in guesses - {None}:
        bad.append(v.to_timestamps(array, str(form)).bad)
        twin = v.swapped_day(str(form))
        if twin:
            bad.append(v.to_timestamps(array, twin).bad)
    return _without_few(values, ~min(bad, key=np.sum)) if bad else None


def _without_few(values: Values, is_usual: np.ndarray) -> Values | None:
    """Return the usual values, if there are others and these are a few."""
    usual = int(values.number_of[is_usual].sum())
    odd = values.present - usual
    are_few = 0 < odd <= max(1, values.present // _ONE_IN)
    are_listed = int((~is_usual).sum()) <= _MOST_TEXTS
    if not (are_few and are_listed and usual >= _FEWEST):
        return None
    texts = list(compress(values.texts, is_usual.tolist()))
    return replace(values, texts=texts, number_of=values.number_of[is_usual], present=usual)


def with_odd(report: ColumnReport, values: Values, usual: Values, array: pa.Array) -> ColumnReport:
    """Return the report of a column, with what is said of those ``values`` that are not ``usual``.

    Those that cannot be read stand for a missing value. ``array``: the column.
    """
    plain = v.plain(text_array(values.texts), report.type, report.format)
    made = v.convert(plain, report.type, (), report.format)
    unread = list(compress(values.texts, made.bad.tolist()))
    known = {*usual.texts, *unread}
    read = []
    for text, value in zip(values.texts, made.values, strict=True):
        if text not in known:
            read.append(f"{_placed(text, array)} is read as {_value_told(value)}")

    lost = int(values.number_of[made.bad].sum()) / values.present
    unread_told = [_placed(text, array) for text in unread]
    return replace(
        report,
        examples=usual.texts[:3],
        evidence=report.evidence + told_odd(report.name, report.type, read, unread_told),
        missing=values.missing + lost * (1 - values.missing),
        missing_codes=unread,
    )


def _placed(text: str, array: pa.Array) -> str:
    """Return a text with the rows of a column that have it."""
    compute = arrow_compute()
    rows = compute.indices_nonzero(compute.equal(array, text)).to_pylist()
    if len(rows) == 1:
        return f"{text!r} (row {rows[0]})"
    return f"{text!r} ({len(rows)} rows, the first is row {rows[0]})"


def _value_told(value: np.float64 | np.datetime64) -> str:
    import numpy as np

    if isinstance(value, np.datetime64):
        return str(value.astype("datetime64[s]")).replace("T00:00:00", "")
    return v.plain_number(repr(float(value)))
