"""Inputs that know the answer too well: named as predictions, telling it alone, or adding up to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from easeml.data.inference import name_words as names
from easeml.data.types import values as v
from easeml.data.types.column_report import ColumnReport
from easeml.data.types.number_forms import plain_numbers

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_ROWS = 4000
_FEWEST = 40  # rows, below which chance tells an answer as well
_BINS = 64
_MOST_ADDED = 60  # numbers that are tried as parts of a sum


def leaks(
    reports: Sequence[ColumnReport], table: dict[str, pa.Array], target: str
) -> dict[str, tuple[str, float]]:
    """Suspects by name: why, and how sure."""
    import numpy as np

    inputs = [report for report in reports if report.role == "input" and report.name != target]
    answer = next(report for report in reports if report.name == target)
    found = {
        report.name: ("its name is that of a prediction", 0.8)
        for report in inputs
        if set(names.words(report.name)) & names.PREDICTIONS
    }
    rows = min(len(table[target]), _ROWS)
    at = _spread(len(table[target]), rows)
    actual = _coded(answer, table[target].take(at))
    numeric = answer.type == "number" and not answer.classes
    known = ~np.isnan(actual)
    if known.sum() < _FEWEST or len(set(actual[known].tolist())) < 2:
        return found
    numbers = {}
    for report in inputs:
        values = _coded(report, table[report.name].take(at))
        if report.type == "number":
            numbers[report.name] = values
        if report.nature != "time" and (
            told := _tells(values[known], actual[known], numeric, report.type == "number")
        ):
            found.setdefault(report.name, told)
    if numeric:
        for name in _adds_up(numbers, actual):
            found.setdefault(name, ("the target is a sum of this and other columns", 0.9))
    return found


def _spread(rows: int, wanted: int) -> np.ndarray:
    """Evenly spaced row numbers."""
    import numpy as np

    return np.unique(np.linspace(0, rows - 1, wanted).astype(np.int64))


def _coded(report: ColumnReport, array: pa.Array) -> np.ndarray:
    """The column as floats: numbers as they are, others by code; NaN is missing."""
    import numpy as np

    if report.type == "number":
        return v.to_numbers(plain_numbers(array, report.format)).values
    missing = v.missing_mask(array, report.type)
    codes = array.dictionary_encode().indices.to_numpy(zero_copy_only=False).astype(float)
    codes[missing] = np.nan
    return codes


def _tells(
    values: np.ndarray, actual: np.ndarray, numeric: bool, ordered: bool
) -> tuple[str, float] | None:
    """Whether a column alone, learned on every second row, gives the answer in (nearly) all others."""
    import numpy as np

    bins = _binned(values) if ordered else np.nan_to_num(values, nan=-1).astype(np.int64) + 1
    if bins.max(initial=0) + 1 > len(bins) // 4:
        return None  # too many values to learn from
    learn, check = np.arange(len(bins)) % 2 == 0, np.arange(len(bins)) % 2 == 1
    if numeric:
        quality = _explained(bins, actual, learn, check)
        if ordered and np.isfinite(values).all() and np.ptp(values) > 0 and np.ptp(actual) > 0:
            quality = max(quality, abs(float(np.corrcoef(values, actual)[0, 1])))
        return ("alone it explains the target all but fully", 0.8) if quality > 0.999 else None
    share, base = _right(bins, actual, learn, check)
    if share >= 0.995 and 1 - share < (1 - base) / 20:
        return (f"alone it tells the target in {share:.1%} of rows", 0.8)
    return None


def _binned(values: np.ndarray) -> np.ndarray:
    import numpy as np

    known = values[~np.isnan(values)]
    edges = (
        np.unique(np.quantile(known, np.linspace(0, 1, _BINS + 1)[1:-1]))
        if len(known)
        else np.array([])
    )
    return np.where(np.isnan(values), 0, np.searchsorted(edges, values, side="right") + 1)


def _explained(bins: np.ndarray, actual: np.ndarray, learn: np.ndarray, check: np.ndarray) -> float:
    """R squared, on the rows of ``check``, of the mean of each bin on those of ``learn``."""
    import numpy as np

    size = int(bins.max()) + 1
    number = np.bincount(bins[learn], minlength=size)
    total = np.bincount(bins[learn], weights=actual[learn], minlength=size)
    means = np.where(number > 0, total / np.maximum(number, 1), actual[learn].mean())
    spread = float(((actual[check] - actual[check].mean()) ** 2).sum())
    return 1 - float(((actual[check] - means[bins[check]]) ** 2).sum()) / spread if spread else 0.0


def _right(
    bins: np.ndarray, actual: np.ndarray, learn: np.ndarray, check: np.ndarray
) -> tuple[float, float]:
    """Share of the rows of ``check`` that the most frequent answer of each bin is right for; and of
    all bins.
    """
    import numpy as np

    _, codes = np.unique(actual, return_inverse=True)
    counts = np.zeros((int(bins.max()) + 1, int(codes.max()) + 1))
    np.add.at(counts, (bins[learn], codes[learn]), 1)
    base = counts.sum(axis=0).argmax()
    guess = np.where(counts.sum(axis=1) > 0, counts.argmax(axis=1), base)
    return float((guess[bins[check]] == codes[check]).mean()), float((codes[check] == base).mean())


def _adds_up(numbers: dict[str, np.ndarray], actual: np.ndarray) -> list[str]:
    """The numbers whose weighted sum is the target exactly: least squares without anything left."""
    import numpy as np

    known = ~np.isnan(actual)
    columns = {
        name: values for name, values in numbers.items() if not np.isnan(values[known]).any()
    }
    if not 2 <= len(columns) <= min(_MOST_ADDED, int(known.sum()) // 4):
        return []
    X = np.column_stack([*columns.values()])[known]
    centred, y = X - X.mean(axis=0), actual[known] - actual[known].mean()
    scale = np.maximum(centred.std(axis=0), 1e-300)
    weights, *_ = np.linalg.lstsq(centred / scale, y, rcond=None)
    left = float(((y - (centred / scale) @ weights) ** 2).sum())
    if left > 1e-12 * float((y**2).sum()):
        return []
    parts = np.abs(weights) > 1e-3 * np.abs(weights).max()
    return [name for name, part in zip(columns, parts, strict=True) if part]
