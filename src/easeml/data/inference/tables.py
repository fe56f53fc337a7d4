"""Look at a table and propose what each column is, which one is the target, and the schemas."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError, did_you_mean
from easeml.data.inference.column_types import look
from easeml.data.inference.distribution import distribution
from easeml.data.inference.natures import propose_target, with_natures, with_target
from easeml.data.types import values as v
from easeml.data.types.arrow import arrow_compute
from easeml.data.types.cells import report_of
from easeml.data.types.column_report import ColumnReport
from easeml.data.types.declared_columns import declare_columns, schema_of
from easeml.data.types.number_forms import plain_numbers
from easeml.data.types.text_tables import column_text
from easeml.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa

SAMPLE = 50_000  # rows that are looked at closely; all are checked


@dataclass(frozen=True)
class Inference:
    """What a table looks like.

    ``target`` is empty, and ``output`` None, where no column suggests itself.
    """

    columns: list[ColumnReport]
    rows: int
    target: str
    input: Schema
    output: Schema | None
    notes: list[str]


def infer_table(table: pa.Table, target: str | None = None, *, sample: int = SAMPLE) -> Inference:
    """Infer the columns of a table that ``read_table`` gave; ``target`` None: propose one.

    Of a table with more than ``sample`` rows, evenly spaced ones are looked at, and what they
    suggest is checked against all.

    Raises:
        DatasetError: if the target is not one of its columns or not possible.
    """
    names = table.column_names
    if target is not None and target not in names:
        raise DatasetError(f"there is no column '{target}'.", remedy=did_you_mean(target, names))
    notes = _reading_notes(table)
    looked = _sampled(table, sample)
    if looked is not table:
        notes.append(
            f"Columns were judged by {looked.num_rows} evenly spaced rows and checked against all."
        )
    cells = {
        field.name: report for field in table.schema if (report := report_of(field)) is not None
    }
    seen = {name: column_text(looked, name) for name in names if name not in cells}
    reports = [look(name, array, told_type(table, name)) for name, array in seen.items()]
    if looked is not table:
        reports = [
            _checked(report, column_text(table, report.name), told_type(table, report.name))
            for report in reports
        ]
    reports = [
        replace(report, distribution=distribution(seen[report.name], report)) for report in reports
    ]
    by_name = cells | {report.name: report for report in with_natures(reports, seen)}
    reports = [by_name[name] for name in names]
    told = (table.schema.metadata or {}).get(b"target", b"").decode()
    proposal = (target or told, 1.0, "") if target is not None or told else propose_target(reports)
    if proposal is None or all(r.role == "drop" for r in reports if r.name != proposal[0]):
        if target is not None:
            declare_columns(reports, target)  # raises what is wrong
        usable = [report for report in reports if report.distinct] or reports
        source = schema_of(usable, ())
        return Inference(
            reports,
            table.num_rows,
            "",
            source,
            None,
            [*notes, "No column suggests itself as target."],
        )
    chosen, sure, why = proposal
    reports = [
        replace(
            report,
            nature="target",
            nature_confidence=sure,
            evidence=f"{report.evidence} {why}".strip(),
        )
        if report.name == chosen
        else report
        for report in with_target(reports, seen, chosen)
    ]
    decided = declare_columns(reports, chosen)
    notes += decided.notes
    return Inference(
        decided.columns, table.num_rows, chosen, decided.schema_in, decided.schema_out, notes
    )


def told_type(table: pa.Table, name: str) -> str:
    """The type that the file itself states for a column, empty where it says none."""
    return (table.schema.field(name).metadata or {}).get(b"type", b"").decode()


def _sampled(table: pa.Table, sample: int) -> pa.Table:
    import numpy as np

    if table.num_rows <= sample:
        return table
    return table.take(np.linspace(0, table.num_rows - 1, sample).astype(np.int64))


def _checked(report: ColumnReport, array: pa.Array, told: str) -> ColumnReport:
    """What a sample suggests, if it holds for all rows; else what all rows suggest."""
    if report.role == "drop" or report.type in ("category", "text"):
        return look(report.name, array, told)  # what matters here is which values there are
    plain = plain_numbers(array, report.format) if report.type == "number" else array
    made = v.convert(plain, report.type, (), report.format)
    if made.bad.any():
        return look(report.name, array, told)
    distinct = arrow_compute().count_distinct(array.filter(~made.missing)).as_py()
    if report.classes and distinct != report.distinct:
        return look(report.name, array, told)
    return replace(report, missing=float(made.missing.mean()), distinct=distinct)


def _reading_notes(table: pa.Table) -> list[str]:
    found = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    notes = [found["note"]] if "note" in found else []
    if found.get("encoding") in ("cp1252", "latin-1"):
        notes.append(f"The file is not UTF-8; it was read as {found['encoding']}.")
    if all(re.fullmatch(r"[+-]?\d+(\.\d+)?", name) for name in table.column_names):
        notes.append(
            "The first row holds only numbers; it was read as column names. Is the header missing?"
        )
    return notes
