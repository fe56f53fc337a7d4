"""The versions of an application's data as steps of a flow, which its owner goes on from.

The file has two parts: versions, written anew by every pull, and below ``OWN`` what people add.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from easeml.data import CELLS_COLUMN, OFF, ROLE_COLUMN, ROW_COLUMN
from easeml.errors import InvalidInput
from easeml.lineage.flow_files import section_text, toml
from easeml.lineage.steps import READ
from easeml.relation import Relation
from easeml.relation.updates import difference, other_columns

if TYPE_CHECKING:
    from collections.abc import Mapping

CURRENT = "current"
"""The step that gives the rows of the version in use."""

OWN = "# Steps of your own, which read step 'current', follow; pulling again leaves them alone."

_ABOVE = "# Versions of an application's data, written by `easeml flow pull`."


@dataclass(frozen=True)
class PulledVersion:
    """A version: its id and number, the rows that are on, what made it, and how people call it."""

    id: str
    number: int
    rows: Relation
    about: str
    context: str = ""
    tags: Sequence[str] = field(default_factory=tuple)


def read_rows(path: Path, target: str, weight: str = "") -> Relation:
    """Return the rows of a version as it was exported to a Parquet file, with ids and roles.

    ``weight``: the column of weights, if there is one. It is left out: steps would learn from it,
    and a row keeps its weight in the version that is pushed, by its id.
    """
    frame = pq.read_table(path).to_pandas().set_index(ROW_COLUMN)
    if weight:
        del frame[weight]
    roles = list(map(str, frame.pop(ROLE_COLUMN)))
    return Relation.from_frame(frame, target, roles)


def merged(before: Path, changes: bytes) -> pa.Table:
    """Return the rows of an exported version: those of another one with what differs from it.

    Both are Parquet, as the service exports it; ``changes`` says which rows are new, other, or gone
    (``data.export_version``).
    """
    old = pq.read_table(before)
    new = pq.read_table(pa.BufferReader(changes))
    is_here = ~np.isin(old[ROW_COLUMN].to_numpy(), new[ROW_COLUMN].to_numpy())
    is_on = np.array(new[ROLE_COLUMN].to_pylist(), dtype=object) != OFF
    stays = old.filter(is_here)
    rows = _completed(old, new.filter(is_on))
    if stays.num_rows:  # none does where the columns differ
        rows = pa.concat_tables([stays, rows.cast(old.schema)]).unify_dictionaries()
    return rows.sort_by(ROW_COLUMN)


def _completed(old: pa.Table, rows: pa.Table) -> pa.Table:
    """Return rows whole: those that bring some columns have their other cells from before."""
    if CELLS_COLUMN not in rows.column_names:
        return rows
    brought = np.array(rows[CELLS_COLUMN].to_pylist(), dtype=object)
    rows = rows.drop_columns([CELLS_COLUMN])
    parts = []
    for columns in dict.fromkeys(brought):
        part = rows.filter(brought == columns)
        if columns:
            part = _with_cells(_rows_of(old, part[ROW_COLUMN]), part, json.loads(columns))
        parts.append(part.cast(old.schema))
    return pa.concat_tables([old.slice(0, 0), *parts])


def _rows_of(table: pa.Table, row_ids: pa.ChunkedArray) -> pa.Table:
    """Return the rows with some ids, in the order of these."""
    places = pd.Index(table[ROW_COLUMN].to_numpy()).get_indexer(row_ids.to_numpy())
    return table.take(pa.array(places))


def _with_cells(rows: pa.Table, given: pa.Table, columns: Sequence[str]) -> pa.Table:
    """Return rows with the given cells of some columns, and the given roles."""
    for name in [*columns, ROLE_COLUMN]:
        place = rows.schema.get_field_index(name)
        cells = given[name].cast(rows.schema.field(place).type)
        rows = rows.set_column(place, rows.schema.field(place), cells)
    return rows


@dataclass(frozen=True)
class Changes:
    """What a step made of the rows that it began with, as it is sent.

    ``rows``: those that are new or other, with roles; None where none is. ``gone``: ids.
    ``was_there``: ids of rows that are other, ``columns``: those in which one of them differs.
    """

    rows: Relation | None
    gone: Sequence[Any]
    was_there: Collection[Any] = ()
    columns: Sequence[str] = ()

    @property
    def is_none(self) -> bool:
        """Whether all rows are as they were."""
        return self.rows is None and not self.gone


def changes_between(before: Relation, after: Relation, ids: Mapping[Any, int]) -> Changes:
    """Return how the likeliest rows of two relations differ.

    ``ids``: those that the service gave to rows that were new when they were sent; a row with one
    takes the place of the row that came back with it. Raises InvalidInput where the columns differ,
    or the rows have no roles.
    """
    if after.roles is None:
        raise InvalidInput("The rows have no roles.", remedy="Keep those of step 'current'.")
    known = _known_by(_likeliest(after), ids)
    began = _likeliest(before).content
    content, gone = difference(began, known.content)
    if content is None:
        return Changes(None, gone)
    was_there = content.row_ids[content.row_ids.isin(began.row_ids)]
    return Changes(Relation(content), gone, was_there, other_columns(began, content))


def write_changes(changes: Changes, path: Path, known: Collection[Any]) -> list[Any]:
    """Write changes to a Parquet file; return the ids here of the rows that are new there.

    ``known``: the ids of the rows that are there. New rows have none in the file, and gone ones the
    role ``off``. Rows that are other bring the columns in which one of them differs.
    """
    table = pa.table(_told(list(map(str, changes.gone)), [OFF] * len(changes.gone)))
    new = list[Any]()
    if changes.rows is not None:
        frame = changes.rows.to_frame()
        is_new = ~frame.index.isin(list(known))
        new = frame.index[is_new].tolist()
        ids = np.where(is_new, "", frame.index.astype(str)).tolist()
        was_there = frame.index.isin(list(changes.was_there))
        cells = _some_cells(frame, was_there, changes.columns)
        told = _told(ids, _roles_in_order(changes.rows, frame.index))
        rows = pa.table({**cells, **told, **_brought(was_there, changes.columns)})
        table = pa.concat_tables([rows, table], promote_options="default")
    pq.write_table(table, path, compression="zstd")
    return new


def _some_cells(
    frame: pd.DataFrame, was_there: np.ndarray, columns: Collection[str]
) -> dict[str, pa.ChunkedArray]:
    """Return the cells of rows by column; of rows that were there, those of some columns."""
    cells = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
    whole = pa.array(np.arange(len(frame)))
    new = pa.array(np.arange(len(frame)), mask=was_there)
    found = {}
    for name, column in zip(cells.column_names, cells.columns, strict=True):
        found[name] = column.take(whole if name in columns else new)
    return found


def _brought(was_there: np.ndarray, columns: Sequence[str]) -> dict[str, pa.Array]:
    """Return the column that says which columns each row brings."""
    brought = np.where(was_there, json.dumps(list(columns)), "")
    return {CELLS_COLUMN: pa.array(brought.tolist(), pa.string())}


def _told(ids: Sequence[str], roles: Sequence[str]) -> dict[str, pa.Array]:
    """Return the columns that say which rows these are."""
    return {ROW_COLUMN: pa.array(ids, pa.string()), ROLE_COLUMN: pa.array(roles, pa.string())}


def write_pulled(path: Path, application: str, versions: Sequence[PulledVersion]) -> None:
    """Write versions, the oldest first, as steps; what people added to the file stays.

    The rows of the first one, and those that each other one changed, become Parquet files beside
    it. Raises InvalidInput where the file was not made by a pull.
    """
    added = _added_by_people(path)
    names = [f"version-{version.number}" for version in versions]
    names[-1] = CURRENT
    parts = [
        _ABOVE,
        f"application = {toml(application, 'application')}",
        f"version = {toml(versions[-1].id, 'version')}",
        "",
        _first(path, names[0], versions[0]),
    ]
    for place in range(1, len(versions)):
        parts += _next(path, names, versions, place)
    parts.append(OWN)
    path.write_text("\n".join(parts) + added, "utf-8")


def _known_by(relation: Relation, ids: Mapping[Any, int]) -> Relation:
    """Return the rows by the ids that the service gave to some of them."""
    frame = relation.to_frame()
    is_named = frame.index.isin(list(ids))
    if not is_named.any():
        return relation
    roles = np.array(_roles_in_order(relation, frame.index))
    named = [ids.get(row_id, row_id) for row_id in frame.index]
    frame.index = pd.Index(named, dtype=object).infer_objects()
    stays = is_named | ~frame.index.isin(frame.index[is_named])
    return Relation.from_frame(frame.loc[stays], relation.target, roles[stays].tolist())


def _likeliest(relation: Relation) -> Relation:
    frame = relation.to_frame()
    roles = None
    if relation.roles is not None:
        roles = _roles_in_order(relation, frame.index)
    return Relation.from_frame(frame, relation.target, roles)


def _roles_in_order(relation: Relation, row_ids: Iterable[Any]) -> list[str]:
    """Return the roles of some rows, which a relation with roles has."""
    assert relation.roles is not None
    role_of = dict(zip(relation.row_ids, relation.roles, strict=True))
    return list(map(role_of.__getitem__, row_ids))


def _added_by_people(path: Path) -> str:
    """Return what stands below the versions. Raises InvalidInput for a file that no pull made."""
    if not path.exists():
        return "\n"
    above, mark, below = path.read_text("utf-8").partition(OWN)
    is_pulled = mark and above.startswith(_ABOVE)
    if not is_pulled:
        raise InvalidInput(
            "is there already, and no pull made it.", where=str(path), remedy="Name a new file."
        )
    return below


def _first(path: Path, name: str, version: PulledVersion) -> str:
    rows = _kept(path, version, version.rows)
    return _section(name, {"do": READ, "file": rows}, version)


def _next(
    path: Path, names: Sequence[str], versions: Sequence[PulledVersion], place: int
) -> list[str]:
    """Return the sections of a version: the rows that it changed, and what they change."""
    version = versions[place]
    content, gone = difference(versions[place - 1].rows.content, version.rows.content)
    step: dict[str, Any] = {"do": "update", "of": [names[place - 1]]}
    parts = []
    if content is not None:
        rows = f"rows-{version.number}"
        file = _kept(path, version, Relation(content))
        parts.append(section_text(rows, {"do": READ, "file": file}))
        step["of"].append(rows)
    if gone:
        step["gone"] = list(map(int, gone))
    parts.append(_section(names[place], step, version))
    return parts


def _kept(path: Path, version: PulledVersion, rows: Relation) -> str:
    """Write rows to a file beside the flow; return its name."""
    beside = path.with_name(f"{path.stem}.version-{version.number}.parquet")
    rows.save(beside)
    return beside.name


def _section(name: str, step: Mapping[str, Any], version: PulledVersion) -> str:
    """Return the section of a step with what people say of the version."""
    said: dict[str, Any] = {**step, "about": f"version {version.number}: {version.about}"}
    if version.context:
        said["context"] = version.context
    if version.tags:
        said["tags"] = list(version.tags)
    return section_text(name, said)
