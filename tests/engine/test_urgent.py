"""Newcomers, raised priorities and try-outs get a device at once, through the real scheduler.

Bodies sleep on a simulated clock; devices are slots of the queue, as workers see it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import simulated

from easeml.contract.tasks import TaskResult
from easeml.contract.tryouts import Tryout
from easeml.engine.membership import register
from easeml.engine.scheduler import Scheduler
from easeml.errors import Conflict, OverQuota
from easeml.search import policy_named
from easeml.search.preemption import GRACE
from easeml.service.search import log, tryouts
from easeml.service.tasks import results
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.records import Attempt, Task
from easeml.store.shapes import TenantLimits

LEASE = 30.0
TICK = 0.5
LONG = 60.0  # seconds that a body sleeps


@dataclass
class Lab:
    """Devices that all are busy with bodies that sleep for long.

    ``keeps``: whether a body that is asked to end has something to show.
    """

    store: Store
    folder: Path
    clock: list[float]
    devices: int
    preemption: str = "least-delay"
    keeps: bool = False
    running: dict[str, tuple[Task, Attempt, float]] = field(default_factory=dict)
    jobs: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.processes = [register(self.store, "worker").id for _ in range(self.devices)]
        settings = Settings(home=self.folder, preemption=self.preemption)
        policy = policy_named("default")
        registry = simulated.REGISTRY
        self.scheduler = Scheduler(self.store, registry, policy, LEASE, settings=settings)

    def add_tenant(self) -> str:
        return simulated.add_job(self.store, self.folder)

    def go(self, seconds: float, tick: float = TICK) -> None:
        """Let time pass; scheduler and devices act at every tick."""
        for _ in range(round(seconds / tick)):
            self.clock[0] += tick
            self.scheduler.step()
            self.scheduler.keep_house()
            with self.store.write() as tx:
                for process in self.processes:
                    tx.processes.update(process, heartbeat=tx.now())
                    self._work(tx, process)

    def _work(self, tx, process: str) -> None:
        held = self.running.get(process)
        if held is not None:
            self._go_on(tx, process, *held)
        if process not in self.running:
            claimed = tx.queue.claim(process, "search", LEASE)
            if claimed is not None:
                self.running[process] = (*claimed, tx.now())

    def _go_on(self, tx, process: str, task: Task, attempt: Attempt, began: float) -> None:
        tx.queue.renew(attempt.id, LEASE)
        ran = tx.now() - began
        asked = tx.unscoped().attempts.get(attempt.id).asked_to_end
        ends_with_what_it_has = asked is not None and self.keeps
        if ran >= LONG or ends_with_what_it_has:
            self._finish(tx, task, attempt, ran)
        elif asked is not None and tx.now() - asked >= GRACE:
            results.suspend(tx, task, attempt, ran)
        else:
            return
        del self.running[process]

    def _finish(self, tx, task: Task, attempt: Attempt, ran: float) -> None:
        value = {"quality": 0.5, "metrics": {}, "name": "m", "seconds": ran}
        result = TaskResult(ok=True, value=value, outputs=["model", "predictions"], cost=ran)
        results.accept(tx, attempt, result, {"model": "a", "predictions": "b"})

    def seconds_until_a_device(self, job_id: str, most: float = 6.0) -> float:
        """Return how long the newest task of a job waits for a device, from now."""
        began = self.clock[0]
        while self.clock[0] - began < most:
            self.go(TICK)
            if any(task.job_id == job_id for task, _, at in self.running.values() if at > began):
                return self.clock[0] - began
        return float("inf")

    def tasks(self) -> list[Task]:
        with self.store.read() as tx:
            return tx.unscoped().tasks.list(limit=None)

    def try_model(self, job_id: str, model: str) -> Tryout:
        with self.store.write() as tx:
            job = tx.unscoped().jobs.get(job_id)
            application = tx.unscoped().applications.get(job.application_id)
            return tryouts.begin(tx, simulated.REGISTRY, application, model)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("urgent") / "template"
    folder.mkdir()
    simulated.make_template(folder)
    return folder


@pytest.fixture
def busy(template: Path, tmp_path: Path) -> Iterator[Lab]:
    """Two devices, busy with long runs of two of four tenants, each of which has had a model."""
    yield from _busy(template, tmp_path)


def _busy(template: Path, folder: Path, **options) -> Iterator[Lab]:
    clock = [1000.0]
    store = simulated.open_copy(template, folder / "home", lambda: clock[0])
    lab = Lab(store, folder, clock, devices=2, **options)
    lab.jobs = [lab.add_tenant() for _ in range(4)]
    lab.go(2 * LONG + 20, tick=5.0)
    yield lab
    store.close()


def test_a_newcomer_has_a_device_within_five_seconds(busy: Lab) -> None:
    newcomer = busy.add_tenant()
    assert busy.seconds_until_a_device(newcomer) <= 5
    busy.go(1.0)
    suspended = [task for task in busy.tasks() if task.suspensions]
    assert [task.state for task in suspended] == ["waiting"]
    assert suspended[0].lost == pytest.approx(suspended[0].cost)
    assert suspended[0].lost > 0


def test_without_preemption_a_newcomer_waits(template: Path, tmp_path: Path) -> None:
    for lab in _busy(template, tmp_path, preemption="fifo"):
        assert lab.seconds_until_a_device(lab.add_tenant()) > 5


def test_what_a_run_has_by_then_is_its_result(template: Path, tmp_path: Path) -> None:
    for lab in _busy(template, tmp_path, keeps=True):
        done = sum(task.state == "done" for task in lab.tasks())
        assert lab.seconds_until_a_device(lab.add_tenant()) <= 5
        assert sum(task.state == "done" for task in lab.tasks()) == done + 1
        assert not any(task.suspensions for task in lab.tasks())


def test_a_raised_priority_has_a_device_within_five_seconds(busy: Lab) -> None:
    served = {task.tenant_id for task, _, _ in busy.running.values()}
    with busy.store.write() as tx:
        jobs = [tx.unscoped().jobs.get(one) for one in busy.jobs]
        job = next(one for one in jobs if one.tenant_id not in served)
        tx.tenants.update(job.tenant_id, limits=TenantLimits(priority=4.0))
        tx.events.append("job.limited", job.id, {}, job.tenant_id)
    assert busy.seconds_until_a_device(job.id) <= 5


def test_a_try_out_has_a_device_within_five_seconds(busy: Lab) -> None:
    newcomer = busy.add_tenant()
    busy.go(6.0)
    with busy.store.read() as tx:
        under_way = {task.candidate_id for task, _, _ in busy.running.values()}
        arms = tx.unscoped().candidates.list(job_id=newcomer)
    model = next(arm.model for arm in arms if arm.id not in under_way)
    told = busy.try_model(newcomer, model)
    assert (told.model, told.state) == (model, "waiting")
    again = busy.try_model(newcomer, model)
    assert again == told
    assert busy.seconds_until_a_device(newcomer) <= 5
    assert busy.try_model(newcomer, model).state == "running"


def test_a_try_out_that_cannot_be_is_refused(busy: Lab) -> None:
    with busy.store.read() as tx:
        job = tx.unscoped().jobs.get(busy.jobs[0])
        done = tx.unscoped().tasks.list(job_id=job.id, state="done")
        tried = tx.unscoped().candidates.get(done[0].candidate_id).model
        taken = {task.candidate_id for task in tx.unscoped().tasks.list(job_id=job.id)}
        arms = tx.unscoped().candidates.list(job_id=job.id)
    untried = next(arm.model for arm in arms if arm.id not in taken)
    with pytest.raises(Conflict, match="was tried"):
        busy.try_model(job.id, tried)
    with busy.store.write() as tx:
        tx.tenants.update(job.tenant_id, limits=TenantLimits(devices=0))
    with pytest.raises(OverQuota):
        busy.try_model(job.id, untried)


def test_nobody_is_suspended_more_than_twice_and_the_log_decides_again_the_same(busy: Lab) -> None:
    for _ in range(8):
        busy.add_tenant()
        busy.go(7.0)
    assert max(task.suspensions for task in busy.tasks()) <= 2
    with busy.store.read() as tx:
        changes = [change for epoch in log.epochs(tx) for change in log.changes_of(tx, epoch)]
        replayed = log.replayed(tx)
        decided = tx.unscoped().decisions.count()
    preempted = sum(change.kind == "preempted" for change in changes)
    assert preempted > 0
    assert replayed == (decided + preempted, decided + preempted)
