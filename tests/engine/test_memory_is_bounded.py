"""What processes remember does not grow with what they did: after twice as much it is as much."""

import asyncio
import gc
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import FunctionType, ModuleType

import httpx
import pytest
import simulated
from simulated import REGISTRY

from easeml.api import telemetry
from easeml.api.telemetry import Telemetry
from easeml.api.tenant_slots import TenantSlots
from easeml.contract.states import Lane, TaskGroup, TaskState
from easeml.engine import machine_costs
from easeml.engine.machine_costs import MachineCosts
from easeml.engine.messages.collector import Collector
from easeml.search import Arm, Budget
from easeml.search.decision_log import Change, told_arms
from easeml.service.knowledge.trials import work_of
from easeml.service.search import log, moments
from easeml.store import Store
from easeml.store.records import Candidate, Task

MANY = 60


@pytest.fixture
def store(tmp_path: Path) -> Store:
    simulated.make_template(tmp_path / "template")
    return simulated.open_copy(tmp_path / "template", tmp_path / "home", lambda: 1000.0)


def held(root: object) -> int:
    """Count the objects that one object holds, by whatever way, without the program itself."""
    seen = {id(root)}
    waiting = [root]
    while waiting:
        for one in gc.get_referents(waiting.pop()):
            if id(one) in seen or isinstance(one, type | ModuleType | FunctionType | Store):
                continue
            seen.add(id(one))
            waiting.append(one)
    return len(seen)


def grows(root: object, act: Callable[[int], None]) -> int:
    """Act twice as many times as ``MANY``; return what the second half added to what is held."""
    for number in range(MANY):
        act(number)
    before = held(root)
    for number in range(MANY, 2 * MANY):
        act(number)
    return held(root) - before


def test_what_is_held_is_counted() -> None:
    kept: list[object] = []
    assert grows(kept, lambda number: kept.append(object())) == MANY


def test_tenants_whose_uploads_are_through_are_forgotten() -> None:
    slots = TenantSlots()

    def upload(number: int) -> None:
        asyncio.run(slots.run(f"tenant-{number}", lambda: None))

    assert grows(slots._of_tenant, upload) == 0


def test_a_tenant_whose_uploads_overlap_keeps_its_slots() -> None:
    slots = TenantSlots()

    async def upload_two() -> list[str]:
        both = [slots.run("ann", lambda: "stored") for _ in range(20)]
        return await asyncio.gather(*both)

    assert asyncio.run(upload_two()) == ["stored"] * 20


def test_applications_that_were_predicted_are_remembered_up_to_a_number(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry, "_MOST_SEEN", MANY // 2)
    monkeypatch.setattr(telemetry, "_MOST_WAITING", 1)
    away = httpx.MockTransport(lambda _: httpx.Response(503))
    told = Telemetry(store, Collector("http://otel.lab:4318/", away))

    def predict(number: int) -> None:
        told.note("ten_1", f"app_{number}", 0.0)

    assert grows(told._seen, predict) == 0
    told.close()


def test_tasks_that_costs_were_learned_from_are_remembered_up_to_a_number(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_costs, "MOST_COUNTED", MANY // 2)
    job_id = simulated.add_job(store, tmp_path)
    with store.write() as tx:
        tables = tx.unscoped()
        job = tables.jobs.get(job_id)
        version = tables.versions.get(job.version_id)
        candidate: Candidate = tables.candidates.list(job_id=job_id, limit=1)[0]
        work = work_of(REGISTRY, candidate, version)
        costs = MachineCosts(tx, REGISTRY)

    def ended(number: int) -> Task:
        place = {"job_id": job_id, "candidate_id": candidate.id, "attempts": 1}
        about = {"state": TaskState.DONE, "quality": 0.5, "cost": 1.0}
        return Task(
            f"task_{number}", job.tenant_id, TaskGroup.TRAIN, Lane.SEARCH, {}, **place, **about
        )

    def end(number: int) -> None:
        costs.learn(ended(number), work)

    assert grows(costs._counted, end) == 0
    believed = costs.belief
    costs.learn(ended(2 * MANY - 1), work)
    assert costs.belief is believed  # a task counts once


@pytest.mark.parametrize("end", ["released", "remove_job"])
def test_runs_without_a_result_are_not_looked_back_at_for_ever(
    store: Store, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setattr(moments, "_MOST", 3)
    arms = told_arms([Arm("a", "m0", 1.0)])
    usual = {"tenant": "ten_1", "arms": arms, "budget": asdict(Budget())}

    def search(number: int) -> None:
        job = f"job_{number}"
        changes = [
            Change("add_job", {**usual, "job": job, "deadline": None, "since": 0.0}),
            Change("started", {"job": job, "arm": 0, "task": f"task_{number}"}),
        ]
        if end == "released":
            changes.append(Change("released", {"job": job, "arm": 0, "seconds": 1.0}))
        changes.append(Change("remove_job", {"job": job}))
        with store.write() as tx:
            log.append(tx, 1, number, changes)
        assert moments.moment_of(store, f"task_{number}") is not None

    for number in range(MANY):
        search(number)
    gc.collect()
    alive = sum(type(one) is moments.Moment for one in gc.get_objects())
    assert alive == 3
