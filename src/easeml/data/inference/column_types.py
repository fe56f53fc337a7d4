"""The type of a column, and what it says about itself alone.

That is whether it is an identifier or a constant, and which codes stand for missing values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from easeml.data.inference import name_words as names
from easeml.data.inference.missing_codes import suspect_numbers, suspect_words
from easeml.data.inference.text_hints import has_digit, like_codes, nearly_numbers
from easeml.data.types import values as v
from easeml.data.types.arrow import arrow_compute
from easeml.data.types.column_report import ColumnReport, sort_labels
from easeml.data.types.number_forms import CLOCKS, number_form, plain_numbers

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_FEWEST_TIMES = 10  # of day, that are measured; fewer are those of a timetable
_MOST_CLASSES = 1000
_LEAST_PRESENT, _LEAST_SHARE = 5, 0.01  # rows, and share of the rows, with and without a value


@dataclass(frozen=True)
class _Values:
    """The different values of a column that are not missing, and how often each occurs.

    ``missing`` is the share of the missing.
    """

    name: str
    texts: list[str]
    number_of: np.ndarray
    present: int
    missing: float

    @property
    def each(self) -> float:
        """How many rows a value has on average."""
        return self.present / len(self.texts)


def look(name: str, array: pa.Array, told: str = "") -> ColumnReport:
    """Infer type and nature of a column of text.

    ``told``: the type that the file itself states, if any.
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
        return _finished(_text(loose), loose)

    if told in ("category", "text"):
        return _finished(replace(_told(loose, told), confidence=1.0), loose)

    report = None if told == "number" else _timestamp(strict)
    if report is None:
        report = _number(strict, array, told)
    if report is None:
        return _finished(_text(loose), loose)
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
    """The report of a column whose file says that it is text or a category."""
    count = len(values.texts)
    if told == "text" or count > _MOST_CLASSES:
        return _text(values)

    said = f"The file says that it is a category; {count} different values."
    report = _report(values, "category", 1.0, said)
    return replace(report, classes=sort_labels(values.texts))


def _timestamp(values: _Values) -> ColumnReport | None:
    form = v.timestamp_format(values.texts, compact=_dated(values))
    if form is None:
        return None

    said = f"Dates or times, written like {values.texts[0]}."
    confidence = 0.98
    twin = v.swapped_day(form)
    if twin and not v.to_timestamps(_array(values.texts), twin).bad.any():
        said += f" Day and month cannot be told apart; read as {form}."
        confidence = 0.7
    return replace(_report(values, "timestamp", confidence, said), format=form)


def _dated(values: _Values) -> bool:
    """Whether eight digits may be a day: the name says so, or there are many of them."""
    if len(values.texts) >= 30:
        return True
    return any(word in names.MOMENTS for word in names.words(values.name))


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
    array = _array(texts)
    made = v.to_numbers(array)
    if not made.bad.any():
        return made, ""
    form = number_form(texts)
    is_timetable = form in CLOCKS and len(texts) < _FEWEST_TIMES
    if form is None or is_timetable:
        return None
    return v.to_numbers(plain_numbers(array, form)), form


def _described(values: _Values, unique: np.ndarray, whole: bool, form: str) -> ColumnReport:
    few = whole and _are_few(len(unique), values.present)
    confidence = _number_confidence(unique, whole, few, form)
    report = _report(values, "number", confidence, _range_told(unique, whole, form))
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
    low, high = float(unique[0]), float(unique[-1])
    if not whole:
        low, high = float(f"{low:.6g}"), float(f"{high:.6g}")
    first, last = v.plain_number(repr(low)), v.plain_number(repr(high))
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


def _codes(values: _Values, unique: np.ndarray) -> ColumnReport | None:
    """Whole numbers that are labels: named so, and repeated, or dialled rather than counted."""
    words = set(names.words(values.name))
    count = len(unique)

    repeated = count * 5 <= values.present
    listed = bool(words & names.CODES) and repeated and 2 < count <= 60
    dialled = bool(words & names.DIALLED) and values.present > count > 1 and unique[0] >= 1000
    entity = count > 10 and values.each >= 1.3 and names.names_entity(values.name)
    if not (listed or entity or dialled):
        return None

    report = _text(values)
    evidence = report.evidence[0].lower() + report.evidence[1:]
    return replace(
        report,
        confidence=0.8,
        evidence=f"The name says that these numbers are codes; {evidence}",
        classes=sort_labels(report.classes),
    )


def _counted(
    report: ColumnReport, values: _Values, array: pa.Array, unique: np.ndarray
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


def _text(values: _Values) -> ColumnReport:
    """The report of a column of texts: an identifier, a category, or text."""
    texts = values.texts
    each = values.each
    sample = texts[:1000]
    words = sum(len(text.split()) for text in sample) / len(sample)

    named = names.names_identifier(values.name)
    if _identifies(texts, each, values.present, words, named):
        return replace(
            _report(values, "text", 0.95, _identifier_evidence(values)),
            nature="identifier",
            nature_confidence=0.97 if named else 0.85,
        )

    is_category = _could_be_classes(len(texts), each) and not _is_prose(words, each)
    report = _category_report(values) if is_category else _text_report(values, words)
    return replace(report, suspected_codes=suspect_words(texts, values.number_of))


def _category_report(values: _Values) -> ColumnReport:
    each = values.each
    rows = f"{each:,.0f}" if each >= 10 else f"{each:.2g}"
    said = f"{len(values.texts)} different values, each in {rows} rows on average."
    confidence = 0.95 if each >= 20 else 0.8
    report = _report(values, "category", confidence, said)
    return replace(report, classes=sort_labels(values.texts))


def _text_report(values: _Values, words: float) -> ColumnReport:
    """The report of free text; ``words``: how many a value has on average."""
    texts = values.texts
    count = f"{len(texts)} different values in {values.present} rows"
    said = f"Text: {count}, {_words_told(words)} on average."
    hints = like_codes(texts) + nearly_numbers(texts)
    confidence = 0.95 if words >= 4 else 0.75
    return _report(values, "text", confidence, said + hints)


def _words_told(words: float) -> str:
    """A mean number of words: 1 word, 2.9 words, 290 words."""
    if words >= 10:
        return f"{words:,.0f} words"
    said = f"{words:.2g}"
    return "1 word" if said == "1" else f"{said} words"


def _identifier_evidence(values: _Values) -> str:
    count = f"{len(values.texts)} different values in {values.present} rows"
    return f"Looks like an identifier: {count}."


def _is_prose(words: float, each: float) -> bool:
    """Whether values are sentences rather than long labels, which would be repeated."""
    return words >= 4 and each < 5


def _could_be_classes(distinct: int, each: float) -> bool:
    """Whether so many values, each in so many rows, could be classes.

    More values have to be repeated more often.
    """
    if distinct <= 10:
        return True
    if distinct <= 20:
        return each >= 2
    return distinct <= _MOST_CLASSES and each >= 5


def _identifies(texts: list[str], each: float, present: int, words: float, named: bool) -> bool:
    """Single words that are (nearly) all different, with a name or digits that tell."""
    if words > 1.5 or present < 10:
        return False
    if named:
        return each <= 1.05
    if each != 1:
        return False
    with_digits = sum(has_digit(text) for text in texts)
    return with_digits >= 0.9 * len(texts)


def _finished(report: ColumnReport, values: _Values) -> ColumnReport:
    """The report with what holds for every type: constants, what is dropped, and what to confirm."""
    if report.distinct == 1:
        report = _of_one_value(report, values)
    if report.nature in ("identifier", "constant"):
        report = replace(report, role="drop")
    if report.suspected_codes:
        codes = ",".join(report.suspected_codes)
        confirm = f"confirm with --set '{report.name}.missing={codes}'"
        more = f" {codes} may stand for a missing value: {confirm}."
        report = replace(report, evidence=report.evidence + more)
    return report


def _of_one_value(report: ColumnReport, values: _Values) -> ColumnReport:
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


def _tells_by_presence(values: _Values) -> bool:
    """Whether one value and gaps are both frequent enough to tell rows apart.

    A column of a list of what is in a basket is such.
    """
    gaps = values.present * values.missing / (1 - values.missing)
    there, empty = 1 - values.missing, values.missing
    return min(values.present, gaps) >= _LEAST_PRESENT and min(there, empty) >= _LEAST_SHARE


def _array(texts: list[str]) -> pa.Array:
    import pyarrow as pa

    return pa.array(texts, pa.string())
