"""Searches at rest cost a scheduler nothing, and wake when something happens to them."""

from pathlib import Path
from typing import Any

import pytest
import simulated
import sqlalchemy as sa
from simulated import REGISTRY

from easeml.contract.states import JobState
from easeml.contract.tasks import Limits, TaskResult
from easeml.engine import rested_searches
from easeml.engine.membership import register
from easeml.engine.scheduler import Scheduler
from easeml.engine.slot import Slot, SlotContext
from easeml.ids import new_id
from easeml.search import policy_named
from easeml.service.search import candidates, jobs
from easeml.store import Store
from easeml.store.records import Candidate
from easeml.store.shapes import CandidatePipeline, JobLimits, ModuleConfig, TenantLimits

LEASE = 10.0


@pytest.fixture
def store(tmp_path: Path) -> Store:
    simulated.make_template(tmp_path / "template")
    return simulated.open_copy(tmp_path / "template", tmp_path / "home", lambda: 1000.0)


class Installation:
    """A scheduler, and a worker whose runs end at once; what is not training fails."""

    def __init__(self, store: Store, folder: Path):
        self.store = store
        self.folder = folder
        self._process = register(store, "worker")
        failed = TaskResult(ok=False, error="Nothing but training is played here.")
        self._slots = [
            self._slot("search", simulated.SimulatedExecutor()),
            self._slot("short", simulated.SimulatedExecutor(failed)),
        ]
        self.scheduler = self.new_scheduler()

    def _slot(self, lane: str, executor: simulated.SimulatedExecutor) -> Slot:
        limits = Limits(seconds=1, memory=1, threads=1)
        folder = self.folder / "work"
        return Slot(
            lane, SlotContext(self.store, executor, limits, self._process.id, folder, LEASE)
        )

    def new_scheduler(self) -> Scheduler:
        return Scheduler(self.store, REGISTRY, policy_named(), LEASE)

    def settle(self, tasks: int | None = None) -> str:
        """Let a new search try all that it may; return its id once nothing follows from it."""
        job_id = simulated.add_job(self.store, self.folder)
        with self.store.write() as tx:
            tx.unscoped().jobs.update(job_id, limits=JobLimits(tasks=tasks))
        self.work(job_id)
        return job_id

    def work(self, job_id: str) -> None:
        """Decide and train until a search has settled."""
        for _ in range(20):
            self.scheduler.keep_house()
            self.scheduler.step()
            worked = [slot.step() for slot in self._slots]
            if self.job(job_id).settled and not any(worked):
                return
        raise AssertionError("the search did not come to rest")

    def job(self, job_id: str) -> Any:
        with self.store.read() as tx:
            return tx.unscoped().jobs.get(job_id)

    def tried(self, job_id: str) -> int:
        with self.store.read() as tx:
            return tx.unscoped().tasks.count(job_id=job_id, kind="train", state="done")

    def told_in_a_round(self) -> list[int]:
        """Return how many values each statement has of a round in which nothing happens."""
        told: list[int] = []

        def note(_connection: Any, _cursor: Any, _statement: str, values: Any, *_: Any) -> None:
            told.append(len(values))

        engine = self.store._engine
        sa.event.listen(engine, "before_cursor_execute", note)
        self.scheduler.keep_house()
        self.scheduler.step()
        sa.event.remove(engine, "before_cursor_execute", note)
        return told


def test_a_round_asks_no_more_for_four_searches_at_rest_than_for_one(
    store: Store, tmp_path: Path
) -> None:
    """Nor does the picture of the searches, which every decision goes through, hold them.

    The test rows of none can be read, which is tried three times.
    """
    installation = Installation(store, tmp_path)
    installation.settle()
    few = installation.told_in_a_round()
    for _ in range(3):
        installation.settle()
    assert installation.told_in_a_round() == few
    assert not installation.scheduler._mirror.state.jobs


def test_a_search_at_rest_wakes_when_it_may_try_more(store: Store, tmp_path: Path) -> None:
    installation = Installation(store, tmp_path)
    job_id = installation.settle(tasks=1)
    assert installation.tried(job_id) == 1
    raise_limit(store, job_id)
    installation.work(job_id)
    assert installation.tried(job_id) == simulated.ARMS


def test_a_new_leader_hears_what_befell_searches_at_rest_before_it_led(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rested_searches, "_A_ROUND", 1)
    installation = Installation(store, tmp_path)
    job_id = installation.settle(tasks=1)
    other = installation.settle()
    installation.scheduler.step_down()
    raise_limit(store, job_id)
    with store.write() as tx:
        tx.unscoped().jobs.update(job_id, settled=True)  # as written by what no longer knows it
    installation.scheduler = installation.new_scheduler()
    installation.scheduler.step()
    assert installation.scheduler.looks_at_rested
    while installation.scheduler.looks_at_rested:
        installation.scheduler.keep_house()
        installation.scheduler.step()
    installation.work(job_id)
    assert installation.tried(job_id) == simulated.ARMS
    assert installation.job(other).settled


def test_what_people_ask_for_while_no_scheduler_leads_is_seen_by_the_next_at_once(
    store: Store, tmp_path: Path
) -> None:
    installation = Installation(store, tmp_path)
    resumed, offered = installation.settle(), installation.settle()
    installation.scheduler.step_down()
    new = Candidate(
        new_id("cand"),
        installation.job(offered).tenant_id,
        offered,
        simulated.ARMS,
        "m3",
        "m3",
        CandidatePipeline([], ModuleConfig("m3")),
        1.0,
    )
    with store.write() as tx:
        assert rested_searches.under_way(tx) == []
        jobs.set_state(tx, tx.unscoped().jobs.get(resumed), JobState.PAUSED, "job.paused")
        costs = installation.scheduler._mirror.costs(tx)
        candidates.keep_added(tx, REGISTRY, tx.unscoped().jobs.get(offered), [new], costs)
    installation.scheduler = installation.new_scheduler()
    installation.scheduler.step()
    assert installation.scheduler._mirror.knows(resumed)
    assert installation.scheduler._mirror.knows(offered)


def test_what_a_search_at_rest_has_spent_counts_against_the_quota_of_its_tenant(
    store: Store, tmp_path: Path
) -> None:
    """For a new leader from its first decision on."""
    installation = Installation(store, tmp_path)
    job_id = simulated.add_job(store, tmp_path)
    with store.write() as tx:
        tenant = tx.unscoped().jobs.get(job_id).tenant_id
        tx.tenants.update(tenant, limits=TenantLimits(seconds=1e9))
    installation.work(job_id)
    spent = installation.scheduler._mirror.state.job(job_id).spent
    assert spent > 0
    installation.scheduler.step_down()
    installation.scheduler = installation.new_scheduler()
    installation.scheduler.step()
    assert installation.scheduler._mirror.state.job(job_id).spent == spent


def raise_limit(store: Store, job_id: str) -> None:
    with store.write() as tx:
        job = tx.unscoped().jobs.update(job_id, limits=JobLimits(), settled=False)
        tx.events.append("job.limited", job_id, {"state": job.state}, job.tenant_id)
