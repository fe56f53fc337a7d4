"""Data sets of a person who was removed are deleted, and a day later their rows are erased."""

from contextlib import suppress

from easeml.contract.states import VersionState
from easeml.errors import Conflict, NotFound
from easeml.service.tasks import requests
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Dataset
from easeml.store.shapes import Operation, OperationName, VersionSummary

UNDO_SECONDS = 24 * 3600.0
_ERASED = "Its rows are erased."


def delete_all(tx: Transaction, tenant_id: str) -> list[str]:
    """Delete the data sets of a tenant; return their names.

    Nothing lists them any more. A day later ``erase_old`` removes their rows.
    """
    tables = tx.scoped(tenant_id)
    found = tables.datasets.list(deleted=None, limit=None)
    for dataset in found:
        tables.datasets.update(dataset.id, deleted=tx.now())
    tables.schedules.forget(tx.now() + 1.0)
    return [dataset.name for dataset in found]


def restore(tables: Tables, dataset_id: str) -> None:
    """Take back that a data set was deleted: an application that is restored needs it."""
    tables.datasets.update(dataset_id, deleted=None)


def there(tables: Tables, dataset_id: str) -> Dataset:
    """Return a data set that is there; raises ``NotFound``, also for one that is deleted."""
    dataset = tables.datasets.get(dataset_id)
    if dataset.deleted is not None:
        raise NotFound("This data set is deleted.", where=dataset_id)
    return dataset


def erase_old(store: Store) -> int:
    """Erase the data sets that were deleted more than a day ago; return how many.

    Their names, columns and errors go, and their files with the next look of ``retention.looks``;
    numbers of rows stay. One that an application uses which is not erased waits for that.
    """
    with store.read() as tx:
        limit = tx.now() - UNDO_SECONDS
        tables = tx.unscoped()
        used = set(tables.applications.column("dataset_id", erased=False))
        left = [one for one in tables.datasets.list(limit=None) if one.deleted is not None]
    due = [one for one in left if one.name and (one.deleted or limit) <= limit]
    free = [one for one in due if one.id not in used]
    erased = 0
    for dataset in free:
        with suppress(Conflict), store.write() as tx:  # it may be restored at this moment
            _erase(tx, tx.scoped(dataset.tenant_id), dataset)
            erased += 1
    return erased


def _erase(tx: Transaction, tables: Tables, dataset: Dataset) -> None:
    tables.datasets.update(dataset.id, where={"deleted": dataset.deleted}, name="")
    later = tx.now() + 1.0  # all that there is
    versions = tables.versions.column("id", dataset_id=dataset.id)
    subjects = [dataset.id, *versions]
    requests.cancel(tx, tables, subject=subjects)
    tasks = tables.tasks.column("id", subject=subjects)
    attempts = tables.attempts.column("id", task_id=tasks)
    tables.attempts.set_each("log", dict.fromkeys(attempts, ""))
    tables.attempts.set_each("trace", dict.fromkeys(attempts, ""))
    tables.tasks.set_each("result", {id: {} for id in tasks})
    tables.reports.forget(later, subject=subjects)
    tables.retrievals.forget(later, dataset_id=dataset.id)
    for id in versions:
        tables.versions.update(id, **_NOTHING)


_NOTHING = {
    "state": VersionState.FAILED,
    "error": _ERASED,
    "operation": Operation(OperationName.UPLOAD, {"filename": ""}),
    "source_artefact": "",
    "artefact": "",
    "doubts": "",
    "columns": [],
    "schema_in": {},
    "schema_out": {},
    "summary": VersionSummary(),
}
