"""Pickings: which model that served is best on the newest rows of production, by few labels?

Each looks at rows that came since the one before, so what was true long ago has no weight, and a
model of last December is found when December returns. People are asked through the queue of work.
All that decides stands in the database; whoever dies, the next look goes on.
"""

from contextlib import suppress
from dataclasses import replace

from easeml.contract.picking import NewPicking, PickingRule
from easeml.contract.reports import NewReport
from easeml.contract.states import (
    TASKS_UNDER_WAY,
    PickingWay,
    WorkKind,
    WorkState,
)
from easeml.errors import Conflict, NotFound
from easeml.ids import new_id
from easeml.lifecycle.tool import OF_ONE_ANSWER, tool_named
from easeml.service.access.caller import Caller
from easeml.service.advice import asked_models, tools
from easeml.service.answers import label_budget, standing
from easeml.service.models import picked_rows, promotion, proofs
from easeml.service.storage import artefact_references
from easeml.store import Store, Tables, Transaction, records
from easeml.store.records import Application, WorkItem
from easeml.store.shapes import Picking, WorkQuestion

TOOL = "pick"
BEGUN = "picking.begun"
TOLERANCE, CONFIDENCE = 0.05, 0.9  # of the certificate
_DAY = 86_400.0
_KIND = WorkKind.PICK_LABEL
_NO_LABELS_LEFT = "The application's budget of labels has too few left."
_LARGEST = 2**28  # bytes
_WHY_NOT = {**dict.fromkeys(asked_models.SEVERAL, OF_ONE_ANSWER), "number": asked_models.OF_CLASSES}


def get_picking(store: Store, caller: Caller, application_id: str) -> PickingRule:
    """Return when models are compared on production, and what came of it; raises ``NotFound``."""
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        return show(tables, tables.applications.get(application_id))


def set_picking(store: Store, caller: Caller, application_id: str, wish: NewPicking) -> PickingRule:
    """Say when the models of an application are compared on its production, or end what runs.

    Repeated, it changes nothing. Raises ``NotFound``, and ``Conflict`` where no requests, or not
    all columns of them, are kept.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        if wish.way != PickingWay.OFF:
            _check_classes(tables, application)
            picked_rows.check_kept(tables, application)
        picking = picking_of(tables, application)
        if picking is not None:
            picking = replace(picking, way=wish.way, labels=wish.labels)
            _keep(tables, application, picking)
            if picking.rows and wish.end:
                _end(tx, application, picking, "What serves stays: the comparison was ended.")
        return show(tables, application)


def _check_classes(tables: Tables, application: Application) -> None:
    """Raise ``Conflict`` where models predict numbers or several answers, which are not compared."""
    asked_models.check_one_answer(tables, application)
    why_not = _why_not(tables, application)
    if why_not:
        raise Conflict(why_not, where=application.id)


def _why_not(tables: Tables, application: Application) -> str:
    """Return why the models of an application are not compared; empty where they are."""
    return _WHY_NOT.get(tables.versions.get(application.version_id).target_type, "")


def pick_now(store: Store, caller: Caller, application_id: str) -> PickingRule:
    """Compare the models on the newest rows of production now.

    Where that is under way, nothing is begun. Raises ``NotFound``; ``Conflict`` where there are no
    such rows, or no two models that may serve.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        _check_classes(tables, application)
        picked_rows.check_kept(tables, application)
        picking = picking_of(tables, application) or Picking()
        if picking.rows:
            return show(tables, application)
        compared = picking.began if picking.compared is None else picking.compared
        rows = picked_rows.newest(tables, application, compared)
        wish = NewReport(tool=TOOL)
        tool = tool_named(TOOL)
        if why := asked_models.why_none(tables, application, tool):
            raise Conflict(why, where=application_id)
        models = asked_models.chosen(tables, application, tool, wish).compared
        now = tx.now()
    ids = [row.id for row in rows]
    begun = replace(
        picking,
        began=now,
        rows=ids,
        models=models,
        task_id="",
        says="",
        proving=0,
        adapted=[],
        compared=compared,
    )
    _ask_tool(store, application, begun)
    with store.read() as tx:
        return show(tx.scoped(caller.tenant_id), application)


def start_due(store: Store) -> None:
    """Begin the pickings that are due: a day after the last, or after an alert."""
    with store.read() as tx:
        logs = [log for log in tx.unscoped().request_logs.list(limit=None) if log.picking]
    for log in logs:
        with suppress(Conflict, NotFound):  # nothing came, or it was deleted
            if _is_due(store, log):
                pick_now(store, Caller("", log.tenant_id), log.id)


def move_one_on(store: Store, log: records.RequestLog) -> None:
    """Take what tasks found about a picking that runs, or compare again where people answered."""
    assert log.picking is not None
    with suppress(NotFound):
        _move_on(store, log.tenant_id, log.id, log.picking)


def show(tables: Tables, application: Application) -> PickingRule:
    """Return when the models of an application are compared on production."""
    found = picking_of(tables, application) or Picking()
    return PickingRule(
        application_id=application.id,
        way=PickingWay(found.way),
        labels=found.labels,
        proving=bool(found.proving),
        running=bool(found.rows),
        models=len(found.models) if found.rows else 0,
        rows=len(found.rows),
        asked=len(_items(tables, application, found)) if found.rows else 0,
        says=found.says,
        began=found.began,
        why_not=_why_not(tables, application),
    )


def picking_of(tables: Tables, application: Application) -> Picking | None:
    """Return the rule of an application; None where it keeps no requests."""
    log = tables.request_logs.find(id=application.id)
    return None if log is None else log.picking or Picking()


def _keep(tables: Tables, application: Application, picking: Picking) -> None:
    tables.request_logs.update(application.id, picking=picking)


def _is_due(store: Store, log: records.RequestLog) -> bool:
    with store.read() as tx:
        tables = tx.scoped(log.tenant_id)
        application = tables.applications.get(log.id)
        picking = picking_of(tables, application)
        if picking is None or picking.rows or promotion.is_held(tables, application):
            return False
        if picking.way == PickingWay.ALERT:
            told = tx.events.newest_about(log.id, log.tenant_id, ("watch.alert", "watch.over"))
            is_alert = told is not None and told.kind == "watch.alert"
            return told is not None and is_alert and told.created > picking.began
        return picking.way == PickingWay.DAILY and tx.now() - picking.began >= _DAY


def _move_on(store: Store, tenant_id: str, application_id: str, picking: Picking) -> None:
    with store.read() as tx:
        tables = tx.scoped(tenant_id)
        application = tables.applications.get(application_id)
        task = tables.tasks.find(id=picking.task_id)
        if task is not None and task.state in TASKS_UNDER_WAY:
            return
        if proofs.are_being_made(tables, picking):
            return
        items = _items(tables, application, picking)
        asked = [item for item in items if item.state == WorkState.OPEN]
        is_asked = len(standing.not_known(tables, asked)) < len(asked)
    try:
        if not picking.models:
            _take_adapted(store, application, picking)
        elif task is not None:
            _take(store, application, picking, task)
        elif not is_asked:
            _ask_tool(store, application, picking)
    except Conflict as gone:  # rows are kept for some days
        with store.write() as tx:
            tables = tx.scoped(tenant_id)
            kept = _going_on(tables, application, picking)
            if kept is not None:
                _end(tx, application, kept, gone.message)


def _take_adapted(store: Store, application: Application, picking: Picking) -> None:
    """Compare the adapted models with what serves, or have the application's gate test one."""
    with store.write() as tx:
        tables = tx.scoped(application.tenant_id)
        application = tables.applications.get(application.id)
        if _going_on(tables, application, picking) is None:
            return
        models = proofs.adapted_models(tables, picking)
        said = proofs.why_no_proof(tx, application, models)
        if said:
            _end(tx, application, picking, said)
            return
        rivals = {proofs.OLD: application.live_model_id}
        rivals |= {model.name: model.id for model in models}
    _ask_tool(store, application, replace(picking, models=rivals))


def _ask_tool(store: Store, application: Application, picking: Picking) -> None:
    """Have the models compared by what is known of the rows by now.

    Rows of which nobody knows the answer are left out from now on.
    """
    with store.read() as tx:
        tables = tx.scoped(application.tenant_id)
        items = _items(tables, application, picking)
        unknown = standing.not_known(tables, items)
        rows = list(picking.rows)
        for item in items:
            if item.id in unknown:
                rows[item.row] = ""
        content = picked_rows.as_csv(tables, application, rows, items)
    digest, size = store.artefacts.put_stream(application.tenant_id, [content], _LARGEST)
    with store.write() as tx:
        tables = tx.scoped(application.tenant_id)
        now = _going_on(tables, application, picking)
        if now is None:
            return
        artefact_references.keep(tx, application.tenant_id, digest, size)
        version = tables.versions.get(application.version_id)
        tool, parameters = TOOL, {"tolerance": TOLERANCE, "confidence": CONFIDENCE}
        if picking.proving:
            own = max(0, picking.proving - len(items))
            may_ask = label_budget.within(tables, application, _KIND, tx.now(), own)
            tool, parameters = proofs.TOOL, {"labels": may_ask}
        question = tools.Question(tool, parameters, models=picking.models, newer_artefact=digest)
        task = tools.request(tx, application, version, question)
        tables.work_items.set_each("state", dict.fromkeys(unknown, WorkState.CLOSED))
        begun = replace(
            picking,
            way=now.way,
            labels=now.labels,
            rows=rows,
            task_id=task.id,
        )
        if not now.rows:
            tx.events.append(BEGUN, application.id, {}, application.tenant_id)
        _keep(tables, application, begun)


def _going_on(tables: Tables, application: Application, picking: Picking) -> Picking | None:
    """Return what is kept of a picking that was read before, or of the rule under which it begins.

    None where somebody has ended it, or begun another one.
    """
    kept = picking_of(tables, application)
    if kept is None:
        return None
    is_same = kept.began == picking.began
    return kept if is_same == bool(kept.rows) else None


def _take(store: Store, application: Application, picking: Picking, task: records.Task) -> None:
    """Take what a task found: ask people, or let the best model serve."""
    with store.read() as tx:
        tables = tx.scoped(application.tenant_id)
        report = picked_rows.report_of(tables, application, task.id)
        answer = None if report is None else tools.show(store, report)
    with store.write() as tx:
        tables = tx.scoped(application.tenant_id)
        application = tables.applications.get(application.id)
        kept = _going_on(tables, application, picking)
        if kept is None:
            return
        picking = kept
        if answer is None:
            _end(tx, application, picking, f"The models could not be compared: {task.error}")
        elif picking.proving and answer.verdict != proofs.MORE:
            _end(tx, application, picking, proofs.decide(tx, application, picking, answer))
        elif answer.verdict == "chosen":
            right = picked_rows.standings(answer)
            said = _serve(tx, application, picking, right, answer.advice)
            _end(tx, application, picking, said)
        else:
            places = picked_rows.wanted(answer, picking.rows)
            _ask_people(tx, application, picking, places, answer.advice)


def _ask_people(
    tx: Transaction, application: Application, picking: Picking, places: list[int], advice: str
) -> None:
    """Ask for labels of some of the rows, or stop where that would be more than may be asked."""
    tables = tx.scoped(application.tenant_id)
    asked = _items(tables, application, picking)
    own = (picking.proving or picking.labels) - len(asked)
    left = label_budget.within(tables, application, _KIND, tx.now(), own)
    if picking.proving and left > 0:
        places = places[:left]
    if len(places) > left:
        said = f"What serves stays: {len(asked)} labels did not tell which is best. {advice}"
        if left < own:
            said += f" {_NO_LABELS_LEFT}"
        _end(tx, application, picking, said)
        return
    rows = picked_rows.still_kept(tables, [picking.rows[place] for place in places])
    ids = sorted(new_id("item") for _ in places)
    for id, place in zip(ids, places, strict=True):
        inputs = rows[picking.rows[place]].inputs
        values = {name: picked_rows.as_read(value) for name, value in inputs.items()}
        values.pop(application.target, None)
        tables.work_items.add(
            WorkItem(
                id=id,
                tenant_id=application.tenant_id,
                application_id=application.id,
                version_id=application.version_id,
                kind=_KIND,
                row=place,
                column=application.target,
                information=0.0,
                question=WorkQuestion(
                    values=values, source=proofs.TOOL if picking.proving else TOOL
                ),
            )
        )
    _keep(tables, application, replace(picking, task_id=""))
    tx.events.append("work.found", application.id, {"items": len(ids)}, application.tenant_id)


def _serve(
    tx: Transaction,
    application: Application,
    picking: Picking,
    right: dict[str, float],
    advice: str,
) -> str:
    """Let the chosen model serve where it was right more often than what serves.

    That stays, too, where somebody has pinned it. ``right``: labels, by model, the chosen one first.
    """
    tables = tx.scoped(application.tenant_id)
    name = next(iter(right))
    model = tables.models.get(picking.models[name])
    names = {id: one for one, id in picking.models.items()}
    serves = names.get(application.live_model_id)
    if serves is not None and right[serves] >= right[name]:
        return f"What serves stays: no model was right more often. {advice}"
    if promotion.is_held(tables, application):
        return f"What serves is pinned, and stays. {advice}"
    promotion.pick(tx, application, model, advice)
    return f"{model.name} serves. {advice}"


def _end(tx: Transaction, application: Application, picking: Picking, said: str) -> None:
    """End a picking; the labels that it bought are known of these rows from now on.

    Rows of which it bought none can be compared again: it failed, or was ended early.
    """
    tables = tx.scoped(application.tenant_id)
    items = _items(tables, application, picking)
    picked_rows.keep_truths(tables, application, picking.rows, items)
    for item in items:
        is_told = item.state == WorkState.ANSWERED
        tables.work_items.update(item.id, state=WorkState.USED if is_told else WorkState.CLOSED)
    is_bought = any(item.state == WorkState.ANSWERED for item in items)
    compared = None if is_bought else picking.compared
    ended = replace(picking, rows=[], models={}, task_id="", says=said, compared=compared)
    _keep(tables, application, ended)


def _items(tables: Tables, application: Application, picking: Picking) -> list[WorkItem]:
    """Return what people were asked for a picking."""
    return tables.work_items.list(
        application_id=application.id,
        kind=_KIND,
        since=picking.began,
        limit=None,
    )
