"""Changing the data of an application: rows are fed or replaced, noisy train rows switched off.

Each change is a new version.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from easeml.contract.datasets import Version
from easeml.contract.parameters import OnceKey
from easeml.contract.states import VersionState, WorkState
from easeml.contract.versions import PushedFlow, Refinement
from easeml.data import ALL_ROLES, ROLES, row_ids, rows_off, switched
from easeml.errors import Conflict, InvalidInput, NotReady
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.access.idempotency import Once
from easeml.service.advice import rescoring
from easeml.service.datasets import changing, datasets
from easeml.service.datasets.lines import line_of, line_of_rows
from easeml.service.gates import kept as kept_gates
from easeml.service.search import jobs
from easeml.service.storage import uploads
from easeml.service.tasks import requests
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Application, DatasetVersion, Job, Json
from easeml.store.shapes import Operation, OperationName, given

_SAME_ROWS = (
    OperationName.REFINE,
    OperationName.ANSWER,
    OperationName.RETIRE,
)  # doubts of their cells still hold
_LEARNT_ANEW = (
    OperationName.RETIRE,
    OperationName.REFINE,
    OperationName.ANSWER,
    OperationName.FLOW,
    OperationName.REPLACE,
)


def feed(
    store: Store,
    caller: Caller,
    application_id: str,
    filename: str,
    source: uploads.Source,
    role: str | None,
    idempotency_key: str | None,
    limit: int,
    table: int | None = None,
    *,
    anyway: bool = False,
) -> Version:
    """Keep the bytes of ``source``, and make a version that has their rows as well.

    At most ``limit`` bytes are taken. ``anyway``: rows that look broken join, too.

    ``role`` of the new rows; None: as the rows before were divided. ``table``: which one of several
    in the file, as of an upload. Raises ``NotFound``,
    ``InvalidInput`` for an empty file or another role, ``NotReady`` while the data is changed by
    somebody else, and what ``uploads.keep`` raises.
    """
    if role is not None and role not in ALL_ROLES:
        raise InvalidInput(
            f"{role!r} is not a role of a row.",
            where="role",
            remedy=f"One of {', '.join(ALL_ROLES)}.",
        )
    wish = given(table=table, anyway=anyway or None)
    told = {"filename": _file_name(filename), "role": role, **wish}
    taken = _Taken(OperationName.FEED, "ingest-feed", told)
    return _take_file(store, caller, application_id, taken, source, idempotency_key, limit)


def replace_rows(
    store: Store,
    caller: Caller,
    application_id: str,
    filename: str,
    source: uploads.Source,
    idempotency_key: str | None,
    limit: int,
    table: int | None = None,
) -> Version:
    """Keep the bytes of ``source``, and make a version that has their rows and no others.

    What serves goes on, and is scored on the new validation rows before a model takes its place.
    The application follows the source of its data set no more. Its version before can be used
    again. At most ``limit`` bytes are taken. ``table``: as of ``feed``.

    Raises as ``feed``, and ``Conflict`` where a gate counts on test rows that would be gone.
    """
    told = {"filename": _file_name(filename), **given(table=table)}
    taken = _Taken(OperationName.REPLACE, "ingest-replace", told)
    return _take_file(store, caller, application_id, taken, source, idempotency_key, limit)


@dataclass(frozen=True, slots=True)
class _Taken:
    """A file that makes a version: by which operation, by which kind of task, told what."""

    operation: OperationName
    kind: str
    told: Json


def _file_name(filename: str) -> str:
    return PurePath(filename.replace("\\", "/")).name.strip() or "table.csv"


def _take_file(
    store: Store,
    caller: Caller,
    application_id: str,
    taken: _Taken,
    source: uploads.Source,
    idempotency_key: str | None,
    limit: int,
) -> Version:
    """Keep the bytes of a file, and write the version and the task that makes it."""
    with store.read() as tx:  # before a large file is taken
        _check_takes(tx.scoped(caller.tenant_id), application_id, taken)
    digest, size = uploads.keep(store, caller, source, limit)
    if size == 0:
        raise InvalidInput(
            "The file is empty.",
            where=taken.told["filename"],
            remedy="Send a table with a header and rows.",
        )
    request = {"application": application_id, "file": digest, **taken.told}
    once = Once(caller, str(taken.operation), idempotency_key, request)
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        if earlier := once.earlier(tx):
            return datasets.show_version(tables.versions.get(earlier["id"]))
        _check_takes(tables, application_id, taken)
        application = _changeable(tables, application_id, None)
        uploads.refer(tx, caller.tenant_id, digest, size)
        version = _add_version(tx, tables, application, taken.operation, taken.told, digest)
        requests.request(tx, version.tenant_id, taken.kind, version.id, **taken.told)
        once.remember(tx, {"id": version.id})
        return datasets.show_version(version)


def _check_takes(tables: Tables, application_id: str, taken: _Taken) -> None:
    """Raise ``NotFound``, and ``Conflict`` where a gate counts on rows that would be gone."""
    tables.applications.get(application_id)
    is_replaced = taken.operation == OperationName.REPLACE
    if is_replaced and kept_gates.active(tables, application_id) is not None:
        raise Conflict(
            "A gate of this application counts on test rows that would be gone.",
            where=application_id,
            remedy="Remove it, replace the data, then set it anew.",
        )


def learn_from(
    tx: Transaction,
    application_id: str,
    digest: str,
    where: list[Json],
    tenant_id: str,
    *,
    instead: bool = False,
    remedy: str = "",
    roles: Sequence[str] = ROLES,
) -> DatasetVersion:
    """Make a version that has the rows of a CSV file, those of a slice, to learn from and judge by.

    ``digest``: of the file; ``where``: the conditions of the slice; ``instead``: rows of before in
    the slice are set aside; ``remedy``: what was followed, for ``lines.made_by_remedy``. The rows
    are divided among ``roles``; where a gate counts on test rows, none becomes one. Raises
    ``NotReady`` while the data is changed by somebody else.
    """
    tables = tx.scoped(tenant_id)
    application = _changeable(tables, application_id, None)
    taken = list(roles)
    if kept_gates.active(tables, application.id) is not None:
        taken = [role for role in roles if role != "test"]
    rows: Json = {"filename": "production.csv", "role": None}
    told = {**rows, "remedy": remedy}
    version = _add_version(tx, tables, application, OperationName.FEED, told, digest)
    learned: Json = {"learned": taken, "where": where, "instead": instead}
    requests.request(tx, tenant_id, "ingest-feed", version.id, **rows, **learned)
    return version


def add_new_rows(
    tx: Transaction, application: Application, before: DatasetVersion, upload: DatasetVersion
) -> None:
    """Make a version that has the rows as well that ``upload`` has beyond ``before``.

    ``before``: the upload that the application's data has the rows of. Raises ``NotReady`` while
    the data is changed.
    """
    tables = tx.scoped(application.tenant_id)
    application = _changeable(tables, application.id, None)
    filename = upload.operation.told["filename"]
    told = {"filename": filename, "role": None, "upload_id": upload.id}
    version = _add_version(tx, tables, application, OperationName.FEED, told)
    requests.request(
        tx,
        version.tenant_id,
        "ingest-new-rows",
        version.id,
        filename=filename,
        before_id=before.id,
        upload_id=upload.id,
    )


def refine(
    store: Store,
    caller: Caller,
    application_id: str,
    wish: Refinement,
    idempotency_key: OnceKey = None,
) -> Version:
    """Make a version with train rows switched off or on.

    Where that changes nothing, the version stays.

    Raises ``NotFound``, ``InvalidInput`` for an id that is no train row's, ``Conflict`` if the data
    is no longer the version that the wish is about, ``NotReady`` while the data is changed by
    somebody else.
    """
    once = Once(
        caller, "refine", idempotency_key, {"application": application_id, **wish.model_dump()}
    )
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        if earlier := once.earlier(tx):
            return datasets.show_version(tables.versions.get(earlier["id"]))
        application = _changeable(tables, application_id, wish.version_id)
        version = tables.versions.get(application.version_id)
        files = store.artefacts.members(caller.tenant_id, version.artefact)
        now = rows_off(files)
        after = switched(row_ids(files), now, wish.off, wish.on)
        if list(after) != now:
            off = sorted(set(after) - set(now))
            on = sorted(set(now) - set(after))
            rows: Json = {"off": off, "on": on}
            version = _add_version(tx, tables, application, OperationName.REFINE, rows)
            requests.request(tx, version.tenant_id, "ingest-refine", version.id, **rows)
        once.remember(tx, {"id": version.id})
        return datasets.show_version(version)


def push_flow(
    store: Store,
    caller: Caller,
    application_id: str,
    wish: PushedFlow,
    idempotency_key: OnceKey = None,
) -> Version:
    """Make a version of the rows that a graph of steps gave; the search goes on with it.

    Raises ``NotFound``, ``Conflict`` if the steps began with another version, one whose rows are
    not kept any more, or the upload is not whole, ``NotReady`` while the data is changed by
    somebody else.
    """
    once = Once(
        caller, "flow", idempotency_key, {"application": application_id, **wish.model_dump()}
    )
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        if earlier := once.earlier(tx):
            return datasets.show_version(tables.versions.get(earlier["id"]))
        _check_since(tables, _changeable(tables, application_id, wish.version_id), wish.since)
    digest, size = store.uploads.take(caller.tenant_id, wish.upload_id, store.artefacts)
    told = wish.model_dump(exclude={"upload_id", "version_id", "since"})
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = _changeable(tables, application_id, wish.version_id)
        uploads.refer(tx, caller.tenant_id, digest, size)
        version = _add_version(tx, tables, application, OperationName.FLOW, told, digest)
        rows: Json = {"filename": f"{wish.title}.parquet", "since": wish.since}
        requests.request(tx, version.tenant_id, "ingest-flow", version.id, **rows)
        once.remember(tx, {"id": version.id})
        return datasets.show_version(version)


def _check_since(tables: Tables, application: Application, since: str) -> None:
    """Raise ``Conflict`` where rows cannot be told as what differs from those of a version."""
    if not since:
        return
    before = tables.versions.get(since)
    versions = tables.versions.by_id(dataset_id=before.dataset_id)
    if before.artefact and since in line_of_rows(application.version_id, versions):
        return
    raise Conflict(
        "The data did not come from this version, or its rows are not kept any more.",
        where="since",
        remedy="Pull again, or send all rows.",
    )


def answer(
    tx: Transaction, application: Application, labels: dict[str, str], cells: list[Json]
) -> DatasetVersion:
    """Make a version that has what people answered.

    ``labels``: of rows, by id. ``cells``: objects with row, column and value.

    Raises ``Conflict`` where the data could not be prepared, ``NotReady`` while it is changed.
    """
    tables = tx.scoped(application.tenant_id)
    application = _changeable(tables, application.id, None)
    spec = {"labels": labels, "cells": cells}
    version = _add_version(tx, tables, application, OperationName.ANSWER, spec)
    requests.request(tx, version.tenant_id, "ingest-answers", version.id, **spec)
    return version


def retire(
    tx: Transaction, application: Application, rows: int, labels: dict[str, str]
) -> DatasetVersion:
    """Make a version whose first ``rows`` test rows are train rows, and rows with ``labels``.

    Raises as ``answer``.
    """
    tables = tx.scoped(application.tenant_id)
    application = _changeable(tables, application.id, None)
    spec: Json = {"rows": rows, "labels": labels}
    version = _add_version(tx, tables, application, OperationName.RETIRE, spec)
    requests.request(tx, version.tenant_id, "ingest-retire", version.id, **spec)
    return version


def use_version(store: Store, caller: Caller, application_id: str, version_id: str) -> Version:
    """Let an application go on with another version of its data: an earlier one, or a later again.

    Its search starts anew there. What serves goes on, and is scored on the validation rows of that
    version first. Raises ``NotFound``, ``Conflict`` for a version that is none of the application's
    or has no prepared rows, ``NotReady`` while the data is changed by somebody else.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = _changeable(tables, application_id, None)
        version = tables.versions.get(version_id)
        versions = tables.versions.by_id(dataset_id=application.dataset_id)
        is_before = version.id in line_of(application.version_id, versions)
        is_own = is_before or version.operation.application_id == application.id
        has_roles = version.operation.name != OperationName.UPLOAD
        if not is_own or not has_roles or version.state != VersionState.READY:
            raise Conflict(
                "This is not a version with rows of this application.",
                where=version.id,
                remedy=f"Look what there is: easeml data versions {application.id}.",
            )
        if version.id != application.version_id:
            _go_on_with(tx, tables, application, version)
        return datasets.show_version(version)


def _go_on_with(
    tx: Transaction, tables: Tables, application: Application, version: DatasetVersion
) -> None:
    """Let an application use a version that is ready, with a new search."""
    before = tables.versions.get(application.version_id)
    application = tables.applications.update(application.id, version_id=version.id)
    _close_work(tables, application, before, version)
    job = jobs.current(tables, application.id)
    if job is not None:
        jobs.begin_again(tx, job, version.id)
    rescoring.request(tx, application)
    data = {"version_id": version.id, "number": version.number}
    tx.events.append("application.data", application.id, data, application.tenant_id)


def take_over(tx: Transaction, version: DatasetVersion) -> None:
    """Let the application go on with ``version``, which is ready.

    Its search starts anew where labelled rows changed.

    The search before ends, its models stay. What serves goes on, and is scored on the new
    validation rows first.
    """
    tables = tx.scoped(version.tenant_id)
    parent = tables.versions.get(version.parents[0])
    application = tables.applications.update(
        version.operation.application_id, where={"version_id": parent.id}, version_id=version.id
    )
    if version.operation.name == OperationName.REPLACE:
        application = tables.applications.update(application.id, follows=False)
    _close_work(tables, application, parent, version)
    job = jobs.current(tables, application.id)
    if job is not None:
        _search_on(tx, tables, job, parent, version)
    rescoring.request(tx, application)
    data = {"version_id": version.id, "number": version.number}
    tx.events.append("application.data", application.id, data, application.tenant_id)


def _search_on(
    tx: Transaction, tables: Tables, job: Job, parent: DatasetVersion, version: DatasetVersion
) -> None:
    """Go on with a search on other rows: with the same one, or anew where labelled rows changed."""
    if _is_learnt_anew(parent, version):
        jobs.begin_again(tx, job, version.id)
    else:
        tables.jobs.update(job.id, version_id=version.id)


def _close_work(
    tables: Tables, application: Application, before: DatasetVersion, version: DatasetVersion
) -> None:
    """Close what people are asked about rows that are not there any more."""
    versions = tables.versions.by_id(dataset_id=version.dataset_id)
    older, newer = sorted((before, version), key=lambda one: one.number)
    if older.id in line_of_rows(newer.id, versions):
        return
    waiting = [WorkState.OPEN, WorkState.ANSWERED]
    items = tables.work_items.column("id", application_id=application.id, state=waiting)
    tables.work_items.set_each("state", dict.fromkeys(items, WorkState.CLOSED))


def _changeable(tables: Tables, application_id: str, version_id: str | None) -> Application:
    application = tables.applications.get(application_id)
    version = tables.versions.get(application.version_id)
    if version.state == VersionState.FAILED:
        raise Conflict(
            "The data of this application could not be prepared.", remedy="Declare it again."
        )
    if version.state != VersionState.READY or changing.is_changing(tables, application):
        remedy = "Try again when it is ready."
        raise NotReady(
            "The data of this application is being changed.", where=application.id, remedy=remedy
        )
    if version_id not in (None, version.id):
        raise Conflict(
            "The data has another version by now.", where="version_id", remedy="Look at it again."
        )
    return application


def _add_version(
    tx: Transaction,
    tables: Tables,
    application: Application,
    name: OperationName,
    spec: Json,
    source: str = "",
) -> DatasetVersion:
    parent = tables.versions.get(application.version_id)
    told = {**spec, "application_id": application.id, **parent.operation.division}
    return tables.versions.add(
        DatasetVersion(
            id=new_id("ver"),
            tenant_id=parent.tenant_id,
            dataset_id=parent.dataset_id,
            number=tables.versions.count(dataset_id=parent.dataset_id) + 1,
            operation=Operation(name, told),
            parents=[parent.id],
            source_artefact=source,
            doubts=parent.doubts if name in _SAME_ROWS else "",
            columns=parent.columns,
            schema_in=parent.schema_in,
            schema_out=parent.schema_out,
        )
    )


def _is_learnt_anew(parent: DatasetVersion, version: DatasetVersion) -> bool:
    changed = any(version.summary.rows_of(role) != parent.summary.rows_of(role) for role in ROLES)
    return changed or version.operation.name in _LEARNT_ANEW
