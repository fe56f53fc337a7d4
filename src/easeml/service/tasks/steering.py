"""Cancelling a task, asking for one again that failed, and tracing one."""

from easeml.contract.states import TASKS_UNDER_WAY, TaskGroup, TaskState
from easeml.contract.task_views import Task as TaskAnswer
from easeml.errors import Conflict
from easeml.service.access.caller import Caller
from easeml.service.limits import quotas
from easeml.service.tasks import requests, task_views
from easeml.service.tasks.kinds import find_kind, kind_named
from easeml.store import Store
from easeml.store.records import Task

_REASON = "Its owner cancelled it."
_ASKED_BY_PEOPLE = ("advise", "find-work", "predict-file")  # others depend on the moment


def cancel(store: Store, caller: Caller, task_id: str) -> TaskAnswer:
    """End a task that waits or runs; one that is finished stays as it is.

    Raises ``NotFound``, ``Conflict`` for a task that reads data, which others wait for.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        task = tables.tasks.get(task_id)
        if task.kind == TaskGroup.INGEST:
            raise Conflict(
                "A task that reads data cannot be cancelled: its version would stay unfinished.",
                where=task_id,
                remedy="It ends within minutes.",
            )
        if task.state in TASKS_UNDER_WAY:
            task = tx.queue.cancel(task_id, _REASON)
            data = {"job_id": task.job_id, "error": _REASON}
            tx.events.append("task.cancelled", task_id, data, caller.tenant_id)
            kind = find_kind(task.spec_kind)
            if task.kind == TaskGroup.ADVISE and kind is not None:
                kind.failed(tx, task)  # whatever waits for it waits no longer
        return task_views.show_all(tables, [task])[0]


def retry(store: Store, caller: Caller, task_id: str) -> TaskAnswer:
    """Ask once more for what a task that failed or was cancelled was asked for: a new task.

    Raises ``NotFound``, ``Conflict`` for a task that is under way or done, whose file is not kept
    any more, or that depends on the moment, such as what a search trains; and what
    ``quotas.check_computing`` raises.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        task = tables.tasks.get(task_id)
        _check_can_be_retried(task)
        quotas.check_computing(tx, caller.tenant_id)
        spec = dict(task.payload)
        del spec["kind"]
        again = requests.request(
            tx, caller.tenant_id, task.spec_kind, task.subject, job_id=task.job_id, **spec
        )
        return task_views.show_all(tables, [again])[0]


def trace(store: Store, caller: Caller, task_id: str, *, on: bool) -> TaskAnswer:
    """Trace what a task does from now on, or no more; it need not be changed for that.

    A task that waits is traced from its beginning on. What was noted stays. Raises ``NotFound``,
    ``Conflict`` for a task that has ended.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        task = tables.tasks.get(task_id)
        if task.state not in TASKS_UNDER_WAY:
            raise Conflict(
                f"The task is {task.state}: there is nothing to trace.",
                where=task_id,
                remedy="Trace a task while it waits or runs.",
            )
        if task.traced != on:
            tables.tasks.update(task_id, traced=on)
            kind = "task.traced" if on else "task.untraced"
            tx.events.append(kind, task_id, {"job_id": task.job_id}, caller.tenant_id)
        return task_views.show_all(tables, [tables.tasks.get(task_id)])[0]


def _check_can_be_retried(task: Task) -> None:
    if task.state not in (TaskState.FAILED, TaskState.CANCELLED):
        raise Conflict(f"The task is {task.state}.", where=task.id)
    if task.kind == TaskGroup.TRAIN:
        raise Conflict(
            "What a search trains is its own choice.",
            where=task.id,
            remedy="To train a model now: easeml app try APPLICATION --model NAME.",
        )
    if task.spec_kind not in _ASKED_BY_PEOPLE:
        raise Conflict(
            "What this task was for may have changed: it is not repeated.",
            where=task.id,
            remedy="Do again what it came from; what easeml needs it asks for itself.",
        )
    spec = kind_named(task.spec_kind).spec.model_validate(task.payload)
    if getattr(spec, "source", None) == "":
        raise Conflict(
            "The file is not kept any more.", where=task.id, remedy="Predict the file again."
        )
