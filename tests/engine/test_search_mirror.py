"""The scheduler's picture of the searches: limits, deadlines and shares reach the policy."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import simulated
from simulated import REGISTRY

from easeml.contract.states import Role
from easeml.engine.membership import register
from easeml.engine.scheduler import Scheduler
from easeml.engine.search_mirror import SearchMirror
from easeml.ids import new_id
from easeml.search import decision_log, policy_named
from easeml.service.knowledge.trials import Trial, finished_trials, trials_of
from easeml.service.search import beliefs
from easeml.store import Store, Transaction
from easeml.store.records import Candidate, Task, Tenant, User
from easeml.store.shapes import CandidatePipeline, JobLimits, ModuleConfig, TenantLimits

NOW = 1000.0


@pytest.fixture
def store(tmp_path: Path) -> Store:
    simulated.make_template(tmp_path / "template")
    return simulated.open_copy(tmp_path / "template", tmp_path / "home", lambda: NOW)


def opened(store: Store, folder: Path, **limits: float) -> tuple[SearchMirror, str]:
    """Return a mirror that follows one job with these limits, and the job's id."""
    job_id = simulated.add_job(store, folder)
    mirror = SearchMirror(policy_named(), REGISTRY)
    with store.write() as tx:
        job = tx.unscoped().jobs.update(job_id, limits=JobLimits(**limits))
        mirror.sync(tx, job)
    return mirror, job_id


def test_limits_of_a_job_are_the_budget_of_its_search(store: Store, tmp_path: Path) -> None:
    mirror, _ = opened(store, tmp_path, tasks=2)
    assert len(mirror.policy.decide(mirror.state, 5)) == 2


def test_limits_that_are_raised_reach_the_search(store: Store, tmp_path: Path) -> None:
    mirror, job_id = opened(store, tmp_path, tasks=1)
    assert len(mirror.policy.decide(mirror.state, 5)) == 1
    with store.write() as tx:
        mirror.sync(tx, tx.unscoped().jobs.update(job_id, limits=JobLimits(tasks=3)))
    assert len(mirror.policy.decide(mirror.state, 5)) == 3


def test_no_run_is_started_that_would_end_after_the_deadline(store: Store, tmp_path: Path) -> None:
    mirror, job = opened(store, tmp_path, deadline=NOW + 1.5)  # a run takes one second
    assert mirror.move_to(NOW) == []
    assert len(mirror.policy.decide(mirror.state, 5)) == simulated.ARMS
    assert mirror.move_to(NOW + 1) == []
    assert mirror.policy.decide(mirror.state, 5) == []
    assert mirror.move_to(NOW + 2) == [job]
    assert mirror.move_to(NOW + 3) == []


def test_a_tenant_has_the_share_that_the_provider_gave_it(store: Store, tmp_path: Path) -> None:
    mirror, job_id = opened(store, tmp_path)
    assert len(mirror.policy.decide(mirror.state, 5)) == simulated.ARMS
    with store.write() as tx:
        job = tx.unscoped().jobs.get(job_id)
        tx.tenants.update(job.tenant_id, limits=TenantLimits(devices=1))
        mirror.sync(tx, job)
    assert len(mirror.policy.decide(mirror.state, 5)) == 1


def test_a_job_rests_when_its_deadline_has_passed(tmp_path: Path) -> None:
    clock = [NOW]
    simulated.make_template(tmp_path / "template")
    store = simulated.open_copy(tmp_path / "template", tmp_path / "home", lambda: clock[0])
    job_id = simulated.add_job(store, tmp_path)
    with store.write() as tx:
        tx.unscoped().jobs.update(job_id, limits=JobLimits(deadline=NOW + 5))
    scheduler = Scheduler(store, REGISTRY, policy_named(), 10.0)
    scheduler.step()
    clock[0] = NOW + 6
    for _ in range(2):
        scheduler.keep_house()
        scheduler.step()
    with store.read() as tx:
        assert tx.unscoped().jobs.get(job_id).state == "resting"
    store.close()


def test_a_search_that_grows_is_seldom_learned_anew(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With every half as many candidates again, and for a new model; otherwise what is believed
    grows.
    """
    learned: list[int] = []
    learned_beside = decision_log.learned_beside

    def counted(arms: Any, *runs: Any) -> Any:
        learned.append(len(arms))
        return learned_beside(arms, *runs)

    monkeypatch.setattr(decision_log, "learned_beside", counted)
    mirror, job_id = opened(store, tmp_path)

    def grow(arm: int, model: str) -> None:
        with store.write() as tx:
            job = tx.unscoped().jobs.get(job_id)
            pipeline = CandidatePipeline([], ModuleConfig(model))
            candidate = Candidate(
                new_id("cand"), job.tenant_id, job_id, arm, f"{model}-{arm}", model, pipeline, 1.0
            )
            tx.scoped(job.tenant_id).candidates.add_all([candidate])
            mirror.sync(tx, job)

    for arm in range(simulated.ARMS, 60):
        grow(arm, "m0")
        assert len(mirror.state.job(job_id).arms) == arm + 1
    assert learned == [3, 5, 8, 12, 18, 27, 41]
    grow(60, "new")
    assert learned[-1] == 61


@pytest.mark.parametrize("past", [0, 600])
def test_a_search_learns_from_those_that_run_beside_it(
    store: Store, tmp_path: Path, past: int
) -> None:
    """The third model is the best of two other jobs, so it comes first in this one, which was open
    before.

    However many tasks were done in the past: a job that is over.
    """
    if past:
        over = simulated.add_job(store, tmp_path)
        add_done(store, over, [0.5] * past)
        with store.write() as tx:
            tx.unscoped().jobs.update(over, state="stopped")
    mirror, job_id = opened(store, tmp_path)
    first = [choice.arm for choice in mirror.policy.decide(mirror.state, 1)]
    for qualities in ((0.5, 0.5, 0.95), (0.6, 0.6, 0.97)):
        add_done(store, simulated.add_job(store, tmp_path), qualities)
    with store.read() as tx:
        mirror.sync(tx, tx.unscoped().jobs.get(job_id))
    assert first != [2]
    assert [choice.arm for choice in mirror.policy.decide(mirror.state, 1)] == [2]


def add_done(
    store: Store, job_id: str, qualities: Sequence[float], cost: float = 1.0, **more: Any
) -> None:
    """Add done tasks with these qualities, one candidate of the job after the other."""
    with store.write() as tx:
        tenant = tx.unscoped().jobs.get(job_id).tenant_id
        tables = tx.scoped(tenant)
        candidates = sorted(tables.candidates.list(job_id=job_id), key=lambda one: one.arm)
        for number, quality in enumerate(qualities):
            place = {"job_id": job_id, "candidate_id": candidates[number % len(candidates)].id}
            ended = {
                "state": "done",
                "quality": quality,
                "cost": cost,
                "finished": NOW,
                "attempts": 1,
            }
            tables.tasks.add(
                Task(new_id("task"), tenant, "train", "search", {}, **place, **ended, **more)
            )


def test_a_result_of_one_tenant_tells_what_those_of_others_cost(
    store: Store, tmp_path: Path
) -> None:
    mirror, waiting = opened(store, tmp_path)
    mirror.follow_costs()
    before = mirror.state.job(waiting).costs.copy()
    done = simulated.add_job(store, tmp_path)
    add_done(store, done, [0.5, 0.6, 0.7], cost=30.0)
    with store.read() as tx:
        mirror.sync(tx, tx.unscoped().jobs.get(done))
    mirror.follow_costs()
    after = mirror.state.job(waiting).costs
    assert (after > 3 * before).all()
    assert after == pytest.approx([30.0] * len(after), rel=0.6)
    written = mirror.take_costs()
    with store.read() as tx:
        candidates = tx.unscoped().candidates.list(job_id=waiting, limit=None)
    assert {one.id: after[one.arm] for one in candidates}.items() <= written.items()
    assert mirror.take_costs() == {}


def test_what_finished_runs_taught_is_read_once(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def noted(tx: Transaction, task_ids: Sequence[str]) -> list[Trial]:
        read.extend(task_ids)
        return trials_of(tx, task_ids)

    monkeypatch.setattr(beliefs, "trials_of", noted)
    add_done(store, simulated.add_job(store, tmp_path), [0.5, 0.6, 0.7])
    mirror, _ = opened(store, tmp_path)
    assert len(read) == 3
    later = simulated.add_job(store, tmp_path)
    add_done(store, later, [0.8])
    with store.read() as tx:
        mirror.sync(tx, tx.unscoped().jobs.get(later))
        assert set(read) == {trial.task_id for trial in finished_trials(tx)}
    assert len(read) == 4
    mirror.follow_registry(REGISTRY)
    with store.read() as tx:
        mirror.sync(tx, tx.unscoped().jobs.get(simulated.add_job(store, tmp_path)))
    assert len(read) == 8


def test_time_in_which_others_had_the_processor_is_no_cost(store: Store, tmp_path: Path) -> None:
    busy, quiet = simulated.add_job(store, tmp_path), simulated.add_job(store, tmp_path)
    add_done(store, busy, [0.5], cost=9.0, result={"waited": 6.0, "processor": 2.9})
    add_done(store, quiet, [0.5], cost=3.0, result={"waited": 0.0, "processor": 2.9})
    with store.read() as tx:
        costs = [trial.cost for trial in finished_trials(tx)]
    assert costs == [3.0, 3.0]


def test_other_limits_change_nothing_that_is_believed(store: Store, tmp_path: Path) -> None:
    mirror, job_id = opened(store, tmp_path, tasks=4)
    believed = mirror.state.job(job_id).posterior
    with store.write() as tx:
        mirror.sync(tx, tx.unscoped().jobs.update(job_id, limits=JobLimits(tasks=2, seconds=9.0)))
    assert mirror.state.job(job_id).posterior is believed
    assert mirror.state.job(job_id).budget.seconds == 9.0


@pytest.mark.parametrize("limits", [{"seconds": 5.0}, {"deadline": NOW + 5}])
def test_what_runs_stops_at_the_limit_of_its_search(tmp_path: Path, limits: dict) -> None:
    clock = [NOW]
    simulated.make_template(tmp_path / "template")
    store = simulated.open_copy(tmp_path / "template", tmp_path / "home", lambda: clock[0])
    job_id = simulated.add_job(store, tmp_path)
    with store.write() as tx:
        tx.unscoped().jobs.update(job_id, limits=JobLimits(**limits))
    worker = register(store, "worker")
    scheduler = Scheduler(store, REGISTRY, policy_named(), 10.0)
    scheduler.step()
    with store.write() as tx:
        claimed = tx.queue.claim(worker.id, "search", 60)
    assert claimed is not None
    clock[0] = NOW + 4
    scheduler.keep_house()
    with store.read() as tx:
        assert tx.unscoped().tasks.get(claimed[0].id).state == "running"
    clock[0] = NOW + 5
    for _ in range(2):
        scheduler.keep_house()
        scheduler.step()
    with store.read() as tx:
        task = tx.unscoped().tasks.get(claimed[0].id)
        job = tx.unscoped().jobs.get(job_id)
    assert (task.state, task.cost) == ("cancelled", 5.0)
    assert "while this ran" in task.error
    assert (job.state, job.cost) == ("resting", 5.0)
    store.close()


def test_providers_are_told_once_of_a_tenant_that_starves(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who starves is decided elsewhere; here everybody who waits does."""
    monkeypatch.setattr("easeml.engine.starving.starving", lambda waits, *rest: list(waits))
    simulated.add_job(store, tmp_path)
    with store.write() as tx:
        tx.tenants.add(Tenant("ten_0", "provider"))
        tx.users.add(User("user_0", "provider", "", Role.PROVIDER, "ten_0"))
    scheduler = Scheduler(store, REGISTRY, policy_named(), 10.0)
    scheduler.step()
    for _ in range(3):
        scheduler.keep_house()
    with store.read() as tx:
        told = tx.events.newest("ten_0", ["provider.starving"])
    assert len(told) == 1
    assert set(told[0].data) == {"tenant", "seconds", "decisions"}
