"""Fetching a data set again: what is new becomes a version, what cannot be read changes nothing."""

from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from easeml.contract.sources import Retrieval as RetrievalAnswer
from easeml.contract.states import RetrievalState, SourceAction, VersionState
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.datasets import datasets
from easeml.service.sources import following, retrievals
from easeml.service.tasks import requests
from easeml.settings import Settings
from easeml.store import Store, Transaction
from easeml.store.records import DatasetVersion, Json, Retrieval, Task
from easeml.store.shapes import Operation, OperationName, Shape, VersionSummary

READ_AGAIN = "ingest-again"
HOW_READ = ("header", "table")
"""What somebody says of how the file is to be read, which holds when it is fetched again."""
_KEPT = ("digest", "size", "etag", "fetched")

Fewer = Annotated[bool, Field(description="take a table also where it seems cut off")]


@dataclass(frozen=True, slots=True)
class _Asked(Shape):
    """What a task that reads again is told; ``easeml.kinds.ingest_again`` says what each means."""

    filename: str
    source: str
    before_id: str
    origin: Json


def refresh(
    store: Store, settings: Settings, caller: Caller, dataset_id: str, *, fewer: Fewer = False
) -> RetrievalAnswer:
    """Fetch a data set again from where it came.

    Where that has other rows, they are a new version, which the applications follow that do so.
    While one refresh is running, asking again gives that one. Raises ``NotFound``, ``Conflict`` for
    a data set that came as a file, and as ``add_origin`` does.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        tables.datasets.hold(dataset_id)
        here = {"dataset_id": dataset_id, "action": SourceAction.REFRESH}
        running = retrievals.under_way(tx, caller.tenant_id, **here)
        if running is not None:
            return retrievals.show(running)
        retrieval = retrievals.new_retrieval(caller.tenant_id, SourceAction.REFRESH, dataset_id)
        return retrievals.show(retrievals.start(tx, settings, replace(retrieval, fewer=fewer)))


def arrived(tx: Transaction, retrieval: Retrieval, told: Json, artefact: str) -> None:
    """Have the bytes read that came for a retrieval, unless the data set has the very same."""
    tables = tx.scoped(retrieval.tenant_id)
    before = datasets.newest_upload(tables, retrieval.dataset_id)
    origin = before.operation.origin
    if told["digest"] == origin.get("digest"):
        return _unchanged(tx, retrieval, before)
    kept = {name: told[name] for name in _KEPT}
    task = requests.request(
        tx,
        retrieval.tenant_id,
        READ_AGAIN,
        retrieval.id,
        filename=told["filename"],
        source=artefact,
        before_id=before.id,
        header=origin.get("header"),
        table=origin.get("table"),
        origin={**origin, **kept},
        fewer=retrieval.fewer,
    )
    tables.retrievals.update(retrieval.id, task_id=task.id)
    return None


def read(tx: Transaction, task: Task, value: Json, artefact: str) -> None:
    """Make a version of a table that was read, unless it has the rows that were there."""
    tables = tx.scoped(task.tenant_id)
    retrieval = tables.retrievals.find(id=task.subject)
    if retrieval is None or retrieval.state != RetrievalState.RUNNING:
        return
    if value["new"] == 0 and value["rows"] == value["before"]:
        before = tables.versions.get(_Asked.from_json(task.payload).before_id)
        _unchanged(tx, retrieval, before, "The same rows came in another form or order.")
        return
    version = _add_version(tx, retrieval, task, value, artefact)
    tx.events.append("dataset.ready", version.id, {}, task.tenant_id)
    retrievals.end(tx, retrieval, RetrievalState.DONE, version_id=version.id)
    following.go_on(tx, version)


def _unchanged(
    tx: Transaction, retrieval: Retrieval, before: DatasetVersion, note: str = ""
) -> None:
    retrievals.end(tx, retrieval, RetrievalState.UNCHANGED, note=note)
    following.go_on(tx, before)  # an application that could not follow then may now


def _add_version(
    tx: Transaction, retrieval: Retrieval, task: Task, value: Json, artefact: str
) -> DatasetVersion:
    tables = tx.scoped(retrieval.tenant_id)
    asked = _Asked.from_json(task.payload)
    told = {"filename": asked.filename, "origin": asked.origin}
    summary = {name: value[name] for name in ("rows", "target", "notes")}
    summary["added"] = {"rows": value["new"]}
    return tables.versions.add(
        DatasetVersion(
            id=new_id("ver"),
            tenant_id=retrieval.tenant_id,
            dataset_id=retrieval.dataset_id,
            number=tables.versions.count(dataset_id=retrieval.dataset_id) + 1,
            operation=Operation(OperationName.UPLOAD, told),
            parents=[asked.before_id],
            source_artefact=asked.source,
            state=VersionState.READY,
            columns=value["columns"],
            summary=VersionSummary(summary),
            artefact=artefact,
        )
    )
