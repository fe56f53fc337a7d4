"""The one budget of bought labels of an application: its gate and its comparisons share it.

Whoever asks takes from what is left, first come first served. A question that is open is reserved
for whom it was asked, so that an answer never comes in vain.
"""

from operator import attrgetter
from typing import Any

from easeml.contract.states import WorkKind, WorkState, WorkWay
from easeml.store import Tables
from easeml.store.records import Application

DAYS = 30.0  # where nothing was said
BOUGHT = (WorkKind.TEST_LABEL, WorkKind.PICK_LABEL, WorkKind.WATCH_LABEL)
_ANSWERED = (WorkState.ANSWERED, WorkState.USED)
_DAY = 86_400.0


def bought(tables: Tables, application: Application, kind: WorkKind, now: float) -> int:
    """Return how many labels of a kind were bought in the days of the budget.

    Those that were asked for then and given, and those that were given then.
    """
    since = now - days_of(application) * _DAY
    these: dict[str, Any] = {"application_id": application.id, "kind": kind}
    items = tables.work_items.list(**these, state=list(_ANSWERED), since=since, limit=None)
    words = tables.work_answers.list(**these, way=WorkWay.ANSWER, since=since, limit=None)
    given = list(map(attrgetter("item_id"), words))
    answered = tables.work_items.column("id", **these, id=given, state=list(_ANSWERED))
    return len({*map(attrgetter("id"), items), *answered})


def asked(tables: Tables, application: Application, kinds: tuple[WorkKind, ...] = BOUGHT) -> int:
    """Return how many questions of these kinds are open."""
    return tables.work_items.count(
        application_id=application.id, kind=list(kinds), state=WorkState.OPEN
    )


def left(tables: Tables, application: Application, kind: WorkKind, now: float) -> int | None:
    """Return how many labels may be asked for, for what asks questions of ``kind``.

    Its own open questions count as not asked: it asks anew. None where there is no budget.
    """
    budget = application.label_budget
    if budget is None:
        return None
    spent = sum(bought(tables, application, one, now) for one in BOUGHT)
    others = tuple(one for one in BOUGHT if one != kind)
    return max(0, budget.labels - spent - asked(tables, application, others))


def within(tables: Tables, application: Application, kind: WorkKind, now: float, own: int) -> int:
    """Return how many labels may be asked for by who has ``own`` left of a limit of their own.

    Until the transaction ends nobody else asks within the same budget.
    """
    if application.label_budget is None:
        return own
    application = tables.applications.hold(application.id)
    shared = left(tables, application, kind, now)
    return own if shared is None else min(own, shared)


def days_of(application: Application) -> float:
    """Return the days that a budget is for."""
    if application.label_budget is None:
        return DAYS
    return application.label_budget.days
