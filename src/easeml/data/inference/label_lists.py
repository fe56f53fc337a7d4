"""Columns whose cells have several labels each: how they are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Any

from easeml.data.inference.column_values import Values
from easeml.data.types.bad_cell import BadCell
from easeml.data.types.column_report import sort_labels
from easeml.data.types.label_lists import JSON, MOST_LABELS, SEPARATORS, labels_in
from easeml.data.types.values import numeric_labels

_LEAST_REPEATED = 3.0  # rows that a label is in, on average
_LEAST_SEVERAL = 0.05  # share of the cells that have several labels
_MOST_WORDS = {",": 2.0}  # of a label on average: commas also divide sentences
_WORDS = 4.0  # of labels with other separators
_LONGEST = 60  # characters of a label
_SAMPLE = 1000  # different texts that tell of the separator


def content_of(values: Values) -> dict[str, Any]:
    """What a column says whose cells have several labels; nothing of another column.

    ``labels``: in the order of their elements; ``separator``: see ``Node``; ``mean``: how many labels
    a row has on average, empty cells among them, which are so many (``empty``).
    """
    separator = _separator(values.texts)
    if separator is None:
        return {}
    try:
        found, total = _counted(values, separator)
    except BadCell:
        return {}
    if not _are_labels(found, values, separator):
        return {}
    rows = values.present / (1 - values.missing)
    labels = sort_labels(list(found))
    return {
        "labels": labels,
        "separator": separator,
        "mean": round(total / rows, 2),
        "empty": round(rows - values.present),
    }


def _separator(texts: Sequence[str]) -> str | None:
    """The separator of most cells; None where there is none."""
    sample = texts[:_SAMPLE]
    if all(text.startswith("[") for text in sample):
        return JSON
    with_it = {one: sum(one in text for text in sample) for one in SEPARATORS}
    best = max(SEPARATORS, key=with_it.__getitem__)
    is_known = len(_labels_of(sample, best)) <= MOST_LABELS  # else it is prose
    if with_it[best] and is_known:
        return best
    return None


def _labels_of(sample: Sequence[str], separator: str) -> set[str]:
    return set(chain.from_iterable(labels_in(text, separator) for text in sample))


def _counted(values: Values, separator: str) -> tuple[Counter[str], int]:
    """How many rows have each label, and how many labels all rows have."""
    found: Counter[str] = Counter()
    for text, rows in zip(values.texts, values.number_of.tolist(), strict=True):
        for label in labels_in(text, separator):
            found[label] += rows
    return found, found.total()


def _are_labels(found: Counter[str], values: Values, separator: str) -> bool:
    """Whether a few labels come again and again, several in some cells."""
    count = len(found)
    if not 2 <= count <= MOST_LABELS:
        return False
    several = 0
    for text, rows in zip(values.texts, values.number_of.tolist(), strict=True):
        several += rows * (len(labels_in(text, separator)) > 1)
    repeated = found.total() / count
    words = sum(map(len, map(str.split, found))) / count
    is_short = max(map(len, found)) <= _LONGEST and words <= _MOST_WORDS.get(separator, _WORDS)
    is_shared = repeated >= _LEAST_REPEATED and several >= _LEAST_SEVERAL * values.present
    # Commas also stand in numbers, lists of numbers are tensors, and names are always the same.
    is_combined = separator == JSON or count < len(values.texts)
    return is_short and is_shared and is_combined and not numeric_labels(tuple(found))
