"""Answers of people: appended, never changed; a batch of them makes a version."""

import math
from typing import Annotated, Literal

from pydantic import Field

from easeml.contract.datasets import Version
from easeml.contract.states import WorkKind, WorkState, WorkWay
from easeml.contract.work import WorkDone
from easeml.data import LARGEST_NUMBER
from easeml.decimals import with_point
from easeml.errors import Conflict, InvalidInput
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.answers import standing
from easeml.service.datasets import changing, datasets
from easeml.service.gates import bought_labels
from easeml.service.versions import changes
from easeml.service.work import queue
from easeml.store import Store, Tables, Transaction, id_of
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

    Twenty answers make a version, with which the search goes on. Labels that a model waits for make
    none: its test goes on with each. Raises ``NotFound``,
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
            value = _checked_value(tables, application, item, value)
        else:
            value = ""
        if seconds is None:
            seconds = _seconds_since(item, caller, now)
        given = tables.work_answers.add(
            WorkAnswer(
                id=new_id("ans"),
                tenant_id=item.tenant_id,
                application_id=item.application_id,
                item_id=item.id,
                kind=item.kind,
                user_id=caller.user_id,
                way=WorkWay(way),
                value=value,
                seconds=seconds,
            )
        )
        stands = item.id in standing.of_items(tables, [item.id])
        state = WorkState.ANSWERED if stands else WorkState.OPEN
        is_back = way == WorkWay.UNDO and not stands  # and is asked next
        held = queue.held_by(caller, now) if is_back else queue.HELD_BY_NOBODY
        tables.work_items.update(item.id, state=state, **held)
        version = _batch(tx, tables, application)
        if item.kind == WorkKind.TEST_LABEL:
            bought_labels.go_on(tx, application)
        return WorkDone(
            item_id=item.id,
            application_id=application.id,
            kind=item.kind,
            way=given.way,
            value=given.value,
            seconds=given.seconds,
            answers=len(queue.answered_items(tables, application)),
            version_id=id_of(version),
        )


def _seconds_since(item: WorkItem, caller: Caller, now: float) -> float:
    """Return for how long the caller has an item; 0 where that is not known.

    It was handed to nobody, or to another; or it was kept for the caller until they had left it
    alone for so long that nobody can tell how long they thought.
    """
    if standing.holder_of(item, now) != caller.user_id:
        return 0.0
    return now - item.held_since


def use(store: Store, caller: Caller, application_id: str) -> Version:
    """Make a version of all answers that no version has yet; the search goes on with it.

    Where they change nothing, the version stays. Raises ``NotFound``, ``Conflict`` where there are
    no answers, ``NotReady`` while the data is changed.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        if not queue.answered_items(tables, application):
            raise Conflict("No answers wait to be used.", where=application.id)
        version = _use(tx, tables, application, queue.answered_items(tables, application))
        if version is None:
            version = tables.versions.get(application.version_id)
        return datasets.show_version(version)


def _batch(tx: Transaction, tables: Tables, application: Application) -> DatasetVersion | None:
    """Make a version where enough undisputed answers wait, and nobody changes the data."""
    waiting = queue.answered_items(tables, application)
    differing = queue.disputes(tables, application)
    settled = [item for item in waiting if item.id not in differing]
    if len(settled) >= BATCH and changing.can_change(tables, application):
        return _use(tx, tables, application, settled)
    return None


def _use(
    tx: Transaction, tables: Tables, application: Application, waiting: list[WorkItem]
) -> DatasetVersion | None:
    """Make a version of answers that wait; None where they only confirm what is there."""
    labels: dict[str, str] = {}
    cells: list[Json] = []
    values = standing.settled(tables, waiting)
    changed = [item for item in waiting if values[item.id] != item.question.given]
    for item in changed:
        value = values[item.id]
        if item.kind == WorkKind.REPAIR_CELL:
            cells.append({"row": item.row, "column": item.column, "value": value})
        else:
            labels[str(item.row)] = value
    version = changes.answer(tx, application, labels, cells) if changed else None
    tables.work_items.set_each("state", dict.fromkeys(values, WorkState.USED))
    return version


def _check_turn(tables: Tables, item: WorkItem, caller: Caller, now: float) -> None:
    """Raise ``Conflict`` where the caller may not answer an item now."""
    if item.state == WorkState.ANSWERED:
        _check_may_second(tables, item, caller)
    elif item.state != WorkState.OPEN:
        raise Conflict(f"This item is {item.state}.", where=item.id, remedy="Take the next.")
    elif standing.holder_of(item, now) not in ("", caller.user_id):
        raise Conflict("Somebody else has this item.", where=item.id, remedy="Take the next.")


def _check_may_second(tables: Tables, item: WorkItem, caller: Caller) -> None:
    """Raise where what the caller thinks stands already; others may say what they think, too."""
    said = standing.of_items(tables, [item.id]).get(item.id, {})
    if caller.user_id in said:
        raise Conflict(
            f"This item is {item.state}.", where=item.id, remedy="Undo the answer first."
        )


def _check_undo(tables: Tables, item: WorkItem, caller: Caller) -> None:
    if item.state in (WorkState.USED, WorkState.CLOSED):
        if item.kind in (WorkKind.TEST_LABEL, WorkKind.PICK_LABEL):
            message, remedy = "A model was tested with this answer.", "Roll back, if it serves."
        elif item.kind == WorkKind.WATCH_LABEL:
            message, remedy = (
                "A look at production has this answer.",
                "Tell the right one as a truth.",
            )
        else:
            message, remedy = "A version has this answer already.", "Correct the row on page Data."
        raise Conflict(message, where=item.id, remedy=remedy)
    last = tables.work_answers.newest(item_id=item.id, user_id=caller.user_id)
    if last is None and tables.work_answers.count(item_id=item.id):
        raise Conflict("Somebody else answered this.", where=item.id)
    if last is None or last.way == WorkWay.UNDO:
        raise Conflict("There is nothing to undo.", where=item.id)


def _checked_value(tables: Tables, application: Application, item: WorkItem, value: str) -> str:
    """Return an answer as it is kept: a number with a point. Raises ``InvalidInput``."""
    version = tables.versions.get(application.version_id)
    column = version.columns_by_name[item.column]
    if not value:
        raise InvalidInput("An answer has a value.", where="value", remedy="Or skip the item.")
    classes = queue.classes_of(column)
    if classes and value not in classes:
        remedy = f"It has: {', '.join(classes[:20])}."
        message = f"{value!r} is not a class of '{item.column}'."
        raise InvalidInput(message, where="value", remedy=remedy)
    if column["type"] != "number":
        return value
    number = with_point(value.strip(), "value")
    if not _is_number(number):
        raise InvalidInput(
            f"{value!r} is not a number.", where="value", remedy="Write 23.5 or 23,5."
        )
    if abs(float(number)) > LARGEST_NUMBER:
        remedy = f"The largest is {LARGEST_NUMBER:.2g}. Is a key stuck, or an exponent wrong?"
        raise InvalidInput(f"{value!r} is too large to learn from.", where="value", remedy=remedy)
    return number


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
