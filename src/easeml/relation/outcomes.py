"""What the uncertain rows of a relation can be, seen through some of its columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from easeml.errors import InvalidInput
from easeml.relation.blocks import Blocks
from easeml.relation.content import Content, plain_values


def relevant_blocks(content: Content, columns: Iterable[str]) -> Blocks:
    """Return the blocks that say something of the columns, or of whether their row exists."""
    wanted = list(columns)
    blocks = content.blocks
    chosen = blocks.optional | blocks.covering(*wanted)
    return blocks.take(np.flatnonzero(chosen)).restricted(wanted)


def is_one_a_row(blocks: Blocks) -> bool:
    """Tell whether no row has two of the blocks."""
    return bool(np.all(blocks.row[:-1] != blocks.row[1:]))


def one_block_a_row(blocks: Blocks) -> Blocks:
    """Return the blocks with those of a row multiplied.

    Raises:
        InvalidInput: where rows that a join made dependent have several blocks.
    """
    if is_one_a_row(blocks):
        return blocks
    if not blocks.independent:
        raise InvalidInput(
            "Rows of this relation share candidates, since a join repeated them.",
            remedy="Filter and compute columns before the join.",
        )
    return blocks.one_a_row()


def values_of(content: Content, blocks: Blocks, column: str) -> pa.Array:
    """Return (T,) what each candidate's row has in a column, whether it exists or not."""
    rows = blocks.row[blocks.block]
    known = plain_values(content.table.column(column).take(pa.array(rows)))
    cells = blocks.cells.get(column)
    if cells is None:
        return known
    # Both kinds of values stand behind each other, and each candidate picks one of them.
    pick = np.arange(len(rows))
    pick[cells.place] = len(rows) + np.arange(len(cells.place))
    return pa.concat_arrays([known, cells.values.cast(known.type)]).take(pa.array(pick))


def likeliest(blocks: Blocks) -> np.ndarray:
    """Return (B,) the number of each block's likeliest candidate; of equals the first."""
    order = np.lexsort((-np.arange(len(blocks.weight)), blocks.weight, blocks.block))
    return order[blocks.first[1:] - 1]


def scattered(column: pa.ChunkedArray, rows: np.ndarray, values: pa.Array) -> pa.ChunkedArray:
    """Return a column with other values in some rows. Categories that are new come last."""
    if len(rows) == 0:
        return column
    pick = np.arange(len(column))
    pick[rows] = len(column) + np.arange(len(rows))
    indices = pa.array(pick)
    if not pa.types.is_dictionary(column.type):
        chunks = [*column.chunks, values.cast(column.type)]
        return pa.chunked_array(chunks, type=column.type).take(indices)
    return _scattered_categories(column, indices, values)


def _scattered_categories(
    column: pa.ChunkedArray, indices: pa.Array, values: pa.Array
) -> pa.ChunkedArray:
    """Return a column of categories with some of ``values`` in the places of its own."""
    unified = column.unify_dictionaries()
    names = unified.chunk(0).dictionary
    known = {None, *names.to_pylist()}
    new = [name for name in values.unique().to_pylist() if name not in known]
    dictionary = pa.concat_arrays([names, pa.array(new, names.type)])
    codes = pa.concat_arrays([chunk.indices.cast(pa.int64()) for chunk in unified.chunks])
    place = {name: code for code, name in enumerate(dictionary.to_pylist())}
    given = pa.array(map(place.get, values.to_pylist()), pa.int64())
    picked = pa.concat_arrays([codes, given]).take(indices)
    width = column.type.index_type
    if len(dictionary) > 2 ** (width.bit_width - 1) - 1:
        width = pa.int32()
    made = pa.DictionaryArray.from_arrays(
        picked.cast(width), dictionary, ordered=column.type.ordered
    )
    return pa.chunked_array([made])


def with_columns(table: pa.Table, columns: Sequence[tuple[str, pa.ChunkedArray]]) -> pa.Table:
    """Return a table with some of its columns replaced; what is known of the others stays."""
    for name, column in columns:
        place = table.schema.get_field_index(name)
        field = pa.field(name, column.type, metadata=table.schema.field(place).metadata)
        table = table.set_column(place, field, column)
    return table
