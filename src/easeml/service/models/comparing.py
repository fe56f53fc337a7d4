"""Comparing two models on the requests of production, and what follows from it.

The log of requests has what one model answered; a task predicts the same rows by the other. Where
the truth comes, the row becomes a part of the evidence, once. All that decides stands in the
database, so whoever dies, the next look goes on where the last one came to.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from easeml.contract.states import PromotionKind, RolloutState, RolloutWay, TaskGroup, TaskState
from easeml.service.models import promotion
from easeml.service.rollouts import kept
from easeml.service.storage import artefact_references
from easeml.service.tasks import requests
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Feedback, ProductionRow, Rollout, Task
from easeml.store.shapes import OtherAnswer, Shape

if TYPE_CHECKING:
    from easeml.lifecycle.rollout import Outcome

KIND = "compare"
_MOST_ROWS = 500  # that a task predicts
_SAMPLE = 50  # rows without truth that a task predicts, for how many predictions change
_SAMPLE_SECONDS = 10.0  # between two tasks for them
_MOST_FAILED = 3  # tasks; the new model is taken back then
_LATE = 5.0  # seconds in which something may still arrive behind what is younger
_MOST_TOLD = 2000
_LARGEST = 2**28  # bytes

Truths = dict[str, Any]  # by the id of a row
Qualities = dict[str, tuple[float, float]]  # of the new and the old model, by the id of a row


@dataclass(frozen=True, slots=True)
class Asked(Shape):
    """What a task is told: the digest of the file of rows."""

    source: str


def move_on(store: Store) -> None:
    """Count the truths that came, and have rows predicted, of each roll-out that runs."""
    with store.read() as tx:
        found = tx.unscoped().rollouts.list(state=RolloutState.RUNNING, limit=None)
        ids = [one.application_id for one in found]
        there = {one.id for one in tx.unscoped().applications.list(id=ids, limit=None)}
    for rollout in found:
        if rollout.application_id in there and not _was_stopped(store, rollout):
            _move_on(store, rollout)


def _was_stopped(store: Store, rollout: Rollout) -> bool:
    """Stop a roll-out whose rows are not kept whole any more; tell whether it was."""
    with store.read() as tx:
        tables = tx.scoped(rollout.tenant_id)
        masked = kept.masked_inputs(tables, tables.applications.get(rollout.application_id))
    if not masked:
        return False
    with store.write() as tx:
        rollout = tx.scoped(rollout.tenant_id).rollouts.get(rollout.id)
        if rollout.state == RolloutState.RUNNING:
            reason = f"The values of {masked[0]!r} are not kept any more: nothing can be compared."
            kept.end(tx, rollout, RolloutState.STOPPED, reason)
    return True


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
    _count(tx, rollout, _News([], rows, [], rollout.evidence.failures))


def could_not_compare(tx: Transaction, task: Task) -> None:
    """Take the new model back where rows could not be predicted by both, again and again.

    A task may end with its worker: that is no fault of the model.
    """
    _forget_file(tx, task)
    tables = tx.scoped(task.tenant_id)
    rollout = tables.rollouts.find(id=task.subject, state=RolloutState.RUNNING)
    failed = tables.tasks.count(subject=task.subject, state=TaskState.FAILED)
    if rollout is not None and failed >= _MOST_FAILED:
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


@dataclass(frozen=True, slots=True)
class _News:
    """What came since the last look at a roll-out.

    ``told``: words on rows. ``ready``: rows of these that both models have predicted. ``wanted``:
    rows that the other model is to predict. ``failures``: requests that the new model failed on.
    """

    told: list[Feedback]
    ready: list[ProductionRow]
    wanted: list[ProductionRow]
    failures: int


def _move_on(store: Store, rollout: Rollout) -> None:
    """Count what can be counted, and have the other model predict what it has to."""
    with store.read() as tx:
        tables = tx.scoped(rollout.tenant_id)
        if requests.under_way(tables, KIND, rollout.id):
            return
        now = tx.now()
        news = _news(tables, rollout, now)
    has_failed = news.failures > rollout.evidence.failures
    if not (news.told or news.wanted or has_failed):
        return
    digest, size = _keep_file(store, rollout, news.wanted) if news.wanted else ("", 0)
    with store.write() as tx:
        tables = tx.scoped(rollout.tenant_id)
        rollout = tables.rollouts.get(rollout.id)
        is_asked = bool(requests.under_way(tables, KIND, rollout.id))
        if rollout.state != RolloutState.RUNNING or is_asked:
            return
        is_all = len(news.wanted) < _MOST_ROWS  # else the same words are looked at again
        told = _last_settled(news.told, now) if is_all else ""
        seen = max([rollout.seen, *(row.id for row in news.wanted)])
        rollout = tables.rollouts.update(rollout.id, told=told or rollout.told, seen=seen)
        if news.wanted:
            _request(tx, rollout, digest, size)
        _count(tx, rollout, news)


def _news(tables: Tables, rollout: Rollout, now: float) -> _News:
    """Return what came since the last look."""
    told = tables.feedback.list(
        application_id=rollout.application_id, after=rollout.told, limit=_MOST_TOLD
    )
    named = _named_rows(tables, rollout, told)
    ready, wanted = [], []
    for row in named:
        is_known = row.rollout_id == rollout.id or row.other is not None
        (ready if is_known else wanted).append(row)
    log = tables.request_logs.find(id=rollout.application_id)
    failures = log.failed if log is not None else 0
    wanted = wanted[:_MOST_ROWS] or _sample(tables, rollout, now)
    return _News(told, ready, wanted, failures)


def _named_rows(tables: Tables, rollout: Rollout, told: Sequence[Feedback]) -> list[ProductionRow]:
    """Return the rows that words are about, that one of the models answered, not counted yet."""
    if not told:
        return []
    either = [rollout.model_id, rollout.against_id]
    wanted: dict[str, Any] = {"model_id": either, "counted": False}
    names = [one.request_id for one in told if one.request_id]
    keys = [one.key for one in told if one.key]
    rows = tables.production_rows
    found = rows.list(limit=None, request_id=names, **wanted) if names else []
    if keys:
        found += rows.list(limit=None, key=keys, **wanted)
    told_ids = {f"{one.request_id}.{one.row:06}" for one in told if one.request_id}
    told_keys = set(keys)
    by_id = {}
    for row in found:
        is_meant = row.id in told_ids or row.key in told_keys
        is_of_now = row.id > rollout.first and row.rollout_id in ("", rollout.id)
        if is_meant and is_of_now:
            by_id[row.id] = row
    return list(by_id.values())


def _sample(tables: Tables, rollout: Rollout, now: float) -> list[ProductionRow]:
    """Return a few of the newest rows, once in a while, whether or not their truth will come."""
    before = tables.tasks.list(
        kind=TaskGroup.ADVISE, subject=rollout.id, newest_first=True, limit=1
    )
    if before and now - before[0].created < _SAMPLE_SECONDS:
        return []
    newest = tables.production_rows.list(
        application_id=rollout.application_id, newest_first=True, limit=_SAMPLE
    )
    either = (rollout.model_id, rollout.against_id)
    return [
        row
        for row in newest
        if row.id > rollout.seen and row.model_id in either and row.other is None
    ]


def _keep_file(store: Store, rollout: Rollout, rows: Sequence[ProductionRow]) -> tuple[str, int]:
    """Write the rows that are to be predicted; return digest and size of the file."""
    content = json.dumps(_by_model(rollout, rows)).encode()
    return store.artefacts.put_stream(rollout.tenant_id, [content], _LARGEST)


def _request(tx: Transaction, rollout: Rollout, digest: str, size: int) -> None:
    artefact_references.keep(tx, rollout.tenant_id, digest, size)
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
        name = "old" if row.model_id == rollout.model_id else "new"
        found[name].append({"id": row.id, "inputs": row.inputs})
    return found


def _truths_of(tables: Tables, rollout: Rollout, rows: Sequence[ProductionRow]) -> Truths:
    """Return what was said to be true of rows, the newest word on each, by their ids.

    In the order in which it was said: it may not depend on what the models say of them.
    """
    if not rows:
        return {}
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


def _count(tx: Transaction, rollout: Rollout, news: _News) -> None:
    """Let rows whose truth is known, and failures, be a part of the evidence, and decide."""
    from easeml.lifecycle import rollout as rollouts

    tables = tx.scoped(rollout.tenant_id)
    # The roll-out was written before this, which others wait for: what they counted is seen here.
    ids = [row.id for row in news.ready]
    left = set(tables.production_rows.column("id", id=ids, counted=False))
    truths = _truths_of(tables, rollout, [row for row in news.ready if row.id in left])
    by_id = {row.id: row for row in news.ready}
    ready = [by_id[id] for id in truths]
    tables.production_rows.set_each("counted", dict.fromkeys(truths, True))
    tables.production_rows.set_each("rollout_id", dict.fromkeys(truths, rollout.id))
    qualities = _qualities(tables, rollout, ready, truths)
    outcomes = _outcomes(tables, rollout, ready, qualities)
    evidence = rollouts.told(kept.plan_of(rollout), kept.evidence_of(rollout), outcomes)
    evidence = replace(evidence, failures=max(evidence.failures, news.failures))
    unknown = rollout.unknown + len(ready) - len(qualities)
    evidence_kept = kept.evidence_to_keep(evidence)
    rollout = tables.rollouts.update(rollout.id, evidence=evidence_kept, unknown=unknown)
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
    from easeml.lifecycle.rollout import Outcome

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
    if answer == rollouts.LIVE:
        model = tables.models.get(rollout.model_id)
        reason = rollouts.why(plan, evidence, rollout.expected)
        promotion.make_live(tx, application, model, PromotionKind.BETTER, reason)
        return
    if answer == rollouts.TAKEN_BACK:
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
