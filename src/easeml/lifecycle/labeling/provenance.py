"""Which source rows each output row of a pipeline comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from easeml.errors import InvalidInput


@dataclass(frozen=True)
class Provenance:
    """The source rows, called units, behind each output row: it exists where all of them do.

    ``units`` (n, depth) holds unit numbers in 0 .. n_units - 1. Units of several sources are
    numbered through, one source after the other. Follow a pipeline step by step (``take``,
    ``join``), or let it carry columns of row numbers along and read them back (``from_columns``).
    """

    units: np.ndarray
    n_units: int

    @classmethod
    def source(cls, n: int) -> Provenance:
        """Return the provenance of a table of ``n`` rows: each comes from itself."""
        return cls(np.arange(n)[:, None], n)

    @classmethod
    def from_columns(cls, columns: Sequence[Any], sizes: Sequence[int]) -> Provenance:
        """Return the provenance of output rows from one column of source row numbers a source.

        Args:
            columns: For each source, the 0-based row (n,) that an output row comes from.
            sizes: The number of rows of each source.

        Raises:
            InvalidInput: if a number is no row of its source.
        """
        if not columns or len(columns) != len(sizes):
            raise InvalidInput("Give as many columns as sizes, at least one.", where="columns")
        units, offset = [], 0
        for number, (column, size) in enumerate(zip(columns, sizes, strict=True)):
            units.append(_rows(column, size, f"columns[{number}]") + offset)
            offset += size
        if len(set(map(len, units))) > 1:
            raise InvalidInput("Columns have different lengths.", where="columns")
        return cls(np.column_stack(units), offset)

    def take(self, rows: Any) -> Provenance:
        """Return the provenance of the given output rows.

        A filter gives a mask or numbers, a fork repeats.

        A map, which changes rows one by one, leaves provenance as it is.
        """
        chosen = np.asarray(rows)
        if chosen.dtype == bool and len(chosen) == len(self.units):
            chosen = np.flatnonzero(chosen)
        return Provenance(self.units[_rows(chosen, len(self.units), "rows")], self.n_units)

    def join(self, other: Provenance, left: Any, right: Any) -> Provenance:
        """Return the provenance of a join with a table of other sources.

        Row ``left[i]`` here is joined with ``right[i]`` there.

        Units of ``other`` come after those of this one.
        """
        here = self.take(left).units
        there = other.take(right).units + self.n_units
        if len(here) != len(there):
            raise InvalidInput(
                f"{len(here)} left rows do not pair with {len(there)} right ones.", where="right"
            )
        return Provenance(np.hstack([here, there]), self.n_units + other.n_units)


def _rows(column: Any, size: int, where: str) -> np.ndarray:
    """Return row numbers, each in 0 .. size - 1."""
    rows = np.asarray(column)
    if rows.size == 0:
        rows = rows.astype(np.int64)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise InvalidInput("Expected a column of row numbers.", where=where)
    wrong = (rows < 0) | (rows >= size)
    if wrong.any():
        raise InvalidInput(f"The source has no row {rows[wrong][0]}; it has {size}.", where=where)
    return rows.astype(np.int64)
