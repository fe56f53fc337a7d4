"""What becomes of bytes that were fetched, for a version that waits for them or a retrieval."""

from easeml.contract.states import RetrievalState, SourceAction, VersionState
from easeml.service.sources import predicting, refreshing, retrievals
from easeml.service.tasks import requests
from easeml.store import Transaction
from easeml.store.records import Json, Task
from easeml.store.shapes import Operation


def arrived(tx: Transaction, task: Task, told: Json, artefact: str) -> None:
    """Have the bytes read into the version that waits for them, or go on with the retrieval.

    ``told``: what the fetch says of them, which is kept with the version.
    """
    tables = tx.scoped(task.tenant_id)
    version = tables.versions.find(id=task.subject)
    if version is None:
        return _go_on(tx, task, told, artefact)
    kept = {name: told[name] for name in ("digest", "size", "etag", "fetched")}
    origin = {**version.operation.origin, **kept}
    known = {**version.operation.told, "filename": told["filename"], "origin": origin}
    reading = {name: known.pop(name, None) for name in refreshing.HOW_READ}
    origin |= {name: value for name, value in reading.items() if value is not None}
    operation = Operation(version.operation.name, known)
    tables.versions.update(version.id, source_artefact=artefact, operation=operation)
    requests.request(
        tx,
        task.tenant_id,
        "ingest-upload",
        version.id,
        filename=told["filename"],
        **reading,
    )
    return None


def failed(tx: Transaction, task: Task) -> None:
    """Say that the version, or the retrieval, has no data, and why."""
    versions = tx.scoped(task.tenant_id).versions
    if versions.find(id=task.subject) is None:
        retrievals.task_failed(tx, task)
        return
    data = {"error": task.error}
    versions.update(task.subject, state=VersionState.FAILED, error=task.error)
    tx.events.append("dataset.failed", task.subject, data, task.tenant_id)


def _go_on(tx: Transaction, task: Task, told: Json, artefact: str) -> None:
    """Go on with the retrieval that bytes came for, unless it has ended or is forgotten."""
    retrieval = tx.scoped(task.tenant_id).retrievals.find(id=task.subject)
    if retrieval is None or retrieval.state != RetrievalState.RUNNING:
        return
    if retrieval.action == SourceAction.REFRESH:
        refreshing.arrived(tx, retrieval, told, artefact)
    else:
        predicting.arrived(tx, retrieval, told, artefact)
