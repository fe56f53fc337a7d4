"""Conditions on columns, and slices: the rows on which a few conditions hold."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from easeml.lifecycle.cleaning.frames import Column, Frame
from easeml.lifecycle.evaluation import without_midnight
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
        ways = {
            "is": self._is_value,
            "missing": self._is_missing,
            "within": self._is_within,
            "word": self._has_word,
        }
        return ways[self.way](rows[self.column])

    def _is_value(self, cells: Column) -> np.ndarray:
        return class_names(cells) == class_name(self.value)

    def _is_missing(self, cells: Column) -> np.ndarray:
        return cells.isna().to_numpy()

    def _has_word(self, cells: Column) -> np.ndarray:
        return np.array([self.value in words_of(cell) for cell in cells], dtype=bool)

    def _is_within(self, cells: Column) -> np.ndarray:
        values = numbers_of(cells)
        found = np.isfinite(values)
        if self.low is not None:
            found &= values >= self.low
        if self.high is not None:
            found &= values < self.high
        return found

    def __str__(self) -> str:
        """Return the condition as people say it."""
        said = {
            "is": f"is {self.value}",
            "missing": "is missing",
            "within": self._between(),
            "word": f"says '{self.value}'",
        }
        return f"{self.column} {said[self.way]}"

    def _between(self) -> str:
        parts = []
        if self.low is not None:
            parts.append(f"at least {self._told(self.low)}")
        if self.high is not None:
            parts.append(f"below {self._told(self.high)}")
        return " and ".join(parts)

    def _told(self, number: float) -> str:
        if self.is_time:
            return without_midnight(str(np.datetime64(int(number), "s")).replace("T", " "))
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
        return tuple(map(asdict, self.conditions))

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
