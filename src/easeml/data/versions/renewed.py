"""Tables that came again from where they lie: are they still the same table, and what is new?

Only rows that are new join a version. Rows that came before stay, with their ids, their roles and
what people corrected, also where the source does not have them any more.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import filterfalse
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError, shown
from easeml.data.types import values as v
from easeml.data.types.column_report import ColumnReport
from easeml.data.types.table_schemas import kinds_of
from easeml.data.types.text_tables import column_text
from easeml.data.versions.changes import counted, does_not_fit, feed, lasting_notes, summed
from easeml.data.versions.declared import Declared
from easeml.data.versions.splits import Split

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_ANOTHER_TYPE = 0.5  # share of unreadable cells from which a column is not what it was
_CHECKED = ("number", "timestamp")  # anything can be a category or a text


def check_renewed(table: pa.Table, reports: Sequence[ColumnReport], name: str) -> None:
    """Check that a table can take the place of the one that ``reports`` tell of.

    It may have other rows and further columns. Raises ``DatasetError``, naming every difference,
    where a column is missing that was in use, or most of its cells are of another type: an error
    page, half a header, another table.
    """
    differences = []
    for report in reports:
        if report.role != "drop":
            differences += _differences(table, report)
    if differences:
        raise does_not_fit(differences, name)


def check_whole(rows: int, before: int, new: int, name: str) -> None:
    """Raise ``DatasetError`` for a table that seems cut off.

    It has less than half of the rows that it had, or fewer and none that is new. Such rows would
    join once more when the whole table comes again.
    """
    brings_nothing = new == 0
    is_halved = 2 * rows < before
    is_cut = rows < before and (brings_nothing or is_halved)
    if is_cut:
        raise DatasetError(
            f"it has {rows:,} rows, had {before:,}, and seems cut off; nothing was changed.",
            where=name,
            remedy="If it is whole: easeml data refresh DATASET --fewer.",
        )


def number_of_new_rows(before: pa.Table, table: pa.Table) -> int:
    """Return how many rows of ``table`` are not in ``before``, in whatever order they come.

    All rows are new where the columns have other names.
    """
    if set(before.column_names) != set(table.column_names):
        return table.num_rows
    return int(_are_new(before, table, table.column_names).sum())


def renewed(version: Declared, before: pa.Table, table: pa.Table, name: str) -> Declared:
    """Return ``version`` with the rows that ``table`` has beyond ``before``.

    Both are as ``read_upload`` gives them; a row that comes twice more is two new rows. Rows are
    compared in the columns that the version uses. They are divided as ``feed`` does. ``name`` of
    the table, for messages.

    Raises ``DatasetError``, naming every difference, if the new rows do not fit.
    """
    used = _used_columns(version)
    known = {*used, *version.schema_in.dropped}
    compared = _in_both(version, before, table)
    are_new = _are_new(before, table, compared)
    notes = _notes(before, table, compared, known)
    if not are_new.any():
        return summed(replace(version, notes=[*lasting_notes(version), *notes]), {})

    new = table.filter(are_new)
    rows = new.select(list(filter(known.__contains__, table.column_names)))
    try:
        grown = feed(version, rows, name)
    except DatasetError as error:
        message = f"{error.message} Rows are counted among the {len(rows):,} that are new."
        raise DatasetError(message, where=error.where, remedy=error.remedy) from error
    return replace(grown, notes=[*grown.notes, *notes])


def new_rows(version: Declared, before: pa.Table, table: pa.Table) -> pa.Table:
    """Return the rows of ``table``, with all columns, that ``renewed`` lets join, in their order."""
    return table.filter(_are_new(before, table, _in_both(version, before, table)))


def _in_both(version: Declared, before: pa.Table, table: pa.Table) -> list[str]:
    in_both = set(before.column_names).intersection(table.column_names)
    return list(filter(in_both.__contains__, _used_columns(version)))


def _used_columns(version: Declared) -> list[str]:
    """The inputs, the target and, where rows are divided by a column, that one."""
    answers = version.schema_out.parts or kinds_of(version.schema_out)
    used = [*kinds_of(version.schema_in), *answers]
    column = Split.of(version.summary).column
    if column not in ("", *used):
        used.append(column)
    return used


def _notes(
    before: pa.Table, table: pa.Table, compared: Collection[str], known: Collection[str]
) -> list[str]:
    """What is said of rows that are gone, and of columns that are not used."""
    notes = []
    gone = int(_are_new(table, before, compared).sum())
    if gone:
        notes.append(
            f"{counted(gone)} that came before came no more; what was there of them stays."
        )
    further = list(filterfalse(known.__contains__, table.column_names))
    if further:
        notes.append(f"Columns that came later are not used: {', '.join(further[:5])}.")
    return notes


def _are_new(before: pa.Table, table: pa.Table, columns: Collection[str]) -> np.ndarray:
    """Return which rows of ``table`` are not in ``before``: of equal ones, the last."""
    import numpy as np
    import pandas as pd

    if not columns:
        return np.ones(table.num_rows, dtype=bool)
    old = pd.Series(_keys(before, columns))
    new = pd.Series(_keys(table, columns))
    there = new.map(old.value_counts()).fillna(0).to_numpy()
    place_among_equals = new.groupby(new).cumcount().to_numpy()
    return np.asarray(place_among_equals >= there)


def _keys(table: pa.Table, columns: Collection[str]) -> np.ndarray:
    """Return a number a row; rows whose cells are equal have the same."""
    import pandas as pd
    import pyarrow as pa
    from pandas.util import hash_pandas_object

    cells = {}
    for name in columns:
        column = table.column(name)
        if not pa.types.is_string(column.type):  # pictures, tensors, graphs
            column = pa.array(map(repr, column.to_pylist()), pa.string())
        cells[name] = column.to_pandas().astype(object)
    frame = pd.DataFrame(cells)
    found = hash_pandas_object(frame, index=False)  # pyright: ignore[reportCallIssue]
    return found.to_numpy()


def _differences(table: pa.Table, report: ColumnReport) -> list[str]:
    """What keeps a column of the table from being the one that a report tells of."""
    name = report.name
    if name not in table.column_names:
        return [f"column '{name}' is missing."]
    if report.type not in _CHECKED:
        return []
    text = column_text(table, name)
    array = v.plain(text, report.type, report.format, report.missing_codes)
    made = v.convert(array, report.type, (), report.format)
    there = len(made.bad) - int(made.missing.sum())
    bad = int(made.bad.sum())
    if bad <= _ANOTHER_TYPE * there:
        return []
    first = shown(text[int(made.bad.argmax())].as_py())
    return [f"column '{name}' was {report.type}, and is not: {first}, {bad:,} of {there:,}."]
