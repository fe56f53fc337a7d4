"""Rows that lie before or after all rows that a model learned from, in time or in their order.

A model knows nothing of what changes later. Where its errors were measured among rows of the same
time, its intervals are too narrow for later ones: those of .9 held .74 of the later rows of four
series, and a third of the sunspots. Where errors were measured on later rows, the intervals hold
better up to that distance (``benchmarks/later_rows.py``, decision 0168).
"""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from easeml.data import ColumnTable, kinds_of
from easeml.schema import Schema

from . import conformal

if TYPE_CHECKING:
    import pandas as pd

FACT = "order"
"""Under which name a manifest keeps what ``describe`` returns."""

Order = Mapping[str, Mapping[str, Any]]
Beyond = Counter[tuple[str, str]]
"""How many rows lie beyond, by column and by the end of its range: ``low`` or ``high``."""

_MOMENTS = "datetime64[us]"
_FEWEST_ROWS, _FEWEST_VALUES = 21, 3  # before the order of rows is more than chance


class Version(Protocol):
    """What is used of ``easeml.data.VersionTables``."""

    @property
    def train(self) -> "pd.DataFrame": ...
    @property
    def validation(self) -> "pd.DataFrame": ...
    @property
    def schema_in(self) -> Schema: ...


def describe(learned: "pd.DataFrame", version: Version) -> dict[str, dict[str, Any]]:
    """Return the range of each column that orders rows: times, and numbers such as a year.

    ``learned``: the rows of a fit, of those of ``version``. ``low`` and ``high``: of them.
    ``until``: up to where it was measured how far off the model is. That is ``high``, or farther
    where the validation rows are later than the train rows. Times are texts (ISO 8601).
    """
    found = {}
    for name, kind in kinds_of(version.schema_in).items():
        if kind not in ("timestamp", "number"):
            continue
        train = _known(version.train[name])
        held = np.sort(_known(version.validation[name]))
        if not len(train) or not len(held):
            continue
        is_later = bool(held[len(held) // 2] > train.max())
        orders = kind == "timestamp" or is_later or _are_in_order(train)
        if not orders:
            continue
        values = _known(learned[name])
        low = values.min()
        high = values.max()
        # Only where most of the validation rows are later, they tell of later ones.
        farther = (held.max() - train.max()) * is_later
        found[name] = {
            "low": _as_json(low),
            "high": _as_json(high),
            "until": _as_json(high + farther),
        }
    return found


def kept(manifest: Mapping[str, Any]) -> Order:
    """Return the ranges that a model has kept; none of an earlier easeml's.

    A forecast is made to predict later rows, and says itself which are too far on.
    """
    if "forecast" in manifest.get("pipeline", ()):
        return {}
    return manifest.get(FACT, {})


def beyond(order: Order, table: ColumnTable) -> Beyond:
    """Count the rows of a table that lie beyond the ranges that ``describe`` returned."""
    found: Beyond = Counter()
    for name, ends in order.items():
        least = _from_json(ends["low"])
        most = _from_json(ends["until"])
        # A missing value is neither smaller nor larger.
        values = np.asarray(table[name])
        found[name, "low"] = int(np.count_nonzero(values < least))
        found[name, "high"] = int(np.count_nonzero(values > most))
    return +found  # without ends beyond which there is no row


def notes(manifest: Mapping[str, Any], found: Beyond) -> list[str]:
    """Return a sentence for each column and end beyond which rows lie.

    ``manifest``: of the model that predicts them.
    """
    risk = "they may be farther off than was measured."
    if manifest.get("classes"):
        risk = "their probabilities may be too sure."
    elif manifest.get(conformal.FACT):
        risk = "their intervals may be too narrow."
    said = []
    for (name, end), rows in found.items():
        are = _rows_are(rows)
        place = _place(name, end, manifest[FACT][name])
        said.append(f"{are} {place}: {risk}")
    return said


def _rows_are(count: int) -> str:
    if count == 1:
        return "1 row is"
    return f"{count:,} rows are"


def _place(name: str, end: str, ends: Mapping[str, Any]) -> str:
    """Say where rows are that lie beyond an end of the range of a column."""
    before, after = "below", "above"
    if isinstance(ends["high"], str):
        before, after = "earlier than", "later than"
    low = _written(ends["low"])
    high = _written(ends["high"])
    until = _written(ends["until"])
    if end == "low":
        return f"{before} all rows that the model learned from ('{name}' from {low})"
    if until == high:
        return f"{after} all rows that the model learned from ('{name}' until {high})"
    return (
        f"{after} all rows on which it was measured how far off the model is "
        f"('{name}' until {until}; it learned from rows until {high})"
    )


def _known(column: Any) -> NDArray[Any]:
    """Return the values of a column that are not missing: numbers, or moments in microseconds."""
    values = np.asarray(column.dropna())
    if values.dtype.kind == "M":
        return values.astype(_MOMENTS)
    return values.astype(float)


def _are_in_order(values: NDArray[Any]) -> bool:
    """Tell whether numbers that differ never fall, or never rise. Rows come in the order of a file."""
    if len(values) < _FEWEST_ROWS:
        return False
    steps = np.diff(values)
    differ = len(np.unique(values)) >= _FEWEST_VALUES
    return differ and not steps.min() < 0 < steps.max()


def _as_json(value: Any) -> str | float:
    if isinstance(value, np.datetime64):
        return str(value)
    return float(value)


def _from_json(value: str | float) -> Any:
    if isinstance(value, str):
        return np.datetime64(value)
    return value


def _written(value: str | float) -> str:
    """Return an end as people read it: a date without its midnight, a number in full."""
    if isinstance(value, str):
        return value.removesuffix(".000000").removesuffix("T00:00:00").replace("T", " ")
    return f"{value:.15g}"
