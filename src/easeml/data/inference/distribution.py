"""How the values of a column are spread, to be looked at: a histogram of numbers, the most frequent
of other values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from easeml.data.types import values as v
from easeml.data.types.arrow import arrow_compute
from easeml.data.types.column_report import ColumnReport

if TYPE_CHECKING:
    import pyarrow as pa

_BINS = 16
_MOST_VALUES = 5
_LONGEST = 60  # characters of a value


def distribution(array: pa.Array, report: ColumnReport) -> dict[str, Any]:
    """Return ``{low, high, counts}`` of numbers in equal bins, or ``{values, others}`` with the
    counts of values.

    Empty where that tells nothing: no value, or none that occurs twice.
    """
    import numpy as np

    array = array.fill_null("")
    if report.type == "number":
        made = v.to_numbers(v.plain(array, "number", report.format))
        numbers = made.values[~made.missing & ~made.bad]
        numbers = numbers[np.isfinite(numbers)]
        if not len(numbers):
            return {}
        low, high = float(numbers.min()), float(numbers.max())
        if not np.isfinite(high - low) or 0 < high - low < 4 * _BINS * np.spacing(
            max(abs(low), abs(high))
        ):
            return {}  # no equal bins can be told apart
        if low == high:
            return {"low": low, "high": high, "counts": [len(numbers)]}
        counts, _ = np.histogram(numbers, bins=_BINS, range=(low, high))
        return {"low": low, "high": high, "counts": counts.tolist()}
    found = arrow_compute().value_counts(array.filter(~v.missing_mask(array, report.type)))
    pairs = zip(found.field("values").to_pylist(), found.field("counts").to_pylist(), strict=True)
    ordered = sorted(pairs, key=lambda pair: (-pair[1], pair[0]))
    if not ordered or ordered[0][1] < 2:
        return {}
    shown = [
        [text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…", n]
        for text, n in ordered[:_MOST_VALUES]
    ]
    return {"values": shown, "others": sum(n for _, n in ordered[_MOST_VALUES:])}
