"""Rows that come back from a flow: the next version of the data that the flow began with."""

from __future__ import annotations

from dataclasses import replace
from itertools import filterfalse
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError
from easeml.data.types.text_tables import ROW
from easeml.data.versions.answers import labelled_join_train
from easeml.data.versions.changes import does_not_fit, lasting_notes, refine, summed
from easeml.data.versions.declared import Declared
from easeml.data.versions.erasing import ids_of
from easeml.data.versions.export import ROLE_COLUMN, ROW_COLUMN
from easeml.data.versions.fitting import fit_table

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

_CHANGED = ("train", "pool")  # what models are measured on stays


def pushed(version: Declared, table: pa.Table, name: str) -> Declared:
    """Return ``version`` with the cells of a table that a flow made of its rows.

    ``table`` is as ``read_table`` gives it, with the rows' ids in the column ``easeml.row``. Train
    and pool rows get its cells, and a row of the pool that has a label becomes a train row. Train
    rows that it lacks are switched off, others are on. Validation, test and production rows stay as
    they were, so that qualities can be compared. ``name`` of the table, for messages.

    Raises:
        DatasetError: where ids are not those of rows, columns do not fit, or what is left of the
            train rows cannot be learnt from.
    """
    import numpy as np

    given = _typed_rows(version, table, name)
    frames = dict(version.frames)
    for role in filter(frames.__contains__, _CHANGED):
        frames[role] = _with_cells(frames[role], given)
    frames, added = labelled_join_train(frames, version.target)
    changed = replace(version, frames=frames, notes=lasting_notes(version))
    train = frames["train"][ROW].to_numpy()
    off = np.setdiff1d(train, given.index.to_numpy()).tolist()
    # A row of the pool that gets a label is a train row now, and no row that was off before.
    switched = refine(replace(changed, off=()), off=off)
    return summed(replace(switched, notes=[*switched.notes, *_notes(version, given)]), added)


def _typed_rows(version: Declared, table: pa.Table, name: str) -> pd.DataFrame:
    """The rows of the table, typed, by id. Raises DatasetError with every difference."""
    import pandas as pd

    if ROW_COLUMN not in table.column_names:
        raise does_not_fit([f"column '{ROW_COLUMN}' with the ids of rows is missing."], name)
    ids = _row_ids(version, table, name)
    own = {ROW_COLUMN, ROLE_COLUMN}.intersection(table.column_names)
    rows = table.drop_columns(list(own))
    fitted = fit_table(rows, version.schema_in, version.schema_out, answers=True)
    if fitted.differences:
        raise does_not_fit(fitted.differences, name)
    return pd.DataFrame(fitted.columns, index=pd.Index(ids, name=ROW))


def _row_ids(version: Declared, table: pa.Table, name: str) -> np.ndarray:
    """The ids of the rows. Raises DatasetError where one is not a row's, or comes twice."""
    import numpy as np

    known = ids_of(version)
    ids: dict[int, None] = {}
    for text in table.column(ROW_COLUMN).to_pylist():
        row = int(text) if text.isdigit() else -1
        if row not in known:
            raise DatasetError(
                f"there is no row with id {text or 'missing'}.",
                where=name,
                remedy="New rows are fed: easeml app feed.",
            )
        if row in ids:
            raise DatasetError(f"the row with id {row} comes twice.", where=name)
        ids[row] = None
    return np.array(list(ids), dtype=np.int64)


def _with_cells(frame: pd.DataFrame, given: pd.DataFrame) -> pd.DataFrame:
    """The rows, those that were given with the given cells."""
    import pandas as pd

    here = frame[ROW].isin(given.index.tolist())
    changed = given.loc[frame.loc[here, ROW]].reset_index()
    both = pd.concat([changed[list(frame.columns)], frame.loc[~here]], ignore_index=True)
    return both.set_index(ROW).loc[frame[ROW]].reset_index()[list(frame.columns)]


def _notes(version: Declared, given: pd.DataFrame) -> list[str]:
    """Say how many rows the flow changed that stay as they were."""
    measured = filterfalse(_CHANGED.__contains__, version.frames)
    rows = sum(_number_changed(version.frames[role], given) for role in measured)
    if not rows:
        return []
    return [
        f"{rows} rows that models are measured on were changed by the flow; "
        "they stay as they were, so that qualities can be compared."
    ]


def _number_changed(frame: pd.DataFrame, given: pd.DataFrame) -> int:
    """How many rows were given with other cells than they have; a missing cell equals another."""
    here = frame.loc[frame[ROW].isin(given.index.tolist())].set_index(ROW)
    if not len(here):
        return 0
    there = given.loc[here.index, list(here.columns)]
    same = (here == there) | (here.isna() & there.isna())
    return int((~same.to_numpy().all(axis=1)).sum())
