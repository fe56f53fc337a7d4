"""A few cells among numbers or dates that are none: mistyped, or words for no value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import compress, filterfalse
from typing import TYPE_CHECKING, Any

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
    alone = map(list, zip(map(values.texts.__getitem__, places)))
    guesses = set(map(v.timestamp_format, alone)) - {None}
    known = set(map(str, guesses))
    bad = list(map(partial(_bad_times, array), [*known, *map(v.swapped_day, known)]))
    if not bad:
        return None
    return _without_few(values, ~min(bad, key=np.sum))


def _bad_times(array: pa.Array, form: str) -> np.ndarray:
    return v.to_timestamps(array, form).bad


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
    odd = filterfalse({*usual.texts, *unread}.__contains__, values.texts)
    meaning = dict(zip(values.texts, made.values, strict=True))
    read = list(map(partial(_read_told, array, meaning), odd))
    lost = int(values.number_of[made.bad].sum()) / values.present
    told = told_odd(report.name, report.type, read, list(map(partial(_placed, array), unread)))
    return replace(
        report,
        examples=usual.texts[:3],
        evidence=report.evidence + told,
        missing=values.missing + lost * (1 - values.missing),
        missing_codes=unread,
    )


def _read_told(array: pa.Array, meaning: Mapping[str, Any], text: str) -> str:
    return f"{_placed(array, text)} is read as {_value_told(meaning[text])}"


def _placed(array: pa.Array, text: str) -> str:
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
