"""Looking for work: a task proposes items from the pool, suspicious labels and doubtful cells."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter

from easeml.contract.states import VersionState, WorkKind, WorkState
from easeml.ids import new_id
from easeml.service.advice import suspicious_rows
from easeml.service.tasks import requests
from easeml.store import Tables, Transaction
from easeml.store.records import Application, Json, Task, WorkItem
from easeml.store.shapes import Shape, WorkQuestion

KIND = "find-work"


@dataclass(frozen=True, slots=True)
class Told(Shape):
    """What a task is told. ``model_id``: what serves; ``scores``: digest of suspicions; or empty."""

    application_id: str
    model_id: str = ""
    scores: str = ""


@dataclass(frozen=True, slots=True)
class Proposed(Shape):
    """An item as a task proposes it."""

    kind: WorkKind
    row: int
    column: str
    information: float
    question: Json = field(default_factory=dict)


_PROPOSED: TypeAdapter[list[Proposed]] = TypeAdapter(list[Proposed])


def request(tx: Transaction, application: Application) -> Task | None:
    """Write the task that looks for items, or return the one under way.

    None where the data is not ready, or was looked at just so already.
    """
    tables = tx.scoped(application.tenant_id)
    found = under_way(tables, application)
    if found is not None:
        return found
    version = tables.versions.get(application.version_id)
    told = _told(tables, application)
    if version.state != VersionState.READY or _was_asked(tables, version.id, told):
        return None
    return requests.request(tx, application.tenant_id, KIND, version.id, **told)


def under_way(tables: Tables, application: Application) -> Task | None:
    """Return the task that is looking; None where none is."""
    for task in requests.under_way(tables, KIND, application.version_id):
        if Told.from_json(task.payload).application_id == application.id:
            return task
    return None


def record(tx: Transaction, task: Task, proposed: Sequence[Any]) -> None:
    """Keep the items that a task proposes, in place of those that are open and nobody has.

    What somebody answered is not asked again.
    """
    tables = tx.scoped(task.tenant_id)
    application = tables.applications.get(Told.from_json(task.payload).application_id)
    now = tx.now()
    kept = set()
    for item in tables.work_items.list(application_id=application.id, limit=None):
        is_free = item.holder == "" or item.held_until <= now
        if item.state == WorkState.OPEN and is_free:
            tables.work_items.update(item.id, state=WorkState.CLOSED)
        elif item.state != WorkState.CLOSED:
            kept.add((item.kind, item.row, item.column))
    new = []
    for one in _PROPOSED.validate_python(list(proposed)):
        if (one.kind, one.row, one.column) not in kept:
            new.append(_item(application, task, one))
    tables.work_items.add_all(new)
    data = {"items": len(new)}
    tx.events.append("work.found", application.id, data, application.tenant_id)


def _item(application: Application, task: Task, proposed: Proposed) -> WorkItem:
    return WorkItem(
        id=new_id("item"),
        tenant_id=application.tenant_id,
        application_id=application.id,
        version_id=task.subject,
        kind=proposed.kind,
        row=proposed.row,
        column=proposed.column,
        information=proposed.information,
        question=WorkQuestion.from_json(proposed.question),
    )


def _told(tables: Tables, application: Application) -> Json:
    scores = suspicious_rows.newest(tables, application.id)
    return Told(
        application_id=application.id,
        model_id=application.live_model_id,
        scores=scores.artefact if scores else "",
    ).to_json()


def _was_asked(tables: Tables, version_id: str, told: Json) -> bool:
    for task in tables.tasks.list(subject=version_id, limit=None):
        if task.spec_kind == KIND and told.items() <= task.payload.items():
            return True
    return False
