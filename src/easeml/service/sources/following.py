"""Applications follow their data set: the rows that it has since it was fetched again join theirs."""

from easeml.contract.applications import Application as ApplicationAnswer
from easeml.contract.states import VersionState
from easeml.service.access.caller import Caller
from easeml.service.applications import application_views
from easeml.service.datasets import changing, datasets
from easeml.service.versions import changes
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Application, DatasetVersion


def set_follows(
    store: Store, caller: Caller, application_id: str, follows: bool
) -> ApplicationAnswer:
    """Say whether an application takes the new rows of its data set when that is fetched again.

    One that begins to, takes what came meanwhile. Raises ``NotFound``.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.update(application_id, follows=follows)
        _catch_up(tx, application)
        return application_views.show(tx, caller, application)


def go_on(tx: Transaction, version: DatasetVersion) -> None:
    """Let the applications of a data set follow what it has, now that ``version`` ended."""
    tables = tx.scoped(version.tenant_id)
    for application in tables.applications.list(dataset_id=version.dataset_id, limit=None):
        _catch_up(tx, application)


def is_told(tables: Tables, failed: DatasetVersion) -> bool:
    """Return whether people know already that new rows do not fit the data that ``failed`` is of.

    The rows that came before did not fit it either.
    """
    refused = _refused(tables, failed.dataset_id, failed.operation.application_id)
    alike = {one.id for one in refused if one.parents == failed.parents}
    return failed.id in alike and len(alike) > 1


def _catch_up(tx: Transaction, application: Application) -> None:
    """Have the new rows added that an application lacks, unless it cannot now, or they do not fit.

    It is asked again when the data that is being changed now is ready.
    """
    if not application.follows or application.deleted is not None:
        return
    tables = tx.scoped(application.tenant_id)
    upload = datasets.newest_upload(tables, application.dataset_id)
    was_fetched_again = bool(upload.parents)
    if not was_fetched_again or not changing.can_change(tables, application):
        return
    before = _upload_of(tables, tables.versions.get(application.version_id))
    is_new = before.number < upload.number
    if is_new and not _was_refused(tables, application, upload):
        changes.add_new_rows(tx, application, before, upload)


def _upload_of(tables: Tables, version: DatasetVersion) -> DatasetVersion:
    """Return the newest upload whose rows a version has."""
    while version.operation.application_id and not version.operation.upload_id:
        version = tables.versions.get(version.parents[0])
    return tables.versions.get(version.operation.upload_id or version.parents[0])


def _was_refused(tables: Tables, application: Application, upload: DatasetVersion) -> bool:
    refused = _refused(tables, application.dataset_id, application.id)
    return upload.id in [one.operation.upload_id for one in refused]


def _refused(tables: Tables, dataset_id: str, application_id: str) -> list[DatasetVersion]:
    """Return the versions of new rows that did not fit an application."""
    failed = tables.versions.list(dataset_id=dataset_id, state=VersionState.FAILED, limit=None)
    new_rows = [one for one in failed if one.operation.upload_id]
    return [one for one in new_rows if one.operation.application_id == application_id]
