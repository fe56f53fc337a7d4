"""Processes go on when the database, or the object store, was away, or one of them is stuck."""

import asyncio
import os
import subprocess
import threading
from pathlib import Path

import pytest
from simulated import REGISTRY, SimulatedExecutor, add_job

from easeml.contract.states import Lane, ProcessKind, ProcessState
from easeml.contract.tasks import Limits
from easeml.engine import away
from easeml.engine import predictor as predicting
from easeml.engine import slot as slots
from easeml.engine.managed_process import ManagedProcess
from easeml.engine.membership import register
from easeml.engine.scheduler import Scheduler
from easeml.engine.sensors import Sensors
from easeml.engine.signals import Stop
from easeml.engine.stuck import Watch, kill_stuck
from easeml.engine.worker import Worker
from easeml.errors import DatabaseAway, Unreachable
from easeml.search import policy_named
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.work_hints import ANY


@pytest.fixture
def slot(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> slots.Slot:
    """A slot with two tasks to do, and little patience."""
    monkeypatch.setattr(away, "SHORTEST", 0.0)
    add_job(store, tmp_path)
    process = register(store, ProcessKind.WORKER)
    Scheduler(store, REGISTRY, policy_named(), 10.0).step()
    limits = Limits(seconds=1, memory=1, threads=1)
    context = slots.SlotContext(
        store, SimulatedExecutor(), limits, process.id, tmp_path / "work", 10.0
    )
    return slots.Slot(Lane.SEARCH, context)


@pytest.mark.parametrize("is_committed", [False, True], ids=["before commit", "after commit"])
def test_a_result_is_brought_once_the_database_answers(
    store: Store, slot: slots.Slot, monkeypatch: pytest.MonkeyPatch, is_committed: bool
) -> None:
    accept = slot._accept
    asked: list[int] = []

    def answer(*arguments: object) -> None:
        asked.append(1)
        if len(asked) == 1 and not is_committed:
            raise DatabaseAway
        accept(*arguments)  # pyright: ignore[reportArgumentType]
        if len(asked) == 1:  # it is written, and the answer is lost
            raise DatabaseAway

    monkeypatch.setattr(slot, "_accept", answer)
    assert slot.step()
    with store.read() as tx:
        attempts = tx.unscoped().attempts.list(limit=None)
        models = tx.unscoped().models.list(limit=None)
    assert [attempt.state for attempt in attempts] == ["done"]
    assert len(models) == 1
    assert len(asked) == 2


def test_a_task_is_claimed_once_the_database_answers(
    slot: slots.Slot, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = slot._claim
    faults = [DatabaseAway(), DatabaseAway()]

    def answer() -> object:
        if faults:
            raise faults.pop()
        return claim()

    monkeypatch.setattr(slot, "_claim", answer)
    assert slot.step()


def test_a_slot_asks_again_at_once_and_then_ever_more_seldom(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Connections that were broken are there again; a database that is down is not asked often."""
    context = slots.SlotContext(
        store, SimulatedExecutor(), Limits(seconds=1, memory=1, threads=1), "", tmp_path, 10.0
    )
    slot = slots.Slot(Lane.SEARCH, context)
    faults: list[Exception] = [DatabaseAway()] * 7
    slept: list[float] = []

    def answer() -> None:
        if faults:
            raise faults.pop()

    monkeypatch.setattr(slot, "_claim", answer)
    monkeypatch.setattr(away.time, "sleep", slept.append)
    for _ in range(2):
        assert not slot.step()
    assert slept == [0.05, 0.1, 0.2, 0.4, 0.8, 1.0, 1.0]
    faults.append(DatabaseAway())
    assert not slot.step()
    assert slept[-1] == 0.05


class OneHint:
    """Says once that something was committed."""

    def __init__(self) -> None:
        self.left = 1

    def wait(self, timeout: float) -> set[str]:
        self.left -= 1
        return {ANY} if self.left >= 0 else set()

    def close(self) -> None:
        pass


def test_a_worker_that_could_not_look_when_it_was_told_looks_later(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a task would wait beside a free device until something else is committed."""
    process = register(store, ProcessKind.WORKER)
    limits = Limits(seconds=1, memory=1, threads=1)
    context = slots.SlotContext(
        store, SimulatedExecutor(), limits, process.id, tmp_path / "work", 10.0
    )
    worker = Worker(context, Sensors())
    stop = Stop()
    looks: list[bool] = []

    def look(told: set[str]) -> None:
        looks.append(True)
        if len(looks) == 1:
            raise DatabaseAway
        stop.asked = True

    monkeypatch.setattr(store, "work_wakeup", OneHint)
    monkeypatch.setattr(worker, "_follow_commits", look)
    latest = threading.Timer(20.0, lambda: setattr(stop, "asked", True))
    latest.start()
    worker.run(stop)
    latest.cancel()
    assert len(looks) == 2


@pytest.mark.parametrize("fault", [Unreachable("The bucket is gone."), DatabaseAway()])
def test_a_new_model_is_swapped_in_once_its_files_can_be_had(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    monkeypatch.setattr(predicting, "_AGAIN_SECONDS", 0.01)
    tried: list[str] = []

    class Flaky(predicting.Predictor):
        async def set_up(self, tenant: str, application: str) -> None:
            tried.append(application)
            if len(tried) < 3:
                raise fault

    async def follow() -> None:
        following = asyncio.create_task(
            Flaky(store, Settings(home=tmp_path), tmp_path).follow_promotions()
        )
        async with asyncio.timeout(30):
            while len(tried) < 3:
                with store.write() as tx:
                    tx.events.append("promotion.live", "app", {}, "tenant")
                await asyncio.sleep(0.05)
        following.cancel()
        await asyncio.wait([following])

    asyncio.run(follow())
    assert set(tried) == {"app"}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_process_is_stuck_when_others_go_on_and_not_when_the_clock_jumps() -> None:
    clock = Clock()
    watch = Watch(60.0, clock)
    assert watch.stuck({"scheduler": 5.0, "worker": 5.0}) == set()
    clock.now = 3.0
    assert watch.stuck({"scheduler": 5.0, "worker": 90_000.0}) == set()
    clock.now = 70.0
    assert watch.stuck({"scheduler": 5.0, "worker": 90_003.0}) == {"scheduler"}
    assert watch.stuck({"scheduler": 80_000.0, "worker": 90_003.0}) == set()


def test_nobody_is_stuck_where_the_database_stands_still() -> None:
    clock = Clock()
    watch = Watch(60.0, clock)
    watch.stuck({"scheduler": 5.0, "worker": 5.0})
    clock.now = 600.0
    assert watch.stuck({"scheduler": 5.0, "worker": 5.0}) == set()


@pytest.mark.parametrize("kind", [ProcessKind.SCHEDULER, ProcessKind.WORKER])
def test_a_stuck_process_is_killed_and_another_is_not(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: ProcessKind
) -> None:
    clock = Clock()
    watch = Watch(60.0, clock)
    # Workers and predictor are forked by the process that the supervisor started.
    is_forked = kind == ProcessKind.WORKER
    script = "sleep 600 & echo $!; wait" if is_forked else "echo $$; exec sleep 600"
    started = ManagedProcess(
        kind,
        1,
        tmp_path,
        lambda output: subprocess.Popen(["sh", "-c", script], stdout=output, stderr=output),
    )
    started.keep_running()
    while not (said := started.log.read_text()):
        os.sched_yield()
    sleeping = int(said)
    own = register(store, ProcessKind.CONTROLLER)
    with monkeypatch.context() as there:
        there.setattr(os, "getpid", lambda: sleeping)
        silent = register(store, kind)
    kill_stuck(store, watch, [started])
    clock.now = 61.0
    with store.write() as tx:
        tx.processes.update(own.id, heartbeat=tx.now() + 1)
        tx.processes.update(silent.id, state=ProcessState.ENDED)  # as a scheduler notes it
    kill_stuck(store, watch, [started])
    started.end(20)  # the shell ends as soon as what it waits for
    assert started.pid is None
    assert not Path(f"/proc/{sleeping}").exists()
