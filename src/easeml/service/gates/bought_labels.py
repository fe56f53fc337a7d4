"""Labels that a gate buys: people are asked about rows on which two models differ, few at a time.

The test goes on with each answer. Which rows are asked about next is the ledger's choice, and all
that anybody can choose is what to answer.
"""

from dataclasses import replace

from easeml.contract.states import WorkKind, WorkState
from easeml.contract.tasks import TaskResult
from easeml.ids import new_id
from easeml.service.answers import label_budget, standing
from easeml.service.gates import kept
from easeml.service.tasks import requests
from easeml.store import Tables, Transaction
from easeml.store.records import Application, Gate, TrainedModel, WorkItem
from easeml.store.shapes import Json, Reserve, WaitingTest, WorkQuestion

UNKNOWN = "unknown"
"""What a test answers that cannot tell."""
_ANSWERED = (WorkState.ANSWERED, WorkState.USED)
_OPEN = (WorkState.OPEN,)
_NOT_ANSWERED = (WorkState.OPEN, WorkState.CLOSED)


def request_test(
    tx: Transaction, application: Application, gate: Gate, model: TrainedModel, version_id: str
) -> None:
    """Have a model tested on the reserve of a gate, with the labels that were bought so far."""
    reserve = kept.reserve_of(gate)
    tables = tx.scoped(application.tenant_id)
    known = labels(tables, application, reserve)
    own = max(0, reserve.labels - len(known))
    may_ask = label_budget.within(tables, application, WorkKind.TEST_LABEL, tx.now(), own)
    requests.request(
        tx,
        application.tenant_id,
        kept.KIND,
        application.id,
        job_id=model.job_id,
        gate_id=gate.id,
        version_id=version_id,
        ledger=reserve.ledger,
        budget=len(known) + may_ask,
        first=gate.first,
        new_id=model.id,
        old_id=application.live_model_id,
        reserve=reserve.rows,
        labels=known,
        unknown=unknown(tables, application, reserve),
    )


def go_on(tx: Transaction, application: Application) -> None:
    """Test again, if a model waits for labels and is not being tested."""
    tables = tx.scoped(application.tenant_id)
    gate = kept.active(tables, application.id)
    waiting = kept.waiting(gate, application)
    if gate is None or waiting is None:
        return
    if not requests.under_way(tables, kept.KIND, application.id):
        model = tables.models.get(waiting.new_id)
        request_test(tx, application, gate, model, waiting.version_id)


def may_buy(tx: Transaction, application: Application, reserve: Reserve) -> int:
    """Return how many labels a gate may still ask for."""
    tables = tx.scoped(application.tenant_id)
    own = max(0, reserve.labels - bought(tables, application, reserve))
    return label_budget.within(tables, application, WorkKind.TEST_LABEL, tx.now(), own)


def take(
    tx: Transaction,
    application: Application,
    gate: Gate,
    test: WaitingTest,
    result: TaskResult,
    could_buy: int,
) -> Gate:
    """Keep what a test on the reserve of a gate said; ask people for what it wants next.

    Where it wants labels that may not be bought any more, it waits no longer. ``could_buy``: labels
    that might be bought when it was asked for.
    """
    tables = tx.scoped(application.tenant_id)
    found = result.value
    reserve = replace(kept.reserve_of(gate), ledger=found["ledger"], waiting=None, short=None)
    left = may_buy(tx, application, reserve)
    if found["asked"] and left > 0:
        outlook = found["outlook"]
        test = replace(test, **{**outlook, "most": min(outlook["most"], left)})
        reserve = replace(reserve, waiting=test)
        _ask(tables, application, test, found["asked"][:left])
        data = {"items": len(found["asked"])}
        tx.events.append("work.found", application.id, data, application.tenant_id)
    else:
        close(tables, application)
        if found["answer"] == UNKNOWN:
            reserve = replace(reserve, short=min(left, could_buy))
    return tables.gates.update(gate.id, reserve=reserve)


def keep_ledger(tables: Tables, gate: Gate, result: TaskResult) -> Gate:
    """Keep the ledger after a test that goes on with answers that came while it ran."""
    reserve = replace(kept.reserve_of(gate), ledger=result.value["ledger"])
    return tables.gates.update(gate.id, reserve=reserve)


def labels(tables: Tables, application: Application, reserve: Reserve) -> dict[str, str]:
    """Return what people say of rows of a reserve, by row: answers that stand, an owner's first."""
    items = _items(tables, application, _ANSWERED)
    rows = set(reserve.rows)
    said = standing.settled(tables, items)
    return {str(one.row): said[one.id] for one in items if one.row in rows and one.id in said}


def unknown(tables: Tables, application: Application, reserve: Reserve) -> list[int]:
    """Return rows of a reserve that nobody answered, and somebody does not know."""
    items = _items(tables, application, _NOT_ANSWERED)
    lost = standing.not_known(tables, items)
    rows = {item.row for item in items if item.id in lost}
    return sorted(rows & set(reserve.rows))


def bought(tables: Tables, application: Application, reserve: Reserve) -> int:
    """Return how many labels were given since the reserve was opened."""
    items = _items(tables, application, _ANSWERED)
    return sum(item.created >= reserve.opened for item in items)


def stop(tx: Transaction, application: Application) -> None:
    """Let no model wait for labels any more: its test failed, or is not about what serves now."""
    tables = tx.scoped(application.tenant_id)
    gate = kept.active(tables, application.id)
    if gate is None or gate.reserve is None or gate.reserve.waiting is None:
        return
    tables.gates.update(gate.id, reserve=replace(gate.reserve, waiting=None))
    close(tables, application)


def close(tables: Tables, application: Application) -> None:
    """Ask nobody for labels of test rows any more; what was answered can be taken back no more."""
    for item in _items(tables, application, _OPEN):
        tables.work_items.update(item.id, state=WorkState.CLOSED)
    for item in _items(tables, application, (WorkState.ANSWERED,)):
        tables.work_items.update(item.id, state=WorkState.USED)


def _ask(tables: Tables, application: Application, waiting: WaitingTest, asked: list[Json]) -> None:
    """Put the rows that a test wants into the queue, in its order; no others of it stay there."""
    wanted = {int(one["row"]): one for one in asked}
    version = tables.versions.get(waiting.version_id)
    column = version.target["name"] if version.target else ""
    for item in _items(tables, application, _OPEN):
        if item.row in wanted:
            del wanted[item.row]
        else:
            tables.work_items.update(item.id, state=WorkState.CLOSED)
    ids = sorted(new_id("item") for _ in wanted)
    items = []
    for id, (row, one) in zip(ids, wanted.items(), strict=True):
        items.append(
            WorkItem(
                id=id,
                tenant_id=application.tenant_id,
                application_id=application.id,
                version_id=version.id,
                kind=WorkKind.TEST_LABEL,
                row=row,
                column=column,
                information=0.0,
                question=WorkQuestion(values=one["values"], source="gate"),
            )
        )
    tables.work_items.add_all(items)


def _items(
    tables: Tables, application: Application, states: tuple[WorkState, ...]
) -> list[WorkItem]:
    return tables.work_items.list(
        application_id=application.id, kind=WorkKind.TEST_LABEL, state=list(states), limit=None
    )
