"""Ways to make other cells of a column's cells, and which columns they are for."""

from __future__ import annotations

from typing import Literal

import pyarrow as pa

Way = Literal["mix", "words", "series", "pictures", "flip"]
WAYS: tuple[Way, ...] = ("mix", "words", "series", "pictures", "flip")
"""Each is taken where columns suit it; ``flip`` only where it is named: a letter is none mirrored."""

_DIFFERENT = 0.5  # share of different values, up to which they are categories
_MANY_WORDS = 3  # of a text on average; different values of fewer are names
_CHANNELS = 16  # of a series at most
_MIXED = (
    pa.types.is_boolean,
    pa.types.is_dictionary,
    pa.types.is_integer,
    pa.types.is_floating,
)


def way_of(column: pa.ChunkedArray) -> Way | None:
    """Return the way that suits a column; None for one whose cells stay, such as names and dates."""
    kind = column.type
    if any(is_kind(kind) for is_kind in _MIXED):
        return "mix"
    if str(kind) in ("string", "large_string"):
        return _way_of_texts(column)
    return _way_of_arrays(column)


def _way_of_texts(column: pa.ChunkedArray) -> Way | None:
    """Values that come again are categories; of others, those of many words are texts."""
    texts = column.drop_null().to_pylist()
    if len(set(texts)) <= _DIFFERENT * len(texts):
        return "mix"
    words = sum(map(len, map(str.split, texts))) / len(texts)
    return "words" if words >= _MANY_WORDS else None


def _way_of_arrays(column: pa.ChunkedArray) -> Way | None:
    """Series have one number or a few channels a step; other arrays are pictures."""
    shape = _shape(column)
    if not shape:
        return None
    if len(shape) == 1:
        return "series"
    is_series = len(shape) == 2 and shape[1] <= _CHANNELS and shape[0] > shape[1]
    return "series" if is_series else "pictures"


def _shape(column: pa.ChunkedArray) -> tuple[int, ...]:
    """Return the shape of the first array of numbers of a column; empty where it has none."""
    import numpy as np

    known = column.drop_null()
    if not len(known):
        return ()
    try:
        first = np.asarray(known[0].as_py(), dtype=float)
    except (TypeError, ValueError):
        return ()
    return first.shape
