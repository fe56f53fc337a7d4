"""How fast the kinds of devices are, told to the queue as it is learned."""

from collections.abc import Callable

from easeml.contract.states import ProcessKind, ProcessState
from easeml.store import Store

from .leadership import Leadership

_SAME = 0.05  # share of a pace by which another is none: each write wakes all who wait


def follow_paces(store: Store, leadership: Leadership, learned: Callable[[str], float]) -> None:
    """Note the pace of each worker whose device is of another kind than the usual.

    ``learned``: the pace of a kind by now. Raises ``Fenced`` where another leads.
    """
    running = {"kind": ProcessKind.WORKER, "state": ProcessState.RUNNING}
    with store.read() as tx:
        workers = [one for one in tx.processes.list(**running, limit=None) if one.device]
    kinds = {worker.device for worker in workers}
    paces = dict(zip(kinds, map(learned, kinds), strict=True))
    changed = [one for one in workers if abs(paces[one.device] - one.pace) > _SAME * one.pace]
    if not changed:
        return
    with leadership.write() as tx:
        for worker in changed:
            tx.processes.update(worker.id, pace=paces[worker.device])
