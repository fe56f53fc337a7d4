"""Columns whose cells have several labels each: how they are known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from operator import methodcaller
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
_OF_NUMBERS = (";", "|")  # separators of labels that are numbers: commas stand in numbers


@dataclass(frozen=True)
class _Found:
    """How many rows have each label, and how many ``several`` of them."""

    rows: Counter[str]
    several: int


def content_of(values: Values) -> dict[str, Any]:
    """What a column says whose cells have several labels; nothing of another column.

    ``labels``: in the order of their elements; ``separator``: see ``Node``; ``mean``: how many
    labels a row has on average, empty cells among them, which are so many (``empty``).
    """
    sample = values.texts[:_SAMPLE]
    separator = _separator(sample)
    with suppress(BadCell):  # texts that begin like lists, and are none
        different = set(chain.from_iterable(map(partial(labels_in, separator=separator), sample)))
        if 2 <= len(different) <= MOST_LABELS:  # else it is prose
            return _content(values, separator)
    return {}


def _content(values: Values, separator: str) -> dict[str, Any]:
    found = _counted(values, separator)
    if not _are_labels(found, values, separator):
        return {}
    rows = values.present / (1 - values.missing)
    return {
        "labels": sort_labels(list(found.rows)),
        "separator": separator,
        "mean": round(found.rows.total() / rows, 2),
        "empty": round(rows - values.present),
    }


def _separator(sample: Sequence[str]) -> str:
    """What stands between labels in most cells, with the blanks around it as they mostly are."""
    if all(map(methodcaller("startswith", "["), sample)):
        return JSON
    text = "\n".join(sample)
    sign = max(SEPARATORS, key=text.count)
    written = Counter(re.findall(rf" ?{re.escape(sign)} ?", text))
    return max([sign, *written], key=written.__getitem__)


def _counted(values: Values, separator: str) -> _Found:
    found: Counter[str] = Counter()
    several = 0
    for text, rows in zip(values.texts, values.number_of.tolist(), strict=True):
        labels = labels_in(text, separator)
        found.update(dict.fromkeys(labels, rows))
        several += rows * (len(labels) > 1)
    return _Found(found, several)


def _are_labels(found: _Found, values: Values, separator: str) -> bool:
    """Whether a few labels come again and again, several in some cells."""
    count = len(found.rows)
    are_numbers = numeric_labels(tuple(found.rows))
    are_others = are_numbers and not _are_numbered(values.texts[:_SAMPLE], separator)
    if count > MOST_LABELS or are_others:  # lists of numbers are tensors
        return False
    words = sum(map(len, map(str.split, found.rows))) / count
    most_words = _MOST_WORDS.get(separator.strip(), _WORDS)
    longest = max(map(len, found.rows))
    is_short = words <= most_words and longest <= _LONGEST
    least_several = _LEAST_SEVERAL * values.present
    is_repeated = found.rows.total() >= _LEAST_REPEATED * count
    is_shared = is_repeated and found.several >= least_several
    # What is always the same is a name with a separator in it.
    is_combined = separator == JSON or count < len(values.texts)
    return is_short and is_shared and is_combined


def _are_numbered(texts: Sequence[str], separator: str) -> bool:
    """Whether cells are sets of whole numbers, now more and now fewer: labels that have numbers.

    A list of measurements may hold a number twice, and is as long in each row.
    """
    if separator.strip() not in _OF_NUMBERS:
        return False
    cells = [labels_in(text, separator) for text in texts]
    are_whole = all(map(str.isdecimal, chain.from_iterable(cells)))
    is_each_once = all(map(partial(_has_each_once, separator=separator), texts))
    return are_whole and is_each_once and len(set(map(len, cells))) > 1


def _has_each_once(text: str, separator: str) -> bool:
    return len(labels_in(text, separator)) == len(text.split(separator.strip()))
