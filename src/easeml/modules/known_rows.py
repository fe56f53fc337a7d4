"""What a trained model keeps of the rows that it learned from: digests to know them again, and how
far their numbers reach.

A digest does not give its row back, but whoever has a row can tell whether it was one of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from easeml.data import CELLS, ColumnTable, kinds_of
from easeml.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

_FILE = "known-rows.npz"
_FAR = 10.0  # times the range of the train rows, beyond its ends


@dataclass(frozen=True)
class KnownRows:
    """Digests of the train rows, sorted, with their target; the range of each column of numbers."""

    digests: NDArray[np.uint64]
    ranges: Mapping[str, tuple[float, float]]

    def are_known(self, columns: Mapping[str, Any], labels: Any) -> NDArray[np.bool_]:
        """Tell which rows are equal to a train row in all inputs and the target."""
        return np.isin(_digests(columns, labels), self.digests)

    def far_values(self, table: ColumnTable) -> list[str]:
        """Return a sentence a column that has numbers far out of the range of the train rows."""
        if not self._names:
            return []
        values = self._numbers(table)
        least, largest = self._reach
        are_far = (values < least) | (values > largest)
        if not are_far.any():
            return []
        said = []
        for place in np.flatnonzero(are_far.any(axis=0)):
            name = self._names[place]
            low, high = self.ranges[name]
            far = values[are_far[:, place], place]
            rows = "1 row has" if len(far) == 1 else f"{len(far):,} rows have"
            said.append(
                f"{rows} values of '{name}' such as {far[0]:.6g}, far from all that the model "
                f"was trained on ({low:.6g} to {high:.6g}): do not trust these predictions."
            )
        return said

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(self.ranges)

    @cached_property
    def _reach(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and the largest value of each column that is not far."""
        low, high = np.array(list(self.ranges.values())).T
        reach = _FAR * (high - low)
        return low - reach, high + reach

    def _numbers(self, table: ColumnTable) -> NDArray[np.float64]:
        """Return the columns that have a range, as (rows, columns)."""
        values = table.numbers_of(self._names)
        if values is not None:
            return values
        return np.array([table[name] for name in self._names], dtype=float).T


def write(folder: Path, frame: "pd.DataFrame", target: str, schema_in: Mapping[str, Any]) -> None:
    """Keep the train rows of ``frame`` in the folder of a trained model.

    Nothing is kept where the rows are pictures, tensors or graphs.
    """
    kinds = kinds_of(Schema.from_json(dict(schema_in)))
    if set(kinds.values()) & set(CELLS) or isinstance(frame[target].iloc[0], np.ndarray):
        return
    numbers = [name for name, kind in kinds.items() if kind == "number"]
    ranges = [_range_of(frame[name].to_numpy(dtype=float)) for name in numbers]
    digests = np.unique(_digests({name: frame[name] for name in kinds}, frame[target]))
    np.savez(
        folder / _FILE,
        digests=digests,
        names=np.array(numbers, dtype=str),
        ranges=np.array(ranges, dtype=float).reshape(-1, 2),
    )


def read(folder: Path) -> KnownRows | None:
    """Return what ``write`` kept; None where it kept nothing, as in models of before."""
    if not (folder / _FILE).exists():
        return None
    with np.load(folder / _FILE, allow_pickle=False) as kept:
        names: Sequence[str] = kept["names"].tolist()
        ranges = [(float(low), float(high)) for low, high in kept["ranges"]]
        return KnownRows(kept["digests"], dict(zip(names, ranges, strict=True)))


def have_no_value(table: ColumnTable, columns: Sequence[str]) -> NDArray[np.bool_]:
    """Tell which rows have an empty cell in one of some columns."""
    import pandas as pd

    found = np.zeros(len(table), dtype=bool)
    for name in columns:
        found |= np.asarray(pd.isna(table[name]))
    return found


def _range_of(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the least and the largest value; everything is near where there is none."""
    known = values[np.isfinite(values)]
    if not len(known):
        return -np.inf, np.inf
    return float(known.min()), float(known.max())


def _digests(columns: Mapping[str, Any], labels: Any) -> NDArray[np.uint64]:
    """Return a digest a row, of its inputs in the order of their names and its target."""
    import pandas as pd
    from pandas.util import hash_pandas_object

    made = {f"in {name}": _plain(columns[name]) for name in sorted(columns)}
    frame = pd.DataFrame({**made, "target": _plain(labels)})
    # pandas finds the function at run time, so that its type is not known.
    found = hash_pandas_object(frame, index=False)  # pyright: ignore[reportCallIssue]
    return np.asarray(found, dtype=np.uint64)


def _plain(values: Any) -> Any:
    """Return values in the one form that is hashed: floats, moments in microseconds, or text."""
    import pandas as pd

    series = pd.Series(values).reset_index(drop=True)
    if isinstance(series.dtype, pd.CategoricalDtype):
        return series.astype(object).where(series.notna(), None)
    if pd.api.types.is_datetime64_any_dtype(series.dtype):
        return series.astype("datetime64[us]")
    if pd.api.types.is_numeric_dtype(series.dtype):
        return series.astype(float) + 0.0  # one zero
    return series.astype(object).where(series.notna(), None)
