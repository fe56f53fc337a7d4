"""Look at a table and propose what each column is, which one is the target, and the schemas."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from easeml.data._columns import declare_columns, schema_of
from easeml.data._errors import DatasetError, did_you_mean
from easeml.data._read import column_text
from easeml.data._report import ColumnReport, look
from easeml.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa

_TELLING = ("target", "label", "class", "y", "outcome", "response")  # the first that occurs is the target
_SUGGESTIVE = ("survived", "churn", "churned", "diagnosis", "species", "saleprice", "sale_price", "price")
_TAIL = re.compile(r"[ _.-](target|label|class|outcome)$")


@dataclass(frozen=True)
class Inference:
    """What a table looks like. ``target`` is empty, and ``output`` None, where no column suggests itself."""

    columns: list[ColumnReport]
    rows: int
    target: str
    input: Schema
    output: Schema | None
    notes: list[str]


def infer_table(table: pa.Table, target: str | None = None) -> Inference:
    """Infer the columns of a table that ``read_table`` gave; ``target`` None: propose one.

    Raises:
        DatasetError: if the target is not one of its columns or not possible.
    """
    names = table.column_names
    if target is not None and target not in names:
        raise DatasetError(f"there is no column '{target}'.", remedy=did_you_mean(target, names))
    reports = [look(name, column_text(table, name)) for name in names]
    notes = _reading_notes(table)
    chosen = target if target is not None else propose_target(reports)
    if chosen is None or all(r.role == "drop" for r in reports if r.name != chosen):
        if target is not None:
            declare_columns(reports, target)  # raises what is wrong
        usable = [report for report in reports if report.distinct] or reports
        source = schema_of(usable, {}, ())
        return Inference(reports, table.num_rows, "", source, None, [*notes, "No column suggests itself as target."])
    decided = declare_columns(reports, chosen)
    return Inference(
        decided.columns, table.num_rows, chosen, decided.schema_in, decided.schema_out, [*notes, *decided.notes]
    )


def propose_target(reports: list[ColumnReport]) -> str | None:
    """A suitable column whose name tells, else the last suitable one, else None."""
    suitable = [r for r in reports if r.role == "input" and r.type in ("number", "category") and r.distinct > 1]
    lower = {report.name.lower(): report.name for report in reversed(suitable)}
    for word in (*_TELLING, *_SUGGESTIVE):
        if word in lower:
            return lower[word]
    tailed = [report.name for report in suitable if _TAIL.search(report.name.lower())]
    return tailed[-1] if tailed else (suitable[-1].name if suitable else None)


def _reading_notes(table: pa.Table) -> list[str]:
    found = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    notes = []
    if found.get("encoding") in ("cp1252", "latin-1"):
        notes.append(f"The file is not UTF-8; it was read as {found['encoding']}.")
    if all(re.fullmatch(r"[+-]?\d+(\.\d+)?", name) for name in table.column_names):
        notes.append("The first row holds only numbers; it was read as column names. Is the header missing?")
    return notes
