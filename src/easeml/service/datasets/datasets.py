"""Datasets: uploads become immutable versions, read by an ingest task."""

from pathlib import PurePath
from typing import Annotated

from pydantic import Field

from easeml.contract.datasets import Column, UnusedDatasets, Version
from easeml.contract.datasets import Dataset as DatasetAnswer
from easeml.contract.parameters import After, Limit
from easeml.contract.resources import Page
from easeml.errors import Conflict, InvalidInput, NotFound
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.access.idempotency import Once
from easeml.service.access.paging import page_records
from easeml.service.datasets import deleting
from easeml.service.storage import uploads
from easeml.service.tasks import requests
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Dataset, DatasetVersion
from easeml.store.shapes import Json, Operation, OperationName

_LONGEST_NAME = 200
WhichTable = Annotated[
    int, Field(ge=0, description="which of several in the file; 0: the text of a document")
]


def upload(
    store: Store,
    caller: Caller,
    name: str | None,
    filename: str,
    source: uploads.Source,
    idempotency_key: str | None,
    limit: int,
    header: bool | None = None,
    table: int | None = None,
) -> DatasetAnswer:
    """Keep the bytes of ``source`` and make a dataset whose first version reads them.

    At most ``limit`` bytes are taken.

    ``name`` None: the file's name without its ending. ``header``: whether the first row of a text
    table holds the names; ``table``: which one of several in the file, from 1, 0 for the text of a
    document; None: that is found out. Raises what ``uploads.keep`` raises, or
    ``InvalidInput`` for an empty file.
    """
    filename = PurePath(filename.replace("\\", "/")).name.strip() or "table.csv"
    name = (name or PurePath(filename).stem).strip()
    _check_name("name", name)
    _check_name("filename", filename)
    digest, size = uploads.keep(store, caller, source, limit)
    if size == 0:
        raise InvalidInput(
            "The file is empty.", where=filename, remedy="Send a table with a header and rows."
        )
    reading = {"header": header, "table": table}
    request = {"name": name, "filename": filename, "file": digest, **reading}
    once = Once(caller, "datasets", idempotency_key, request)
    with store.write() as tx:
        if earlier := once.earlier(tx):
            return DatasetAnswer(**earlier)
        uploads.refer(tx, caller.tenant_id, digest, size)
        answer = _add_dataset(tx, caller.tenant_id, name, {"filename": filename}, digest)
        requests.request(
            tx,
            caller.tenant_id,
            "ingest-upload",
            answer.version.id,
            filename=filename,
            **reading,
        )
        once.remember(tx, answer.model_dump())
    return answer


def add_fetched(
    tx: Transaction, tenant_id: str, name: str | None, filename: str, told: Json
) -> DatasetAnswer:
    """Make a dataset whose first version waits for the bytes of a file; nothing reads it yet.

    ``told``: what its operation keeps beside the name of the file. Raises ``InvalidInput``.
    """
    name = (name or PurePath(filename).stem).strip()
    _check_name("name", name)
    return _add_dataset(tx, tenant_id, name, {"filename": filename, **told}, "")


def read_table(
    store: Store, caller: Caller, dataset_id: str, *, table: WhichTable
) -> DatasetAnswer:
    """Read another table of a data set's file; its newest version is ``ingesting`` then.

    Raises ``NotFound``, and ``Conflict`` where an application was made of the data set, or its
    file was not kept as it was.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        dataset = deleting.there(tables, dataset_id)
        before = newest_upload(tables, dataset.id)
        remedy = "Upload the file as another data set."
        if tables.applications.count(dataset_id=dataset.id):
            raise Conflict("An application uses this data.", where=dataset.id, remedy=remedy)
        if not before.source_artefact:
            raise Conflict("The file of this data is not kept.", where=dataset.id, remedy=remedy)
        told = {**before.operation.told, "table": table}
        version = tables.versions.add(
            DatasetVersion(
                id=new_id("ver"),
                tenant_id=caller.tenant_id,
                dataset_id=dataset.id,
                number=before.number + 1,
                operation=Operation(OperationName.UPLOAD, told),
                source_artefact=before.source_artefact,
            )
        )
        requests.request(
            tx,
            caller.tenant_id,
            "ingest-upload",
            version.id,
            filename=told["filename"],
            table=table,
        )
        return _show(dataset, version)


def get(store: Store, caller: Caller, dataset_id: str) -> DatasetAnswer:
    """Return a dataset with its newest upload; raises ``NotFound``."""
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        return _show_all(tables, [deleting.there(tables, dataset_id)])[0]


def list_page(
    store: Store, caller: Caller, *, after: After = None, limit: Limit = 50
) -> Page[DatasetAnswer]:
    """Return a page of the tenant's datasets, oldest first."""
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        found, following = page_records(tables.datasets, after, limit, deleted=None)
        return Page(items=_show_all(tables, found), next=following)


def unused(store: Store, caller: Caller, *, limit: Limit = 5) -> UnusedDatasets:
    """Return the newest datasets that no application was made of, the newest first."""
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        used = set(tables.applications.column("dataset_id"))
        ids = [id for id in tables.datasets.column("id", deleted=None) if id not in used]
        newest = tables.datasets.list(id=ids[-limit:], newest_first=True, limit=None)
        return UnusedDatasets(items=_show_all(tables, newest))


def get_version(store: Store, caller: Caller, version_id: str) -> Version:
    """Return a version of a dataset; raises ``NotFound``."""
    with store.read() as tx:
        return show_version(tx.scoped(caller.tenant_id).versions.get(version_id))


def newest_upload(tables: Tables, dataset_id: str) -> DatasetVersion:
    """Return the newest version of a dataset that was read from a file; raises ``NotFound``."""
    return _newest_uploads(tables, [dataset_id])[dataset_id]


def show_version(version: DatasetVersion) -> Version:
    """Return the resource of a version."""
    return Version(
        id=version.id,
        dataset_id=version.dataset_id,
        number=version.number,
        state=version.state,
        operation=version.operation.to_json(),
        parents=version.parents,
        columns=[Column(**column) for column in version.columns],
        schema_in=version.schema_in,
        schema_out=version.schema_out,
        summary=version.summary.to_json(),
        error=version.error,
        created=version.created,
    )


def _add_dataset(
    tx: Transaction, tenant_id: str, name: str, told: Json, digest: str
) -> DatasetAnswer:
    tables = tx.scoped(tenant_id)
    dataset = tables.datasets.add(Dataset(new_id("data"), tenant_id, name))
    version = tables.versions.add(
        DatasetVersion(
            id=new_id("ver"),
            tenant_id=tenant_id,
            dataset_id=dataset.id,
            number=1,
            operation=Operation(OperationName.UPLOAD, told),
            source_artefact=digest,
        )
    )
    return _show(dataset, version)


def _newest_uploads(tables: Tables, dataset_ids: list[str]) -> dict[str, DatasetVersion]:
    """Return by dataset what was newest read from a file; raises ``NotFound`` where nothing was."""
    made = tables.versions.pick("dataset_id", "id", "operation", dataset_id=dataset_ids)
    # In order of id: the newest comes last.
    newest = {of: id for of, id, operation in made if operation.name == OperationName.UPLOAD}
    without = set(dataset_ids) - newest.keys()
    if without:
        raise NotFound("This dataset has no upload.", where=min(without))
    versions = tables.versions.list(id=list(newest.values()), limit=None)
    return {version.dataset_id: version for version in versions}


def _show_all(tables: Tables, found: list[Dataset]) -> list[DatasetAnswer]:
    uploads_of = _newest_uploads(tables, [dataset.id for dataset in found])
    return [_show(dataset, uploads_of[dataset.id]) for dataset in found]


def _show(dataset: Dataset, version: DatasetVersion) -> DatasetAnswer:
    return DatasetAnswer(
        id=dataset.id,
        name=dataset.name,
        created=dataset.created,
        version=show_version(version),
    )


def _check_name(what: str, text: str) -> None:
    if not text or len(text) > _LONGEST_NAME or not text.isprintable():
        raise InvalidInput(
            f"The {what} must have 1 to {_LONGEST_NAME} printable characters.", where=what
        )
