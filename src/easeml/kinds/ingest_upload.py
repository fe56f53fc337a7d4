"""Ingest: read an uploaded file and propose columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from easeml.contract.states import VersionState
from easeml.contract.tasks import Spec, TaskResult
from easeml.kinds.shared.versions import version_failed
from easeml.service.tasks.kinds import INGEST_SECONDS, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from easeml.store import Tables, Transaction
    from easeml.store.records import Task


class UploadSpec(Spec):
    """Ingest: read an uploaded file and propose columns.

    Input ``source``: the file. Output ``table``. ``header``: whether the first row of a text table
    holds the names; ``table``: which one of several in the file (``data.read_table``); None: that is
    found out.
    """

    kind: Literal["ingest-upload"] = "ingest-upload"
    filename: str
    header: bool | None = None
    table: int | None = None


def read_upload(spec: UploadSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write output ``table`` (the rows and the proposed columns); return ``{columns, rows, target,
    notes, several}``.

    ``target`` is empty where no column suggests itself surely enough to be taken without asking.
    Raises ``DatasetError`` for a file that is no table.
    """
    from easeml import data

    table = data.read_table(inputs / "source", spec.filename, header=spec.header, table=spec.table)
    seen = data.infer_table(table)
    data.write_upload(outputs / "table", table, seen.columns)
    value = {
        "columns": [report.to_json() for report in seen.columns],
        "rows": seen.rows,
        "target": seen.target if seen.sure else "",
        "notes": seen.notes,
        "several": data.is_one_of_several(table),
    }
    return TaskResult(ok=True, value=value, outputs=["table"])


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The file."""
    return {"source": tables.versions.get(task.subject).source_artefact}


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Keep the table and its columns as a version that is ready."""
    from easeml.store.shapes import VersionSummary

    told = dict(result.value)
    columns = told.pop("columns")
    tx.scoped(task.tenant_id).versions.update(
        task.subject,
        state=VersionState.READY,
        columns=columns,
        summary=VersionSummary(told),
        artefact=digests["table"],
    )
    tx.events.append("dataset.ready", task.subject, {}, task.tenant_id)


KIND = Kind(
    name="ingest-upload",
    title="Read an upload",
    about="Reads a file and proposes a type for every column.",
    group="ingest",
    spec=UploadSpec,
    body=read_upload,
    inputs=inputs,
    record=record,
    failed=version_failed,
    outputs=("table",),
    values=("columns",),
    seconds=INGEST_SECONDS,
)
