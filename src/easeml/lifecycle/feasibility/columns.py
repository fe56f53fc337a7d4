"""Columns cut into cells: numbers by quantiles, categories by values, gaps in cells of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

MOST_COLUMNS = 200  # of a table; wider ones are images or embeddings in disguise
MOST_LEVELS = 0.9  # distinct share of the rows above which values are names, which never come again
CODE_VALUES = 0.25  # distinct share of the rows up to which whole numbers may be codes
DIGITS = 10
MOST_SIGNS = 12  # of a code, each of which is looked at


@dataclass(frozen=True)
class Column:
    """One column, label-free.

    ``numbers``: (rows,) floats, NaN where missing, or None for a category. ``levels``: (rows,)
    integers from 0, most frequent first, -1 where missing, or None for a number that is no code.
    """

    name: str
    numbers: np.ndarray | None
    levels: np.ndarray | None


def read_columns(rows: Any) -> list[Column]:
    """Return the columns of a frame or of a matrix (rows, columns); none where there are too many.

    A time stamp becomes its seconds, minute, hour, weekday, day and month. Columns of one value are left out,
    unless some of their cells are missing.
    """
    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows)
    if frame.shape[1] > MOST_COLUMNS:
        return []
    found = []
    for place, name in enumerate(frame.columns):
        found += _read(str(name), frame.iloc[:, place])
    return list(filter(_varies, found))


def cells(column: Column, bins: int) -> np.ndarray:
    """Return (rows,) cell numbers from 0, at most ``bins`` + 1; the last is for missing cells.

    Quantiles part numbers; of a category the ``bins`` - 1 most frequent values stand alone.
    """
    if column.numbers is None:
        assert column.levels is not None
        cut = np.minimum(column.levels, bins - 1)
        return np.where(column.levels < 0, cut.max() + 1, cut)
    known = ~np.isnan(column.numbers)
    distinct = np.unique(column.numbers[known])
    edges = (distinct[1:] + distinct[:-1]) / 2
    if len(distinct) > bins:
        shares = np.arange(1, bins) / bins
        edges = np.unique(np.quantile(column.numbers[known], shares))
    cut = np.searchsorted(edges, column.numbers)
    return np.where(known, cut, len(edges) + 1)


def parted(column: Column, limit: float) -> np.ndarray:
    """Return (rows,) 0 up to the limit and 1 above it, 2 where a number is missing."""
    assert column.numbers is not None
    above = (column.numbers > limit).astype(np.int64)
    return np.where(np.isnan(column.numbers), 2, above)


def digits(column: Column) -> list[np.ndarray]:
    """Return each digit of whole numbers, the last first: (rows,), ``DIGITS`` where one is missing.

    None of a column that has no whole numbers, or values so few that they are codes already.
    """
    numbers = whole_numbers(column)
    if numbers is None:
        return []
    missing = np.isnan(numbers)
    whole = np.abs(np.where(missing, 0, numbers))
    places = min(len(f"{whole.max():.0f}"), MOST_SIGNS)
    powers = 10.0 ** np.arange(places)
    each = whole[None, :] // powers[:, None] % DIGITS
    return list(np.where(missing, DIGITS, each).astype(np.int64))


def whole_numbers(column: Column) -> np.ndarray | None:
    """Return whole numbers (rows,), NaN where one is missing; None of a column that has others.

    None also of one with values so few that they are codes already.
    """
    if column.numbers is None or column.levels is not None:
        return None
    is_whole = np.isnan(column.numbers) | (column.numbers % 1 == 0)
    if not is_whole.all() or np.isnan(column.numbers).all():
        return None
    return column.numbers


def _read(name: str, values: pd.Series) -> list[Column]:
    if pd.api.types.is_datetime64_any_dtype(values):
        return _read_times(name, values)
    is_bool = pd.api.types.is_bool_dtype(values)
    if is_bool or not pd.api.types.is_numeric_dtype(values):
        words = values.astype(object)
        return [Column(name, None, _levels(words)), *_signs(name, words), *_shapes(name, words)]
    numbers = values.astype(float).to_numpy(dtype=float, na_value=np.nan)
    levels = _levels(values) if _may_be_codes(numbers) else None
    return [Column(name, numbers, levels)]


def _signs(name: str, words: pd.Series) -> list[Column]:
    """Return a column for each sign of codes: words of one length that hardly ever come again."""
    known = words.dropna().astype(str)
    lengths = known.str.len().unique()
    are_codes = known.nunique() > MOST_LEVELS * len(words) and len(lengths) == 1
    if not are_codes or lengths[0] > MOST_SIGNS:
        return []
    found = []
    for place in range(int(lengths[0])):
        sign = words.str[place].where(words.notna())
        found.append(Column(f"{name} sign {place + 1}", None, _levels(sign)))
    return found


def _shapes(name: str, words: pd.Series) -> list[Column]:
    """Return what words that hardly ever come again may share: lengths and ends.

    These are their length, their number of words, and their first and last sign.
    """
    known = words.dropna().astype(str)
    if known.nunique() <= MOST_LEVELS * len(words):
        return []
    lengths = known.str.len().reindex(words.index)
    counts = known.str.split().str.len().reindex(words.index)
    firsts = known.str[0].reindex(words.index)
    lasts = known.str[-1].reindex(words.index)
    return [
        Column(f"{name} length", lengths.to_numpy(dtype=float), _levels(lengths)),
        Column(f"{name} words", counts.to_numpy(dtype=float), _levels(counts)),
        Column(f"{name} first sign", None, _levels(firsts)),
        Column(f"{name} last sign", None, _levels(lasts)),
    ]


def _may_be_codes(numbers: np.ndarray) -> bool:
    """Tell whether all numbers are whole, and few of them differ."""
    known = numbers[~np.isnan(numbers)]
    is_whole = bool((known % 1 == 0).all())
    return is_whole and len(np.unique(known)) <= CODE_VALUES * len(numbers)


def _read_times(name: str, values: pd.Series) -> list[Column]:
    known = values.notna().to_numpy()
    seconds = (values - values.min()).dt.total_seconds().to_numpy(dtype=float, na_value=np.nan)
    found = [Column(name, seconds, None)]
    parts = {
        "minute": values.dt.minute,
        "hour": values.dt.hour,
        "weekday": values.dt.day_of_week,
        "day": values.dt.day,
        "month": values.dt.month,
    }
    for part, part_values in parts.items():
        numbers = part_values.to_numpy(dtype=float, na_value=np.nan)
        levels = _levels(pd.Series(np.where(known, numbers, np.nan)))
        found.append(Column(f"{name} {part}", numbers, levels))
    return found


def _levels(values: pd.Series) -> np.ndarray:
    """Return numbers of the values, most frequent first, -1 where missing."""
    codes, names = pd.factorize(values)
    counts = np.bincount(codes[codes >= 0], minlength=len(names))
    rank = np.empty(len(names), dtype=np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(names))
    if not len(names):
        return np.full(len(codes), -1)
    return np.where(codes < 0, -1, rank[codes])


def _varies(column: Column) -> bool:
    values = column.levels if column.numbers is None else column.numbers
    assert values is not None
    distinct = len(np.unique(values))
    is_name = column.numbers is None and distinct > MOST_LEVELS * len(values)
    return distinct > 1 and not is_name


def unrepeated(frame: pd.DataFrame) -> tuple[str, ...]:
    """Return the names of columns of words whose values hardly ever come again."""
    found = []
    for place, name in enumerate(frame.columns):
        values = frame.iloc[:, place]
        if pd.api.types.is_numeric_dtype(values):
            continue
        if pd.api.types.is_datetime64_any_dtype(values):
            continue
        distinct = values.astype(object).nunique()
        if distinct > MOST_LEVELS * len(values):
            found.append(str(name))
    return tuple(found)
