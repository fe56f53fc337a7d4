"""Urgent work: it gets a device at once, and what runs may have to end for it."""

from easeml.search.preemption import Rule, to_suspend
from easeml.service.search import urgent_tasks
from easeml.store import Store, Transaction

from .housekeeping import live_workers
from .search_mirror import SearchMirror

_TASKS_A_WORKER = 2  # urgent ones, as of all tasks: one that runs and one ahead


class UrgentWork:
    """Newcomers' first models, tenants whose priority was raised, and try-outs.

    With a rule that does not preempt nothing is urgent.
    """

    def __init__(self, store: Store, rule: Rule, silence: float):
        """``silence``: seconds after which a worker that says nothing is gone."""
        self._store = store
        self._rule = rule
        self._silence = silence

    @property
    def is_on(self) -> bool:
        """May anything be urgent?"""
        return self._rule.preempts

    def hurry(self, tx: Transaction, mirror: SearchMirror) -> None:
        """Let what tenants of a raised priority have in the queue go first.

        Those that have nothing there stay urgent until something of theirs is started.
        """
        for tenant in sorted(mirror.raised):
            if urgent_tasks.hurry(tx, tenant):
                mirror.raised.discard(tenant)

    def free_devices(self, mirror: SearchMirror) -> int:
        """Return how many urgent tasks may be written now; 0 where nothing is urgent."""
        if not self.is_on or not mirror.state.urgent(mirror.raised):
            return 0
        with self._store.read() as tx:
            under_way = urgent_tasks.urgent_under_way(tx)
            workers = live_workers(tx, self._silence)
        return _TASKS_A_WORKER * workers - under_way

    def to_end(self, mirror: SearchMirror) -> list[str]:
        """Return the tasks that have to end for urgent ones that wait, and note the choice."""
        if not self.is_on:
            return []
        with self._store.read() as tx:
            if not urgent_tasks.urgent_waiting(tx):
                return []
            devices = live_workers(tx, self._silence)
            wanted, running = urgent_tasks.demand(tx, devices)
        chosen = to_suspend(self._rule, wanted, running)
        if chosen:
            seen = list(map(list, running))
            rule = self._rule.name
            mirror.note("preempted", rule=rule, wanted=wanted, running=seen, chosen=chosen)
        return chosen
