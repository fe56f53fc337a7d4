"""Stored versions, looked at without loading them whole: pages of train rows, and differences.

``files``: the files of a version's folder by name. Needs pyarrow and NumPy only.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial, singledispatch
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.data.errors import DatasetError
from easeml.data.types.arrow import arrow_compute
from easeml.data.types.pictures import file_url
from easeml.data.types.text_tables import ROW
from easeml.data.versions.parts import is_there, read_parts
from easeml.data.versions.splits import ROLES, UNLABELLED
from easeml.schema import Schema

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

Files = Mapping[str, Path]


@dataclass(frozen=True)
class TrainRow:
    """A training pair.

    ``suspicion``: 0 to 1, and ``predicted`` by models that did not see it; None: not known.
    """

    row: int
    on: bool
    values: dict[str, Any]
    target: Any
    suspicion: float | None = None
    predicted: Any = None


@dataclass(frozen=True)
class Wanted:
    """Which train rows: of ``label``, ``on`` or off (None: all).

    ``suspicious``: the most suspicious come first.
    """

    label: str | None = None
    on: bool | None = None
    suspicious: bool = False


@dataclass(frozen=True)
class Comparison:
    """What a version has that another had not.

    Ids by role; differences of the schemas as sentences.
    """

    added: dict[str, list[int]]
    removed: dict[str, list[int]]
    switched_off: list[int]
    switched_on: list[int]
    schema: list[str] = field(default_factory=list)


def train_rows(
    files: Files,
    wanted: Wanted,
    skip: int,
    limit: int,
    scores: Path | None = None,
    checked: Collection[int] = (),
) -> tuple[list[TrainRow], int]:
    """Return ``limit`` of the wanted train rows after ``skip``, and how many are wanted in all.

    ``scores``: a file that ``easeml.engine`` wrote, with columns ``row``, ``suspicion`` and
    ``predicted``; ``checked``: rows on which people have the last word. Raises DatasetError if
    there is no version in the files.
    """
    import numpy as np

    document = _document(files)
    table = _table(files, "train")
    target = document["target"]
    ids = table.column(ROW).to_numpy()
    off = np.isin(ids, document.get("off", []))
    places = _wanted_places(table.column(target), off, wanted)
    scored = _scores(scores, ids)
    scored.suspicion[np.isin(ids, list(checked))] = np.nan
    if wanted.suspicious:
        ranks = np.nan_to_num(scored.suspicion[places], nan=-1.0)
        places = places[np.argsort(-ranks, kind="stable")]

    shown = places[skip : skip + limit]
    made = []
    for place, cells in zip(shown.tolist(), table.take(shown).to_pylist(), strict=True):
        values = {name: _json(cell) for name, cell in cells.items()}
        del values[ROW]
        answer = values.pop(target)
        row = TrainRow(
            row=int(ids[place]),
            on=not off[place],
            values=values,
            target=answer,
            suspicion=scored.score(place),
            predicted=scored.prediction(place),
        )
        made.append(row)
    return made, len(places)


def _wanted_places(answers: pa.ChunkedArray, off: np.ndarray, wanted: Wanted) -> np.ndarray:
    """The places of the rows with the wanted label that are, or are not, switched off."""
    import numpy as np

    chosen = np.ones(len(off), dtype=bool)
    if wanted.label is not None:
        same = arrow_compute().equal(answers.cast("string"), wanted.label)
        chosen &= same.fill_null(False).to_numpy()
    if wanted.on is not None:
        chosen &= off != wanted.on
    return np.flatnonzero(chosen)


def row_ids(files: Files) -> dict[str, np.ndarray]:
    """Return the ids of the rows by role.

    Raises DatasetError if there is no version in the files.
    """
    unlabelled = [role for role in UNLABELLED if is_there(files, role)]
    ids = {}
    for role in (*ROLES, *unlabelled):
        ids[role] = _table(files, role).column(ROW).to_numpy()
    return ids


def cells_of_rows(files: Files, role: str, column: str) -> pd.Series:
    """Return the cells of a column in the rows of a role, by the ids of these.

    Raises DatasetError for a column that the version lacks, or where there is no version.
    """
    import pandas as pd

    table = _table(files, role)
    if column not in table.column_names:
        known = [name for name in table.column_names if name != ROW]
        raise DatasetError(
            "the data has no such column.",
            where=f"column '{column}'",
            remedy=f"Use one of {', '.join(known)}.",
        )
    return pd.Series(table.column(column).to_pandas().array, index=table.column(ROW).to_numpy())


def rows_off(files: Files) -> list[int]:
    """Return the ids of the train rows that are off.

    Raises DatasetError if there is no version in the files.
    """
    return list(_document(files).get("off", []))


def compare(old: Files | None, new: Files) -> Comparison:
    """Return what ``new`` has that ``old`` (None: nothing) had not.

    Raises DatasetError for files without a version.
    """
    after = row_ids(new)
    off = set(rows_off(new))
    before: dict[str, np.ndarray] = {}
    was_off: set[int] = set()
    schema: list[str] = []
    if old is not None:
        before = row_ids(old)
        was_off = set(rows_off(old))
        schema = _schema_differences(_document(old), _document(new))
    return Comparison(
        added=_without(after, before),
        removed=_without(before, after),
        switched_off=sorted(off - was_off),
        switched_on=sorted(was_off - off),
        schema=schema,
    )


def _without(
    these: Mapping[str, np.ndarray], those: Mapping[str, np.ndarray]
) -> dict[str, list[int]]:
    import numpy as np

    none = np.array([], dtype=np.int64)
    found: dict[str, list[int]] = {}
    for role, ids in these.items():
        left = np.setdiff1d(ids, those.get(role, none)).tolist()
        if left:
            found[role] = left
    return found


def _schema_differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    found = []
    for side in ("schema_in", "schema_out"):
        before = Schema.from_json(old[side])
        after = Schema.from_json(new[side])
        for name in dict.fromkeys([*before.columns, *after.columns]):
            said = _column_differences(before, after, name)
            found += [f"column '{name}' {one}." for one in said]
    return found


def _column_differences(before: Schema, after: Schema, name: str) -> list[str]:
    """What became of a column, in words that follow its name."""
    old = before.columns.get(name)
    new = after.columns.get(name)
    if old is None:
        return ["is new"]
    if new is None:
        return ["is gone"]

    found = []
    if old.type != new.type:
        found.append(f"was {old.type} and is {new.type}")
    elif old.type == "category":
        found += _class_differences(before.labels(old.name), after.labels(new.name))
    if old.optional != new.optional:
        found.append("may be missing" if new.optional else "may not be missing")
    return found


def _class_differences(before: Sequence[str], after: Sequence[str]) -> list[str]:
    if before == after:
        return []
    others = sorted({*before} ^ {*after})
    return [f"has other classes: {', '.join(others[:10])}"]


@dataclass(frozen=True)
class _Scores:
    """``suspicion`` of each train row, NaN where it is not known.

    ``at``: its place among the ``predicted``.
    """

    suspicion: np.ndarray
    at: np.ndarray
    predicted: pa.ChunkedArray

    def score(self, place: int) -> float | None:
        """Return the suspicion of a row; None where it is not known."""
        score = float(self.suspicion[place])
        return score if isfinite(score) else None

    def prediction(self, place: int) -> Any:
        """Return what was predicted of a row; None where it has no suspicion."""
        if self.score(place) is None:
            return None
        return self.predicted[int(self.at[place])].as_py()


def _scores(path: Path | None, ids: np.ndarray) -> _Scores:
    """What the file says of the rows with these ids; nothing where there is no file."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import ipc

    if path is None:
        nothing = np.full(len(ids), np.nan)
        return _Scores(nothing, np.zeros(len(ids), dtype=np.int64), pa.chunked_array([[]]))
    with ipc.open_file(path) as file:
        table = file.read_all()
    rows = table.column("row").to_numpy()
    order = np.argsort(rows, kind="stable")
    at = order[np.minimum(np.searchsorted(rows, ids, sorter=order), len(rows) - 1)]
    suspicion = np.where(rows[at] == ids, table.column("suspicion").to_numpy()[at], np.nan)
    return _Scores(suspicion, at, table.column("predicted"))


def _document(files: Files) -> dict[str, Any]:
    return json.loads(_path(files, "version.json").read_text())


def _path(files: Files, name: str) -> Path:
    """The path of a file that every version has; raises DatasetError where it is not there."""
    if name not in files:
        said = "there are no prepared rows: it is an upload, or was not made ready."
        raise DatasetError(said, where="version")
    return files[name]


def _table(files: Files, role: str) -> pa.Table:
    return read_parts(files, role, partial(_mapped, files))


def _mapped(files: Files, name: str) -> pa.Table:
    import pyarrow as pa

    with pa.memory_map(str(_path(files, name))) as source:
        return pa.ipc.open_file(source).read_all()


@singledispatch
def _json(value: Any) -> Any:
    """A cell as JSON has it."""
    return value


@_json.register
def _(value: float) -> float | None:
    return value if isfinite(value) else None


@_json.register
def _(value: bytes) -> str:
    return file_url(value) or f"{len(value):,} bytes"


@_json.register
def _(value: dict) -> str:
    return f"numbers of shape {value['shape']}"  # a tensor, as it is stored


@_json.register
def _(value: datetime) -> str:
    return value.isoformat()
