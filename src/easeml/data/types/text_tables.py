"""Typed Arrow columns to columns of text, which is what all tables are before they are declared.

The types that a file states stay as metadata of the columns (key ``type``) where they say more than
the text does.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError
from easeml.data.types.arrow import arrow_compute

if TYPE_CHECKING:
    import pyarrow as pa

ROW = "_row"  # the column of row ids that a declared version adds
MOST_COLUMNS = 100_000


def text_table(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, name: str, note: str = ""
) -> pa.Table:
    """Return a table of stripped text, a batch at a time; nulls and infinite numbers become empty.

    Raises: DatasetError: for names that are not usable, a column that cannot be text, or a table
        without rows.
    """
    import pyarrow as pa

    told = {field.name: _told(field.type) for field in schema}
    made = list(text_batches(batches, name))
    rows = sum(part.num_rows for part in made)
    if not rows:
        raise no_row(name)

    table = pa.concat_tables(made)
    fields = []
    names = check_names(table.column_names, name)
    for old, column in zip(table.column_names, names, strict=True):
        metadata = {"type": told[old]} if told.get(old) else None
        fields.append(pa.field(column, pa.string(), metadata=metadata))
    metadata = {"note": note} if note else None
    return pa.table(table.columns, schema=pa.schema(fields, metadata=metadata))


def no_row(name: str) -> DatasetError:
    """The refusal of a table without rows."""
    return DatasetError("there is no row.", where=name, remedy="Send a table with rows.")


def text_batches(batches: Iterable[pa.RecordBatch], name: str) -> Iterator[pa.Table]:
    """The batches as tables of text; raises DatasetError for a column that cannot be text."""
    import pyarrow as pa

    for batch in batches:
        flat = _flat(batch)
        columns = {}
        for place, field in enumerate(flat.schema):
            columns[field.name] = _text(flat.column(place), field.name, name)
        yield pa.table(columns)


def check_names(given: Sequence[str], where: str) -> list[str]:
    """The names of columns, stripped; ``column N`` where there is none.

    Raises DatasetError for a name given twice.
    """
    names = [str(cell).strip() or f"column {i}" for i, cell in enumerate(given, 1)]
    twice = [cell for cell, count in Counter(names).items() if count > 1]
    if twice:
        places = ", ".join(str(i) for i, cell in enumerate(names, 1) if cell == twice[0])
        raise DatasetError(
            f"the column name '{twice[0]}' occurs more than once (columns {places}).",
            where=where,
            remedy="Give every column a name of its own.",
        )
    if ROW in names:
        raise DatasetError(
            f"the column name '{ROW}' is used by easeml itself.",
            where=where,
            remedy="Rename it.",
        )
    if not names or len(names) > MOST_COLUMNS:
        raise DatasetError(
            f"a table has 1 to {MOST_COLUMNS:,} columns, this has {len(names):,}.",
            where=where,
        )
    return names


def column_text(table: pa.Table, name: str) -> pa.Array:
    """A column of a table as one array."""
    import pyarrow as pa

    chunks = table.column(name).chunks
    return pa.concat_arrays(chunks) if chunks else pa.array([], pa.string())


ROWS_COUNT = "the first row of values is row 0"


def row_place(row: int) -> str:
    """The name of a row (from 0) in messages.

    The one rule for numbers of rows: they count from 0, in files of results, in answers of the API
    and in messages, whatever file the rows came from. A *line* is a line of a text file, from 1.
    """
    return f"row {row} ({ROWS_COUNT})"


def _told(kind: pa.DataType) -> str:
    import pyarrow as pa

    is_category = pa.types.is_dictionary(kind) or pa.types.is_boolean(kind)
    return "category" if is_category else ""


def _flat(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Structs as one column a field, ``outer.inner``; lists of one size as one a place.

    A place of a list is called ``name[0]``.
    """
    import pyarrow as pa

    types = pa.types
    while any(types.is_struct(field.type) for field in batch.schema):
        batch = _unnested(batch)

    columns = []
    names = []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if not types.is_fixed_size_list(field.type) or column.null_count:
            columns.append(column)
            names.append(field.name)
            continue

        width = field.type.list_size
        values = column.flatten()
        for place in range(width):
            if width == 1:
                columns.append(values)
            else:
                columns.append(values.take(_places(len(column), width, place)))
            names.append(f"{field.name}[{place}]")
    return pa.RecordBatch.from_arrays(columns, names)


def _unnested(batch: pa.RecordBatch) -> pa.RecordBatch:
    import pyarrow as pa

    flat = pa.Table.from_batches([batch]).flatten().combine_chunks().to_batches()
    return flat[0] if flat else batch.slice(0, 0)


def _places(rows: int, width: int, place: int) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    return pa.array(np.arange(rows, dtype=np.int64) * width + place)


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
    try:
        text = array if array.type == pa.string() else array.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DatasetError(f"its type {kind} cannot be read.", where=where) from error
    return compute.utf8_trim_whitespace(compute.fill_null(text, ""))


def _is_bytes(kind: pa.DataType) -> bool:
    import pyarrow as pa

    binary = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    return any(is_of_kind(kind) for is_of_kind in binary)


def _as_json(array: pa.Array) -> pa.Array:
    """Lists and structures as text."""
    import pyarrow as pa

    texts = []
    for value in array.to_pylist():
        texts.append(None if value is None else json.dumps(value, default=str))
    return pa.array(texts, pa.string())
