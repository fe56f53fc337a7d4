"""Urgent tasks of the search: how many wait for a device, and what could end for them."""

from typing import NamedTuple

from easeml.contract.states import TASKS_UNDER_WAY, AttemptState, Lane, TaskGroup, TaskState
from easeml.search.preemption import OnDevice
from easeml.store import Transaction
from easeml.store.records import Task


class Demand(NamedTuple):
    """``wanted``: devices that urgent tasks still need; ``running``: what may be suspended."""

    wanted: int
    running: list[OnDevice]


def demand(tx: Transaction, devices: int) -> Demand:
    """Return what urgent tasks need beyond the devices that are free or will be in a moment.

    ``devices``: how many there are. Urgent tasks are never suspended.
    """
    tables = tx.unscoped()
    running = tables.tasks.list(lane=Lane.SEARCH, state=TaskState.RUNNING, limit=None)
    attempts = tables.attempts.list(
        task_id=[task.id for task in running], state=AttemptState.RUNNING, limit=None
    )
    ending = {one.task_id for one in attempts if one.asked_to_end is not None}
    idle = max(0, devices - len(running))
    wanted = max(0, urgent_waiting(tx) - idle - len(ending))
    others = [task for task in running if not task.urgent and task.id not in ending]
    return Demand(wanted, _on_devices(tx, others))


def _on_devices(tx: Transaction, running: list[Task]) -> list[OnDevice]:
    """Return running tasks as it is decided which of them is suspended."""
    asked = [task.candidate_id for task in running]
    costs = dict(tx.unscoped().candidates.pick("id", "predicted_cost", id=asked))
    found = []
    for task in running:
        ran = tx.now() - (task.started or tx.now())
        cost = costs.get(task.candidate_id, 0.0)
        found.append(OnDevice(task.id, ran, cost, task.suspensions))
    return found


def urgent_waiting(tx: Transaction) -> int:
    """Return how many urgent tasks of the search wait for a device."""
    tasks = tx.unscoped().tasks
    return tasks.count(lane=Lane.SEARCH, state=TaskState.WAITING, urgent=True)


def urgent_under_way(tx: Transaction) -> int:
    """Return how many urgent tasks of the search wait or run."""
    tasks = tx.unscoped().tasks
    return tasks.count(lane=Lane.SEARCH, state=TASKS_UNDER_WAY, urgent=True)


def hurry(tx: Transaction, tenant_id: str) -> bool:
    """Let a waiting training task of a tenant go before others; False where it has none under way."""
    tables = tx.scoped(tenant_id)
    under_way = tables.tasks.list(kind=TaskGroup.TRAIN, state=TASKS_UNDER_WAY, limit=None)
    if not under_way:
        return False
    if TaskState.RUNNING not in {task.state for task in under_way}:
        tables.tasks.update(under_way[0].id, where={"state": TaskState.WAITING}, urgent=True)
    return True
