"""Rows that come back from a flow: the next version of the data that the flow began with."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import count, filterfalse
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError
from easeml.data.types.text_tables import ROW
from easeml.data.versions.answers import labelled_join_train
from easeml.data.versions.changes import does_not_fit, joined, lasting_notes, refine, summed
from easeml.data.versions.declared import Declared
from easeml.data.versions.erasing import ids_of
from easeml.data.versions.export import CELLS_COLUMN, OFF, ROLE_COLUMN, ROW_COLUMN
from easeml.data.versions.fitting import fit_table
from easeml.data.versions.row_weights import together

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

_CHANGED = ("train", "pool")  # what models are measured on stays


def pushed(
    version: Declared, table: pa.Table, name: str, since: Declared | None = None
) -> Declared:
    """Return ``version`` with the rows that a flow made of its rows.

    ``table`` is as ``read_table`` gives it, with the rows' ids in the column ``easeml.row``. Train
    and pool rows get its cells, and a row of the pool that has a label becomes a train row. Train
    rows that it lacks are switched off, others are on. Validation, test and production rows stay as
    they were, so that qualities can be compared. A row without id is new: it becomes a train row,
    or one of the pool where it has no label, and the summary's ``first_new`` is the id of the first
    one; the others follow. ``name`` of the table, for messages.

    ``since``: the version that the flow began with, where the table has only what differs from it.
    Rows that the table lacks are as they were there, and rows of the role ``off`` are off. A row
    may bring some columns only, which ``easeml.cells`` names; its other cells are as they were.

    Raises:
        DatasetError: where ids are not those of rows, columns do not fit, new rows are no rows to
            learn from, or what is left of the train rows cannot be learnt from.
    """
    import numpy as np

    sent, off = _typed_rows(version, table, name, since)
    new = sent.loc[sent.index >= version.next_row]
    given = sent if since is None else _with_rows_of(since, sent, off)
    frames = dict(version.frames)
    for role in filter(frames.__contains__, _CHANGED):
        frames[role] = _with_cells(frames[role], given)
    frames, added = labelled_join_train(frames, version.target)
    frames, added = _joined_by(frames, added, new, version.target)
    changed = replace(version, frames=frames, notes=lasting_notes(version))
    train = frames["train"][ROW].to_numpy()
    absent = np.setdiff1d(train, given.index.to_numpy()).tolist()
    # A row of the pool that gets a label is a train row now, and no row that was off before.
    switched = refine(replace(changed, off=()), off=absent)
    notes = [*switched.notes, *_notes(version, given)]
    made = summed(replace(switched, notes=notes), added)
    return made if new.empty else _with_new_ids(made, new)


def _typed_rows(
    version: Declared, table: pa.Table, name: str, since: Declared | None
) -> tuple[pd.DataFrame, list[int]]:
    """The rows of the table, typed, by id, and the ids of those that are off.

    New rows have the ids from ``next_row`` on. Raises DatasetError with every difference.
    """
    import numpy as np
    import pandas as pd

    if ROW_COLUMN not in table.column_names:
        raise does_not_fit([f"column '{ROW_COLUMN}' with the ids of rows is missing."], name)
    ids = _row_ids(version, table, name)
    is_off = np.zeros(len(ids), dtype=bool)
    if ROLE_COLUMN in table.column_names:
        roles = np.array(table.column(ROLE_COLUMN).to_pylist(), dtype=object)
        is_off = roles == OFF
        _check_new(roles[ids >= version.next_row], name)
    if is_off.all():
        return version.frames["train"].iloc[:0].set_index(ROW), ids.tolist()
    brought = _columns_brought(table)
    own = {ROW_COLUMN, ROLE_COLUMN, CELLS_COLUMN}.intersection(table.column_names)
    rows = table.drop_columns(list(own))
    typed = []
    for columns in dict.fromkeys(brought[~is_off]):
        here = ~is_off & (brought == columns)
        part = rows.filter(here)
        if columns:
            typed.append(_completed(version, since, part, ids[here], columns, name))
        else:
            typed.append(_fitted(version, part, ids[here], name))
    return pd.concat(typed), ids[is_off].tolist()


def _columns_brought(table: pa.Table) -> np.ndarray:
    """What each row says of the columns that it brings; nothing: it brings all."""
    import numpy as np

    if CELLS_COLUMN not in table.column_names:
        return np.full(table.num_rows, "", dtype=object)
    told = table.column(CELLS_COLUMN).fill_null("")
    return np.array(told.to_pylist(), dtype=object)


def _fitted(
    version: Declared,
    rows: pa.Table,
    ids: np.ndarray,
    name: str,
    only: Collection[str] | None = None,
) -> pd.DataFrame:
    """The rows, typed, by id. Raises DatasetError with every difference."""
    import pandas as pd

    fitted = fit_table(rows, version.schema_in, version.schema_out, answers=True, only=only)
    if fitted.differences:
        raise does_not_fit(fitted.differences, name)
    return pd.DataFrame(fitted.columns, index=pd.Index(ids, name=ROW))


def _completed(
    version: Declared,
    since: Declared | None,
    rows: pa.Table,
    ids: np.ndarray,
    columns: str,
    name: str,
) -> pd.DataFrame:
    """Rows that bring some columns, with their other cells as they were. Raises DatasetError."""
    import pandas as pd

    only = _names(columns, rows, name)
    frames = [version.frames["train"].iloc[:0]]
    if since is not None:
        frames = list(since.frames.values())
    had = pd.concat(frames)
    absent = sorted(set(ids.tolist()).difference(had[ROW].tolist()))
    if absent:
        raise DatasetError(
            f"the row with id {absent[0]} brings only some of its cells, and there are no others.",
            where=name,
            remedy="Send the whole row, or say from which version the rows differ.",
        )
    given = _fitted(version, rows, ids, name, only)
    return had.set_index(ROW).loc[ids].assign(**given)


def _names(columns: str, rows: pa.Table, name: str) -> list[str]:
    """The columns that a row says it brings. Raises DatasetError."""
    try:
        only: list[str] = list(map(str, json.loads(columns)))
    except (ValueError, TypeError) as error:
        raise DatasetError(
            f"{columns!r} names no columns.",
            where=f"{name}, column '{CELLS_COLUMN}'",
            remedy='Write a list, such as ["size"].',
        ) from error
    strange = next(filterfalse(rows.column_names.__contains__, only), None)
    if strange is not None:
        raise DatasetError(f"there is no column {strange!r}.", where=name)
    return only


def _row_ids(version: Declared, table: pa.Table, name: str) -> np.ndarray:
    """The ids of the rows. Raises DatasetError where one is not a row's, or comes twice."""
    import numpy as np

    known = ids_of(version)
    new = count(version.next_row)
    ids: dict[int, None] = {}
    for text in table.column(ROW_COLUMN).to_pylist():
        row = _known_id(text, known, name) if text else next(new)
        if row in ids:
            raise DatasetError(f"the row with id {row} comes twice.", where=name)
        ids[row] = None
    return np.array(list(ids), dtype=np.int64)


def _known_id(text: str, known: Collection[int], name: str) -> int:
    row = int(text) if text.isdigit() else -1
    if row in known:
        return row
    raise DatasetError(
        f"there is no row with id {text}.",
        where=name,
        remedy="Leave the id of a new row empty.",
    )


def _check_new(roles: np.ndarray, name: str) -> None:
    """Raise DatasetError where a new row is none to learn from."""
    strange = next(filterfalse(_CHANGED.__contains__, roles), None)
    if strange is not None:
        raise DatasetError(
            f"a new row has the role {strange}; rows that a flow makes are to learn from.",
            where=name,
            remedy="Give it the role train, or feed the rows that models are measured on: "
            "easeml app feed.",
        )


def _with_rows_of(since: Declared, sent: pd.DataFrame, off: Collection[int]) -> pd.DataFrame:
    """The rows that are on in a version, by id, but for those that were sent or are off now."""
    import pandas as pd

    rows = pd.concat(list(since.frames.values()))
    others = [*since.off, *off, *sent.index.tolist()]
    stays = rows.loc[~rows[ROW].isin(others)].set_index(ROW)
    return pd.concat([stays, sent]).reindex(columns=sent.columns)


def _joined_by(
    frames: Mapping[str, pd.DataFrame], added: Mapping[str, int], new: pd.DataFrame, target: str
) -> tuple[dict[str, pd.DataFrame], dict[str, int]]:
    """Frames by role with new rows, and how many rows were added by role."""
    has_label = new[target].notna()
    after = dict(frames)
    counts = Counter(added)
    for role, rows in (("train", new.loc[has_label]), ("pool", new.loc[~has_label])):
        if rows.empty:
            continue
        frame = rows.reset_index()[list(frames["train"].columns)]
        after[role] = joined(after.get(role), frame)
        counts[role] += len(rows)
    return after, dict(counts)


def _with_new_ids(version: Declared, new: pd.DataFrame) -> Declared:
    """The version once new rows took their ids; each counts as the others do on average."""
    import pandas as pd

    weights = version.weights
    if weights is not None:
        usual = pd.Series(weights.mean(), index=new.index, name=weights.name)
        weights = together(weights, usual)
    summary = {**version.summary, "first_new": version.next_row}
    next_row = version.next_row + len(new)
    return replace(version, next_row=next_row, weights=weights, summary=summary)


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
