"""Rows for a model whose training file had no names: its columns are numbered, and so are theirs."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError
from easeml.data.readers.read import open_table, table_from_bytes
from easeml.data.readers.sliced import SlicedTable

if TYPE_CHECKING:
    import pyarrow as pa

_NUMBERED = re.compile(r"column (\d+)")


def width_of(names: Collection[str]) -> int:
    """How many columns the training file had, if all its ``names`` are numbers; else 0."""
    width = 0
    for name in names:
        found = _NUMBERED.fullmatch(name)
        if found is None:
            return 0
        width = max(width, int(found[1]))
    return width


def numbered_table(body: bytes, name: str, known: Collection[str], target: str) -> pa.Table:
    """Read a text table for a model of numbered columns, all of which are ``known``.

    The first row holds names only if one of them is known. The ``target`` may be left out where it
    was the last column. Raises DatasetError, also where the columns are not as many as there were.
    """
    table = table_from_bytes(body, name, header=False)
    if _has_names(table, known):
        return table_from_bytes(body, name, header=True)

    check_width(table.num_columns, known, target)
    return table


def open_numbered(path: Path, name: str, known: Collection[str], target: str) -> SlicedTable:
    """As ``numbered_table``, of a text table that is given in parts."""
    table = open_table(path, name, header=False)
    if _has_names(next(table.slices(1)), known):
        return open_table(path, name, header=True)
    check_width(len(table.names), known, target)
    return table


def _has_names(table: pa.Table, known: Collection[str]) -> bool:
    """Whether a cell of the first row is a name that is known."""
    cells = {str(column[0].as_py()) for column in table.columns}
    return not cells.isdisjoint(known)


def check_width(given: int, known: Collection[str], target: str) -> None:
    """Raise DatasetError where columns are not as many as there were, the ``target`` aside."""
    width = width_of(known)
    without_target = target == f"column {width}" and given == width - 1
    if given == width or without_target:
        return
    raise DatasetError(
        f"the file has {given} columns without names, and the model learned from a file "
        f"of {width}: which is which cannot be told.",
        where="the rows",
        remedy=f"Send all {width} columns in the same order (cells of '{target}' may be empty), or "
        "a first row with names, such as 'column 2'.",
    )
