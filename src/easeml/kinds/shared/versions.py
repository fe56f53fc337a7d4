"""What the kinds that make versions share: the version they write, and what becomes of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from easeml.contract.states import ApplicationState, JobState, VersionState
from easeml.contract.tasks import Spec, TaskResult
from easeml.service.tasks.kinds import INGEST_SECONDS, Body, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from easeml.data import Declared
    from easeml.service.tasks.kinds import Inputs, Record
    from easeml.store import Tables, Transaction
    from easeml.store.records import DatasetVersion, Task

VERSION_OUTPUTS = ("version",)
VERSION_VALUES = ("columns", "schema_in", "schema_out", "summary")


def version_made(declared: Declared, outputs: Path) -> TaskResult:
    """Write output ``version``; return what a version shows of itself."""
    from easeml import data

    data.write_version(outputs / "version", declared)
    value = {
        "columns": [report.to_json() for report in declared.columns],
        "schema_in": declared.schema_in.to_json(),
        "schema_out": declared.schema_out.to_json(),
        "summary": {**declared.summary, "notes": declared.notes},
    }
    return TaskResult(ok=True, value=value, outputs=["version"], notes=declared.notes)


def parent_of(tables: Tables, task: Task) -> DatasetVersion:
    """Return the version that the subject of ``task`` is made from."""
    return tables.versions.get(tables.versions.get(task.subject).parents[0])


def version_ready(
    tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]
) -> None:
    """Keep what was made as a version that is ready."""
    from easeml.service.journey import goals
    from easeml.service.sources import following
    from easeml.store.shapes import VersionSummary

    changes = {name: result.value[name] for name in VERSION_VALUES}
    changes["summary"] = VersionSummary(changes["summary"])
    versions = tx.scoped(task.tenant_id).versions
    ready = {"state": VersionState.READY, "artefact": digests["version"]}
    version = versions.update(task.subject, **ready, **changes)
    goals.data_is_ready(tx, version)
    tx.events.append("dataset.ready", task.subject, {}, task.tenant_id)
    if not version.operation.application_id:
        following.go_on(tx, version)


def version_taken_over(
    tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]
) -> None:
    """Keep the version, and let its application go on with it."""
    from easeml.service.journey import goals
    from easeml.service.sources import following
    from easeml.service.versions import changes

    version_ready(tx, task, result, digests)
    version = tx.scoped(task.tenant_id).versions.get(task.subject)
    changes.take_over(tx, version)
    goals.data_is_ready(tx, version)
    following.go_on(tx, version)


def version_failed(tx: Transaction, task: Task) -> None:
    """The version failed, and with it the applications and jobs that wait for it."""
    from easeml.service.search import jobs
    from easeml.service.sources import following

    tables = tx.scoped(task.tenant_id)
    version = tables.versions.update(task.subject, state=VersionState.FAILED, error=task.error)
    data = {"error": task.error}
    if not following.is_told(tables, version):
        tx.events.append("dataset.failed", task.subject, data, task.tenant_id)
    for application in tables.applications.list(version_id=task.subject, limit=None):
        tables.applications.update(application.id, state=ApplicationState.FAILED)
        tx.events.append("application.failed", application.id, data, task.tenant_id)
    for job in tables.jobs.list(version_id=task.subject, state=JobState.PREPARING, limit=None):
        jobs.set_state(tx, job, JobState.FAILED, "job.failed", error=task.error)
    following.go_on(tx, version)


def kind_of_change(
    *,
    name: str,
    title: str,
    about: str,
    spec: type[Spec],
    body: Body,
    inputs: Inputs,
    record: Record = version_taken_over,
) -> Kind:
    """Return a kind that makes an application's next version from the one before.

    The application goes on with the version, unless ``record`` does more.
    """
    return Kind(
        name=name,
        title=title,
        about=about,
        spec=spec,
        body=body,
        inputs=inputs,
        record=record,
        failed=version_failed,
        group="ingest",
        outputs=VERSION_OUTPUTS,
        values=VERSION_VALUES,
        seconds=INGEST_SECONDS,
    )
