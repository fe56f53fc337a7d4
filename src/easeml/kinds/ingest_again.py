"""Ingest: read what a data set's source has by now."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from easeml.contract.tasks import Spec, TaskResult
from easeml.service.tasks.kinds import INGEST_SECONDS, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from easeml.store import Tables, Transaction
    from easeml.store.records import Task


class AgainSpec(Spec):
    """Ingest: read what a data set's source has by now; the subject is the retrieval.

    Inputs ``source``, the file (an artefact with the digest ``source``), and ``before``, the folder
    of the upload ``before_id``. Output ``table``. ``header``, ``table``: as of ``UploadSpec``. ``origin``:
    what the version keeps of where it came from. ``fewer``: a table that seems cut off is taken
    too.
    """

    kind: Literal["ingest-again"] = "ingest-again"
    filename: str
    source: str
    before_id: str
    header: bool | None = None
    table: int | None = None
    origin: dict[str, Any]
    fewer: bool = False


def read_again(spec: AgainSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write output ``table``; return what ``read_upload`` does, and how many rows are ``new``.

    Raises ``DatasetError`` for a file that is no table, or another one than before.
    """
    from easeml import data

    table = data.read_table(inputs / "source", spec.filename, header=spec.header, table=spec.table)
    before, reports = data.read_upload(inputs / "before")
    data.check_renewed(table, reports, spec.filename)
    new = data.number_of_new_rows(before, table)
    if not spec.fewer:
        data.check_whole(table.num_rows, before.num_rows, new, spec.filename)
    seen = data.infer_table(table)
    data.write_upload(outputs / "table", table, seen.columns)
    value = {
        "columns": [report.to_json() for report in seen.columns],
        "rows": seen.rows,
        "target": seen.target if seen.sure else "",
        "notes": seen.notes,
        "new": new,
        "before": before.num_rows,
    }
    return TaskResult(ok=True, value=value, outputs=["table"])


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The file, and the table before."""
    spec = AgainSpec.model_validate(task.payload)
    return {"source": spec.source, "before": tables.versions.get(spec.before_id).artefact}


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Make a version of the table, unless it has the rows that were there."""
    from easeml.service.sources import refreshing

    refreshing.read(tx, task, result.value, digests["table"])


def failed(tx: Transaction, task: Task) -> None:
    """Say why the data set stays as it is."""
    from easeml.service.sources import retrievals

    retrievals.task_failed(tx, task)


KIND = Kind(
    name="ingest-again",
    title="Read data that came again",
    about="Reads what a source has by now, and checks that it is the table that it was.",
    group="ingest",
    spec=AgainSpec,
    body=read_again,
    inputs=inputs,
    record=record,
    failed=failed,
    outputs=("table",),
    values=("columns", "rows", "new"),
    seconds=INGEST_SECONDS,
)
