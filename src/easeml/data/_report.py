"""What easeml sees in one column, and what it proposes to do with it."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from easeml.data import _values as v

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

TYPES = ("number", "category", "text", "timestamp")
_ID_WORD = re.compile(r"(^|[^a-z])(id|uuid|guid|pid|rowid|identifier)([^a-z]|$)|[a-z](ID|Id)$", re.IGNORECASE)
_ID_TAIL = re.compile(r"[a-z](ID|Id)$|^[A-Z]?ID$")


@dataclass(frozen=True)
class ColumnReport:
    """One column. Its JSON is that of ``easeml.contract.resources.Column``.

    ``type``: number, category, text, timestamp. ``role``: input, target, drop. ``missing``: share of the rows.
    ``distinct``: number of different values. ``classes``: the labels of a category, and those that a number
    would have as a category where it has few (whole) values.
    """

    name: str
    type: str
    role: str
    missing: float = 0.0
    distinct: int = 0
    examples: list[str] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    evidence: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return asdict(self)

    @classmethod
    def from_json(cls, obj: dict[str, Any]) -> ColumnReport:
        """Read the JSON form."""
        return cls(**obj)


def look(name: str, array: pa.Array) -> ColumnReport:
    """Infer the type and the role (input or drop) of a column of text."""
    rows = len(array)
    counts = v.arrow_compute().value_counts(array)
    distinct, number_of = counts.field("values"), counts.field("counts").to_numpy(zero_copy_only=False)
    for kind in ("number", "timestamp", "text"):
        here = ~v.missing_mask(distinct, kind)
        texts = distinct.filter(here).to_pylist()
        present = int(number_of[here].sum())
        missing = 1 - present / rows
        if kind == "number" and texts and _numbers(texts):
            return _look_number(name, array, texts, present, missing)
        if kind == "timestamp" and v.timestamp_format(texts) is not None:
            break
    if not texts:
        return ColumnReport(name, "text", "drop", 1.0, evidence="Has no value in any row.")
    examples = texts[:3]
    if kind == "timestamp":
        sentence = f"Dates or times, written like {examples[0]}."
        return _constant_or(ColumnReport(name, kind, "input", missing, len(texts), examples, [], sentence))
    return _constant_or(_look_text(name, texts, number_of[here], present, missing))


def _numbers(texts: list[str]) -> bool:
    """Whether all texts are numbers; whole numbers with leading zeros are codes."""
    import pyarrow as pa

    if any(len(text) > 1 and text[0] == "0" and text.isdigit() for text in texts):
        return False
    return not v.to_numbers(pa.array(texts)).bad.any()


def _look_number(name: str, array: pa.Array, texts: list[str], present: int, missing: float) -> ColumnReport:
    import numpy as np

    values = v.to_numbers(array).values
    values = values[~np.isnan(values)]
    unique = np.unique(values)
    whole = bool((unique == np.round(unique)).all())
    low, high = (v.plain_number(repr(float(x))) for x in (unique[0], unique[-1]))
    few = whole and (len(unique) == 2 or (1 < len(unique) <= 20 and len(unique) * 5 <= present))
    classes = [v.plain_number(repr(float(x))) for x in unique] if few else []
    sentence = f"{'Whole numbers' if whole else 'Numbers'} from {low} to {high}, {len(unique)} different."
    role = "input"
    if whole and not missing and _identifies(name, values, unique):
        role = "drop"
        sentence = f"Looks like an identifier: a different whole number in every row, from {low} to {high}."
    return _constant_or(ColumnReport(name, "number", role, missing, len(unique), texts[:3], classes, sentence))


def _identifies(name: str, values: np.ndarray, unique: np.ndarray) -> bool:
    """A different number in every row, and named like an identifier or counting through in the order of the rows."""
    import numpy as np

    if len(unique) != len(values) or len(values) < 3:
        return False
    counts_through = bool((np.diff(values) == 1).all()) and values[0] in (0, 1) and len(values) >= 10
    return counts_through or _named_id(name)


def _named_id(name: str) -> bool:
    return bool(_ID_WORD.search(name) or _ID_TAIL.search(name))


def _look_text(name: str, texts: list[str], number_of: np.ndarray, present: int, missing: float) -> ColumnReport:
    each = present / len(texts)
    words = sum(len(text.split()) for text in texts[:1000]) / min(len(texts), 1000)
    report = ColumnReport(name, "text", "input", missing, len(texts), texts[:3])
    if _identifier_text(name, texts, each, present, words):
        sentence = f"Looks like an identifier: {len(texts)} different values in {present} rows."
        return ColumnReport(**{**report.to_json(), "role": "drop", "evidence": sentence})
    prose = words >= 4 and each < 5
    few = len(texts) <= 10 or (len(texts) <= 20 and each >= 2) or (len(texts) <= 1000 and each >= 5)
    if few and not prose:
        sentence = f"{len(texts)} different values, each in {each:{',.0f' if each >= 10 else '.2g'}} rows on average."
        classes = sort_labels(texts)
        return ColumnReport(**{**report.to_json(), "type": "category", "classes": classes, "evidence": sentence})
    sentence = f"Text: {len(texts)} different values in {present} rows, {words:.2g} words on average."
    return ColumnReport(**{**report.to_json(), "evidence": sentence + _nearly_numbers(texts)})


def _identifier_text(name: str, texts: list[str], each: float, present: int, words: float) -> bool:
    """Single words that are (nearly) all different, with a name or digits that tell."""
    if words > 1.5 or present < 10:
        return False
    if _named_id(name):
        return each <= 2
    return each == 1 and sum(any(c.isdigit() for c in text) for text in texts) >= 0.9 * len(texts)


def _nearly_numbers(texts: list[str]) -> str:
    """A hint for a column that a few values keep from being a number."""
    import pyarrow as pa

    bad = v.to_numbers(pa.array(texts)).bad
    if bad.mean() > 0.1:
        return ""
    return f" It would be a number but for values such as {texts[int(bad.argmax())]!r}."


def _constant_or(report: ColumnReport) -> ColumnReport:
    if report.distinct != 1:
        return report
    values = {**report.to_json(), "role": "drop"}
    values["evidence"] = f"Constant: {report.examples[0]!r} in every row" + (
        " that has a value." if report.missing else "."
    )
    return ColumnReport(**values)


def sort_labels(labels: list[str]) -> list[str]:
    """Labels in the order that defines their indices: numbers by size, others by code point."""
    numeric = v.numeric_labels(tuple(labels))
    return sorted(labels, key=float) if numeric else sorted(labels)
