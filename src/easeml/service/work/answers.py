"""Answers of people: appended, never changed; a batch of them makes a version."""

import math
from typing import Annotated, Literal

from pydantic import Field

from easeml.contract.datasets import Version
from easeml.contract.states import WorkKind, WorkState, WorkWay
from easeml.contract.work import WorkDone
from easeml.errors import Conflict, InvalidInput
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.datasets import datasets
from easeml.service.versions import changes
from easeml.service.work import queue, standing
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Application, DatasetVersion, Json, WorkAnswer, WorkItem

BATCH = 20  # answers that make a version by themselves
Value = Annotated[str, Field(max_length=10_000, description="the answer; empty for other ways")]
Way = Annotated[
    Literal["answer", "skip", "unknown", "undo"],
    Field(description="unknown: I do not know; undo: take back what you did with it"),
]
Seconds = Annotated[
    float | None,
    Field(ge=0, description="how long it took; by default since the item was handed out"),
]


def give(
    store: Store,
    caller: Caller,
    item_id: str,
    *,
    value: Value = "",
    way: Way = "answer",
    seconds: Seconds = None,
) -> WorkDone:
    """Answer an item, skip it, say that you do not know, or undo what you did with it.

    Twenty answers make a version, with which the search goes on. Raises ``NotFound``,
    ``InvalidInput`` for a value that the column cannot have, and ``Conflict`` where somebody else
    has the item, it is answered, or a version has the answer that is to be undone.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        item = tables.work_items.get(item_id)
        application = tables.applications.get(item.application_id)
        now = tx.now()
        if way == WorkWay.UNDO:
            _check_undo(tables, item, caller)
        else:
            _check_turn(tables, item, caller, now)
        if way == WorkWay.ANSWER:
            _check_value(tables, application, item, value)
        if seconds is None:
            seconds = now - item.held_since if item.holder == caller.user_id else 0.0
        given = tables.work_answers.add(
            WorkAnswer(
                id=new_id("ans"),
                tenant_id=item.tenant_id,
                application_id=item.application_id,
                item_id=item.id,
                kind=item.kind,
                user_id=caller.user_id,
                way=WorkWay(way),
                value=value if way == WorkWay.ANSWER else "",
                seconds=seconds,
            )
        )
        stands = item.id in standing.of_items(tables, [item.id])
        state = WorkState.ANSWERED if stands else WorkState.OPEN
        tables.work_items.update(item.id, state=state, holder="", held_since=0.0, held_until=0.0)
        version = _batch(tx, tables, application)
        return WorkDone(
            item_id=item.id,
            application_id=application.id,
            way=given.way,
            value=given.value,
            seconds=given.seconds,
            answers=len(_waiting(tables, application)),
            version_id=version.id if version else "",
        )


def use(store: Store, caller: Caller, application_id: str) -> Version:
    """Make a version of all answers that no version has yet; the search goes on with it.

    Where they change nothing, the version stays. Raises ``NotFound``, ``Conflict`` where there are
    no answers, ``NotReady`` while the data is changed.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        if not _waiting(tables, application):
            raise Conflict("No answers wait to be used.", where=application.id)
        version = _use(tx, tables, application)
        if version is None:
            version = tables.versions.get(application.version_id)
        return datasets.show_version(version)


def _batch(tx: Transaction, tables: Tables, application: Application) -> DatasetVersion | None:
    """Make a version where enough answers wait and nobody changes the data."""
    if len(_waiting(tables, application)) < BATCH or not changes.can_change(tables, application):
        return None
    return _use(tx, tables, application)


def _use(tx: Transaction, tables: Tables, application: Application) -> DatasetVersion | None:
    """Make a version of the answers that wait; None where they only confirm what is there."""
    labels: dict[str, str] = {}
    cells: list[Json] = []
    waiting = _waiting(tables, application)
    values = standing.settled(tables, waiting)
    for item in waiting:
        value = values[item.id]
        if value == item.question.given:
            continue
        if item.kind == WorkKind.REPAIR_CELL:
            cells.append({"row": item.row, "column": item.column, "value": value})
        else:
            labels[str(item.row)] = value
    version = None
    if labels or cells:
        version = changes.answer(tx, application, labels, cells)
    for item in waiting:
        tables.work_items.update(item.id, state=WorkState.USED)
    return version


def _waiting(tables: Tables, application: Application) -> list[WorkItem]:
    return tables.work_items.list(
        application_id=application.id, state=WorkState.ANSWERED, limit=None
    )


def _check_turn(tables: Tables, item: WorkItem, caller: Caller, now: float) -> None:
    if item.state == WorkState.ANSWERED and _may_second(tables, item, caller):
        return
    if item.state != WorkState.OPEN:
        remedy = "Undo the answer first." if item.state == WorkState.ANSWERED else "Take the next."
        raise Conflict(f"This item is {item.state}.", where=item.id, remedy=remedy)
    if item.holder not in ("", caller.user_id) and item.held_until > now:
        raise Conflict("Somebody else has this item.", where=item.id, remedy="Take the next.")


def _may_second(tables: Tables, item: WorkItem, caller: Caller) -> bool:
    """May somebody say what they think of an item that another person answered?"""
    return caller.user_id not in standing.of_items(tables, [item.id]).get(item.id, {})


def _check_undo(tables: Tables, item: WorkItem, caller: Caller) -> None:
    if item.state in (WorkState.USED, WorkState.CLOSED):
        remedy = "Correct the row on the page Data."
        raise Conflict("A version has this answer already.", where=item.id, remedy=remedy)
    found = tables.work_answers.list(item_id=item.id, newest_first=True, limit=None)
    if not found:
        raise Conflict("There is nothing to undo.", where=item.id)
    own = [one for one in found if one.user_id == caller.user_id]
    if not own:
        raise Conflict("Somebody else answered this.", where=item.id)
    if own[0].way == WorkWay.UNDO:
        raise Conflict("There is nothing to undo.", where=item.id)


def _check_value(tables: Tables, application: Application, item: WorkItem, value: str) -> None:
    version = tables.versions.get(application.version_id)
    column = next(one for one in version.columns if one["name"] == item.column)
    if not value:
        raise InvalidInput("An answer has a value.", where="value", remedy="Or skip the item.")
    classes = queue.classes_of(column)
    if classes and value not in classes:
        remedy = f"It has: {', '.join(classes[:20])}."
        message = f"{value!r} is no class of '{item.column}'."
        raise InvalidInput(message, where="value", remedy=remedy)
    if column["type"] == "number" and not _is_number(value):
        raise InvalidInput(f"{value!r} is no number.", where="value")


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
