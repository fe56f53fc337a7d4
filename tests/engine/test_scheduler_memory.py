"""A scheduler that leads for long holds what is under way, and of the past no more than a number."""

from pathlib import Path

import pytest
import simulated
from simulated import REGISTRY
from test_memory_is_bounded import held

from easeml.contract.tasks import Limits
from easeml.engine import machine_costs
from easeml.engine.membership import register
from easeml.engine.scheduler import Scheduler
from easeml.engine.slot import Slot, SlotContext
from easeml.search import policy_named
from easeml.search.costs import belief
from easeml.service.knowledge import trials
from easeml.service.search import jobs
from easeml.store import Store

LEASE = 10.0
SEARCHES = 8
KNOWN = 10  # runs of the past, of each kind of memory


class Tenants:
    """A scheduler, a worker whose runs end at once, and one tenant after the other."""

    def __init__(self, store: Store, folder: Path):
        self._store = store
        self._folder = folder
        limits = Limits(seconds=1, memory=1, threads=1)
        process = register(store, "worker")
        executor = simulated.SimulatedExecutor()
        context = SlotContext(store, executor, limits, process.id, folder / "work", LEASE)
        self._slot = Slot("search", context)
        self.scheduler = Scheduler(store, REGISTRY, policy_named(), LEASE)

    def search(self) -> None:
        """A new tenant tries all that there is, and goes."""
        job_id = simulated.add_job(self._store, self._folder)
        for _ in range(simulated.ARMS + 1):
            self.scheduler.step()
            self.scheduler.keep_house()
            self._slot.step()
        with self._store.write() as tx:
            job = tx.unscoped().jobs.get(job_id)
            jobs.set_state(tx, job, "stopped", "job.stopped")
        self.scheduler.step()


def test_a_scheduler_holds_no_more_after_twice_as_many_searches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "_MOST", KNOWN)
    monkeypatch.setattr(belief, "_MOST_RUNS", KNOWN)
    monkeypatch.setattr(machine_costs, "MOST_COUNTED", KNOWN)
    simulated.make_template(tmp_path / "template")
    store = simulated.open_copy(tmp_path / "template", tmp_path / "home", lambda: 1000.0)
    tenants = Tenants(store, tmp_path)
    for _ in range(SEARCHES):
        tenants.search()
    before = held(tenants.scheduler)
    for _ in range(SEARCHES):
        tenants.search()
    with store.read() as tx:
        assert tx.unscoped().tasks.count(state="done") == 2 * SEARCHES * simulated.ARMS
    turns = SEARCHES  # of each tenant that came: when it had its last one
    assert held(tenants.scheduler) - before == turns
    store.close()
