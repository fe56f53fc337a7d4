"""How the values of a column are spread: a histogram of numbers, the most frequent other values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from easeml.data.types import values as v
from easeml.data.types.arrow import arrow_compute
from easeml.data.types.column_report import ColumnReport

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_BINS = 16
_WIDE = 100 * _BINS  # whole numbers are so many that one more in a bin does not show
_MOST_VALUES = 5
_LONGEST = 60  # characters of a value


def distribution(array: pa.Array, report: ColumnReport) -> dict[str, Any]:
    """Return how often the values of a column occur.

    It is ``{low, high, counts}`` of numbers in equal bins, else ``{values, others}`` with counts.

    Empty where that tells nothing: no value, or none that occurs twice.
    """
    import numpy as np

    array = array.fill_null("")
    if report.type == "number":
        made = v.to_numbers(v.plain(array, "number", report.format))
        numbers = made.values[~made.missing & ~made.bad]
        return _histogram(numbers[np.isfinite(numbers)])
    found = arrow_compute().value_counts(array.filter(~v.missing_mask(array, report.type)))
    pairs = zip(found.field("values").to_pylist(), found.field("counts").to_pylist(), strict=True)
    ordered = sorted(pairs, key=lambda pair: (-pair[1], pair[0]))
    if not ordered or ordered[0][1] < 2:
        return {}
    shown = [[_shortened(text), count] for text, count in ordered[:_MOST_VALUES]]
    others = sum(count for _, count in ordered[_MOST_VALUES:])
    return {"values": shown, "others": others}


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _histogram(numbers: np.ndarray) -> dict[str, Any]:
    """Return ``{low, high, counts}`` of finite numbers.

    It is empty where no equal bins can be told apart.
    """
    import numpy as np

    if not len(numbers):
        return {}
    low = float(numbers.min())
    high = float(numbers.max())
    if low == high:
        return {"low": low, "high": high, "counts": [len(numbers)]}
    if not math.isfinite(high - low) or high - low < 4 * _BINS * _spacing(low, high):
        return {}
    is_counted = high - low < _WIDE and bool(np.all(numbers == np.round(numbers)))
    bins, end = _whole_bins(low, high) if is_counted else (_BINS, high)
    counts, _ = np.histogram(numbers, bins=bins, range=(low, end))
    return {"low": low, "high": high, "counts": counts.tolist()}


def _spacing(low: float, high: float) -> float:
    """Return how far numbers of this size lie apart."""
    return math.ulp(max(abs(low), abs(high)))


def _whole_bins(low: float, high: float) -> tuple[int, float]:
    """Return the number of bins for whole numbers, and where they end.

    Each bin holds equally many whole numbers. Other bins would hold two here and one there, or
    none at all, and show gaps that the values have not.
    """
    span = high - low + 1
    width = math.ceil(span / _BINS)
    bins = math.ceil(span / width)
    return bins, low + bins * width
