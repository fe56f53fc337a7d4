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
        return _histogram(made.values[np.isfinite(made.values)])

    return _commonest(array.filter(~v.missing_mask(array, report.type)))


def _commonest(array: pa.Array) -> dict[str, Any]:
    """Return ``{values, others}`` of texts; empty where none occurs twice."""
    import pyarrow as pa

    found = pa.RecordBatch.from_struct_array(arrow_compute().value_counts(array))
    ranked = found.sort_by([("counts", "descending"), ("values", "ascending")])
    counts = ranked.column("counts").to_numpy()
    if counts.max(initial=0) < 2:
        return {}
    texts = ranked.column("values").slice(0, _MOST_VALUES).to_pylist()
    pairs = zip(map(_shortened, texts), counts.tolist(), strict=False)
    return {"values": list(map(list, pairs)), "others": int(counts[_MOST_VALUES:].sum())}


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
    span = high - low
    can_be_divided = 4 * _BINS * _spacing(low, high) <= span < math.inf
    if not can_be_divided:
        return {}

    bins = _BINS
    end = high
    are_whole = bool((numbers == numbers.round()).all())
    if are_whole and span < _WIDE:
        bins, end = _whole_bins(low, high)
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
