"""Typed Arrow columns to columns of text, which is what all tables are before they are declared.

The types that a file states stay as metadata of the columns (key ``type``) where they say more than
the text does.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError, refusing
from easeml.data.types.arrow import arrow_compute

if TYPE_CHECKING:
    import pyarrow as pa

ROW = "_row"  # the column of row ids that a declared version adds
MOST_COLUMNS = 100_000


def text_table(batches: Iterable[pa.RecordBatch], schema: pa.Schema, name: str) -> pa.Table:
    """Return a table of stripped text, a batch at a time; nulls and infinite numbers become empty.

    Raises: DatasetError: for names that are not usable, a column that cannot be text, or a table
        without rows.
    """
    import pyarrow as pa

    told = {field.name: _told(field.type) for field in schema}
    made = list(text_batches(batches, name))
    if not sum(map(len, made)):
        raise no_row(name)

    table = pa.concat_tables(made)
    names = check_names(table.column_names, name)
    fields = map(_field, names, map(told.get, table.column_names))
    return pa.table(table.columns, schema=pa.schema(fields))


def _field(name: str, told: dict[str, str] | None) -> pa.Field:
    import pyarrow as pa

    return pa.field(name, pa.string(), metadata=told)


def no_row(name: str) -> DatasetError:
    """The refusal of a table without rows."""
    return DatasetError("there is no row.", where=name, remedy="Send a table with rows.")


def text_batches(batches: Iterable[pa.RecordBatch], name: str) -> Iterator[pa.Table]:
    """The batches as tables of text; raises DatasetError for a column that cannot be text."""
    import pyarrow as pa

    for batch in batches:
        names = []
        columns = []
        for column, array in _flat(batch):
            names.append(column)
            columns.append(_text(array, column, name))
        yield pa.table(columns, names)


def check_names(given: Sequence[str], where: str) -> list[str]:
    """The names of columns, stripped; ``column N`` where there is none.

    Raises DatasetError for a name given twice.
    """
    names = []
    for number, cell in enumerate(given, 1):
        names.append(str(cell).strip() or f"column {number}")
    _check_unique(names, where)
    if ROW in names:
        raise DatasetError(
            f"the column name '{ROW}' is used by easeml itself.",
            where=where,
            remedy="Rename it.",
        )
    if not 1 <= len(names) <= MOST_COLUMNS:
        raise DatasetError(
            f"a table has 1 to {MOST_COLUMNS:,} columns, this has {len(names):,}.",
            where=where,
        )
    return names


def _check_unique(names: Sequence[str], where: str) -> None:
    """Refuse a name of several columns."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if not twice:
        return
    places = [str(number) for number, name in enumerate(names, 1) if name == twice[0]]
    raise DatasetError(
        f"the column name '{twice[0]}' occurs more than once (columns {', '.join(places)}).",
        where=where,
        remedy="Give every column a name of its own.",
    )


def noted(described: pa.Schema | pa.Field, key: bytes) -> str:
    """What a reader noted under ``key`` of a table or a column; empty where it noted nothing."""
    notes = described.metadata or {}
    return notes.get(key, b"").decode()


def column_text(table: pa.Table, name: str) -> pa.Array:
    """A column of a table as one array."""
    return table.column(name).combine_chunks()


ROWS_COUNT = "the first row of values is row 0"


def row_place(row: int) -> str:
    """The name of a row (from 0) in messages.

    The one rule for numbers of rows: they count from 0, in files of results, in answers of the API
    and in messages, whatever file the rows came from. A *line* is a line of a text file, from 1.
    """
    return f"row {row} ({ROWS_COUNT})"


def _told(kind: pa.DataType) -> dict[str, str] | None:
    """What the metadata of a column say of its type, where the type says more than its text."""
    import pyarrow as pa

    is_category = pa.types.is_dictionary(kind) or pa.types.is_boolean(kind)
    return {"type": "category"} if is_category else None


def _flat(batch: pa.RecordBatch) -> Iterator[tuple[str, pa.Array]]:
    """The columns with their names: of a struct one a field, ``outer.inner``; of lists one a place.

    A place of lists, which are all of one size, is called ``name[0]``.
    """
    import pyarrow as pa

    while any(map(pa.types.is_struct, batch.schema.types)):
        batch = _unnested(batch)
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        yield from _parts(name, column)


def _unnested(batch: pa.RecordBatch) -> pa.RecordBatch:
    import pyarrow as pa

    flat = pa.Table.from_batches([batch]).flatten()
    # Not to_batches, which gives none for a batch without rows.
    columns = [column.combine_chunks() for column in flat.columns]
    return pa.RecordBatch.from_arrays(columns, schema=flat.schema)


def _parts(name: str, column: pa.Array) -> list[tuple[str, pa.Array]]:
    """The column with its name; where it holds lists of one size, a column for each place in them."""
    import numpy as np
    import pyarrow as pa

    if column.null_count or not pa.types.is_fixed_size_list(column.type):
        return [(name, column)]

    width = column.type.list_size
    values = column.flatten()
    firsts = np.arange(len(column), dtype=np.int64) * width
    return [(f"{name}[{place}]", values.take(pa.array(firsts + place))) for place in range(width)]


def _text(array: pa.Array, column: str, name: str) -> pa.Array:
    """A column of a typed table as text; empty where there is no value."""
    import pyarrow as pa

    compute = arrow_compute()
    where = f"{name}, column '{column}'"
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if _is_bytes(kind):
        raise DatasetError(
            "it holds bytes, not values.",
            where=where,
            remedy="Leave it out, or write it as text.",
        )

    if pa.types.is_floating(kind):
        array = compute.if_else(compute.is_finite(array), array, pa.scalar(None, kind))
    elif pa.types.is_nested(kind):
        array = _as_json(array)
    uncastable = (pa.ArrowInvalid, pa.ArrowNotImplementedError)
    with refusing(uncastable, f"its type {kind} cannot be read.", where):
        text = array.cast(pa.string())
    return compute.utf8_trim_whitespace(compute.fill_null(text, ""))


def _is_bytes(kind: pa.DataType) -> bool:
    import pyarrow as pa

    is_fixed = pa.types.is_fixed_size_binary(kind)
    return is_fixed or pa.types.is_binary(kind) or pa.types.is_large_binary(kind)


def _as_json(array: pa.Array) -> pa.Array:
    """Lists and structures as text."""
    import pyarrow as pa

    texts = [json.dumps(value, default=str) for value in array.to_pylist()]
    is_missing = array.is_null().to_numpy(zero_copy_only=False)
    return pa.array(texts, pa.string(), mask=is_missing)
