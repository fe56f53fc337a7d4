"""Crash interleavings of two schedulers and two workers on a simulated clock: one result a task,
nothing lost.
"""

import tempfile
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import simulated
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from simulated import REGISTRY, Crash, CrashingStore, SimulatedExecutor

import session_files
from easeml.contract.tasks import Limits, TaskResult
from easeml.engine.housekeeping import give_back_lost_work
from easeml.engine.membership import register, this_host
from easeml.engine.scheduler import Scheduler
from easeml.engine.slot import Slot, SlotContext
from easeml.ids import new_id
from easeml.search import policy_named
from easeml.service.search import log
from easeml.store.records import Process

LEASE = 10.0
LIMITS = Limits(seconds=1, memory=1, threads=1)
ENDED = ("done", "failed", "cancelled")
POLICY = "default"
PARTIES = st.integers(0, 1)
WHEN = st.none() | st.integers(0, 4)


class Engine(RuleBasedStateMachine):
    """Every rule is something that processes do or suffer; a crashed process is replaced by a new
    one.
    """

    _template: Path | None = None

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self.home = Path(self._folder.name)
        self.now = 1000.0
        if Engine._template is None:
            Engine._template = session_files.new_folder()
            simulated.make_template(Engine._template)
        self.store = simulated.open_copy(Engine._template, self.home / "home", lambda: self.now)
        self.decided: set[str] = set()
        self.jobs: list[str] = []
        self.schedulers = [self.new_scheduler(), self.new_scheduler()]
        self.workers = [self.new_worker(), self.new_worker()]

    def new_scheduler(self) -> SimpleNamespace:
        store: Any = CrashingStore(self.store)
        return SimpleNamespace(
            store=store, acts=Scheduler(store, REGISTRY, policy_named(POLICY), LEASE)
        )

    def new_worker(self) -> SimpleNamespace:
        store: Any = CrashingStore(self.store)
        executor = SimulatedExecutor()
        process = register(self.store, "worker")
        context = SlotContext(store, executor, LIMITS, process.id, self.home / process.id, LEASE)
        return SimpleNamespace(
            store=store, executor=executor, process=process, acts=Slot("search", context)
        )

    @initialize(count=st.integers(1, 2))
    def declare(self, count: int) -> None:
        """Applications of different tenants."""
        self.jobs = [simulated.add_job(self.store, self.home) for _ in range(count)]

    @rule(which=PARTIES, crash_at=WHEN, after_commit=st.booleans())
    def schedule(self, which: int, crash_at: int | None, after_commit: bool) -> None:
        """A scheduler steps, perhaps until it dies."""
        scheduler = self.schedulers[which]
        scheduler.store.crash_at, scheduler.store.after_commit = crash_at, after_commit
        try:
            scheduler.acts.step()
            scheduler.acts.keep_house()
        except Crash:
            self.schedulers[which] = self.new_scheduler()

    @rule(
        which=PARTIES,
        crash_at=WHEN,
        after_commit=st.booleans(),
        failing=st.booleans(),
        retry=st.booleans(),
        pause=st.sampled_from([0.0, 1.0, 2 * LEASE]),
    )
    def work(
        self,
        which: int,
        crash_at: int | None,
        after_commit: bool,
        failing: bool,
        retry: bool,
        pause: float,
    ) -> None:
        """A worker takes a task; while it works time passes, and others may take its work away and
        do it.
        """
        worker = self.workers[which]
        worker.store.crash_at, worker.store.after_commit = crash_at, after_commit
        worker.executor.result = TaskResult(ok=False, error="no", retry=retry) if failing else None
        worker.executor.meanwhile = lambda: self.while_working(1 - which, pause)
        try:
            worker.acts.step()
        except Crash:
            with (
                self.store.write() as tx
            ):  # what others see of a dead process: nothing but its silence
                tx.processes.update(worker.process.id, host="elsewhere")
            self.workers[which] = self.new_worker()
        else:
            with self.store.write() as tx:
                tx.processes.update(worker.process.id, heartbeat=tx.now(), state="running")

    def while_working(self, other: int, pause: float) -> None:
        """Time passes; after a lease's time the work is given to the other worker."""
        self.now += pause
        if pause > LEASE:
            give_back_lost_work(self.store, LEASE)
            self.workers[other].store.crash_at = None
            self.workers[other].executor.meanwhile = lambda: None
            self.workers[other].acts.step()

    @rule(seconds=st.sampled_from([0.1, LEASE / 2, LEASE * 1.5]))
    def time_passes(self, seconds: float) -> None:
        """Everybody is slow."""
        self.now += seconds

    @invariant()
    def at_most_one_result_is_accepted(self) -> None:
        """A task is done if and only if one of its attempts is; a model and an event go with each."""
        with self.store.read() as tx:
            tables = tx.unscoped()
            tasks = {task.id: task for task in tables.tasks.list(kind="train", limit=None)}
            attempts = tables.attempts.list(limit=None)
            models = Counter(model.task_id for model in tables.models.list(limit=None))
            events = Counter(
                event.subject
                for event in tx.events.after(0, limit=5000)
                if event.kind == "task.done"
            )
            decisions = Counter(decision.task_id for decision in tables.decisions.list(limit=None))
        accepted = Counter(attempt.task_id for attempt in attempts if attempt.state == "done")
        running = Counter(attempt.task_id for attempt in attempts if attempt.state == "running")
        for task in tasks.values():
            assert accepted[task.id] == models[task.id] == (task.state == "done")
            assert running[task.id] == (task.state == "running")
            assert decisions[task.id] == 1
            assert events[task.id] == (task.state == "done")
        assert self.decided <= tasks.keys()
        self.decided = set(tasks)
        arms = Counter(task.candidate_id for task in tasks.values() if task.state != "cancelled")
        assert all(count == 1 for count in arms.values())

    def teardown(self) -> None:
        """Let one healthy scheduler and worker go on: every candidate comes to its end, and models
        go live.
        """
        try:
            if self.jobs:
                self.finish()
        finally:
            self.store.close()
            self._folder.cleanup()

    def finish(self) -> None:
        """Run to the end without faults, and check the books."""
        self.now += 10 * LEASE
        scheduler, worker = self.new_scheduler(), self.new_worker()
        for _ in range(20 * simulated.ARMS * len(self.jobs)):
            scheduler.acts.step()
            scheduler.acts.keep_house()
            worked = worker.acts.step()
            with self.store.read() as tx:
                states = {job.state for job in tx.unscoped().jobs.list(limit=None)}
            if not worked and states == {"resting"}:
                break
        self.at_most_one_result_is_accepted()
        with self.store.read() as tx:
            tables = tx.unscoped()
            assert all(task.state in ENDED for task in tables.tasks.list(kind="train", limit=None))
            assert {job.state for job in tables.jobs.list(limit=None)} == {"resting"}
            replayed = log.replayed(tx)
            assert replayed.identical == replayed.decisions >= tables.decisions.count()
            for application in tables.applications.list(limit=None):
                assert bool(application.live_model_id) == (
                    tables.models.count(application_id=application.id) > 0
                )


Engine.TestCase.settings = settings(
    max_examples=6,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestEngine = Engine.TestCase


def test_a_process_of_this_host_that_is_gone_is_seen_at_once() -> None:
    """And one of another host only by its silence."""
    from easeml.engine.membership import has_ended

    gone = 2**22 + 1  # beyond the largest process id
    assert has_ended(
        Process(new_id("proc"), "worker", gone, this_host(), heartbeat=100.0), 100.5, LEASE
    )
    assert not has_ended(
        Process(new_id("proc"), "worker", gone, "elsewhere", heartbeat=100.0), 100.5, LEASE
    )
    assert has_ended(
        Process(new_id("proc"), "worker", gone, "elsewhere", heartbeat=100.0), 111.0, LEASE
    )
