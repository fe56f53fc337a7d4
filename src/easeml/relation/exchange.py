"""From and to pandas, Polars and Arrow.

A frame shows one world, the likeliest. What makes the exchange lossless is the second table beside
it, of candidates: a line for each cell of each candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from easeml.data import ALL_ROLES
from easeml.errors import InvalidInput
from easeml.relation.blocks import Blocks
from easeml.relation.content import Content
from easeml.relation.outcomes import likeliest, scattered, with_columns
from easeml.relation.pandas_types import object_columns


def content_of_frame(frame: Any, target: str | None, roles: Sequence[str] | str | None) -> Content:
    """Return the content of a pandas or Polars frame or an Arrow table, where all is certain.

    Row ids are the index of a pandas frame, otherwise 0, 1, ... Raises InvalidInput.
    """
    if isinstance(frame, pa.Table):
        table = frame
        row_ids = pd.RangeIndex(frame.num_rows)
    elif isinstance(frame, pd.DataFrame):
        table = _table_of_pandas(frame)
        row_ids = frame.index
    elif hasattr(frame, "to_arrow"):
        table = frame.to_arrow()
        row_ids = pd.RangeIndex(table.num_rows)
    else:
        raise InvalidInput(
            f"{type(frame).__name__} is not a table.",
            where="frame",
            remedy="Give a pandas or Polars frame, or an Arrow table.",
        )
    _check_names(table.column_names)
    table = _with_types(table)
    content = Content(table, row_ids, None, target, Blocks.none(), ())
    if target is not None:
        content.type_of(target)
    return with_given_roles(content, roles)


def likeliest_table(content: Content) -> tuple[pa.Table, np.ndarray]:
    """Return the likeliest world, and (n,) the positions of the rows that exist in it."""
    return world_table(content, likeliest(content.blocks))


def world_table(content: Content, candidates: np.ndarray) -> tuple[pa.Table, np.ndarray]:
    """Return a world, and (n,) the positions of the rows that exist in it.

    ``candidates`` (B,): the number of the candidate that each block takes.
    """
    blocks = content.blocks
    chosen = np.zeros(len(blocks.weight), bool)
    chosen[candidates] = True
    table = content.table
    changed = []
    for name, cells in blocks.cells.items():
        kept = np.flatnonzero(chosen[cells.place])
        rows = blocks.row[blocks.block[cells.place[kept]]]
        values = cells.values.take(pa.array(kept))
        changed.append((name, scattered(table.column(name), rows, values)))
    table = with_columns(table, changed)
    there = np.ones(table.num_rows, bool)
    there[blocks.row[blocks.block[chosen & ~blocks.present]]] = False
    rows = np.flatnonzero(there)
    return (table if there.all() else table.take(pa.array(rows))), rows


def frame_of(content: Content) -> pd.DataFrame:
    """Return the likeliest world as a pandas frame, with row ids as its index."""
    return frame_of_world(content, likeliest(content.blocks))


def frame_of_world(content: Content, candidates: np.ndarray) -> pd.DataFrame:
    """Return a world as a pandas frame; ``candidates`` as for ``world_table``."""
    table, rows = world_table(content, candidates)
    frame = table.to_pandas()
    for name in object_columns(table):
        frame[name] = pd.Series(table.column(name).to_pylist(), dtype=object)
    row_ids = content.row_ids
    if len(rows) < len(row_ids):
        row_ids = row_ids[rows]
    frame.index = row_ids
    return frame


def polars_of(content: Content) -> Any:
    """Return the likeliest world as a Polars frame. Raises InvalidInput without Polars."""
    try:
        polars = import_module("polars")
    except ImportError as error:
        raise InvalidInput("Polars is not installed.", remedy="pip install polars") from error
    return polars.DataFrame(polars.from_arrow(likeliest_table(content)[0]))


def candidates_frame(content: Content) -> pd.DataFrame:
    """Return one line for each cell of each candidate, for people to look at.

    Columns: ``row`` (its id), ``block``, ``candidate`` (0, 1, ... in its block), ``column`` (None
    for a candidate without cells), ``value``, ``weight``, ``exists``, ``tool``.
    """
    blocks = content.blocks
    values: dict[int, list[tuple[str, Any]]] = {}
    for name, cells in blocks.cells.items():
        for place, value in zip(cells.place.tolist(), cells.values.to_pylist(), strict=True):
            values.setdefault(place, []).append((name, value))
    lines = []
    for number, block in enumerate(blocks.block.tolist()):
        tool = _tool(content, int(blocks.source[number]))
        row_id = content.row_ids[int(blocks.row[block])]
        candidate = number - int(blocks.first[block])
        weight = float(blocks.weight[number])
        exists = bool(blocks.present[number])
        for name, value in values.get(number, [(None, None)]):
            lines.append((row_id, block, candidate, name, value, weight, exists, tool))
    titles = ["row", "block", "candidate", "column", "value", "weight", "exists", "tool"]
    return pd.DataFrame(lines, columns=titles)


def _tool(content: Content, number: int) -> str | None:
    """Return the tool that candidates come from; None where nobody said."""
    if number < 0:
        return None
    return content.sources[number].tool


def _table_of_pandas(frame: pd.DataFrame) -> pa.Table:
    if frame.index.nlevels > 1 or not frame.index.is_unique:
        raise InvalidInput(
            "The index does not name each row once.",
            where="frame",
            remedy="Use frame.reset_index().",
        )
    _check_names(list(frame.columns))
    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise InvalidInput(
            f"A column has no type of its own: {error}.",
            where="frame",
            remedy="Convert the column to one type, such as text or numbers.",
        ) from error


def _with_types(table: pa.Table) -> pa.Table:
    """Make text of columns without any value, so that candidates can be given for their cells."""
    schema = table.schema
    for place, field in enumerate(schema):
        if pa.types.is_null(field.type):
            schema = schema.set(place, field.with_type(pa.string()))
    return table.cast(schema)


def _check_names(names: Sequence[Any]) -> None:
    seen = set()
    for name in names:
        if not isinstance(name, str):
            remedy = "Use frame.rename(columns=str)."
            raise InvalidInput("A name is not a text.", where=f"column {name!r}", remedy=remedy)
        if name in seen:
            raise InvalidInput("The name stands for two columns.", where=f"column {name!r}")
        seen.add(name)


def with_given_roles(content: Content, roles: Sequence[str] | str | None) -> Content:
    """Return the content with a role a row, or those of a column. Raises InvalidInput."""
    if roles is None:
        return content
    given: Sequence[Any] = roles
    if isinstance(roles, str):
        content.type_of(roles)
        given = content.table.column(roles).to_pylist()
    if len(given) != content.table.num_rows:
        raise InvalidInput(
            f"{content.table.num_rows} rows have {len(given)} roles.",
            where="roles",
            remedy="Give one role a row, or the name of the column that has them.",
        )
    wrong = [role for role in given if role not in ALL_ROLES]
    if wrong:
        raise InvalidInput(
            f"{wrong[0]!r} is not a role.", where="roles", remedy=f"Use {', '.join(ALL_ROLES)}."
        )
    return replace(content, roles=role_numbers(given))


def role_numbers(names: Sequence[str]) -> np.ndarray:
    """Return roles as (n,) int8, their numbers in ``ALL_ROLES``."""
    numbers = list(map(ALL_ROLES.index, names))
    return np.array(numbers, np.int8)
