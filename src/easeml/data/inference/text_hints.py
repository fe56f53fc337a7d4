"""What a column of short texts looks like: codes, or numbers that are written otherwise."""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING

from easeml.data.types import values as v
from easeml.data.types.number_forms import number_form, plain_numbers, signs_of

if TYPE_CHECKING:
    import numpy as np

    from easeml.data.inference.column_values import Values

_DECIMAL = re.compile(r"[+-]?\d+[.,]\d+")
_TAG_ENDS = re.compile(r"\s*[;|]\s*")
_SEVERAL_TAGS = re.compile(r"[^;|]{1,40}([;|][^;|]{1,40}){1,20}")
_MOST = 0.9  # of the values
BUT_FOR = "It would be a number but for"  # how the hint on a column of nearly numbers begins
_SEVERAL_NUMBERS = 20  # different ones
_LEADING_ZERO = re.compile(r"0\d")


def has_digit(text: str) -> bool:
    """Return whether there is a digit in a text."""
    return any(map(str.isdigit, text))


def like_codes(texts: list[str]) -> str:
    """A hint for a column of short texts with digits."""
    sample = texts[:1000]
    coded = sum(map(_is_like_code, sample))
    if coded <= 0.8 * len(sample):
        return ""
    return " Most look like codes with digits."


def _is_like_code(text: str) -> bool:
    return len(text) <= 24 and has_digit(text)


def like_tags(texts: list[str]) -> str:
    """A hint for a column of which several values are lists of tags that other values have too."""
    separated = list(filter(_SEVERAL_TAGS.fullmatch, texts))
    if 3 * len(separated) < len(texts):
        return ""
    tags = Counter(chain.from_iterable(map(_TAG_ENDS.split, texts)))
    are_shared = tags.total() >= 2 * len(tags) and len(tags) < len(texts)
    if not are_shared:
        return ""
    return (
        f" Values such as {separated[0][:60]!r} look like several tags: each combination is taken "
        "as one value. To use each tag as an input, give it a column of yes and no."
    )


def mixed_units(texts: list[str]) -> str:
    """A hint for a column of numbers that have several units, or currencies."""
    sample = texts[:1000]
    signs = signs_of(sample)
    units = list(filter(None, map(itemgetter(0), signs.most_common())))
    if len(units) < 2 or signs.total() < _MOST * len(sample):
        return ""
    return (
        f" They are numbers with different units ({', '.join(units[:4])}), which are not converted: "
        "to have a number, write all in one unit, and leave the unit out."
    )


def nearly_numbers(values: Values) -> str:
    """A hint for a column that a few values, or how they are written, keep from being a number."""
    if _all_are_numbers(values.texts):
        return _leading_zeros(values.texts)
    return but_for_words(values)


def but_for_words(values: Values) -> str:
    """A hint for a column that a few values, or those of a few rows, keep from being a number."""
    texts = values.texts
    bad = _no_numbers(texts)
    share = bad.mean()
    if len(bad) - bad.sum() >= _SEVERAL_NUMBERS:
        rows = values.number_of[: len(bad)]
        share = min(share, rows[bad].sum() / rows.sum())
    most = 0.5 if mostly_decimals(texts) else 0.1
    if not 0 < share <= most:
        return ""
    return f" {BUT_FOR} values such as {texts[int(bad.argmax())]!r}."


def mostly_decimals(texts: list[str]) -> bool:
    """Tell whether more than half of the texts are measured: numbers with decimals name nothing."""
    sample = texts[:1000]
    return 2 * len(list(filter(_DECIMAL.fullmatch, sample))) > len(sample)


def _all_are_numbers(texts: list[str]) -> bool:
    return not _no_numbers(texts).any()


def _no_numbers(texts: list[str]) -> np.ndarray:
    """Which of the first values are no numbers."""
    import pyarrow as pa

    looked_at = texts[:10_000]
    array = pa.array(looked_at, pa.string())
    bad = v.to_numbers(array).bad
    written = list(filter(has_digit, looked_at))
    form = number_form(written) if bad.any() and written else None
    if form is None:
        return bad
    return v.to_numbers(plain_numbers(array, form)).bad


def _leading_zeros(texts: list[str]) -> str:
    """A hint for numbers that are written as codes are."""
    first = next(filter(_LEADING_ZERO.match, texts), None)
    if first is None:
        return ""
    return f" Some begin with 0, such as {first!r}, as codes do."
