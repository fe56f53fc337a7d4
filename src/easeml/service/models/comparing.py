"""Comparing two models on the requests of production, and what follows from it.

The log of requests has what one model answered; a task predicts the same rows by the other. Where
the truth comes, the row becomes a part of the evidence, once. All that decides stands in the
database, so whoever dies, the next look goes on where the last one came to.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from easeml.contract.states import RolloutState, RolloutWay, TaskState
from easeml.service.models import compared_rows, returning
from easeml.service.models.compared_rows import KIND, News
from easeml.service.models.comparison_evidence import count, take_back
from easeml.service.rollouts import kept
from easeml.service.storage import artefact_references
from easeml.service.tasks import requests
from easeml.store import Store, Transaction
from easeml.store.records import ProductionRow, Rollout, Task
from easeml.store.shapes import OtherAnswer, Shape

_MOST_FAILED = 3  # tasks; the new model is taken back then
_LARGEST = 2**28  # bytes


@dataclass(frozen=True, slots=True)
class Asked(Shape):
    """What a task is told: the digest of the file of rows."""

    source: str


def move_on(store: Store, ways: Sequence[RolloutWay] = kept.BEFORE) -> None:
    """Count the truths that came, and have rows predicted, of each roll-out that runs.

    ``ways``: of which roll-outs. Where no requests are kept, there is nothing to look at.
    """
    with store.read() as tx:
        tables = tx.unscoped()
        running = tables.rollouts.list(way=ways, state=RolloutState.RUNNING, limit=None)
        ids = [rollout.application_id for rollout in running]
        keeping = tables.request_logs.column("id", id=ids)
        there = set(tables.applications.column("id", id=keeping))
    for rollout in running:
        if rollout.application_id in there:
            _look_at(store, rollout)


def _look_at(store: Store, rollout: Rollout) -> None:
    """Move one roll-out on, or stop it where its rows are not kept whole any more.

    While a further model is compared, the rows are for that.
    """
    if rollout.way == RolloutWay.AFTER and _is_another_compared(store, rollout):
        return
    if not _was_stopped(store, rollout):
        _move_on(store, rollout)


def _is_another_compared(store: Store, rollout: Rollout) -> bool:
    with store.read() as tx:
        return kept.running(tx.scoped(rollout.tenant_id), rollout.application_id) is not None


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
            close = kept.close if rollout.way == RolloutWay.AFTER else kept.end
            close(tx, rollout, RolloutState.STOPPED, reason)
    return True


def _move_on(store: Store, rollout: Rollout) -> None:
    """Count what can be counted, and have the other model predict what it has to."""
    with store.read() as tx:
        tables = tx.scoped(rollout.tenant_id)
        if requests.under_way(tables, KIND, rollout.id):
            return
        now = tx.now()
        news = compared_rows.news(tables, rollout, now)
    has_failed = news.failures > rollout.evidence.failures
    if not any((news.told, news.wanted, has_failed)):
        return
    file = _keep_file(store, rollout, news.wanted)
    with store.write() as tx:
        _take_in(tx, rollout, news, now, file)


def _take_in(
    tx: Transaction, rollout: Rollout, news: News, now: float, file: tuple[str, int]
) -> None:
    """Count what came, and write the task for the rows of ``file``, unless others were faster.

    ``now``: when ``news`` was looked up. ``file``: digest and size.
    """
    tables = tx.scoped(rollout.tenant_id)
    rollout = tables.rollouts.get(rollout.id)
    is_asked = bool(requests.under_way(tables, KIND, rollout.id))
    if rollout.state != RolloutState.RUNNING or is_asked:
        return
    seen = news.seen_until(rollout)
    told = news.told_until(now) or rollout.told
    rollout = tables.rollouts.update(rollout.id, told=told, seen=seen)
    if news.wanted:
        _request(tx, rollout, *file)
    count(tx, rollout, news)


def _keep_file(store: Store, rollout: Rollout, rows: Sequence[ProductionRow]) -> tuple[str, int]:
    """Write the rows that are to be predicted; return digest and size of the file, if any."""
    if not rows:
        return "", 0
    content = json.dumps(compared_rows.by_model(rollout, rows)).encode()
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
    changed = sum(map(_differ, rows))
    rollout = tables.rollouts.update(
        rollout.id, compared=rollout.compared + len(rows), changed=rollout.changed + changed
    )
    count(tx, rollout, News([], rows, [], rollout.evidence.failures))


def could_not_compare(tx: Transaction, task: Task) -> None:
    """Take the new model back where rows could not be predicted by both, again and again.

    A task may end with its worker: that is no fault of the model.
    """
    _forget_file(tx, task)
    tables = tx.scoped(task.tenant_id)
    rollout = tables.rollouts.find(id=task.subject, state=RolloutState.RUNNING)
    failed = tables.tasks.count(subject=task.subject, state=TaskState.FAILED)
    if rollout is None or failed < _MOST_FAILED:
        return
    fault = task.error.strip().rpartition("\n")[2]
    if rollout.way == RolloutWay.AFTER:
        returning.stops(tx, rollout, fault)
    else:
        take_back(tx, rollout, f"It could not be compared: {fault}")


def _forget_file(tx: Transaction, task: Task) -> None:
    """Let go of the file of rows: the log keeps them as long as its owner wants, and no longer."""
    tables = tx.scoped(task.tenant_id)
    digest = Asked.from_json(task.payload).source
    tables.tasks.update(task.id, payload={**task.payload, "source": ""})
    tables.artefacts.forget(tx.now() + 1.0, id=f"{task.tenant_id}:{digest}")


def _differ(row: ProductionRow) -> bool:
    return row.other is not None and row.answer["prediction"] != row.other.prediction
