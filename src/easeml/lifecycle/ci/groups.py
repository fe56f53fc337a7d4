"""Groups of rows that a condition may name, as in ``n[sex = female]``."""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from easeml.decimals import with_point
from easeml.errors import InvalidInput
from easeml.lifecycle.labels import as_number, class_name, class_names

_WRITTEN = re.compile(
    r'\[\s*(?P<column>"(?:[^"\\]|\\.)*"|[^"<>=!\s][^"<>=!]*?)\s*(?P<compare><=|>=|!=|=|<|>)'
    r'\s*(?P<value>"(?:[^"\\]|\\.)*"|[^"<>=!\s][^"<>=!]*?)\s*\]'
)
_NEEDS_QUOTES = re.compile(r'["\[\]<>=!\\]|^\s|\s$')
_MOST_GROUPS = 20
EACH = "*"
"""The value that stands for each one that the rows have."""
_ORDERS: dict[str, Callable[[Any, float], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Group:
    """The rows whose cell in ``column`` compares so with ``value``.

    ``compare``: = or !=, of names as labels have them, or <, <=, > or >=, of numbers. Rows without
    a cell there are in no group.
    """

    column: str
    compare: str
    value: str

    def __str__(self) -> str:
        return f"{_shown(self.column)} {self.compare} {_shown(self.value)}"

    @property
    def is_each(self) -> bool:
        """Whether it stands for each group of a column: [region = *]."""
        return (self.compare, self.value) == ("=", EACH)

    def excludes(self, other: Group) -> bool:
        """Tell whether no row can be in both groups, whatever the rows are."""
        if self.column != other.column:
            return False
        if self.compare == "=":
            return not other.members([self.value]).item()
        if other.compare == "=":
            return not self.members([other.value]).item()
        orders = {self.compare[0]: self, other.compare[0]: other}
        if orders.keys() != {"<", ">"}:
            return False
        return not _reach_each_other(orders["<"], orders[">"])

    def members(self, cells: Sequence[Any] | np.ndarray) -> np.ndarray:
        """Return which cells (N,) of its column make a row one of this group."""
        if self.compare in _ORDERS:
            numbers = np.array(list(map(_number, cells)), dtype=np.float64)
            return np.asarray(_ORDERS[self.compare](numbers, _number(self.value)), dtype=bool)
        names = class_names(cells)
        named = names == class_name(self.value)
        if self.compare == "=":
            return named
        return ~named & (names != None)  # noqa: E711 (of each)


def read_group(text: str) -> Group | None:
    """Return the group that a text such as ``[sex = female]`` names; None if it names none.

    Names with brackets, quotes, or signs of comparison in them stand in double quotes.

    Raises:
        InvalidInput: for a comma in a number that may be one of thousands.
    """
    found = _WRITTEN.fullmatch(text)
    if found is None:
        return None
    try:
        group = Group(_plain(found["column"]), found["compare"], _plain(found["value"]))
    except ValueError:  # no text in quotes as JSON has them
        return None
    if group.compare not in _ORDERS:
        return group
    number = with_point(group.value, "condition")
    return None if math.isnan(_number(number)) else replace(group, value=number)


def masks_of(groups: Sequence[Group], rows: Any) -> dict[Group, np.ndarray]:
    """Return which of ``rows``, a frame of N rows, are in each group (N,).

    Raises:
        InvalidInput: if there are no rows, or naming the column that they lack.
    """
    return {group: group.members(_cells(group.column, rows)) for group in groups}


def values_in(column: str, rows: Any) -> list[str]:
    """Return the values of a column of a frame that ``[column = *]`` stands for, by name.

    Raises:
        InvalidInput: if there is no such column, or it has no values, or too many to be groups.
    """
    names = class_names(_cells(column, rows))
    values = sorted(set(filter(None, names)))
    if 0 < len(values) <= _MOST_GROUPS:
        return values
    raise InvalidInput(
        f"'{column}' has {len(values):,} values, and [{column} = *] stands for 1 to {_MOST_GROUPS}.",
        where="condition",
        remedy="Name the groups, or use a column with fewer values.",
    )


def _cells(column: str, rows: Any) -> np.ndarray:
    if rows is None:
        raise InvalidInput(
            f"The condition is about rows by '{column}', and no rows are given.",
            where="condition",
            remedy="Give the rows with their columns.",
        )
    if column not in rows:
        raise InvalidInput(
            f"The condition is about rows by '{column}', and no column is called so.",
            where="condition",
            remedy=f"Use one of {', '.join(map(str, rows))}.",
        )
    return rows[column].to_numpy()


def _reach_each_other(low: Group, high: Group) -> bool:
    """Tell whether a number can be as small as the first group asks and as large as the second."""
    top, bottom = _number(low.value), _number(high.value)
    if {low.compare, high.compare} == {"<=", ">="}:
        return bottom <= top
    return bottom < top


def _number(cell: Any) -> float:
    number = as_number(cell)
    return math.nan if number is None else number


def _plain(written: str) -> str:
    return json.loads(written) if written.startswith('"') else written


def _shown(name: str) -> str:
    return json.dumps(name, ensure_ascii=False) if _NEEDS_QUOTES.search(name) else name
