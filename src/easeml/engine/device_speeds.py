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
        found = tx.processes.pick("id", "device", "pace", **running)
    workers = [one for one in found if one[1]]
    kinds = {device for _, device, _ in workers}
    paces = dict(zip(kinds, map(learned, kinds), strict=True))
    changed: dict[str, float] = {}
    for id, device, known in workers:
        pace = paces[device]
        if abs(pace - known) > _SAME * known:
            changed[id] = pace
    if not changed:
        return
    with leadership.write() as tx:
        for id, pace in changed.items():
            tx.processes.update(id, pace=pace)
