"""Rows of production whose truth came join a declared version, beside rows of before or instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from easeml.data.errors import DatasetError
from easeml.data.types.text_tables import ROW
from easeml.data.versions.changes import counted, feed, joined, lasting_notes, summed
from easeml.data.versions.declared import Declared

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

_SHARES = {"train": 3.0, "validation": 1.0, "test": 1.0}

Outdated = Callable[["pd.DataFrame"], "np.ndarray"]
"""Tells of each row (n,) of a frame whether it is of a time that has passed."""


def learn_from(
    version: Declared,
    table: pa.Table,
    name: str,
    roles: Sequence[str] = ("train", "validation"),
    outdated: Outdated | None = None,
) -> Declared:
    """Return ``version`` with the rows of ``table``, which were right in production.

    They are divided at random among ``roles``, three parts of them to train: models are chosen by
    what is true now, too. Equal rows have one role. ``outdated``: which rows of before contradict
    them; those of ``roles`` are set aside, as train rows that are off, and can be switched on
    again. Where a role would have no row left to judge by, its rows of before stay. No row changes
    its id.

    Raises:
        DatasetError: as ``feed``; and where there is no row.
    """
    if not table.num_rows:
        raise DatasetError("none of the rows is one of these any more.", where=name)
    drawn = _drawn_roles(table, roles)
    before = version if outdated is None else _set_aside(version, roles, outdated, set(drawn))
    grown = before
    added: dict[str, int] = {}
    notes = list(before.notes)
    for role in roles:
        rows = table.filter(drawn == role)
        if not rows.num_rows:
            continue
        grown = feed(grown, rows, name, role, anyway=True)
        added[role] = rows.num_rows
        notes += filter(lambda one: one not in notes, grown.notes)
    return summed(replace(grown, notes=notes), added)


def _set_aside(
    version: Declared, roles: Sequence[str], outdated: Outdated, drawn: set[str]
) -> Declared:
    """Return ``version`` whose outdated rows of some roles are train rows that are off.

    ``drawn``: the roles that get new rows.
    """
    frames = dict(version.frames)
    off = set(version.off)
    gone = 0
    staying = []
    for role in roles:
        frame = version.frames[role]
        is_old = outdated(frame)
        if role not in drawn and len(frame) and is_old.all():
            staying.append(role)
            continue
        old = frame.loc[is_old]
        off.update(old[ROW].tolist())
        gone += len(old)
        if role != "train":
            frames["train"] = joined(frames["train"], old)
            frames[role] = frame.loc[~is_old].reset_index(drop=True)
    notes = lasting_notes(version) if gone or staying else list(version.notes)
    if gone:
        notes.append(f"{counted(gone)} of before are off: newer ones take their place.")
    if staying:
        names = " and ".join(staying)
        notes.append(f"The {names} rows stay, too: there are no newer ones to judge by.")
    return replace(version, frames=frames, off=tuple(sorted(off)), notes=notes)


def _drawn_roles(table: pa.Table, roles: Sequence[str]) -> np.ndarray:
    """Return a role (n,) of each row, drawn by its values: equal rows have the same.

    Rows that join once more later, as newer ones came, would else teach and judge at once.
    """
    import numpy as np
    import pandas as pd
    from pandas import util

    shares = np.array(list(map(_SHARES.__getitem__, roles)))
    texts = table.to_pandas().astype(str).agg("\x1f".join, axis=1)
    same, different = pd.factorize(texts)
    # Each role gets its part, not only on average: of few rows none would be left to judge by.
    ends = np.cumsum(shares / shares.sum()) * len(different)
    hashed: Any = util.hash_array
    places = np.argsort(np.argsort(hashed(np.asarray(different, dtype=object))))
    drawn = np.asarray(roles, dtype=object)[np.searchsorted(ends, places, side="right")]
    return drawn[same]
