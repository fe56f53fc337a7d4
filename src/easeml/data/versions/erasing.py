"""Rows that are to be nowhere any more: finding them, and tables without them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import filterfalse
from typing import TYPE_CHECKING, Any

from easeml.data.errors import DatasetError
from easeml.data.types.column_report import ColumnReport
from easeml.data.types.text_tables import ROW, column_text
from easeml.data.versions.changes import summed
from easeml.data.versions.declared import Declared
from easeml.data.versions.erased_classes import (
    classes_had,
    without_classes,
    without_names,
    without_sentences,
)
from easeml.data.versions.splits import ROLES

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

Conditions = Mapping[str, str]
"""What a row is known by: a value, as written, for each of some columns. All have to hold."""


def places_with(table: pa.Table, conditions: Conditions) -> np.ndarray:
    """Return the places, from 0, of the rows of an uploaded table for which all conditions hold.

    There are none in a table that lacks one of the columns, and none without any condition.
    """
    import numpy as np

    if not _can_hold(conditions, table.column_names):
        return np.empty(0, dtype=np.int64)
    cells = {}
    for column in conditions:
        cells[column] = column_text(table, column).to_numpy(zero_copy_only=False)
    return np.flatnonzero(_holds(cells, conditions, table.num_rows))


def ids_with(version: Declared, conditions: Conditions) -> set[int]:
    """Return the ids of the rows of a declared version for which all conditions hold."""
    found: set[int] = set()
    for frame in version.frames.values():
        if _can_hold(conditions, frame.columns):
            holds = _holds(frame, conditions, len(frame))
            found.update(frame.loc[holds, ROW].tolist())
    return found


def ids_of(version: Declared) -> set[int]:
    """Return the ids of all rows of a declared version."""
    ids = [frame[ROW].tolist() for frame in version.frames.values()]
    return set[int]().union(*ids)


def roles_among(version: Declared, ids: Collection[int]) -> dict[str, int]:
    """Return how many of these rows a version has, by role."""
    counts = Counter(
        {role: int(_among(frame, ids).sum()) for role, frame in version.frames.items()}
    )
    return dict(+counts)  # without zeros


def without_ids(
    version: Declared, ids: Collection[int], gone: Mapping[str, Collection[str]]
) -> Declared:
    """Return a version without some of its rows; no other row changes its id.

    ``gone``: values, by column, that no row has any more: what is said of columns names none, and
    neither does a class. Raises ``DatasetError`` where no row would be left that a model could
    learn from.
    """
    erased, frames = {}, {}
    for role, frame in version.frames.items():
        is_erased = _among(frame, ids)
        erased[role] = frame.loc[is_erased]
        frames[role] = frame.loc[~is_erased].reset_index(drop=True)
    left = sum(len(frames[role]) for role in ROLES)
    if not left:
        raise DatasetError(
            "no row would be left that a model could learn from.",
            where="where",
            remedy="Delete the applications of this data set instead: easeml app delete.",
        )

    weights = version.weights
    if weights is not None:
        weights = weights.drop(list(ids), errors="ignore")
    off = tuple(filterfalse(ids.__contains__, version.off))
    values_gone = set[str]().union(*gone.values())
    groups = {name: role for name, role in version.groups.items() if name not in values_gone}
    lost = _united(gone, classes_had(erased))
    made = without_names(
        replace(version, frames=frames, off=off, groups=groups, weights=weights), lost
    )
    classes_gone = lost_classes(version, made)
    notes = without_sentences(version.notes, set[str]().union(*classes_gone.values()))
    columns = silent_about(made.columns, _united(gone, classes_gone))
    return summed(replace(made, columns=columns, notes=notes), {})


def lost_classes(before: Declared, after: Declared) -> dict[str, set[str]]:
    """Return the classes that a version does not name any more, by column."""
    lost = {}
    for old, new in zip(before.columns, after.columns, strict=True):
        lost[old.name] = set(old.classes).difference(new.classes)
    return lost


def _united(
    first: Mapping[str, Collection[str]], second: Mapping[str, Collection[str]]
) -> dict[str, set[str]]:
    columns = {*first, *second}
    return {column: {*first.get(column, ()), *second.get(column, ())} for column in columns}


def blanked(table: pa.Table, places: np.ndarray) -> tuple[pa.Table, dict[str, set[str]]]:
    """Return an uploaded table with nothing in some of its rows, and what no other row has, by column.

    The rows stay as empty ones: ids of rows are places in their file.
    """
    import numpy as np
    import pyarrow as pa

    empty = np.zeros(table.num_rows, dtype=bool)
    empty[places] = True
    left = table.take(pa.array(np.arange(table.num_rows), mask=empty)).combine_chunks()
    for place, field in enumerate(left.schema):
        if pa.types.is_string(field.type):  # uploads have no text that is null
            left = left.set_column(place, field, left.column(place).fill_null(""))

    gone = {}
    for column in table.column_names:
        with suppress(TypeError, ValueError):  # pictures, tensors, graphs: not told apart
            gone[column] = _values(table, column) - _values(left, column)
    return left, gone


def silent_about(
    reports: Sequence[ColumnReport], gone: Mapping[str, Collection[str]]
) -> list[ColumnReport]:
    """Return reports of columns that name no value that is gone; the classes stay as they are."""
    return [_silent(report, gone.get(report.name, ())) for report in reports]


def of_rows_left(
    reports: Sequence[ColumnReport], gone: Mapping[str, Collection[str]]
) -> list[ColumnReport]:
    """Return reports of an upload's columns that name no value that is gone, as a class neither."""
    silent = silent_about(reports, gone)
    return [without_classes(report, gone.get(report.name, ())) for report in silent]


def _silent(report: ColumnReport, gone: Collection[str]) -> ColumnReport:
    distribution = dict(report.distribution)
    if "values" in distribution:
        distribution["values"] = [one for one in distribution["values"] if one[0] not in gone]
    is_told = any(map(report.evidence.__contains__, filter(None, gone)))
    leaks = {name: why for name, why in report.leaks.items() if without_sentences([why], gone)}
    return replace(
        report,
        examples=list(filterfalse(gone.__contains__, report.examples)),
        evidence="" if is_told else report.evidence,
        distribution=distribution,
        leaks=leaks,
    )


def _values(table: pa.Table, column: str) -> set[str]:
    """The different texts of a column; raises where it holds what cannot be told apart."""
    return set(column_text(table, column).to_pylist()) - {None}


def _among(frame: pd.DataFrame, ids: Collection[int]) -> np.ndarray:
    """Return which rows of a frame have one of these ids."""
    import numpy as np

    return np.isin(frame[ROW].to_numpy(), np.array(sorted(ids), dtype=np.int64))


def _can_hold(conditions: Conditions, columns: Collection[str]) -> bool:
    """Whether there are conditions, and all of their columns."""
    return bool(conditions) and set(conditions).issubset(columns)


def _holds(
    cells: Mapping[str, Iterable[Any]] | pd.DataFrame, conditions: Conditions, rows: int
) -> np.ndarray:
    """Return for which rows all conditions hold; ``cells``: by column, one a row."""
    import numpy as np

    holds = np.ones(rows, dtype=bool)
    for column, value in conditions.items():
        same = [_is(cell, value) for cell in cells[column]]
        holds &= np.array(same, dtype=bool)
    return holds


def _is(cell: Any, value: str) -> bool:
    """Is a cell what somebody wrote? Numbers are compared as numbers."""
    if cell is None:
        return False
    if str(cell).strip() == value.strip():
        return True
    try:
        return float(cell) == float(value)
    except (TypeError, ValueError):
        return False
