"""What a relation holds: certain cells as one Arrow table, and beside it the blocks of candidates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa

from easeml.data.errors import did_you_mean
from easeml.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from easeml.relation.blocks import Blocks


@dataclass(frozen=True)
class Source:
    """Where candidates come from: a tool, its version, and the seed of what it drew."""

    tool: str
    version: str = ""
    seed: int | None = None


@dataclass(frozen=True)
class Content:
    """Rows whose cells are certain, except where a block says otherwise.

    ``table`` (N rows): cells as they were given; null where nothing is known. ``row_ids`` (N,):
    what names a row for as long as it lives. ``roles`` (N,) int8: numbers of ``ALL_ROLES``, or
    None. ``target``: the column of labels, if any. ``blocks``: what could be instead. ``sources``:
    what the candidates' source numbers mean. ``origins`` (N,) objects: the id of the row that a
    made row was made of, None of a row that was observed; None where all were.
    """

    table: pa.Table
    row_ids: pd.Index
    roles: np.ndarray | None
    target: str | None
    blocks: Blocks
    sources: tuple[Source, ...]
    origins: np.ndarray | None = None

    def position_of(self, row_id: Any) -> int:
        """Return the position of a row. Raises NotFound."""
        try:
            return int(self.row_ids.get_loc(row_id))  # pyright: ignore[reportArgumentType]
        except (KeyError, TypeError) as error:
            raise NotFound(
                "There is no such row.",
                where=f"row {row_id!r}",
                remedy="Row ids are those of the frame's index; 'row_ids' lists them.",
            ) from error

    def roles_at(self, rows: np.ndarray) -> np.ndarray | None:
        """Return the roles of the rows at some positions; None where rows have no roles."""
        if self.roles is None:
            return None
        return self.roles[rows]

    def origins_at(self, rows: np.ndarray) -> np.ndarray | None:
        """Return the origins of the rows at some positions; None where no row was made."""
        if self.origins is None:
            return None
        return self.origins[rows]

    @property
    def is_made(self) -> np.ndarray:
        """Which rows (N,) were made of others."""
        return ~pd.isna(self.origin_of_each)

    @property
    def origin_of_each(self) -> np.ndarray:
        """The id of the row that each row (N,) was made of; None of one that was observed."""
        if self.origins is not None:
            return self.origins
        return np.full(self.table.num_rows, None, object)

    def check_columns(self, columns: Iterable[str]) -> None:
        """Raise InvalidInput for a column that is not there."""
        for column in columns:
            self.type_of(column)

    def type_of(self, column: str) -> pa.DataType:
        """Return the type of a column's values; of categories, that of their names.

        Raises InvalidInput.
        """
        if column not in self.table.column_names:
            raise InvalidInput(
                "There is no such column.",
                where=f"column {column!r}",
                remedy=did_you_mean(str(column), self.table.column_names),
            )
        kind = self.table.schema.field(column).type
        if pa.types.is_dictionary(kind):
            return kind.value_type
        return kind


def plain_values(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return a column as one array; categories as their names."""
    whole = column
    if isinstance(column, pa.ChunkedArray):
        whole = column.combine_chunks()
    if pa.types.is_dictionary(whole.type):
        return whole.dictionary_decode()
    return whole


def numbers_in(values: pa.Array, column: str) -> np.ndarray:
    """Return values as (n,) float64, NaN where there is none. Raises InvalidInput."""
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.int8())
    if not _is_countable(values.type):
        raise InvalidInput(
            f"holds {values.type}, not numbers.",
            where=f"column {column!r}",
            remedy="Ask about a column of numbers.",
        )
    numbers = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    if np.isinf(numbers).any():
        raise InvalidInput("holds infinity.", where=f"column {column!r}", remedy="Leave it out.")
    return numbers


def _is_countable(kind: pa.DataType) -> bool:
    """Tell whether a column has numbers, or nothing at all."""
    if pa.types.is_null(kind):
        return True
    return pa.types.is_integer(kind) or pa.types.is_floating(kind)
