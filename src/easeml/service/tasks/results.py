"""What an attempt is told to do, and what becomes of what it brings back."""

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from easeml.contract.states import Lane, TaskState
from easeml.contract.tasks import Resources, TaskResult, TaskSpec
from easeml.service.knowledge import gpus
from easeml.service.storage import artefact_references
from easeml.service.tasks import needs, task_views
from easeml.service.tasks.kinds import Kind, find_kind, kind_named
from easeml.store import Transaction
from easeml.store.gpu_shares import WHOLE
from easeml.store.records import Attempt, Task
from easeml.store.shapes import given

_UNKNOWN: Mapping[str, int] = {}  # sizes that nobody told count as 0
LOG, TRACE = ".log", ".trace"  # no output has these names


def task_spec(tx: Transaction, task: Task) -> TaskSpec:
    """Return a task's instruction with the digests of its inputs.

    Raises ``NotFound`` if an input is gone, ``InvalidInput`` for a kind that is no longer there.
    """
    kind = kind_named(task.spec_kind)
    spec = kind.spec.model_validate(task.payload)
    limits = given(of_kind=kind.seconds, of_spec=spec.longest_seconds)
    return TaskSpec(
        module=kind.module,
        body=spec.to_json(),
        inputs=kind.inputs(tx.scoped(task.tenant_id), task),
        seconds=min(limits.values(), default=None),
        ids=_ids(task),
        needs=Resources(**asdict(task.needs), gpu_memory=task.gpu_memory),
        in_background=_is_in_background(tx, task),
    )


def _is_in_background(tx: Transaction, task: Task) -> bool:
    """Whether a task only betters what is served: nobody waits for it."""
    if task.lane != Lane.SEARCH or task.urgent:
        return False
    application = tx.scoped(task.tenant_id).applications.find(id=task.subject)
    return application is not None and bool(application.live_model_id)


def _ids(task: Task) -> dict[str, str]:
    """Return by what the logs of all processes name a task."""
    ids = {"task": task.id}
    return {**ids, "request": task.request} if task.request else ids


def accept(
    tx: Transaction,
    attempt: Attempt,
    result: TaskResult,
    digests: Mapping[str, str],
    sizes: Mapping[str, int] = _UNKNOWN,
) -> Task:
    """Take what an attempt brought, all in ``tx``.

    It is the end of its task, the records that its kind makes, and events.

    ``digests`` and ``sizes`` (bytes): of its outputs by name, already in the artefact store;
    ``LOG`` names what it printed, ``TRACE`` what it noted of itself. A result that fails puts the
    task back while it may be retried. Returns the task as it is now. Raises ``Fenced`` (then let the
    transaction end without a commit) if the attempt is not the current one.
    """
    task = tx.unscoped().tasks.get(attempt.task_id)
    _keep_texts(tx, attempt, digests, sizes)
    if result.gpu_exceeded and task.gpu_memory and attempt.gpu:
        return _again_with_whole_gpu(tx, attempt, result)
    if result.memory_exceeded and needs.is_more_elsewhere(tx, attempt.process_id):
        return _again_where_more_is(tx, attempt, result)
    if not result.ok:
        error = result.error or "The attempt failed without saying why."
        return _fail(tx, attempt, error, result.retry, result.cost, result.value.get("fault"))
    kind = kind_named(task.spec_kind)
    problem = _what_lacks(kind, result, digests)
    if problem:
        return _fail(tx, attempt, problem, False, result.cost)
    quality = measure = None
    brings_model = "model" in digests and "quality" in result.value
    if brings_model:
        quality = float(result.value["quality"])
        measure = _measure(task, result)
    done = tx.queue.complete(
        attempt, result=_kept(result), quality=quality, cost=result.cost, measure=measure
    )
    for name, digest in digests.items():
        artefact_references.keep(tx, task.tenant_id, digest, sizes.get(name, 0))
    kind.record(tx, done, result, digests)
    gpus.learn(tx, done, result.gpu_memory)
    needs.learn(tx, done, result)
    _tell(tx, "task.done", done)
    return done


def _again_with_whole_gpu(tx: Transaction, attempt: Attempt, result: TaskResult) -> Task:
    """End an attempt whose share was too small. The next one has a whole GPU, and is measured."""
    failed = _fail(tx, attempt, result.error, True, result.cost)
    return tx.unscoped().tasks.update(failed.id, gpu_memory=WHOLE)


def _again_where_more_is(tx: Transaction, attempt: Attempt, result: TaskResult) -> Task:
    """End an attempt whose worker gave it too little memory. The next one goes where more is."""
    failed = _fail(tx, attempt, result.error, True, result.cost)
    least = needs.most_memory(tx, attempt.process_id) + 1
    return tx.unscoped().tasks.update(failed.id, memory=least)


def after_failure(tx: Transaction, task: Task) -> None:
    """Carry the failure of ``task`` (state failed) to what it was for.

    That is a version, its applications and their jobs.

    ``accept`` does so itself; call it for tasks that failed because their attempts were lost.
    """
    kind = find_kind(task.spec_kind)
    if kind is not None:
        kind.failed(tx, task)
    _tell(tx, "task.failed", task)


def suspend(tx: Transaction, task: Task, attempt: Attempt, seconds: float) -> Task:
    """Let a task wait again whose attempt was ended for an urgent one, after ``seconds`` are lost.

    Raises ``Fenced`` like ``accept``.
    """
    waiting = tx.queue.suspend(attempt, cost=seconds)
    name = task_views.names(tx.scoped(task.tenant_id), [task])[task.id]
    data = {"job_id": task.job_id, "name": name, "seconds": seconds}
    tx.events.append("task.suspended", task.id, data, task.tenant_id)
    return waiting


def lose(
    tx: Transaction,
    attempt: Attempt,
    error: str,
    digests: Mapping[str, str],
    sizes: Mapping[str, int],
) -> None:
    """Give up an attempt whose machine went away: its task waits again, or was lost too often.

    ``digests`` and ``sizes``: of its log, as for ``accept``.
    """
    _keep_texts(tx, attempt, digests, sizes)
    for task in tx.queue.lose(attempt, error):
        if task.state == TaskState.FAILED:
            after_failure(tx, task)


def _keep_texts(
    tx: Transaction, attempt: Attempt, digests: Mapping[str, str], sizes: Mapping[str, int]
) -> None:
    """Keep what the attempt printed, and what it noted of itself."""
    for name, column in ((LOG, "log"), (TRACE, "trace")):
        if name in digests:
            artefact_references.keep(tx, attempt.tenant_id, digests[name], sizes.get(name, 0))
            kept: dict[str, Any] = {column: digests[name]}
            tx.unscoped().attempts.update(attempt.id, **kept)


def _fail(
    tx: Transaction,
    attempt: Attempt,
    error: str,
    retry: bool,
    cost: float,
    fault: str | None = None,
) -> Task:
    """End an attempt as failed. ``fault``: what a module did wrong, where it is a module's fault."""
    failed = tx.queue.fail(attempt, error=error, retry=retry, cost=cost)
    if fault:
        failed = tx.unscoped().tasks.update(failed.id, result={"fault": fault})
    if failed.state == TaskState.FAILED:
        after_failure(tx, failed)
    return failed


def _measure(task: Task, result: TaskResult) -> dict[str, Any]:
    """Return the quality in its own unit; nothing where a kind of task does not bring it."""
    measures = result.value.get("measures", {})
    return measures.get(task.objective, {})


def _kept(result: TaskResult) -> dict[str, Any]:
    """Return what a task shows as its result.

    It is what the body found, its notes, and when the body ran.
    """
    extra = {
        "notes": result.notes,
        "began": result.began,
        "ended": result.ended,
        "processor": result.processor,
        "waited": result.waited,
        "gpu_memory": result.gpu_memory,
        "memory": result.memory,
        "disk": result.disk,
    }
    return {**result.value, **{name: value for name, value in extra.items() if value}}


def _what_lacks(kind: Kind, result: TaskResult, digests: Mapping[str, str]) -> str:
    """Return what is wrong with what a task brought, in a sentence; empty for nothing."""
    outputs = [f"output {name}" for name in kind.outputs if name not in digests]
    values = [f"value {name}" for name in kind.values if name not in result.value]
    missing = outputs + values
    if missing:
        return f"The {kind.name} task did not bring: {', '.join(missing)}."
    for name in kind.values:
        value = result.value[name]
        if isinstance(value, float) and not math.isfinite(value):
            return f"The {name} of the {kind.name} task is not a number: {value}."
    return ""


def _tell(tx: Transaction, event: str, task: Task) -> None:
    name = task_views.names(tx.scoped(task.tenant_id), [task])[task.id]
    data = {
        "job_id": task.job_id,
        "name": name,
        "quality": task.quality,
        "measure": task.measure,
        "objective": task.objective,
        "cost": task.cost,
    }
    tx.events.append(event, task.id, data, task.tenant_id)
