"""Comparing two models on the requests of production, and what follows from it.

The log of requests has what one model answered; a task predicts the same rows by the other. Where
the truth comes, the row becomes a part of the evidence, once. All that decides stands in the
database, so whoever dies, the next look goes on where the last one came to.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from easeml.contract.states import PromotionKind, RolloutState, RolloutWay, TaskGroup
from easeml.lifecycle.rollout import LIVE, TAKEN_BACK, Outcome
from easeml.service.models import promotion
from easeml.service.rollouts import kept
from easeml.service.storage import artefact_references
from easeml.service.tasks import requests
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Feedback, ProductionRow, Rollout, Task
from easeml.store.shapes import OtherAnswer, Shape

KIND = "compare"
_MOST_ROWS = 500  # that a task predicts
_ENOUGH = 100  # rows that are predicted at once; fewer wait for more
_PAUSE = 2.0  # seconds between two tasks where fewer came
_LATE = 5.0  # seconds in which a row may still arrive behind younger ones
_MOST_TOLD = 10_000
_LARGEST = 2**28  # bytes

Truths = dict[str, Any]  # by the id of a row
Qualities = dict[str, tuple[float, float]]  # of the new and the old model, by the id of a row


@dataclass(frozen=True, slots=True)
class Asked(Shape):
    """What a task is told: the digest of the file of rows."""

    source: str


def move_on(store: Store) -> None:
    """Count the truths that came, and have new rows predicted, of each roll-out that runs."""
    with store.read() as tx:
        found = tx.unscoped().rollouts.list(state=RolloutState.RUNNING, limit=None)
        ids = [one.application_id for one in found]
        there = {one.id for one in tx.unscoped().applications.list(id=ids, limit=None)}
    for rollout in found:
        if rollout.application_id in there:
            _count_truths(store, rollout)
            _ask_for_predictions(store, rollout)


def record(tx: Transaction, task: Task, predictions: dict[str, Any]) -> None:
    """Keep what the other model says of rows, and count those whose truth is known already."""
    _forget_file(tx, task)
    tables = tx.scoped(task.tenant_id)
    rollout = tables.rollouts.find(id=task.subject, state=RolloutState.RUNNING)
    if rollout is None:
        return
    rows = tables.production_rows.list(id=list(predictions), limit=None)
    others = {row.id: OtherAnswer(predictions[row.id]) for row in rows}
    tables.production_rows.set_each("other", others)
    tables.production_rows.set_each("rollout_id", dict.fromkeys(others, rollout.id))
    rows = [replace(row, other=others[row.id]) for row in rows]
    changed = sum(_differ(row) for row in rows)
    rollout = tables.rollouts.update(
        rollout.id, compared=rollout.compared + len(rows), changed=rollout.changed + changed
    )
    _count(tx, rollout, rows, _truths_of(tables, rollout, rows))


def could_not_compare(tx: Transaction, task: Task) -> None:
    """Take the new model back, since rows could not be predicted by both."""
    _forget_file(tx, task)
    tables = tx.scoped(task.tenant_id)
    rollout = tables.rollouts.find(id=task.subject, state=RolloutState.RUNNING)
    if rollout is not None:
        fault = task.error.strip().rpartition("\n")[2]
        take_back(tx, rollout, f"It could not be compared: {fault}")


def take_back(tx: Transaction, rollout: Rollout, reason: str) -> None:
    """End a roll-out that runs: the model that served answers all requests."""
    tables = tx.scoped(rollout.tenant_id)
    ended = kept.end(tx, rollout, RolloutState.TAKEN_BACK, reason)
    application = tables.applications.get(rollout.application_id)
    promotion.note_rollout(tx, application, ended, reason)


def _forget_file(tx: Transaction, task: Task) -> None:
    """Let go of the file of rows: the log keeps them as long as its owner wants, and no longer."""
    tables = tx.scoped(task.tenant_id)
    digest = Asked.from_json(task.payload).source
    tables.tasks.update(task.id, payload={**task.payload, "source": ""})
    tables.artefacts.forget(tx.now() + 1.0, id=f"{task.tenant_id}:{digest}")


def _count_truths(store: Store, rollout: Rollout) -> None:
    """Count the rows of a roll-out of which the truth was told since the last look."""
    with store.read() as tx:
        tables = tx.scoped(rollout.tenant_id)
        told = tables.feedback.list(
            application_id=rollout.application_id, after=rollout.told, limit=_MOST_TOLD
        )
    if not told:
        return
    with store.write() as tx:
        tables = tx.scoped(rollout.tenant_id)
        rollout = tables.rollouts.get(rollout.id)
        if rollout.state != RolloutState.RUNNING:
            return
        rows = _rows_of(tables, rollout, told)
        cursor = _last_settled(told, tx.now()) or rollout.told
        if not rows and cursor == rollout.told:
            return
        rollout = tables.rollouts.update(rollout.id, told=cursor)
        _count(tx, rollout, rows, _truths_of(tables, rollout, rows))


def _ask_for_predictions(store: Store, rollout: Rollout) -> None:
    """Have the other model predict the newest rows, unless it does so now, or just did."""
    with store.read() as tx:
        tables = tx.scoped(rollout.tenant_id)
        now = tx.now()
        rows = tables.production_rows.list(
            application_id=rollout.application_id,
            rollout_id="",
            model_id=[rollout.model_id, rollout.against_id],
            after=rollout.seen,
            limit=_MOST_ROWS,
        )
        before = tables.tasks.list(
            kind=TaskGroup.ADVISE, subject=rollout.id, newest_first=True, limit=1
        )
        is_under_way = bool(requests.under_way(tables, KIND, rollout.id))
    is_soon = bool(before) and now - before[0].created < _PAUSE and len(rows) < _ENOUGH
    if not rows or is_under_way or is_soon:
        return
    content = json.dumps(_by_model(rollout, rows)).encode()
    digest, size = store.artefacts.put_stream(rollout.tenant_id, [content], _LARGEST)
    with store.write() as tx:
        tables = tx.scoped(rollout.tenant_id)
        if tables.rollouts.get(rollout.id).state != RolloutState.RUNNING:
            return
        artefact_references.keep(tx, rollout.tenant_id, digest, size)
        seen = _last_settled(rows, now) or rollout.seen
        rollout = tables.rollouts.update(rollout.id, seen=seen)
        failures = [row for row in rows if row.other]
        if failures:
            _count_failures(tx, rollout, failures)
        is_over = tables.rollouts.get(rollout.id).state != RolloutState.RUNNING
        if is_over or len(failures) == len(rows):
            return
        requests.request(
            tx,
            rollout.tenant_id,
            KIND,
            rollout.id,
            source=digest,
            new_id=rollout.model_id,
            old_id=rollout.against_id,
        )


def _by_model(rollout: Rollout, rows: Sequence[ProductionRow]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows by which model is to predict them: the one that did not answer."""
    found: dict[str, list[dict[str, Any]]] = {"new": [], "old": []}
    for row in rows:
        if row.other:  # the new model failed on it, and the old one answered
            continue
        name = "old" if row.model_id == rollout.model_id else "new"
        found[name].append({"id": row.id, "inputs": row.inputs})
    return found


def _count_failures(tx: Transaction, rollout: Rollout, rows: Sequence[ProductionRow]) -> None:
    """Count the requests that the new model failed on; the old one answered them."""
    from easeml.lifecycle import rollout as rollouts

    tables = tx.scoped(rollout.tenant_id)
    ids = dict.fromkeys((row.id for row in rows), rollout.id)
    tables.production_rows.set_each("rollout_id", ids)
    failed = len({row.request_id for row in rows})
    evidence = rollouts.failed(kept.evidence_of(rollout), failed)
    rollout = tables.rollouts.update(rollout.id, evidence=kept.evidence_to_keep(evidence))
    _decide(tx, rollout)


def _rows_of(tables: Tables, rollout: Rollout, told: Sequence[Feedback]) -> list[ProductionRow]:
    """Return the rows that words are about, which both models have predicted, not counted yet."""
    waiting: dict[str, Any] = {"rollout_id": rollout.id, "counted": False}
    names = [one.request_id for one in told if one.request_id]
    keys = [one.key for one in told if one.key]
    rows = tables.production_rows
    found = rows.list(limit=None, request_id=names, **waiting) if names else []
    if keys:
        found += rows.list(limit=None, key=keys, **waiting)
    return list({row.id: row for row in found}.values())


def _truths_of(tables: Tables, rollout: Rollout, rows: Sequence[ProductionRow]) -> Truths:
    """Return what was said to be true of rows, the newest word on each, by their ids.

    In the order in which it was said: it may not depend on what the models say of them.
    """
    feedback, application_id = tables.feedback, rollout.application_id
    asked = list({row.request_id for row in rows})
    keys = list({row.key for row in rows if row.key})
    told = feedback.list(application_id=application_id, request_id=asked, limit=None)
    if keys:
        told += feedback.list(application_id=application_id, key=keys, limit=None)
    by_key: dict[str, list[str]] = {}
    for row in rows:
        by_key.setdefault(row.key, []).append(row.id)
    wanted = {row.id for row in rows}
    truths: Truths = {}
    for one in sorted(told, key=lambda one: one.id):
        ids = by_key.get(one.key, []) if one.key else [f"{one.request_id}.{one.row:06}"]
        for id in ids:
            if id in wanted:
                truths[id] = one.value["value"]
    return truths


def _count(tx: Transaction, rollout: Rollout, rows: list[ProductionRow], truths: Truths) -> None:
    """Let the rows whose truth is known be a part of the evidence, and decide."""
    from easeml.lifecycle import rollout as rollouts

    tables = tx.scoped(rollout.tenant_id)
    by_id = {row.id: row for row in rows}
    ready = [by_id[id] for id in truths]
    if not ready:
        return
    tables.production_rows.set_each("counted", dict.fromkeys(truths, True))
    qualities = _qualities(tables, rollout, ready, truths)
    outcomes = _outcomes(tables, rollout, ready, qualities)
    evidence = rollouts.told(kept.plan_of(rollout), kept.evidence_of(rollout), outcomes)
    unknown = rollout.unknown + len(ready) - len(qualities)
    rollout = tables.rollouts.update(
        rollout.id, evidence=kept.evidence_to_keep(evidence), unknown=unknown
    )
    _decide(tx, rollout)


def _qualities(
    tables: Tables, rollout: Rollout, rows: list[ProductionRow], truths: Truths
) -> Qualities:
    """Return how good both models are on each row; none where the truth says nothing."""
    from easeml.lifecycle import rollout as rollouts
    from easeml.lifecycle.labels import class_name

    application = tables.applications.get(rollout.application_id)
    target = kept.target_of(tables, application)
    classes = {class_name(name) for name in (target or {}).get("classes", [])}
    found: Qualities = {}
    for row in rows:
        truth = truths[row.id]
        new, old = _said(rollout, row)
        if rollout.scale > 0:
            true = _number(truth)
            if true is not None:
                scale = rollout.scale
                one = rollouts.quality_of_number(_number(new), true, scale)
                found[row.id] = (one, rollouts.quality_of_number(_number(old), true, scale))
        elif class_name(truth) in classes:
            one = rollouts.quality_of_class(new, truth)
            found[row.id] = (one, rollouts.quality_of_class(old, truth))
    return found


def _number(value: Any) -> float | None:
    """Return a finite number; None for anything else."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _outcomes(
    tables: Tables, rollout: Rollout, rows: list[ProductionRow], qualities: Qualities
) -> list[Outcome]:
    """Return what counts: rows; or requests, where both models answer some.

    A request then counts once, by the rows of it whose truth came first: who answered it is known
    to whoever tells more.
    """
    now = {row.id for row in rows}
    rows = [row for row in rows if row.id in qualities]
    if rollout.way == RolloutWay.SHADOW:
        return [_outcome(rollout, [row], qualities) for row in rows]
    ids = list({row.request_id for row in rows})
    counted = tables.production_rows.list(
        request_id=ids, rollout_id=rollout.id, counted=True, limit=None
    )
    before = {row.request_id for row in counted if row.id not in now}
    by_request: dict[str, list[ProductionRow]] = {}
    for row in rows:
        if row.request_id not in before:
            by_request.setdefault(row.request_id, []).append(row)
    return [_outcome(rollout, told, qualities) for told in by_request.values()]


def _outcome(rollout: Rollout, rows: list[ProductionRow], qualities: Qualities) -> Outcome:
    """Return what came of rows of one request."""
    new = sum(qualities[row.id][0] for row in rows) / len(rows)
    old = sum(qualities[row.id][1] for row in rows) / len(rows)
    share = 0.0 if rollout.way == RolloutWay.SHADOW else rows[0].share
    return Outcome(new - old, old, share, _is_by_new(rollout, rows[0]))


def _decide(tx: Transaction, rollout: Rollout) -> None:
    """Let the new model serve, answer more, or be taken back, as the evidence says."""
    from easeml.lifecycle import rollout as rollouts

    tables = tx.scoped(rollout.tenant_id)
    application = tables.applications.get(rollout.application_id)
    plan, evidence = kept.plan_of(rollout), kept.evidence_of(rollout)
    answer = rollouts.verdict(plan, evidence, rollout.expected)
    if answer == LIVE:
        model = tables.models.get(rollout.model_id)
        reason = rollouts.why(plan, evidence, rollout.expected)
        promotion.make_live(tx, application, model, PromotionKind.BETTER, reason)
        return
    if answer == TAKEN_BACK:
        take_back(tx, rollout, rollouts.why(plan, evidence, rollout.expected))
        return
    share = rollouts.share_now(plan, evidence)
    if share > rollout.share:
        rollout = tables.rollouts.update(rollout.id, share=share)
        data = {"model_id": rollout.model_id, "share": share}
        tx.events.append(kept.GREW, application.id, data, application.tenant_id)
        promotion.note_rollout(
            tx, application, rollout, rollouts.why(plan, evidence, rollout.expected)
        )


def _is_by_new(rollout: Rollout, row: ProductionRow) -> bool:
    """Tell whether it was the new model's turn to answer."""
    return row.model_id == rollout.model_id or (row.other is not None and row.other.failed)


def _said(rollout: Rollout, row: ProductionRow) -> tuple[Any, Any]:
    """Return what the new and the old model say of a row; None: it failed."""
    answered = row.answer["prediction"]
    other = row.other.prediction if row.other is not None else None
    return (answered, other) if row.model_id == rollout.model_id else (other, answered)


def _differ(row: ProductionRow) -> bool:
    return row.other is not None and row.answer["prediction"] != row.other.prediction


def _last_settled(rows: Sequence[Feedback] | Sequence[ProductionRow], now: float) -> str:
    """Return the last id behind which no older one will arrive; empty where there is none."""
    settled = [row.id for row in rows if row.created < now - _LATE]
    return settled[-1] if settled else ""
