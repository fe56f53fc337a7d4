"""Declared versions: typed rows with a role each, and the folders that keep uploads and versions."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.data.errors import DatasetError, shown
from easeml.data.types import values as v
from easeml.data.types.cells import CELLS, from_arrow, to_arrow
from easeml.data.types.column_report import ColumnReport, sort_labels
from easeml.data.types.declared_columns import Columns, assemble, declare_columns
from easeml.data.types.number_forms import number_form
from easeml.data.types.table_schemas import kinds_of
from easeml.data.types.text_tables import ROW, column_text, row_place
from easeml.data.versions.copies import compared_columns, content_keys, first_copies
from easeml.data.versions.splits import ALL_ROLES, ROLES, Split, group_roles, row_roles
from easeml.schema import Schema

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa


@dataclass(frozen=True)
class Declared:
    """A declared table. ``frames``: by role, with column ``_row`` (the row's id), inputs, target.

    ``summary``: rows in all and by role, the target, the seed, the split. ``off``: ids of train
    rows that are switched off; they stay in their frame. ``next_row``: the id of the next row that
    is fed. ``groups``: where rows are split by group, the role of each group.
    """

    frames: dict[str, pd.DataFrame]
    schema_in: Schema
    schema_out: Schema
    target: str
    columns: list[ColumnReport]
    notes: list[str]
    summary: dict[str, Any]
    off: tuple[int, ...] = ()
    next_row: int = 0
    groups: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class VersionTables:
    """A version as models meet it: frames with column ``_row``, inputs and target.

    Rows that are switched off are left out.
    """

    train: pd.DataFrame
    validation: pd.DataFrame
    test: pd.DataFrame
    schema_in: Schema
    schema_out: Schema
    target: str
    notes: list[str]


def declare(
    table: pa.Table,
    reports: Sequence[ColumnReport],
    target: str | None = None,
    set: Mapping[str, str] | None = None,
    drop: Collection[str] = (),
    keep: Collection[str] = (),
    seed: int = 0,
    split: str = "random",
) -> Declared:
    """Apply a declaration to a table that ``read_table`` gave, and give rows their roles.

    For the declaration see ``declare_columns``.

    Rows without a target value are kept as the pool. Of the others 20 % are test rows, 20 %
    validation rows, the rest train rows. ``split``: ``random``, drawn with ``seed``, class by class
    where the target is a category (the only row of a class is a train row); ``time:COLUMN``, the
    latest test; ``group:COLUMN``, rows of one group with one role, drawn with ``seed``;
    ``given:COLUMN``, which says train, validation or test and is not an input.

    Raises:
        DatasetError: as ``declare_columns``; and, with row and value, where a cell is not of its column's type;
            and if there are too few rows.
    """
    import pandas as pd

    way = Split.from_text(split, [report.name for report in reports])
    drop = [*drop, way.column] if way.way == "given" else drop
    decided = declare_columns(reports, target, set, drop, keep)
    final = assemble([_with_data(table, report) for report in decided.columns], decided.target)
    rows = pd.DataFrame(_typed_columns(table, final))
    is_answered = rows[final.target].notna().to_numpy()
    answered = rows.loc[is_answered]
    pool = rows.loc[~is_answered & ~_erased(table)].reset_index(drop=True)
    notes = [*final.leak_notes, *final.notes, *_pool_notes(len(pool), final.target)]

    by = None
    if way.column:
        report = next(report for report in final.columns if report.name == way.column)
        by = split_values(table, way, report)[is_answered]
    first = _first_copies(answered, final)
    roles = row_roles(pd.Series(answered[final.target]), way, by, seed, notes, first)
    groups: dict[str, str] = {}
    if way.way == "group" and by is not None:
        groups = group_roles(by, roles)

    frames = {role: answered.loc[roles == role].reset_index(drop=True) for role in ROLES}
    if len(pool):
        frames["pool"] = pool
    counts = {role: len(frame) for role, frame in frames.items()}
    told = {"target": final.target, "seed": seed, "split": split}
    summary = {"rows": len(answered), **counts, **told}
    return Declared(
        frames,
        final.schema_in,
        final.schema_out,
        final.target,
        final.columns,
        notes,
        summary,
        next_row=table.num_rows,
        groups=groups,
    )


def _pool_notes(unanswered: int, target: str) -> list[str]:
    """What is said of rows without a target value, where there are any."""
    if not unanswered:
        return []
    count = "1 row" if unanswered == 1 else f"{unanswered} rows"
    return [f"{count} without a value of '{target}' can be labelled (the pool)."]


def _erased(table: pa.Table) -> np.ndarray:
    """Which rows have nothing in any column: they were erased (``versions.erasing``)."""
    import numpy as np
    import pyarrow as pa

    empty = np.ones(table.num_rows, dtype=bool)
    for column in table.columns:
        if pa.types.is_string(column.type):
            texts = column.fill_null("").to_numpy()
            empty &= np.asarray(texts == "", dtype=bool)
        else:
            empty &= column.is_null().to_numpy()
        if not empty.any():
            break
    return empty


def _first_copies(frame: pd.DataFrame, columns: Columns) -> np.ndarray | None:
    """Of each row the place of the first of its copies; None where rows are not compared."""
    compared = compared_columns(columns.schema_in, columns.schema_out)
    return first_copies(content_keys(frame, compared)) if compared else None


def write_version(folder: str | Path, declared: Declared) -> None:
    """Write a declared table to a folder: one Arrow file a role, and ``version.json``."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for role, frame in declared.frames.items():
        write_arrow(
            folder / f"{role}.arrow", _arrow(frame, declared.schema_in, declared.schema_out)
        )
    document = {
        "schema_in": declared.schema_in.to_json(),
        "schema_out": declared.schema_out.to_json(),
        "target": declared.target,
        "columns": [report.to_json() for report in declared.columns],
        "notes": declared.notes,
        "summary": declared.summary,
        "off": list(declared.off),
        "next_row": declared.next_row,
        "groups": declared.groups,
    }
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
    )


def read_declared(folder: str | Path) -> Declared:
    """Read all that ``write_version`` wrote.

    Raises ``DatasetError`` if the folder holds no version.
    """
    folder = Path(folder)
    document = _read_json(folder / "version.json")
    schema_in = Schema.from_json(document["schema_in"])
    schema_out = Schema.from_json(document["schema_out"])
    frames = {}
    last = -1
    for role in ALL_ROLES:
        path = folder / f"{role}.arrow"
        if role not in ROLES and not path.exists():
            continue
        frame = _frame(_read_arrow(path), schema_in, schema_out)
        frames[role] = frame
        if len(frame):
            last = max(last, int(frame[ROW].to_numpy().max()))
    return Declared(
        frames=frames,
        schema_in=schema_in,
        schema_out=schema_out,
        target=document["target"],
        columns=[ColumnReport.from_json(item) for item in document["columns"]],
        notes=document["notes"],
        summary=document["summary"],
        off=tuple(document.get("off", ())),
        next_row=document.get("next_row", last + 1),
        groups=document.get("groups", {}),
    )


def write_upload(folder: str | Path, table: pa.Table, reports: Sequence[ColumnReport]) -> None:
    """Write an uploaded table, as text, with its column reports."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_arrow(folder / "table.arrow", table)
    (folder / "columns.json").write_text(
        json.dumps([report.to_json() for report in reports], indent=1)
    )


def read_upload(folder: str | Path) -> tuple[pa.Table, list[ColumnReport]]:
    """Read what ``write_upload`` wrote: the table and the reports, as ``declare`` takes them."""
    folder = Path(folder)
    reports = [ColumnReport.from_json(item) for item in _read_json(folder / "columns.json")]
    return _read_arrow(folder / "table.arrow"), reports


def _with_data(table: pa.Table, report: ColumnReport) -> ColumnReport:
    """The report with what the data says under the decided type."""
    if report.role == "drop":
        return report
    report = replace(report, format=_format(table, report))
    if report.type in CELLS:
        return report
    array = _plain(table, report)
    missing = v.missing_mask(array, report.type)
    report = replace(report, missing=float(missing.mean()), classes=[])
    if report.type != "category":
        return report
    texts = array.filter(~missing).unique().to_pylist()
    labels = {v.plain_number(text) for text in texts}
    if not v.numeric_labels(tuple(labels)):
        labels = set(texts)
    classes = sort_labels(list(labels))
    return replace(report, classes=classes, distinct=len(classes))


def _format(table: pa.Table, report: ColumnReport) -> str:
    """How the values are written: as declared or inferred, else as the data says."""
    if report.type not in ("number", "timestamp"):
        return ""
    if report.format:
        return report.format
    array = _plain(table, report)
    is_number = report.type == "number"
    if is_number and not v.to_numbers(array).bad.any():
        return ""
    texts = array.filter(~v.missing_mask(array, report.type)).unique().to_pylist()
    form = number_form(texts) if is_number else v.timestamp_format(texts, compact=True)
    return form or ""


def _plain(table: pa.Table, report: ColumnReport) -> pa.Array:
    return v.plain(
        column_text(table, report.name), report.type, report.format, report.missing_codes
    )


def _typed_columns(table: pa.Table, columns: Columns) -> dict[str, Any]:
    """The columns of the frame, in order: row id, inputs, target."""
    import numpy as np

    typed: dict[str, Any] = {ROW: np.arange(table.num_rows, dtype=np.int64)}
    by_name = {report.name: report for report in columns.columns}
    for name in (*kinds_of(columns.schema_in), *kinds_of(columns.schema_out)):
        report = by_name[name]
        if report.type in CELLS:
            typed[name] = from_arrow(report.type, table.column(name))
            continue
        made = v.convert(_plain(table, report), report.type, tuple(report.classes), report.format)
        if made.bad.any():
            row = int(made.bad.argmax())
            raise DatasetError(
                f"{shown(table.column(name)[row].as_py())} is not a {report.type}.",
                where=f"column '{name}', {row_place(row)}",
                remedy=f"Correct the value, or let the column be another type (--set {name}=text).",
            )
        typed[name] = made.values
    return typed


def split_values(table: pa.Table, split: Split, report: ColumnReport) -> np.ndarray:
    """Return the column of a split as ``row_roles`` takes it.

    It is a number a row for ``time``, else text.

    Raises DatasetError where rows cannot be split by such a column.
    """
    if report.type in CELLS:
        raise DatasetError(
            f"rows cannot be split by a column of type {report.type}.", where=f"column '{split.column}'",
            remedy="Name another.",
        )  # fmt: skip
    if split.way != "time":
        return column_text(table, split.column).to_numpy(zero_copy_only=False)
    if report.type not in ("number", "timestamp"):
        raise DatasetError(
            f"it is {report.type}, not a time or a number.",
            where=f"column '{split.column}'",
            remedy="Name another.",
        )
    report = replace(report, format=_format(table, report))
    made = v.convert(_plain(table, report), report.type, (), report.format)
    if report.type == "number":
        return made.values
    times = made.values.astype("int64").astype(float)
    times[made.missing | made.bad] = float("nan")
    return times


def _arrow(frame: pd.DataFrame, schema_in: Schema, schema_out: Schema) -> pa.Table:
    import pyarrow as pa

    cells = _cell_kinds(schema_in, schema_out)
    table = pa.Table.from_pandas(
        frame.drop(columns=list(cells)), preserve_index=False
    ).replace_schema_metadata(None)
    for name, kind in cells.items():
        table = table.append_column(name, to_arrow(kind, list(frame[name])))
    return table.select([str(name) for name in frame.columns])


def _cell_kinds(schema_in: Schema, schema_out: Schema) -> dict[str, str]:
    kinds = {**kinds_of(schema_in), **kinds_of(schema_out)}
    return {name: kind for name, kind in kinds.items() if kind in CELLS}


def write_arrow(path: Path, table: pa.Table) -> None:
    """Write a table as an Arrow file, which ``read_table`` knows whatever its name is."""
    import pyarrow as pa

    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def _read_arrow(path: Path) -> pa.Table:
    import pyarrow as pa

    try:
        with pa.OSFile(str(path), "rb") as source:
            return pa.ipc.open_file(source).read_all()
    except (OSError, pa.ArrowInvalid) as error:
        raise DatasetError(
            f"cannot be read as a stored table: {error}.",
            where=str(path),
        ) from error


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise DatasetError(
            f"cannot be read: {error}.",
            where=str(path),
        ) from error


def _frame(table: pa.Table, schema_in: Schema, schema_out: Schema) -> pd.DataFrame:
    """The frame with the very dtypes of ``declare``."""
    cells = _cell_kinds(schema_in, schema_out)
    frame = table.drop_columns(list(cells)).to_pandas()
    for name, kind in cells.items():
        frame[name] = from_arrow(kind, table.column(name))
    frame = frame[table.column_names]
    for schema in (schema_in, schema_out):
        for name, node in schema.columns.items():
            if node.type == "category":
                codes = frame[name].cat.codes
                frame[name] = v.categories(codes.to_numpy(), schema.classes[node.class_name].labels)
            elif node.type == "text":
                frame[name] = frame[name].astype("str")
            elif node.type == "timestamp":
                frame[name] = frame[name].astype("datetime64[us]")
    return frame
