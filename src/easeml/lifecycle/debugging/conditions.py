"""Conditions on columns, and slices: the rows on which a few conditions hold."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from easeml.lifecycle.cleaning.frames import Column, Frame
from easeml.lifecycle.labels import class_name, class_names

_WORD = re.compile(r"[^\W\d_]{3,}")

Way = Literal["is", "missing", "within", "word"]
"""``is``: a value; ``missing``: none; ``within``: a range of numbers; ``word``: of a text."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a cell of ``column``.

    ``value``: the category, number or word. ``low`` <= cell < ``high``: a range of numbers, open
    where an end is None. ``is_time``: the numbers are seconds since 1970.
    """

    column: str
    way: Way
    value: str = ""
    low: float | None = None
    high: float | None = None
    is_time: bool = False

    def holds(self, rows: Frame) -> np.ndarray:
        """Tell for each row (n,) whether the condition holds; of a column that lacks, nowhere."""
        if self.column not in rows.columns:
            return np.zeros(len(rows), dtype=bool)
        cells = rows[self.column]
        if self.way == "missing":
            return cells.isna().to_numpy()
        if self.way == "is":
            return class_names(cells) == class_name(self.value)
        if self.way == "word":
            return np.array([self.value in words_of(cell) for cell in cells], dtype=bool)
        return self._is_within(numbers_of(cells))

    def _is_within(self, values: np.ndarray) -> np.ndarray:
        found = np.isfinite(values)
        if self.low is not None:
            found &= values >= self.low
        if self.high is not None:
            found &= values < self.high
        return found

    def __str__(self) -> str:
        """Return the condition as people say it."""
        if self.way == "missing":
            return f"{self.column} is missing"
        if self.way == "is":
            return f"{self.column} is {self.value}"
        if self.way == "word":
            return f"{self.column} says '{self.value}'"
        parts = []
        if self.low is not None:
            parts.append(f"at least {self._told(self.low)}")
        if self.high is not None:
            parts.append(f"below {self._told(self.high)}")
        return f"{self.column} {' and '.join(parts)}"

    def _told(self, number: float) -> str:
        if self.is_time:
            return str(np.datetime64(int(number), "s")).replace("T", " ")
        return f"{number:.6g}"


@dataclass(frozen=True, slots=True)
class Slice:
    """The rows on which all ``conditions`` hold; without any, all rows."""

    conditions: tuple[Condition, ...] = ()

    def holds(self, rows: Frame) -> np.ndarray:
        """Tell for each row (n,) whether it is in the slice."""
        found = np.ones(len(rows), dtype=bool)
        for condition in self.conditions:
            found &= condition.holds(rows)
        return found

    @property
    def columns(self) -> frozenset[str]:
        """The columns that it has a condition on."""
        return frozenset(condition.column for condition in self.conditions)

    def __str__(self) -> str:
        """Return the slice as people say it."""
        if not self.conditions:
            return "all rows"
        return " and ".join(map(str, self.conditions))

    def to_json(self) -> tuple[dict[str, Any], ...]:
        """Return the conditions as JSON."""
        return tuple(asdict(condition) for condition in self.conditions)

    @staticmethod
    def from_json(told: Sequence[Mapping[str, Any]]) -> Slice:
        """Return the slice that ``to_json`` told."""
        return Slice(tuple(Condition(**one) for one in told))


def numbers_of(cells: Column) -> np.ndarray:
    """Return cells as numbers (n,), times as seconds since 1970; NaN where there is none."""
    import pandas as pd

    if cells.dtype.kind == "M":
        seconds = cells.to_numpy().astype("datetime64[s]").astype(np.int64).astype(float)
        return np.where(cells.isna().to_numpy(), np.nan, seconds)
    values: Column = pd.to_numeric(cells, errors="coerce")
    return values.to_numpy(dtype=float, na_value=np.nan)


def words_of(text: Any) -> set[str]:
    """Return the words of three letters or more, in small letters; none of what is no text."""
    if not isinstance(text, str):
        return set()
    return set(_WORD.findall(text.lower()))
