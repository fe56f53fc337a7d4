"""The type of a column, and what it says about itself alone: identifier, constant, codes for
missing values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from easeml.data.inference import name_words as names
from easeml.data.inference.missing_codes import suspect_numbers, suspect_words
from easeml.data.types import values as v
from easeml.data.types.arrow import arrow_compute
from easeml.data.types.column_report import ColumnReport, sort_labels
from easeml.data.types.number_forms import number_form, plain_numbers

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_MOST_CLASSES = 1000


@dataclass(frozen=True)
class _Values:
    """The different values of a column that are not missing, how often each occurs, and the share
    of the missing.
    """

    name: str
    texts: list[str]
    number_of: np.ndarray
    present: int
    missing: float

    @property
    def each(self) -> float:
        return self.present / len(self.texts)


def look(name: str, array: pa.Array, told: str = "") -> ColumnReport:
    """Infer type and nature of a column of text.

    ``told``: the type that the file itself states, if any.
    """
    counts = arrow_compute().value_counts(array)
    distinct, number_of = (
        counts.field("values"),
        counts.field("counts").to_numpy(zero_copy_only=False),
    )
    strict, loose = (
        _values(name, distinct, number_of, len(array), kind) for kind in ("number", "text")
    )
    if not loose.texts or not strict.texts:
        if not loose.texts:
            return ColumnReport(
                name, "text", "drop", 1.0, evidence="Has no value in any row.", nature="constant"
            )
        return _finished(_text(loose), loose)
    if told in ("category", "text"):
        return _finished(replace(_told(loose, told), confidence=1.0), loose)
    report = None if told == "number" else _timestamp(strict)
    report = report or _number(strict, array, told)
    return _finished(report, strict) if report else _finished(_text(loose), loose)


def _values(name: str, distinct: pa.Array, number_of: np.ndarray, rows: int, kind: str) -> _Values:
    here = ~v.missing_mask(distinct, kind)
    present = int(number_of[here].sum())
    return _Values(
        name,
        distinct.filter(here).to_pylist(),
        number_of[here],
        present,
        1 - present / max(rows, 1),
    )


def _report(values: _Values, kind: str, confidence: float, evidence: str) -> ColumnReport:
    return ColumnReport(
        name=values.name,
        type=kind,
        role="input",
        missing=values.missing,
        distinct=len(values.texts),
        examples=values.texts[:3],
        evidence=evidence,
        confidence=confidence,
        nature_confidence=0.9,
    )


def _told(values: _Values, told: str) -> ColumnReport:
    if told == "category" and len(values.texts) <= _MOST_CLASSES:
        said = f"The file says that it is a category; {len(values.texts)} different values."
        return replace(_report(values, "category", 1.0, said), classes=sort_labels(values.texts))
    return _text(values)


def _timestamp(values: _Values) -> ColumnReport | None:
    form = v.timestamp_format(values.texts, compact=_dated(values))
    if form is None:
        return None
    said = f"Dates or times, written like {values.texts[0]}."
    twin = v.swapped_day(form)
    unclear = bool(twin) and not v.to_timestamps(_array(values.texts), twin).bad.any()
    if unclear:
        said += f" Day and month cannot be told apart; read as {form}."
    return replace(_report(values, "timestamp", 0.7 if unclear else 0.98, said), format=form)


def _dated(values: _Values) -> bool:
    """Whether eight digits may be a day: the name says so, or there are many of them."""
    return len(values.texts) >= 30 or any(
        word in names.MOMENTS for word in names.words(values.name)
    )


def _number(values: _Values, array: pa.Array, told: str) -> ColumnReport | None:
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
    report = replace(
        _described(values, unique, whole, form),
        suspected_codes=suspect_numbers(unique, number_of),
    )
    if told == "number":
        report = replace(report, confidence=1.0)
    if not whole or form:
        return report
    codes = None if told else _codes(values, unique)
    return codes or _counted(report, values, array, unique)


def _leading_zero(texts: list[str]) -> bool:
    return any(len(text) > 1 and text[0] == "0" and text.isdigit() for text in texts)


def _read_numbers(texts: list[str]) -> tuple[v.Converted, str] | None:
    """The numbers of (distinct) texts and how they are written; None where some are no numbers."""
    array = _array(texts)
    made = v.to_numbers(array)
    if not made.bad.any():
        return made, ""
    form = number_form(texts)
    if form is None:
        return None
    return v.to_numbers(plain_numbers(array, form)), form


def _described(values: _Values, unique: np.ndarray, whole: bool, form: str) -> ColumnReport:
    low, high = (v.plain_number(repr(float(x))) for x in (unique[0], unique[-1]))
    kind = "Whole numbers" if whole else "Numbers"
    said = f"{kind} from {low} to {high}, {len(unique)} different."
    if form:
        said += f" Written like {form}."
    few = whole and _are_few(len(unique), values.present)
    classes = [v.plain_number(repr(float(x))) for x in unique] if few else []
    report = _report(values, "number", _number_confidence(unique, whole, few, form), said)
    return replace(report, distinct=len(unique), classes=classes, format=form)


def _are_few(distinct: int, present: int) -> bool:
    """Whether so many different whole numbers could be classes."""
    return distinct == 2 or (1 < distinct <= 20 and distinct * 5 <= present)


def _number_confidence(unique: np.ndarray, whole: bool, few: bool, form: str) -> float:
    if form:
        return 0.85
    if not whole:
        return 0.99
    return 0.6 if len(unique) == 2 else 0.75 if few else 0.95


def _codes(values: _Values, unique: np.ndarray) -> ColumnReport | None:
    """Whole numbers that are labels: named so, and repeated, or dialled rather than counted."""
    told = set(names.words(values.name))
    listed = (
        2 < len(unique) <= 60 and len(unique) * 5 <= values.present and bool(told & names.CODES)
    )
    entity = len(unique) > 10 and values.each >= 1.3 and names.names_entity(values.name)
    if not (
        listed
        or entity
        or (told & names.DIALLED and values.present > len(unique) > 1 and unique[0] >= 1000)
    ):
        return None
    report = _text(values)
    said = f"The name says that these numbers are codes; {report.evidence[0].lower()}{report.evidence[1:]}"
    return replace(report, confidence=0.8, evidence=said, classes=sort_labels(report.classes))


def _counted(
    report: ColumnReport, values: _Values, array: pa.Array, unique: np.ndarray
) -> ColumnReport:
    """A different whole number in every row, that counts the rows or is named like an identifier."""
    rows = len(array)
    named = names.names_identifier(values.name)
    if named and _too_long(unique) and 2 * len(values.texts) >= values.present:
        said = f"Looks like an identifier: {len(values.texts)} different long numbers."
        return replace(report, nature="identifier", nature_confidence=0.95, evidence=said)
    if values.missing or len(unique) != rows or rows < 3:
        return report
    ordered = v.to_numbers(array).values
    counts = _counts_rows(ordered)
    if not (counts or named or _steady(values.name, ordered)):
        return report
    said = f"Looks like an identifier: a different whole number in every row, from {unique[0]:.0f} to {unique[-1]:.0f}."
    sure = 0.97 if counts or named else 0.9
    return replace(report, nature="identifier", nature_confidence=sure, evidence=said)


def _too_long(unique: np.ndarray) -> bool:
    """Whether all are too long to be told apart, let alone to be quantities."""
    return bool(unique[0] >= 1e15)


def _counts_rows(ordered: np.ndarray) -> bool:
    import numpy as np

    steps = np.abs(np.diff(ordered))
    return (
        len(ordered) >= 10 and bool((steps == 1).all()) and min(ordered[0], ordered[-1]) in (0, 1)
    )


def _steady(name: str, ordered: np.ndarray) -> bool:
    """Whether the steps are alike, as in a sample of rows that are counted."""
    import numpy as np

    if len(ordered) < 10 or not (np.diff(ordered) == ordered[1] - ordered[0]).all():
        return False
    return bool(set(names.words(name)) & names.COUNTERS) or min(ordered) in (0, 1)


def _text(values: _Values) -> ColumnReport:
    texts, each = values.texts, values.each
    words = sum(len(text.split()) for text in texts[:1000]) / min(len(texts), 1000)
    named = names.names_identifier(values.name)
    if _identifies(texts, each, values.present, words, named):
        said = f"Looks like an identifier: {len(texts)} different values in {values.present} rows."
        sure = 0.97 if named else 0.85
        return replace(
            _report(values, "text", 0.95, said), nature="identifier", nature_confidence=sure
        )
    prose = words >= 4 and each < 5
    few = (
        len(texts) <= 10
        or (len(texts) <= 20 and each >= 2)
        or (len(texts) <= _MOST_CLASSES and each >= 5)
    )
    if few and not prose:
        said = f"{len(texts)} different values, each in {each:{',.0f' if each >= 10 else '.2g'}} rows on average."
        sure = 0.95 if each >= 20 else 0.8
        report = replace(_report(values, "category", sure, said), classes=sort_labels(texts))
    else:
        said = f"Text: {len(texts)} different values in {values.present} rows, {words:.2g} words on average."
        sure = 0.95 if words >= 4 else 0.75
        report = _report(values, "text", sure, said + _like_codes(texts) + _nearly_numbers(texts))
    return replace(report, suspected_codes=suspect_words(texts, values.number_of))


def _identifies(texts: list[str], each: float, present: int, words: float, named: bool) -> bool:
    """Single words that are (nearly) all different, with a name or digits that tell."""
    if words > 1.5 or present < 10:
        return False
    if named:
        return each <= 1.05
    return each == 1 and sum(any(c.isdigit() for c in text) for text in texts) >= 0.9 * len(texts)


def _like_codes(texts: list[str]) -> str:
    sample = texts[:1000]
    coded = sum(any(c.isdigit() for c in text) and len(text) <= 24 for text in sample)
    return " Most look like codes with digits." if coded > 0.8 * len(sample) else ""


def _nearly_numbers(texts: list[str]) -> str:
    """A hint for a column that a few values keep from being a number."""
    bad = v.to_numbers(_array(texts[:10_000])).bad
    if bad.mean() > 0.1:
        return ""
    return f" It would be a number but for values such as {texts[int(bad.argmax())]!r}."


def _finished(report: ColumnReport, values: _Values) -> ColumnReport:
    """The report with what holds for every type: constants, what is dropped, and what to confirm."""
    if report.distinct == 1:
        tail = " that has a value." if report.missing else "."
        said = f"Constant: {report.examples[0]!r} in every row{tail}"
        report = replace(report, nature="constant", nature_confidence=0.99, evidence=said)
    if report.nature in ("identifier", "constant"):
        report = replace(report, role="drop")
    if report.suspected_codes:
        codes = ",".join(report.suspected_codes)
        more = f" {codes} may stand for a missing value: confirm with --set '{report.name}.missing={codes}'."
        report = replace(report, evidence=report.evidence + more)
    return report


def _array(texts: list[str]) -> pa.Array:
    import pyarrow as pa

    return pa.array(texts, pa.string())
