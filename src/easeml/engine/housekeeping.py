"""Giving back the work of processes that ended or fell silent."""

import structlog

from easeml.contract.states import AttemptState, ProcessKind, ProcessState, TaskState
from easeml.service.tasks import results
from easeml.store import Store, Transaction
from easeml.store.records import Task

from .membership import Signs, has_ended

_log = structlog.get_logger()


def give_back_lost_work(store: Store, silence: float) -> list[Task]:
    """End the processes that are gone, and put back the tasks of lost attempts; returns these
    tasks.

    ``silence``: seconds without a heartbeat after which a process of another host counts as gone.
    Tasks that were lost too often fail, with what they were for.
    """
    with store.read() as tx:
        now = tx.now()
        running = tx.processes.list(state=ProcessState.RUNNING, limit=None)
        leases = tx.unscoped().attempts.column("lease_expires", state=AttemptState.RUNNING)
    gone = [process for process in running if has_ended(process, now, silence)]
    is_late = min(leases, default=now) < now
    if not gone and not is_late:
        return []
    with store.write() as tx:
        lost = tx.queue.reap()
        for process in gone:
            if has_ended(tx.processes.get(process.id), tx.now(), silence):  # it may have come back
                lost += tx.queue.release(process.id)
                tx.processes.update(process.id, state=ProcessState.ENDED)
                _log.info("process ended", kind=process.kind, id=process.id)
        for task in lost:
            if task.state == TaskState.FAILED:
                results.after_failure(tx, task)
    return lost


def live_workers(tx: Transaction, silence: float) -> int:
    """Return how many workers are there and take tasks."""
    now = tx.now()
    workers = tx.processes.pick(
        *Signs._fields,
        kind=ProcessKind.WORKER,
        state=ProcessState.RUNNING,
        draining=False,
    )
    return sum(not has_ended(Signs(*worker), now, silence) for worker in workers)
