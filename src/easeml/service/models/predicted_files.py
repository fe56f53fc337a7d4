"""Long files that a task predicts, while nobody waits for the answer."""

from dataclasses import dataclass
from pathlib import Path, PurePath

from easeml.contract.states import TaskState
from easeml.contract.task_views import Task as TaskAnswer
from easeml.contract.tasks import TaskResult
from easeml.errors import Conflict, InvalidInput, NotReady
from easeml.service.access.caller import Caller
from easeml.service.access.idempotency import Once
from easeml.service.advice import reports
from easeml.service.limits import quotas
from easeml.service.storage import uploads
from easeml.service.tasks import requests, task_views
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Report, Task
from easeml.store.shapes import Shape

KIND = "predict-file"


@dataclass(frozen=True, slots=True)
class Predicted(Shape):
    """What a report says: which task predicted how many rows, and where they are: a Parquet file."""

    task_id: str
    artefact: str
    rows: int


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked for: predictions of an application's model for a file with that name.

    ``fill_absent``: columns that may be empty may be absent as well. ``fill_empty``: cells may be
    empty in columns that had no empty one in training.
    """

    application_id: str
    filename: str
    fill_absent: bool = False
    fill_empty: bool = False


def request(
    store: Store,
    caller: Caller,
    wish: Wish,
    source: uploads.Source,
    idempotency_key: str | None,
    limit: int,
) -> TaskAnswer:
    """Keep the bytes of ``source``, and ask for the predictions of their rows by what is live now.

    At most ``limit`` bytes are taken. Raises ``NotFound``, ``NotReady`` while there is no model,
    ``InvalidInput`` for an empty file, and what ``uploads.keep`` and ``quotas.check_computing``
    raise.
    """
    application_id = wish.application_id
    filename = PurePath(wish.filename.replace("\\", "/")).name.strip() or "table.csv"
    with store.read() as tx:  # before a large file is taken
        application = tx.scoped(caller.tenant_id).applications.get(application_id)
    if not application.live_model_id:
        raise NotReady("There is no model yet.", remedy="Wait for the first one: easeml app wait.")
    digest, size = uploads.keep(store, caller, source, limit)
    if size == 0:
        raise InvalidInput(
            "The file is empty.", where=filename, remedy="Send a table with a header and rows."
        )
    asked = {"application": application_id, "filename": filename, "file": digest}
    allowed = {"fill_absent": wish.fill_absent, "fill_empty": wish.fill_empty}
    spec = {"filename": filename, "source": digest, **allowed}
    once = Once(caller, KIND, idempotency_key, {**asked, **allowed})
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        if earlier := once.earlier(tx):
            return task_views.show_all(tables, [tables.tasks.get(earlier["id"])])[0]
        quotas.check_computing(tx, caller.tenant_id)
        model = tables.models.get(tables.applications.get(application_id).live_model_id)
        uploads.refer(tx, caller.tenant_id, digest, size)
        task = requests.request(tx, caller.tenant_id, KIND, model.id, **spec)
        once.remember(tx, {"id": task.id})
        return task_views.show_all(tables, [task])[0]


def record(tx: Transaction, task: Task, result: TaskResult, artefact: str) -> Report:
    """Keep where the predictions are that ``task`` brought, and say so."""
    tables = tx.scoped(task.tenant_id)
    model = tables.models.get(task.subject)
    version_id = tables.jobs.get(model.job_id).version_id
    found = Predicted(task.id, artefact, int(result.value["rows"]))
    return reports.keep(tx, task, model.application_id, version_id, found.to_json())


def fetch(store: Store, caller: Caller, task_id: str, folder: Path) -> Path:
    """Write the predictions of a task below ``folder``; return the path, a Parquet file.

    Raises ``NotFound``, and ``Conflict`` where the task brought none, or not yet.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        task = tables.tasks.get(task_id)
        if task.spec_kind != KIND:
            raise Conflict("The task predicts no file.", where=task_id)
        model = tables.models.get(task.subject)
        found = _reports_of(tables, model.application_id, task_id)
    if found:
        predicted = Predicted.from_json(found[0].value)
        return store.artefacts.fetch(caller.tenant_id, predicted.artefact, folder / "rows")
    if task.state == TaskState.DONE:
        raise Conflict(
            "The predictions of this task are not kept any more.",
            where=task_id,
            remedy="Predict the file again.",
        )
    raise Conflict(
        task.error or f"The task is {task.state}.", where=task_id, remedy="Wait until it is done."
    )


def forget(tx: Transaction, tables: Tables, application_id: str, task_id: str) -> None:
    """Forget what a task predicted of an application's file, and the file."""
    task = tables.tasks.find(id=task_id)
    if task is None or task.spec_kind != KIND:
        return
    tables.tasks.update(task_id, payload={**task.payload, "source": ""})
    for report in _reports_of(tables, application_id, task_id):
        tables.reports.forget(tx.now() + 1.0, id=report.id)


def _reports_of(tables: Tables, application_id: str, task_id: str) -> list[Report]:
    """Return what a task predicted of an application's file; nothing where it is forgotten."""
    found = tables.reports.list(kind=KIND, subject=application_id, limit=None)
    return [report for report in found if Predicted.from_json(report.value).task_id == task_id]
