"""Ingest: read an uploaded file and propose columns; apply a declaration; feed and refine what was
declared.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from easeml.contract.tasks import DeclareSpec, FeedSpec, RefineSpec, TaskResult, UploadSpec

if TYPE_CHECKING:
    from easeml.data import Declared


def read_upload(spec: UploadSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write output ``table`` (the rows and the proposed columns); return ``{columns, rows, target,
    notes}``.

    ``target`` is empty where no column suggests itself surely enough to be taken without asking.
    Raises ``DatasetError`` for a file that is no table.
    """
    from easeml import data

    table = data.read_table(inputs / "source", spec.filename)
    seen = data.infer_table(table)
    data.write_upload(outputs / "table", table, seen.columns)
    value = {
        "columns": [report.to_json() for report in seen.columns],
        "rows": seen.rows,
        "target": seen.target if seen.sure else "",
        "notes": seen.notes,
    }
    return TaskResult(ok=True, value=value, outputs=["table"])


def declare_version(spec: DeclareSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write output ``version``, one Arrow file a role; return ``{columns, schema_in, schema_out,
    summary}``.

    ``summary``: rows in all and by role, target, seed, notes. Raises ``DatasetError`` for what
    cannot be declared.
    """
    from easeml import data

    table, reports = data.read_upload(inputs / "table")
    declared = data.declare(
        table, reports, spec.target, spec.set, spec.drop, spec.keep, spec.seed, spec.split
    )
    return _made(declared, outputs)


def feed_version(spec: FeedSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write output ``version`` with the rows of a file; return what ``declare_version`` does.

    Raises ``DatasetError``, naming every difference, for rows that do not fit.
    """
    from easeml import data

    table = data.read_table(inputs / "source", spec.filename)
    return _made(
        data.feed(data.read_declared(inputs / "version"), table, spec.filename, spec.role), outputs
    )


def refine_version(spec: RefineSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write output ``version`` with train rows switched off or on; return what ``declare_version``
    does.
    """
    from easeml import data

    return _made(data.refine(data.read_declared(inputs / "version"), spec.off, spec.on), outputs)


def _made(declared: "Declared", outputs: Path) -> TaskResult:
    from easeml import data

    data.write_version(outputs / "version", declared)
    value = {
        "columns": [report.to_json() for report in declared.columns],
        "schema_in": declared.schema_in.to_json(),
        "schema_out": declared.schema_out.to_json(),
        "summary": {**declared.summary, "notes": declared.notes},
    }
    return TaskResult(ok=True, value=value, outputs=["version"], notes=declared.notes)
