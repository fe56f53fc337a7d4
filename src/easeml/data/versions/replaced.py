"""All rows of a declared version make place for those of another table, with the same columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError
from easeml.data.types.cells import CELLS
from easeml.data.types.column_report import ColumnReport
from easeml.data.types.odd_cells import codes_told
from easeml.data.types.text_tables import ROW
from easeml.data.types.together import with_joined
from easeml.data.versions.changes import counted
from easeml.data.versions.declared import Declared, declare, report_named
from easeml.data.versions.renewed import check_renewed
from easeml.data.versions.row_weights import weight_report
from easeml.data.versions.splits import Split

if TYPE_CHECKING:
    import pyarrow as pa

_SHOWN = 5  # names in a note


def replaced(
    version: Declared, table: pa.Table, reports: Sequence[ColumnReport], name: str
) -> Declared:
    """Return a version that is declared as ``version`` was, with the rows of ``table`` alone.

    ``table`` is as ``read_table`` gives it, ``reports`` what was inferred of its columns. Its rows
    have new ids, so that nothing that was said of a row before is taken for one of these, and get
    their roles as at the declaration. Types, the target and the way of dividing rows stay; labels
    may be others, which is noted, as are columns that were not there. ``name`` of the table, for
    messages.

    Raises ``DatasetError``, naming every difference, where a column is missing or most of its cells
    are of another type; and where a cell is not of its column's type.
    """
    of_weights = weight_report(version.columns)
    used = [report for report in version.columns if report.role != "drop"]
    split = Split.of(version.summary)
    check_renewed(with_joined(table, version.schema_out.columns[version.target]), used, name)
    _check_split(table, split, name)
    parts = version.schema_out.parts
    known = {report.name for report in used} & set(table.column_names)
    names = {*known, *parts}
    target, *together = parts or (version.target,)
    made = declare(
        table,
        reports,
        target,
        dict(_settings(used)),
        [other for other in table.column_names if other not in names],
        names,
        version.summary["seed"],
        version.summary["split"],
        None if of_weights is None else of_weights.name,
        together=together,
        past_only=version.summary.get("past_only", ()),
    )
    frames = {}
    for role, frame in made.frames.items():
        frames[role] = frame.assign(**{ROW: frame[ROW] + version.next_row})
    weights = made.weights
    if weights is not None:
        weights = weights.set_axis(weights.index + version.next_row)
    notes = [*_notes(version, made, table), *made.notes]
    next_row = version.next_row + table.num_rows
    return replace(made, frames=frames, notes=notes, next_row=next_row, weights=weights)


def _check_split(table: pa.Table, split: Split, name: str) -> None:
    if split.column not in ("", *table.column_names):
        raise DatasetError(
            f"column '{split.column}', by which rows are divided, is missing.", where=name
        )


def _settings(used: list[ColumnReport]) -> Iterator[tuple[str, str]]:
    """Give what was declared of columns, as ``declare`` takes it."""
    for report in used:
        if report.type in CELLS or "parts" in report.content:
            continue
        yield report.name, report.type
        if report.missing_codes:
            yield f"{report.name}.missing", codes_told(report.missing_codes)


def _notes(version: Declared, made: Declared, table: pa.Table) -> list[str]:
    """Say how many rows there were, and what else is not as it was."""
    before = sum(map(len, version.frames.values()))
    notes = [f"{counted(table.num_rows)} took the place of {counted(before)}."]
    known = [report.name for report in version.columns]
    known += version.schema_out.parts
    further = _without(table.column_names, known)
    if further:
        notes.append(f"Columns that were not there are not used: {_listed(further)}.")
    old = report_named(version.target, version.columns).classes
    new = report_named(made.target, made.columns).classes
    added, gone = _without(new, old), _without(old, new)
    if added:
        notes.append(f"'{made.target}' has labels that it had not: {_listed(added)}.")
    if gone:
        notes.append(f"'{made.target}' has not any more: {_listed(gone)}.")
    return notes


def _without(names: Sequence[str], others: Sequence[str]) -> list[str]:
    known = set(others)
    return [name for name in names if name not in known]


def _listed(names: list[str]) -> str:
    more = len(names) - _SHOWN
    told = ", ".join(names[:_SHOWN])
    return f"{told} and {more} more" if more > 0 else told
