"""Adapting what serves to the newest rows of production, which nobody has labelled.

Tasks make candidates of it, each in its own way, from a part of the rows. On the other rows one has
to be proven better by labels of people, or by truths that came, before it serves. That is a picking
(``pickings``) whose models are made first.
"""

from dataclasses import replace

from easeml.contract.adaptation import Adaptation, AdaptedWay, NewAdaptation
from easeml.contract.states import AdaptWay, WorkKind
from easeml.errors import Conflict
from easeml.service.access.caller import Caller
from easeml.service.advice import asked_models
from easeml.service.gates import kept
from easeml.service.knowledge import knowledge_base
from easeml.service.limits import quotas
from easeml.service.models import adapted, picked_rows, pickings, promotion
from easeml.service.production import labelled_rows
from easeml.service.storage import artefact_references
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Application, ProductionRow
from easeml.store.shapes import Picking

FEWEST = 100  # rows of production
_LARGEST = 2**28  # bytes of the rows


def adapt(store: Store, caller: Caller, application_id: str, wish: NewAdaptation) -> Adaptation:
    """Have what serves adapted to the newest rows of production, and tested on others of them.

    Raises ``NotFound``; ``Conflict`` where no requests, not all columns of them, or too few are
    kept, models are compared already, what serves is pinned or cannot be fitted again, or several
    ways are asked for and the application has a gate, which tests one model at a time; and what
    ``quotas.check_computing`` raises.
    """
    ways = list(dict.fromkeys(wish.ways)) or list(AdaptWay)
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        _check(tables, application, ways)
        rows = tables.production_rows.list(
            application_id=application.id, newest_first=True, limit=wish.rows
        )
        now = tx.now()
    learned, compared = _divided(rows, application)
    content = labelled_rows.as_csv(learned, {}, application.target)
    digest, size = store.artefacts.put_stream(caller.tenant_id, [content], _LARGEST)
    with store.write() as tx:
        quotas.check_computing(tx, caller.tenant_id)
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        picking = _check(tables, application, ways)
        artefact_references.keep(tx, caller.tenant_id, digest, size)
        begun = replace(
            picking,
            began=now,
            rows=[row.id for row in compared],
            models={},
            task_id="",
            says="",
            proving=wish.labels,
            adapted=_requested(tx, application, ways, digest),
        )
        tables.request_logs.update(application.id, picking=begun)
        tx.events.append(pickings.BEGUN, application.id, {}, application.tenant_id)
        return show(tables, application)


def has_rows(tables: Tables, application: Application) -> bool:
    """Tell whether so many rows of production are kept that a model can be adapted to them."""
    return tables.production_rows.count(application_id=application.id) >= FEWEST


def get_adaptation(store: Store, caller: Caller, application_id: str) -> Adaptation:
    """Return the newest adaptation of an application, and what came of it; raises ``NotFound``."""
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        return show(tables, tables.applications.get(application_id))


def show(tables: Tables, application: Application) -> Adaptation:
    """Return the newest adaptation of ``application``."""
    picking = pickings.picking_of(tables, application)
    if picking is None or not picking.proving:
        return Adaptation(application_id=application.id)
    items = tables.work_items.count(
        application_id=application.id, kind=WorkKind.PICK_LABEL, since=picking.began
    )
    return Adaptation(
        application_id=application.id,
        running=bool(picking.rows),
        ways=_ways(tables, picking),
        rows=len(picking.rows),
        labels=picking.proving,
        asked=items,
        says=picking.says,
        began=picking.began,
    )


def _ways(tables: Tables, picking: Picking) -> list[AdaptedWay]:
    models = tables.models.pick("task_id", "id", "name", task_id=picking.adapted)
    made = {task_id: (id, name) for task_id, id, name in models}
    found = []
    for task in tables.tasks.list(id=picking.adapted, limit=None):
        model_id, name = made.get(task.id, ("", ""))
        result = adapted.Found.from_json(task.result or {})
        found.append(
            AdaptedWay(
                way=AdaptWay(adapted.Asked.from_json(task.payload).way),
                task_id=task.id,
                state=task.state,
                applies=result.applies,
                says=result.says or task.error,
                model_id=model_id,
                name=name,
            )
        )
    return found


def _requested(
    tx: Transaction, application: Application, ways: list[AdaptWay], source: str
) -> list[str]:
    registry = knowledge_base.of_tenant(tx, application.tenant_id)
    return [adapted.request(tx, registry, application, way, source).id for way in ways]


def _check(tables: Tables, application: Application, ways: list[AdaptWay]) -> Picking:
    """Return the rule of pickings where an adaptation may begin; raises ``Conflict`` else."""
    asked_models.check_one_answer(tables, application)
    picked_rows.check_kept(tables, application)
    picking = pickings.picking_of(tables, application) or Picking()
    if picking.rows:
        raise Conflict(
            "Models are being compared on production.",
            where=application.id,
            remedy="Answer what the queue of work asks, or wait.",
        )
    if not application.live_model_id:
        raise Conflict("Nothing serves yet.", where=application.id, remedy="Adapt it later.")
    if promotion.is_held(tables, application):
        raise Conflict(
            "What serves is pinned.",
            where=application.id,
            remedy=f"Let others serve first: easeml app unpin {application.id}",
        )
    if len(ways) > 1 and kept.active(tables, application.id) is not None:
        raise Conflict(
            "The application has a gate, which tests one model at a time.",
            where=application.id,
            remedy=f"Name one way: {', '.join(ways)}.",
        )
    return picking


def _divided(
    rows: list[ProductionRow], application: Application
) -> tuple[list[ProductionRow], list[ProductionRow]]:
    """Return rows to learn from, and the newest quarter, to compare models on, as they came.

    What a model has learned from, be it without answers, says too little of how it differs. And a
    model that fits a passing season is better on rows between those that it learned from, but not
    on those that come after.
    """
    if len(rows) < FEWEST:
        raise Conflict(
            f"{len(rows)} rows of production are kept; {FEWEST} are needed.",
            where=application.id,
            remedy="Try again when more came, or send some: easeml predict ID rows.csv",
        )
    in_order = rows[::-1]
    newest = len(rows) // 4
    return in_order[:-newest], in_order[-newest:]
