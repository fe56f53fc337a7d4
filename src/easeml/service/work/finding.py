"""Looking for work: a task proposes items from the pool, suspicious labels and doubtful cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter

from easeml.contract.states import (
    TASKS_UNDER_WAY,
    TAUGHT,
    TaskGroup,
    VersionState,
    WorkKind,
    WorkState,
)
from easeml.ids import new_id
from easeml.lifecycle.questions import CODE
from easeml.service.advice import asked_models, suspicious_rows
from easeml.service.answers import doubted_tests, standing
from easeml.service.tasks import requests
from easeml.service.work import kept_order
from easeml.service.work.kept_order import KIND
from easeml.store import Tables, Transaction
from easeml.store.records import Application, Json, Task, WorkItem
from easeml.store.shapes import Shape, WorkQuestion

_ANSWERED = (WorkState.ANSWERED, WorkState.USED)
_LEARNED_FROM = 2_000  # newest answers that a task is told


@dataclass(frozen=True, slots=True)
class AnsweredItem(Shape):
    """An item that was answered.

    ``given``: the value before. ``told``: what it was to bring. ``waits``: no version has it yet.
    """

    kind: WorkKind
    row: int
    column: str
    given: str
    told: float
    waits: bool = False


@dataclass(frozen=True, slots=True)
class Told(Shape):
    """What a task is told. ``model_id``: what serves; ``scores``: digest of suspicions; ``doubts``:
    of candidates of cells; each empty for none. ``answered``: what people answered, newest last.
    ``code``: of the order that is kept.

    ``report``: the digest of an answer whose remedy number ``remedy`` says what is asked, instead.
    ``of_test``: may people be asked about test rows? Not where a gate was ever set: what it found
    holds for the answers that they had. ``forecasts``: does the target follow its own past?
    """

    application_id: str
    model_id: str = ""
    scores: str = ""
    doubts: str = ""
    answered: list[Json] = field(default_factory=list)
    code: int = 0
    report: str = ""
    remedy: int = 0
    of_test: bool = False
    forecasts: bool = False


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

    While the data is being prepared, that is the task that prepares it: ask again after it. None
    where the data could not be prepared, or was looked at just so already, and where rows may have
    several answers: people are asked about one.
    """
    tables = tx.scoped(application.tenant_id)
    found = under_way(tables, application)
    if found is not None:
        return found
    version = tables.versions.get(application.version_id)
    if version.state != VersionState.READY:
        return _preparing(tables, version.id)
    has_several_answers = version.target_type in asked_models.SEVERAL
    if has_several_answers:
        return None
    told = _told(tables, application)
    if _was_asked(tables, version.id, told):
        return None
    return requests.request(tx, application.tenant_id, KIND, version.id, **told)


def request_remedy(tx: Transaction, application: Application, report: str, remedy: int) -> Task:
    """Write the task that puts what a remedy asks into the queue, or return the one under way.

    ``report``: the digest of the answer that proposes it; ``remedy``: its number there, from 0.
    """
    told = Told(application.id, application.live_model_id, report=report, remedy=remedy).to_json()
    return requests.request_once(tx, application.tenant_id, KIND, application.version_id, told)


def under_way(tables: Tables, application: Application) -> Task | None:
    """Return the task that is looking; None where none is."""
    tasks = requests.under_way(tables, KIND, application.version_id)
    by_application = {Told.from_json(task.payload).application_id: task for task in tasks}
    return by_application.get(application.id)


def _preparing(tables: Tables, version_id: str) -> Task | None:
    """Return the task that prepares a version; None where none does."""
    ingesting = tables.tasks.list(
        kind=TaskGroup.INGEST, subject=version_id, state=TASKS_UNDER_WAY, limit=1
    )
    return ingesting[0] if ingesting else None


def go_on(tx: Transaction, application: Application) -> None:
    """Look again after answers changed the data, so that the order follows what was learned."""
    tables = tx.scoped(application.tenant_id)
    if tables.work_items.count(application_id=application.id):
        request(tx, application)


def known_cells(tables: Tables, application: Application) -> set[tuple[int, str]]:
    """Return row and column of each cell that people answered about, labels among them."""
    return set(
        tables.work_items.pick("row", "column", application_id=application.id, state=_ANSWERED)
    )


def _answered(tables: Tables, application: Application) -> list[Json]:
    """Return what people answered, with the value before and what each answer was to bring."""
    found = tables.work_items.list(
        application_id=application.id,
        kind=list(TAUGHT),
        state=_ANSWERED,
        newest_first=True,
        limit=_LEARNED_FROM,
    )
    made = []
    for item in reversed(found):
        answered = AnsweredItem(
            item.kind,
            item.row,
            item.column,
            item.question.given,
            item.question.told,
            item.state == WorkState.ANSWERED,
        )
        made.append(answered.to_json())
    return made


def record(
    tx: Transaction, task: Task, proposed: Sequence[Any], digests: Mapping[str, str]
) -> None:
    """Keep the items that a task proposes, in place of those that are open and nobody has.

    What somebody answered is not asked again. ``digests``: of ``doubts``, candidates of cells that
    the task found, which live with the version; and of the ``order`` of the items.
    """
    tables = tx.scoped(task.tenant_id)
    told = Told.from_json(task.payload)
    application = tables.applications.get(told.application_id)
    if "doubts" in digests:
        tables.versions.update(task.subject, doubts=digests["doubts"])
    kept_order.keep(tx, application, task, digests.get("order", ""), told.code)
    kept = _close_what_is_free(tables, application, tx.now())
    found = _PROPOSED.validate_python(list(proposed))
    new = [one for one in found if (one.kind, one.row, one.column) not in kept]
    tables.work_items.add_all([_item(application, task, one) for one in new])
    if not doubted_tests.may_be_asked(tables, application):  # a gate was set meanwhile
        doubted_tests.leave(tables, application)
    data = {"items": len(new)}
    tx.events.append("work.found", application.id, data, application.tenant_id)


def _close_what_is_free(
    tables: Tables, application: Application, now: float
) -> set[tuple[WorkKind, int, str]]:
    """Close the open items that nobody has; return kind, row and column of those that stay."""
    kept = set[tuple[WorkKind, int, str]]()
    items = tables.work_items.list(application_id=application.id, kind=list(TAUGHT), limit=None)
    for item in items:
        is_free = not standing.holder_of(item, now)
        if item.state == WorkState.OPEN and is_free:
            tables.work_items.update(item.id, state=WorkState.CLOSED)
        elif item.state != WorkState.CLOSED:
            kept.add((item.kind, item.row, item.column))
    return kept


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
        doubts=tables.versions.get(application.version_id).doubts,
        answered=_answered(tables, application),
        code=CODE,
        of_test=doubted_tests.may_be_asked(tables, application),
        forecasts=bool(application.rules.forecast),
    ).to_json()


def _was_asked(tables: Tables, version_id: str, told: Json) -> bool:
    """Was a task told just so? Doubts that it found itself are no news."""
    for task in requests.of_kind(tables, KIND, subject=version_id):
        before = Told.from_json(task.payload).to_json()
        if {**before, "doubts": told["doubts"]} == told:
            return True
    return False
