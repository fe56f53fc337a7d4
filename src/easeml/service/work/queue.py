"""The queue: what is asked next, of whom, and how long it takes people."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import filterfalse
from operator import attrgetter
from typing import Any, NamedTuple

from easeml.contract.states import TAUGHT, WorkKind, WorkState, WorkWay
from easeml.contract.work import WorkItem as WorkItemAnswer
from easeml.contract.work import WorkOption, WorkQueue, WorkTurn
from easeml.lifecycle.journey import in_order, learned_seconds, phrases
from easeml.service.access.caller import Caller
from easeml.service.advice import asked_models
from easeml.service.answers import standing
from easeml.service.work import brought, finding, kept_order
from easeml.store import Store, Tables, grouped, id_of
from easeml.store.records import Application, WorkAnswer, WorkItem
from easeml.store.shapes import ColumnSeen

HELD_SECONDS = 600.0  # for which an item is kept for the person who was asked
HELD_BY_NOBODY: dict[str, Any] = {"holder": "", "held_since": 0.0, "held_until": 0.0}
_LISTED = 50
_NEVER = (
    "People are asked about one answer a row, and these rows may have several. Correct them in the "
    "file, and let it take the place of the data: easeml data replace ID FILE"
)


def show_queue(store: Store, caller: Caller, application_id: str) -> WorkQueue:
    """Return the open items of an application, what tells most for a person's second first.

    Raises ``NotFound``.
    """
    now = kept_order.now(store, caller, application_id)
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        found = now.of(open_items(tables, application))
        times = seconds_of_kinds(tables, application)
        found = ordered(tables, application, found)
        choices = choices_of(tables, application)
        items = [show(item, times, choices) for item in found[:_LISTED]]
        return WorkQueue(
            application_id=application.id,
            items=items,
            open=counts(found),
            answers=len(answered_items(tables, application)),
            looking=finding.under_way(tables, application) is not None,
            promise=_promise(found),
            says=_promised(tables, application, found),
            agreement=standing.agreement(tables, application),
        )


def take_next(store: Store, caller: Caller, application_id: str) -> WorkTurn:
    """Give the caller the item that tells most for their time, and keep it for them for ten minutes.

    A person who has one already gets it again. Where nothing is open, a task is asked to look for
    items. Raises ``NotFound``.
    """
    now = kept_order.now(store, caller, application_id)
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        found = now.of(open_items(tables, application))
        times = seconds_of_kinds(tables, application)
        turn = WorkTurn(
            application_id=application.id,
            item=None,
            open=len(found),
            answers=len(answered_items(tables, application)),
            promise=_promise(found),
            says=_promised(tables, application, found),
            seconds_left=sum(times[one.kind] for one in found),
            seconds_given=_seconds_given(tables, application),
            agreement=standing.agreement(tables, application),
            brought=brought.newest(tables, application),
            making=brought.making(tables, application),
        )
        seconds = _to_second(tables, application, caller)
        if asked_models.has_several(tables, application):
            turn.never = _NEVER
        differing = disputes(tables, application)
        turn.disputed = len(differing)
        asked = ordered(tables, application, [*found, *seconds])
        passed = _passed_over(tables, application, caller)
        item = _chosen(asked, passed, caller, tx.now())
        if caller.user_id in standing.experts_of(tables, application):
            to_decide = [one for one, _ in differing.values()]
            item = _chosen(to_decide, passed, caller, tx.now()) or item
        if item is not None:
            held = _held(tables, item, caller, tx.now())
            turn.item = show(held, times, choices_of(tables, application))
            if item.id in differing:
                turn.item.disputed = differing[item.id][1]
        if item is None or (now.is_lost and turn.answers):
            task = finding.request(tx, application)
            turn.task_id = id_of(task)
        last = last_answered(tables, application, caller)
        if last is not None:
            turn.last_id = last.item_id
        return turn


def _held(tables: Tables, item: WorkItem, caller: Caller, now: float) -> WorkItem:
    """Keep an item for the caller, who may have it already."""
    if standing.holder_of(item, now) == caller.user_id:
        return item
    kept = tables.work_items.update(item.id, where={"state": item.state}, **held_by(caller, now))
    return replace(kept, information=item.information)


def held_by(caller: Caller, now: float) -> dict[str, Any]:
    """Return what an item says that the caller has from now on."""
    return {"holder": caller.user_id, "held_since": now, "held_until": now + HELD_SECONDS}


def open_items(tables: Tables, application: Application) -> list[WorkItem]:
    """Return the items that wait for an answer."""
    return tables.work_items.list(application_id=application.id, state=WorkState.OPEN, limit=None)


def answered_items(tables: Tables, application: Application) -> list[WorkItem]:
    """Return the items with an answer that no version has yet, and one will have."""
    return tables.work_items.list(
        application_id=application.id, kind=list(TAUGHT), state=WorkState.ANSWERED, limit=None
    )


def _to_second(tables: Tables, application: Application, caller: Caller) -> list[WorkItem]:
    """Return items that one other person answered, and that a second one is to be asked."""
    answered = tables.work_items.list(
        application_id=application.id, state=WorkState.ANSWERED, limit=None
    )
    asked = list(filter(standing.is_asked_twice, answered))
    said = standing.of_items(tables, [item.id for item in asked])
    by_one = [item for item in asked if len(said[item.id]) == 1]
    return [item for item in by_one if caller.user_id not in said[item.id]]


def disputes(tables: Tables, application: Application) -> dict[str, tuple[WorkItem, list[str]]]:
    """Return the items on which people differ and no owner has decided, with what was said."""
    answered = tables.work_items.list(
        application_id=application.id, state=WorkState.ANSWERED, limit=None
    )
    said = standing.disputed(tables, application, answered)
    return {item.id: (item, said[item.id]) for item in answered if item.id in said}


def _promise(items: list[WorkItem]) -> float:
    """Return the squared error that items should take off together.

    What a remedy asks is left out: it promised mistakes, and its items are in order of suspicion.
    """
    reckoned = (item for item in items if item.question.told)
    return sum(map(attrgetter("information"), reckoned))


def _promised(tables: Tables, application: Application, items: list[WorkItem]) -> str:
    """Return in words what items should bring together; empty where nothing is known of it."""
    promise = _promise(items)
    if not promise:
        return ""
    version = tables.versions.get(application.version_id)
    is_number = version.columns_by_name[application.target]["type"] == "number"
    return phrases.better_by(promise, application.target, is_number=is_number)


def _seconds_given(tables: Tables, application: Application) -> float:
    given = tables.work_answers.column("seconds", application_id=application.id, way=WorkWay.ANSWER)
    return sum(given)


def counts(items: list[WorkItem]) -> dict[str, int]:
    """Return how many items there are of each kind."""
    return dict(Counter(item.kind for item in items))


def seconds_of_kinds(tables: Tables, application: Application) -> dict[str, float]:
    """Return what an answer takes a person, by kind: the mean of those given, and a first guess."""
    return learned_seconds(_timed(tables, application))


def ordered(tables: Tables, application: Application, items: list[WorkItem]) -> list[WorkItem]:
    """Return items in the order in which they are to be asked: first those for which a model waits."""
    waited_for = [item for item in items if item.kind not in TAUGHT]
    items = [item for item in items if item.kind in TAUGHT]
    timed = _timed(tables, application)
    kinds = list(map(attrgetter("kind"), items))
    gains = list(map(attrgetter("information"), items))
    answers = Counter(kind for kind, _ in timed)
    places = in_order(kinds, gains, learned_seconds(timed), answers)
    return [*waited_for, *(items[place] for place in places)]


def _timed(tables: Tables, application: Application) -> list[tuple[str, float]]:
    """Return kind and seconds of the answers that were timed, which those of files are not."""
    given = tables.work_answers.pick(
        "kind", "seconds", application_id=application.id, way=WorkWay.ANSWER
    )
    return [(kind, seconds) for kind, seconds in given if seconds > 0]


def choices_of(tables: Tables, application: Application) -> dict[str, list[str]]:
    """Return the classes of the columns that have some."""
    version = tables.versions.get(application.version_id)
    return {column["name"]: classes_of(column) for column in version.columns}


def classes_of(column: ColumnSeen) -> list[str]:
    """Return the classes of a column; none where it is no category."""
    return column.get("classes", []) if column["type"] == "category" else []


def last_answered(tables: Tables, application: Application, caller: Caller) -> WorkAnswer | None:
    """Return the caller's newest answer, if nothing was made of it and it was not undone."""
    last = tables.work_answers.newest(application_id=application.id, user_id=caller.user_id)
    if last is None or last.way == WorkWay.UNDO:
        return None
    item = tables.work_items.get(last.item_id)
    return None if item.state in (WorkState.USED, WorkState.CLOSED) else last


def show(
    item: WorkItem, times: Mapping[str, float], choices: Mapping[str, list[str]]
) -> WorkItemAnswer:
    """Return the resource of an item."""
    asked = item.question
    options = [WorkOption(value=one.value, weight=one.weight) for one in asked.options]
    return WorkItemAnswer(
        id=item.id,
        application_id=item.application_id,
        kind=item.kind,
        row=item.row,
        column=item.column,
        question=question_of(item),
        given=asked.given,
        options=options,
        choices=choices.get(item.column, []),
        values=asked.values,
        matters=asked.matters,
        source=asked.source,
        information=item.information,
        seconds=times[item.kind],
        state=item.state,
        held_until=item.held_until if item.holder else None,
    )


def question_of(item: WorkItem) -> str:
    """Return what people are asked, in words."""
    if item.kind not in (WorkKind.CHECK_LABEL, WorkKind.REPAIR_CELL):
        return f"What is '{item.column}' of this row?"
    if item.kind == WorkKind.CHECK_LABEL:
        return f"Is '{item.column}' of this row really {item.question.given}?"
    if item.question.given:
        return f"Is {item.question.given} right for '{item.column}' of this row?"
    return f"What should stand in '{item.column}' of this row?"


class _Passed(NamedTuple):
    """What somebody is not asked.

    ``items``: by id; ``cells``: kind of question, row and column of each.
    """

    items: set[str]
    cells: set[tuple[WorkKind, int, str]]

    def has(self, item: WorkItem) -> bool:
        cell = (item.kind, item.row, item.column)
        return item.id in self.items or cell in self.cells


def _passed_over(tables: Tables, application: Application, caller: Caller) -> _Passed:
    """Return what the caller skipped or could not answer, since they last undid that.

    Items are made anew after each version of the data; what somebody does not know they know no
    better then.
    """
    given = tables.work_answers.pick(
        "item_id",
        "way",
        application_id=application.id,
        user_id=caller.user_id,
        way=[WorkWay.SKIP, WorkWay.UNKNOWN, WorkWay.UNDO],
    )
    last = dict(given)  # in order of id: the newest word on an item counts
    items = {item_id for item_id, way in last.items() if way != WorkWay.UNDO}
    unknown = [item_id for item_id, way in last.items() if way == WorkWay.UNKNOWN]
    cells = tables.work_items.pick("kind", "row", "column", id=unknown, kind=list(TAUGHT))
    return _Passed(items, set(cells))


def _chosen(items: list[WorkItem], passed: _Passed, caller: Caller, now: float) -> WorkItem | None:
    """Return the item that the caller has, or else the first that nobody else has.

    Of several the one that came last: what was undone is asked again before what was asked then.
    """
    asked = list(filterfalse(passed.has, items))
    by_holder = grouped(asked, lambda item: standing.holder_of(item, now))
    own = by_holder[caller.user_id]
    if own:
        return max(own, key=attrgetter("held_since"))
    return next(iter(by_holder[""]), None)
