"""The folders that keep uploads and declared versions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.data.errors import refusing
from easeml.data.types import values as v
from easeml.data.types.cells import CELLS, from_arrow, to_arrow
from easeml.data.types.column_report import ColumnReport
from easeml.data.types.table_schemas import kinds_of, labels_of
from easeml.data.types.text_tables import ROW
from easeml.data.versions.declared import Declared
from easeml.data.versions.folds import fold_numbers, group_numbers
from easeml.data.versions.parts import is_there, read_parts, write_parts
from easeml.data.versions.row_weights import beside, taken_out
from easeml.data.versions.splits import ROLES, UNLABELLED
from easeml.schema import Schema

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


_UPLOADED = "table"


@dataclass(frozen=True)
class VersionTables:
    """A version as models meet it: frames with column ``_row``, inputs and target.

    Rows that are switched off are left out. ``weights``: how much each row counts, by its id; None:
    each once. ``folds``: the fold of each train and validation row, by its id, where each judges
    models; None: validation rows alone do. ``groups``: which rows are of one group, by their ids,
    see ``group_numbers``.
    """

    train: pd.DataFrame
    validation: pd.DataFrame
    test: pd.DataFrame
    schema_in: Schema
    schema_out: Schema
    target: str
    notes: list[str]
    weights: pd.Series | None = None
    folds: pd.Series | None = None
    groups: pd.Series | None = None


def write_version(folder: str | Path, declared: Declared) -> None:
    """Write a declared table to a folder: the parts of each role, and ``version.json``."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for role, frame in declared.frames.items():
        table = _arrow(beside(frame, declared.weights), declared.schema_in, declared.schema_out)
        write_parts(folder, role, table)
    document = {
        "schema_in": declared.schema_in.to_json(),
        "schema_out": declared.schema_out.to_json(),
        "target": declared.target,
        "columns": list(map(ColumnReport.to_json, declared.columns)),
        "notes": declared.notes,
        "summary": declared.summary,
        "off": list(declared.off),
        "next_row": declared.next_row,
        "groups": declared.groups,
    }
    if declared.weights is not None:
        document["weight"] = declared.weights.name
    (folder / "version.json").write_text(json.dumps(document, indent=1))


def read_version(folder: str | Path) -> VersionTables:
    """Read what ``write_version`` wrote, as models meet it.

    Raises ``DatasetError`` if the folder holds no version.
    """
    found = read_declared(folder)
    train = found.frames["train"]
    return VersionTables(
        train=train.loc[~train[ROW].isin(found.off)].reset_index(drop=True),
        validation=found.frames["validation"],
        test=found.frames["test"],
        schema_in=found.schema_in,
        schema_out=found.schema_out,
        target=found.target,
        notes=found.notes,
        weights=found.weights,
        folds=fold_numbers(found),
        groups=group_numbers(found),
    )


def read_declared(folder: str | Path) -> Declared:
    """Read all that ``write_version`` wrote.

    Raises ``DatasetError`` if the folder holds no version.
    """
    folder = Path(folder)
    document = _read_json(folder / "version.json")
    schema_in = Schema.from_json(document["schema_in"])
    schema_out = Schema.from_json(document["schema_out"])
    names = _names(folder)
    unlabelled = [role for role in UNLABELLED if is_there(names, role)]
    frames = {}
    for role in (*ROLES, *unlabelled):
        table = read_parts(names, role, partial(_read_arrow, folder))
        frames[role] = _frame(table, schema_in, schema_out)
    weights = None
    if "weight" in document:
        weights = taken_out(frames.values(), document["weight"])
    return Declared(
        frames=frames,
        schema_in=schema_in,
        schema_out=schema_out,
        target=document["target"],
        columns=list(map(ColumnReport.from_json, document["columns"])),
        notes=document["notes"],
        summary=document["summary"],
        off=tuple(document.get("off", ())),
        next_row=document.get("next_row", _row_after(frames)),
        groups=document.get("groups", {}),
        weights=weights,
    )


def _row_after(frames: Mapping[str, pd.DataFrame]) -> int:
    """The id after the last one of all rows."""
    import numpy as np

    ids = np.concatenate([frame[ROW].to_numpy() for frame in frames.values()])
    return int(ids.max(initial=-1)) + 1


def write_upload(folder: str | Path, table: pa.Table, reports: Sequence[ColumnReport]) -> None:
    """Write an uploaded table, as text, with its column reports."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_parts(folder, _UPLOADED, table)
    document = list(map(ColumnReport.to_json, reports))
    (folder / "columns.json").write_text(json.dumps(document, indent=1))


def read_upload(folder: str | Path) -> tuple[pa.Table, list[ColumnReport]]:
    """Read what ``write_upload`` wrote: the table and the reports, as ``declare`` takes them."""
    folder = Path(folder)
    reports = list(map(ColumnReport.from_json, _read_json(folder / "columns.json")))
    return read_parts(_names(folder), _UPLOADED, partial(_read_arrow, folder)), reports


def _arrow(frame: pd.DataFrame, schema_in: Schema, schema_out: Schema) -> pa.Table:
    """The frame as it is stored: plain columns as pandas has them, cells as ``types.cells``."""
    import pyarrow as pa

    cells = _cell_kinds(schema_in, schema_out)
    plain = frame.drop(columns=list(cells))
    table = pa.Table.from_pandas(plain, preserve_index=False).replace_schema_metadata(None)
    for name, kind in cells.items():
        table = table.append_column(name, to_arrow(kind, list(frame[name])))
    return table.select(list(map(str, frame.columns)))


def _cell_kinds(schema_in: Schema, schema_out: Schema) -> dict[str, str]:
    kinds = {**kinds_of(schema_in), **kinds_of(schema_out)}
    return {name: kind for name, kind in kinds.items() if kind in CELLS}


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*.arrow")}


def _read_arrow(folder: Path, name: str) -> pa.Table:
    import pyarrow as pa

    path = folder / name
    said = "cannot be read as a stored table: {error}."
    with (
        refusing((OSError, pa.ArrowInvalid), said, str(path)),
        pa.OSFile(str(path), "rb") as source,
    ):
        return pa.ipc.open_file(source).read_all()


def _read_json(path: Path) -> Any:
    with refusing((OSError, ValueError), "cannot be read: {error}.", str(path)):
        return json.loads(path.read_text())


def _frame(table: pa.Table, schema_in: Schema, schema_out: Schema) -> pd.DataFrame:
    """The frame with the very dtypes of ``declare``."""
    cells = _cell_kinds(schema_in, schema_out)
    frame = table.drop_columns(list(cells)).to_pandas()
    for name, kind in cells.items():
        frame[name] = from_arrow(kind, table.column(name))
    frame = frame[table.column_names]
    for schema in (schema_in, schema_out):
        for name, node in schema.columns.items():
            if node.type in _RESTORED:
                frame[name] = _RESTORED[node.type](frame[name], labels_of(schema, node))
    return frame


_RESTORED: dict[str, Callable[[Any, tuple[str, ...]], Any]] = {
    "category": lambda column, labels: v.categories(column.cat.codes.to_numpy(), labels),
    "text": lambda column, _: column.astype("str"),
    "timestamp": lambda column, _: column.astype("datetime64[us]"),
}
"""What gives a column that comes from a file the dtype of ``declare``, where it has another."""
