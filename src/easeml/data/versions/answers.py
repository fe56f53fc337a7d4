"""What people answered about a declared version: labels of rows, and what cells hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from easeml.data.errors import DatasetError, refusing
from easeml.data.types.text_tables import ROW
from easeml.data.types.values import parse_timestamp
from easeml.data.versions.changes import lasting_notes, summed
from easeml.data.versions.declared import Declared

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

_TAUGHT = ("train", "pool")  # rows whose cells people repair: new rows come as they come
_JUDGE = ("validation", "test")  # rows of which only the answers are corrected


def answered(
    version: Declared, labels: Mapping[int, str], cells: Sequence[tuple[int, str, str]]
) -> Declared:
    """Return ``version`` with what people answered.

    ``labels``: answers by row id, as text. A row of the pool with a label becomes a train row:
    which rows are labelled was chosen, so they are no fair measure. ``cells``: row id, input column
    and value as text. Of validation and test rows only answers are corrected, no cells: rows that
    are to be predicted come with such cells as well. The summary counts by role, under
    ``corrected``, how many of their answers were corrected so far: one that says what stood there
    is none. No row changes its id.

    Raises:
        DatasetError: for a row that is not there, or a cell of a row that is none of train or pool,
            and for a value that its column cannot have.
    """
    frames = {role: frame.copy() for role, frame in version.frames.items()}
    forms = {name: node.format for name, node in version.schema_in.columns.items()}
    for row, column, value in cells:
        _put(frames, _TAUGHT, row, column, value, forms.get(column, ""))
    for row, value in labels.items():
        _put(frames, (*_TAUGHT, *_JUDGE), row, version.target, value)
    corrected = dict(corrected_rows(version))
    for role in filter(frames.__contains__, _JUDGE):
        is_told = frames[role][ROW].isin(list(labels))
        after = frames[role].loc[is_told, version.target]
        before = version.frames[role].loc[is_told, version.target]
        corrected[role] = corrected.get(role, 0) + int((before != after).to_numpy().sum())
    frames, added = labelled_join_train(frames, version.target)
    summary = {**version.summary, "corrected": corrected}
    changed = replace(version, frames=frames, notes=lasting_notes(version), summary=summary)
    return summed(changed, added)


def corrected_rows(version: Declared) -> Mapping[str, int]:
    """Return how many answers of rows that judge models were corrected so far, by role."""
    return version.summary.get("corrected", {})


def labelled_join_train(
    frames: Mapping[str, pd.DataFrame], target: str
) -> tuple[dict[str, pd.DataFrame], dict[str, int]]:
    """Return frames by role in which rows of the pool with a label are train rows, and how many
    joined these.
    """
    import pandas as pd

    after = dict(frames)
    pool = frames.get("pool", frames["train"].iloc[:0])
    is_labelled = pool[target].notna()
    moved = pool.loc[is_labelled]
    if moved.empty:
        return after, {}
    after["train"] = pd.concat([frames["train"], moved], ignore_index=True)
    after["pool"] = pool.loc[~is_labelled].reset_index(drop=True)
    return after, {"train": len(moved)}


def _put(
    frames: Mapping[str, pd.DataFrame],
    roles: Sequence[str],
    row: int,
    column: str,
    text: str,
    form: str = "",
) -> None:
    """Put a value into the cell of a row, which has one of these roles.

    ``form``: how the column's timestamps are written.
    """
    for role in filter(frames.__contains__, roles):
        frame = frames[role]
        is_row = (frame[ROW] == row).to_numpy()
        if is_row.any():
            frame.loc[is_row, column] = _value(frame[column], text, form)
            return
    raise DatasetError(f"there is no {' or '.join(roles)} row with id {row}.", where="row")


def _value(column: Any, text: str, form: str) -> Any:
    """Return a text as a value of a column."""
    import pandas as pd

    where = str(column.name)
    if isinstance(column.dtype, pd.CategoricalDtype):
        known = column.cat.categories
        if text in known:
            return text
        remedy = f"It has: {', '.join(map(str, known[:10]))}."
        raise DatasetError(f"{text!r} is not a class.", where=where, remedy=remedy)

    if column.dtype.kind == "M":
        return _moment(text.strip(), form, where)
    if column.dtype.kind != "f":
        return text
    with refusing(ValueError, f"{text!r} is not a number.", where):
        return float(text)


def _moment(text: str, form: str, where: str) -> np.datetime64:
    """A date or time as the column writes it, or as ISO 8601, in which people are shown it."""
    with refusing(ValueError, f"{text!r} is not a date or time.", where):
        return parse_timestamp(text, form)
