"""Devices whose bodies sleep, under the real scheduler: a database, a queue, and a clock that jumps.

``engine.Scheduler`` decides on rows as in a running easeml. What runs is told by the benchmark: how
long a body sleeps, and which quality it then brings. Nothing is trained, so hours of many devices
pass in seconds, and the same draw is played again under another policy or rule.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from easeml.contract.states import JobState, Lane, TaskGroup
from easeml.contract.tasks import TaskResult
from easeml.engine.membership import register
from easeml.engine.scheduler import Scheduler
from easeml.ids import new_id
from easeml.modules import Module, Registry, load_registry
from easeml.search import policy_named
from easeml.search.preemption import GRACE
from easeml.service.tasks import results
from easeml.settings import Settings
from easeml.store import Store, Transaction
from easeml.store.records import (
    Application,
    Attempt,
    Candidate,
    Dataset,
    DatasetVersion,
    Job,
    Task,
    Tenant,
)
from easeml.store.shapes import CandidatePipeline, ModuleConfig, Operation, OperationName

LEASE = 1e9  # seconds: no device ever falls silent here
USUAL = load_registry().get("baseline-classifier")


class EveryModel(Registry):
    """A knowledge base that has a model of every name, without anything to tune."""

    def get(self, name: str) -> Module:
        """Return the model of this name, of which no cost is known."""
        return replace(USUAL, name=name, space={}, cost={})


class Body(NamedTuple):
    """What a training task is: seconds of sleep, and the quality that it brings."""

    seconds: float
    quality: float


@dataclass(frozen=True, slots=True)
class Sleep:
    """What a device did: a body from its start to its end, ``whole`` unless it was suspended."""

    task: Task
    device: int
    began: float
    ended: float
    whole: bool


@dataclass(slots=True)
class _Running:
    task: Task
    attempt: Attempt
    body: Body
    began: float
    ends: float
    suspended: bool = False


@dataclass
class SleepingDevices:
    """Devices of one easeml. ``body_of``: what the training task of a candidate is.

    ``slept``: what was done, in the order of its ends.
    """

    folder: Path
    count: int
    body_of: Callable[[Candidate], Body]
    policy: str = "default"
    preemption: str = "least-delay"
    clock: float = 0.0
    slept: list[Sleep] = field(default_factory=list)

    def __post_init__(self) -> None:
        url = f"sqlite:///{self.folder / 'easeml.db'}"
        self.store = Store.open(url, self.folder / "artefacts", lambda: self.clock)
        self._running: list[_Running | None] = [None] * self.count
        self._processes: list[str] = []

    def start(self) -> None:
        """Let the scheduler and the devices come, at the present moment."""
        self._processes = [register(self.store, "worker").id for _ in range(self.count)]
        settings = Settings(home=self.folder, policy=self.policy, preemption=self.preemption)
        policy = policy_named(self.policy)
        self._scheduler = Scheduler(self.store, EveryModel(()), policy, LEASE, settings=settings)

    def close(self) -> None:
        """Close the database."""
        self.store.close()

    @property
    def next_end(self) -> float:
        """The moment at which the next body ends; infinity where none runs."""
        return min((one.ends for one in self._running if one is not None), default=math.inf)

    def decide(self) -> None:
        """Let scheduler and devices do all that is to be done at this moment."""
        with self.store.write() as tx:
            for process in self._processes:
                tx.processes.update(process, heartbeat=tx.now())
        self._scheduler.keep_house()
        is_first = True
        while is_first or self._scheduler.has_news():
            is_first = False
            self._scheduler.step()
            for place, held in enumerate(self._running):
                if held is None:
                    self._running[place] = self._claimed(self._processes[place])
        self._hear_who_is_asked_to_end()

    def pass_to(self, moment: float) -> None:
        """Move to a moment, and end the bodies that end until then."""
        self.clock = moment
        for place, held in enumerate(self._running):
            if held is not None and held.ends <= moment:
                self._end(place, held)
                self._running[place] = None

    def _claimed(self, process: str) -> _Running | None:
        """Begin the next training; what a search asks for at its end fails at once."""
        with self.store.write() as tx:
            claimed = tx.queue.claim(process, Lane.SEARCH, LEASE)
            while claimed is not None and claimed[0].kind != TaskGroup.TRAIN:
                results.accept(tx, claimed[1], TaskResult(ok=False, error="No rows here."), {})
                claimed = tx.queue.claim(process, Lane.SEARCH, LEASE)
            if claimed is None:
                return None
            task, attempt = claimed
            body = self.body_of(tx.unscoped().candidates.get(task.candidate_id))
        return _Running(task, attempt, body, self.clock, self.clock + body.seconds)

    def _hear_who_is_asked_to_end(self) -> None:
        """Let those asked to end be suspended after the grace period: sleep has nothing to show."""
        held = [one for one in self._running if one is not None]
        with self.store.read() as tx:
            asked = tx.queue.current([one.attempt.id for one in held])
        for one in held:
            last = self.clock + GRACE
            if asked[one.attempt.id].to_end and not one.suspended and last < one.ends:
                one.ends = last
                one.suspended = True

    def _end(self, place: int, held: _Running) -> None:
        seconds = held.ends - held.began
        with self.store.write() as tx:
            if held.suspended:
                results.suspend(tx, held.task, held.attempt, seconds)
            else:
                results.accept(tx, held.attempt, _result(held.body, seconds), _digests())
        whole = not held.suspended
        self.slept.append(Sleep(held.task, place, held.began, held.ends, whole))


def add_tenant(
    tx: Transaction, name: str, models: Sequence[str], state: JobState = JobState.RUNNING
) -> tuple[Job, list[Candidate]]:
    """Add a tenant with one application, whose search has these models; return it and its arms."""
    tenant = Tenant(new_id("ten"), f"{name}-{new_id('t')}")
    dataset = Dataset(new_id("data"), tenant.id, name)
    made = Operation(OperationName.DECLARE, {"seed": 0})
    version = DatasetVersion(
        new_id("ver"), tenant.id, dataset.id, 1, made, state="ready", artefact=new_id("rows")
    )
    application = Application(
        new_id("app"), tenant.id, name, dataset.id, version.id, "y", "accuracy", state="searching"
    )
    job = Job(new_id("job"), tenant.id, application.id, version.id, state=state, tolerance=0.0)
    candidates = []
    for arm, model in enumerate(models):
        pipeline = CandidatePipeline([], ModuleConfig(model))
        candidates.append(
            Candidate(new_id("cand"), tenant.id, job.id, arm, model, model, pipeline, 1.0)
        )
    tx.tenants.add(tenant)
    tables = tx.scoped(tenant.id)
    tables.datasets.add(dataset)
    tables.versions.add(version)
    tables.applications.add(application)
    job = tables.jobs.add(job)
    tables.candidates.add_all(candidates)
    if state == JobState.RUNNING:
        tx.events.append("job.running", job.id, {}, tenant.id)
    return job, candidates


def _result(body: Body, seconds: float) -> TaskResult:
    value = {"quality": body.quality, "metrics": {}, "name": "model", "seconds": seconds}
    return TaskResult(ok=True, value=value, outputs=["model", "predictions"], cost=seconds)


def _digests() -> dict[str, str]:
    return {"model": new_id("model"), "predictions": new_id("predictions")}
