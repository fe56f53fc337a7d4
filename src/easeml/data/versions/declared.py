"""Declared versions: a table as somebody declared it, typed, with a role for each row."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from easeml.data.errors import DatasetError, refusing, shown, told_setting
from easeml.data.types import values as v
from easeml.data.types.cells import CELLS, BadCell, from_arrow
from easeml.data.types.column_report import ColumnReport, sort_labels
from easeml.data.types.declared_columns import Columns, assemble, declare_columns
from easeml.data.types.label_lists import LABELS, cells_of, in_words
from easeml.data.types.number_forms import number_form
from easeml.data.types.table_schemas import kinds_of, with_gaps
from easeml.data.types.text_tables import ROW, column_text, row_place
from easeml.data.types.together import with_joined
from easeml.data.versions.copies import compared_columns, content_keys, first_copies
from easeml.data.versions.folds import with_folds
from easeml.data.versions.row_weights import count_notes, left_out_notes, weights_of_table
from easeml.data.versions.series import check_series, forecast_notes
from easeml.data.versions.splits import ROLES, Split, group_roles, row_roles, rows_told, split_notes
from easeml.schema import Schema

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa


@dataclass(frozen=True)
class Declared:
    """A declared table. ``frames``: by role, with column ``_row`` (the row's id), inputs, target.

    ``summary``: rows in all and by role, the target, the seed, the split, and by how many ``folds``
    models are judged, if by any (``folds``). ``off``: ids of train
    rows that are switched off; they stay in their frame. ``next_row``: the id of the next row that
    is fed. ``groups``: where rows are split by group, the role of each group. ``weights``: how much
    each row counts, see ``row_weights``.
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
    weights: pd.Series | None = None


def declare(
    table: pa.Table,
    reports: Sequence[ColumnReport],
    target: str | None = None,
    set: Mapping[str, str] | None = None,
    drop: Collection[str] = (),
    keep: Collection[str] = (),
    seed: int = 0,
    split: str = "random",
    weight: str | None = None,
    series: Sequence[str] | None = None,
    together: Sequence[str] = (),
    past_only: Sequence[str] = (),
) -> Declared:
    """Apply a declaration to a table that ``read_table`` gave, and give rows their roles.

    For the declaration see ``declare_columns``.

    Rows without a target value are kept as the pool. Of the others 20 % are test rows, 20 %
    validation rows, the rest train rows. ``split``: ``random``, drawn with ``seed``, class by class
    where the target is a category (the only row of a class is a train row); ``time:COLUMN``, the
    latest test; ``group:COLUMN``, rows of one group with one role, drawn with ``seed``;
    ``given:COLUMN``, which says train, validation or test and is not an input. Rows of weight 0 are
    left out. ``series``: of a forecast, whose split is by time, the columns by which series are
    told apart; none where there is one. None: it is no forecast. ``past_only``: columns of it that
    are not known ahead: new rows may come without them.

    Raises:
        DatasetError: as ``declare_columns``; and, with row and value, where a cell is not of its column's type;
            and if there are too few rows.
    """
    import pandas as pd

    way = Split.from_text(split, [report.name for report in reports])
    drop = [*drop, way.column] if way.way == "given" else drop
    decided = declare_columns(reports, target, set, drop, keep, weight, together)
    table = with_joined(table, next(iter(decided.schema_out.nodes.values())))
    columns = list(map(partial(_with_data, table), decided.columns))
    final = assemble(columns, decided.target)
    rows = pd.DataFrame(_typed_columns(table, final))
    is_row = ~_erased(table)
    weights, counts = weights_of_table(table, final.columns, is_row)
    has_answer = rows[final.target].notna().to_numpy()
    is_answered = has_answer & counts
    answered = rows.loc[is_answered]
    pool = rows.loc[~has_answer & counts].reset_index(drop=True)
    notes = [
        *final.leak_notes,
        *final.rare_notes,
        *final.notes,
        *_label_notes(report_named(final.target, final.columns)),
        *_time_notes(final, way, series, past_only),
        *count_notes(weights),
        *left_out_notes(is_row & ~counts),
        *_pool_notes(len(pool), final.target),
        *split_notes(way, final),
    ]

    if series is not None:
        check_series(answered, way.column, series)
    by = None
    if way.column:
        by = split_values(table, way, report_named(way.column, final.columns))[is_answered]
    first = _first_copies(answered, final)
    roles = row_roles(pd.Series(answered[final.target]), way, by, seed, notes, first)

    frames = {role: answered.loc[roles == role].reset_index(drop=True) for role in ROLES}
    if len(pool):
        frames["pool"] = pool
    by_role = {role: len(frame) for role, frame in frames.items()}
    told: dict[str, Any] = {"target": final.target, "seed": seed, "split": split}
    if past_only:
        told["past_only"] = list(past_only)
    summary = {"rows": len(answered), **by_role, **told}
    found = Declared(
        frames,
        with_gaps(final.schema_in, past_only),
        final.schema_out,
        final.target,
        final.columns,
        notes,
        summary,
        next_row=table.num_rows,
        groups=group_roles(way, by, roles),
        weights=weights,
    )
    return replace(found, summary=with_folds(found))


def report_named(name: str, reports: Sequence[ColumnReport]) -> ColumnReport:
    """Return the report of a column that is there."""
    return next(report for report in reports if report.name == name)


def _time_notes(
    final: Columns, way: Split, series: Sequence[str] | None, past_only: Sequence[str]
) -> list[str]:
    """What is said of the time: of a forecast, which columns have to be known ahead."""
    if series is None:
        return final.time_notes
    inputs = [report.name for report in final.columns if report.role == "input"]
    return forecast_notes(inputs, final.target, {way.column, *series, *past_only})


def _pool_notes(unanswered: int, target: str) -> list[str]:
    """What is said of rows without a target value, where there are any."""
    if not unanswered:
        return []
    return [f"{rows_told(unanswered)} without a value of '{target}' can be labelled (the pool)."]


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


def _with_data(table: pa.Table, report: ColumnReport) -> ColumnReport:
    """The report with what the data says under the decided type."""
    if report.role == "drop":
        return report
    report = replace(report, format=_format(table, report))
    if report.type in CELLS:
        return report
    if report.type == LABELS:
        return replace(report, missing=0.0, classes=report.content["labels"])
    array = _plain(table, report)
    missing = v.missing_mask(array, report.type)
    report = replace(report, missing=float(missing.mean()), classes=[])
    if report.type != "category":
        return report
    classes = _classes(array.filter(~missing).unique().to_pylist())
    return replace(report, classes=classes, distinct=len(classes))


def _classes(texts: list[str]) -> list[str]:
    """The labels that different texts are: of numbers each once, in whatever spelling."""
    labels = set(map(v.plain_number, texts))
    if not v.numeric_labels(tuple(labels)):
        labels = set(texts)
    return sort_labels(list(labels))


def _format(table: pa.Table, report: ColumnReport) -> str:
    """How the values are written: as declared or inferred, else as the data says."""
    form_of = _FORM_OF.get(report.type)
    if form_of is None:
        return ""
    return report.format or form_of(_plain(table, report)) or ""


def _form_of_numbers(array: pa.Array) -> str | None:
    if not v.to_numbers(array).bad.any():
        return ""
    return number_form(_present(array, "number"))


def _form_of_times(array: pa.Array) -> str | None:
    return v.timestamp_format(_present(array, "timestamp"), compact=True)


_FORM_OF: dict[str, Callable[[pa.Array], str | None]] = {
    "number": _form_of_numbers,
    "timestamp": _form_of_times,
}


def _present(array: pa.Array, kind: str) -> list[str]:
    """The different texts of a column of this kind that are not missing."""
    return array.filter(~v.missing_mask(array, kind)).unique().to_pylist()


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
        typed[name] = _typed_column(table, by_name[name])
    return typed


def _typed_column(table: pa.Table, report: ColumnReport) -> Any:
    """A column as in a frame. Raises DatasetError for a value that is not of its type."""
    name = report.name
    if report.type in CELLS:
        return from_arrow(report.type, table.column(name))
    if report.type == LABELS:
        return _typed_labels(table, report)
    made = v.convert(_plain(table, report), report.type, tuple(report.classes), report.format)
    if made.bad.any():
        row = int(made.bad.argmax())
        raise DatasetError(
            f"{shown(table.column(name)[row].as_py())} is not a {report.type}.",
            where=f"column '{name}', {row_place(row)}",
            remedy=f"Correct the value, or let the column be another type ({told_setting(name, 'text')}).",
        )
    if report.role == "target" and report.type == "number":
        _check_size(table, name, made.values)
    return made.values


def _typed_labels(table: pa.Table, report: ColumnReport) -> np.ndarray:
    """The cells of a target whose rows have several labels; an empty one has none."""
    labels, separator = report.content["labels"], report.content["separator"]
    with refusing(BadCell, "a cell {error}.", f"column '{report.name}'"):
        return cells_of(_plain(table, report), labels, separator)


def _label_notes(target: ColumnReport) -> list[str]:
    """What is said of a target whose rows have several labels."""
    return [in_words(target.name, target.content)] if target.type == LABELS else []


def _check_size(table: pa.Table, name: str, values: np.ndarray) -> None:
    """Raise DatasetError for a target that no model can compute with."""
    too_large = abs(values) > v.LARGEST
    if not too_large.any():
        return
    row = int(too_large.argmax())
    raise DatasetError(
        f"{shown(table.column(name)[row].as_py())} is too large to be learned: a number of the "
        f"target is at most {v.LARGEST:.1e}.",
        where=f"column '{name}', {row_place(row)}",
        remedy="Correct the value, or empty the cell: then the row is not learned from.",
    )


def split_values(table: pa.Table, split: Split, report: ColumnReport) -> np.ndarray:
    """Return the column of a split as ``row_roles`` takes it.

    It is a number a row for ``time``, else text.

    Raises DatasetError where rows cannot be split by such a column.
    """
    if report.type in CELLS:
        raise DatasetError(
            f"rows cannot be split by a column of type {report.type}.",
            where=f"column '{split.column}'",
            remedy="Name another.",
        )
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
