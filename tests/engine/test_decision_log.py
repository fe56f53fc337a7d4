"""What the scheduler wrote down is enough to make each of its decisions again, bit for bit."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import simulated
from typer.testing import CliRunner

from easeml import cli
from easeml.contract.states import Role
from easeml.contract.tasks import Limits, TaskResult
from easeml.engine.executors import Outcome
from easeml.engine.membership import register
from easeml.engine.scheduler import Scheduler
from easeml.engine.slot import Slot, SlotContext
from easeml.errors import NotFound
from easeml.ids import new_id
from easeml.search import installed_policies, policy_named
from easeml.search.decision_log import Decided, decisions_of
from easeml.service.access.caller import Caller
from easeml.service.administration import kept_settings
from easeml.service.scheduling import history, looking_back
from easeml.service.search import jobs, log
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.records import Candidate
from easeml.store.shapes import CandidatePipeline, JobLimits, ModuleConfig, TenantLimits

LEASE = 10.0
PROVIDER = Caller("provider", "ten_0", role=Role.PROVIDER)


class OneThatVaries(simulated.OfAnyName):
    spaces: ClassVar = {"m0": {"x": {".float": [0.0, 1.0]}, "y": {".float": [0.0, 1.0]}}}


REGISTRY = OneThatVaries(())


class Varied(simulated.SimulatedExecutor):
    """Qualities and costs are drawn; every seventh run fails for good."""

    def __init__(self) -> None:
        super().__init__()
        self._generator = np.random.default_rng(7)
        self._count = 0

    def wait(self) -> Outcome:
        """End the run, as drawn."""
        self._count += 1
        cost = float(self._generator.uniform(0.3, 9.0))
        if self._count % 7 == 0:
            return Outcome("finished", TaskResult(ok=False, error="no", cost=cost), cost)
        outcome = super().wait()
        assert outcome.result is not None
        quality = float(self._generator.beta(8, 3))
        value = {**outcome.result.value, "quality": quality}
        return replace(
            outcome, result=outcome.result.model_copy(update={"value": value, "cost": cost})
        )


@dataclass
class World:
    """A store on a clock of its own, one worker, and the scheduler that leads."""

    store: Store
    folder: Path
    clock: list[float]
    policy: str
    jobs: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        process = register(self.store, "worker")
        limits = Limits(seconds=1, memory=1, threads=1)
        context = SlotContext(self.store, Varied(), limits, process.id, self.folder / "work", LEASE)
        self.process = process
        self.worker = Slot("search", context)
        self.scheduler = self.new_scheduler()

    def new_scheduler(self) -> Scheduler:
        policy = policy_named(self.policy)
        settings = Settings(home=self.folder)
        return Scheduler(self.store, REGISTRY, policy, LEASE, settings=settings)

    def switch(self, policy: str) -> None:
        settings = Settings(home=self.folder)
        kept_settings.change(self.store, settings, PROVIDER, "policy", value=policy)

    def go(self, steps: int) -> None:
        for _ in range(steps):
            self.clock[0] += 0.7
            with self.store.write() as tx:
                tx.processes.update(self.process.id, heartbeat=tx.now())
            self.scheduler.step()
            self.scheduler.keep_house()
            self.worker.step()

    def add_tenant(self) -> None:
        self.jobs.append(simulated.add_job(self.store, self.folder))

    def add_model(self, job_id: str, model: str) -> None:
        with self.store.write() as tx:
            job = tx.unscoped().jobs.get(job_id)
            tables = tx.scoped(job.tenant_id)
            arm = tables.candidates.count(job_id=job_id)
            pipeline = CandidatePipeline([], ModuleConfig(model))
            tables.candidates.add(
                Candidate(new_id("cand"), job.tenant_id, job_id, arm, model, model, pipeline, 2.5)
            )
            tx.events.append("job.candidates", job_id, {"added": 1}, job.tenant_id)

    def set_state(self, job_id: str, state: str) -> None:
        with self.store.write() as tx:
            job = tx.unscoped().jobs.get(job_id)
            jobs.set_state(tx, job, state, f"job.{state}")
            if state != "running":
                jobs.cancel_waiting(tx, tx.scoped(job.tenant_id), job_id)

    def preempt(self) -> None:
        """A task is taken from its worker, and its candidate may be tried again."""
        with self.store.write() as tx:
            claimed = tx.queue.claim(self.process.id, "search", LEASE)
            assert claimed is not None
            task = tx.queue.cancel(claimed[0].id)
            tx.events.append("task.cancelled", task.id, {"job_id": task.job_id}, task.tenant_id)

    def limit(self, job_id: str, limits: JobLimits, terms: TenantLimits) -> None:
        with self.store.write() as tx:
            job = tx.unscoped().jobs.update(job_id, limits=limits)
            tx.tenants.update(job.tenant_id, limits=terms)
            tx.events.append("job.limited", job_id, {}, job.tenant_id)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Return a world in which much has happened."""
    folder = tmp_path_factory.mktemp("log")
    simulated.make_template(folder / "template")
    home = folder / "home"
    clock = [1000.0]
    store = simulated.open_copy(folder / "template", home, lambda: clock[0])
    yield lived(World(store, home, clock, "gain-per-cost"))
    store.close()


def lived(world: World) -> World:
    """Let everything happen that a scheduler may see."""
    for _ in range(3):
        world.add_tenant()
    world.go(12)
    world.add_tenant()
    world.go(3)
    world.limit(world.jobs[1], JobLimits(), TenantLimits(priority=3.0, devices=1))
    world.limit(world.jobs[2], JobLimits(tasks=40, deadline=1500.0), TenantLimits(seconds=900.0))
    world.go(6)
    world.add_model(world.jobs[0], "a-new-model")
    world.preempt()
    world.go(5)
    world.set_state(world.jobs[0], "paused")
    world.go(4)
    world.set_state(world.jobs[0], "running")
    world.switch("hybrid")
    world.go(4)
    before = world.scheduler
    world.scheduler = world.new_scheduler()
    before.step_down()
    world.go(8)
    world.set_state(world.jobs[3], "stopped")
    world.switch("random")
    world.add_tenant()
    world.go(12)
    world.scheduler.step()
    world.scheduler.keep_house()
    return world


def test_every_decision_is_made_again_from_the_log(world: World) -> None:
    with world.store.read() as tx:
        tables = tx.unscoped()
        written = tables.decisions.count()
        failed = tables.tasks.count(state="failed")
        released = tables.tasks.count(state="cancelled")
        found = log.replayed(tx)
        policies = {one.policy for one in tables.decisions.list(limit=None)}
        kinds = {change.kind for epoch in log.epochs(tx) for change in log.changes_of(tx, epoch)}
    assert written > 40
    assert failed > 3
    assert released > 0
    assert found == (written, written)
    assert policies == {"gain-per-cost", "hybrid", "random"}
    assert kinds >= {
        "add_arms",
        "add_job",
        "observed",
        "released",
        "remove_job",
        "set_active",
        "set_budget",
        "set_costs",
        "set_deadline",
        "set_prior",
        "set_terms",
    }


def test_a_log_that_lacks_anything_is_noticed(world: World) -> None:
    """Other policies, and the same one that has not seen all results, choose otherwise."""
    with world.store.read() as tx:
        recorded = list(log.changes_of(tx, 1))

    def kept(decisions: Iterator[Decided], policy: Any = None) -> bool:
        return all(decided.again(policy) == decided.choices for decided in decisions)

    assert kept(decisions_of(recorded))
    for name, policy in installed_policies().by_name.items():
        assert not kept(decisions_of(recorded), policy), name
    without_failures = [
        change
        for change in recorded
        if change.kind != "observed" or change.values["quality"] is not None
    ]
    assert not kept(decisions_of(without_failures))
    results = [place for place, change in enumerate(recorded) if change.kind == "observed"]
    without_one = [change for place, change in enumerate(recorded) if place != results[2]]
    assert not kept(decisions_of(without_one))


def test_other_policies_search_what_was_recorded(world: World) -> None:
    """All runs that ended are run again, in another order, at their measured costs."""
    with world.store.read() as tx:
        tables = tx.unscoped()
        stopped = tables.jobs.get(world.jobs[3]).tenant_id
        ended = tables.tasks.list(state=["done", "failed"], kind="train", limit=None)
    past = history.read(world.store)
    # What ended after its search was stopped is not known to the scheduler.
    wanted = sorted(task.cost for task in ended if task.tenant_id != stopped)
    found = [entry for entry in past.searches.entries if entry.tenant != stopped]
    costs = sorted(float(cost) for entry in found for cost in entry.seconds)
    assert costs == wanted
    assert past.searches.happened.share[-1] == pytest.approx(1.0)
    assert past.searches.happened.mean[-1] == 0
    assert min(past.searches.arrivals.values()) == 0
    assert 1 < max(past.searches.arrivals.values()) < 100


def test_the_command_compares_policies_on_a_home(world: World) -> None:
    home = str(world.folder)

    def call(*arguments: str) -> Any:
        asked = ["simulate", "search", *arguments, "--policies", "default,random"]
        return CliRunner().invoke(cli.app, asked)

    result = call("--from-history", "--home", home, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert set(told["policies"]) == {"default", "random", "clairvoyant"}
    assert told["decisions"] == told["decided_again"] > 40
    best = told["policies"]["clairvoyant"]["area"]
    assert best <= min(told["policies"]["default"]["area"], told["happened"]["area"])
    assert "are made again" in call("--from-history", "--home", home).stdout
    for wrong in (["--from-history", "--home", f"{home}-nowhere"], [home, "--from-history"], []):
        assert call(*wrong).exit_code != 0


def test_a_decision_is_looked_at_again(world: World) -> None:
    """What was believed of each search, what the result changed, and what others had chosen."""
    with world.store.read() as tx:
        found = tx.unscoped().decisions.list(limit=None)
        tasks = {task.id: task for task in tx.unscoped().tasks.list(kind="train", limit=None)}
    before = after = 0.0
    for number, decision in enumerate(found, start=1):
        shown = looking_back.show(world.store, PROVIDER, number)
        (search,) = [one for one in shown.searches if one.chosen]
        (chosen,) = [one for one in search.candidates if one.state == "chosen"]
        top = decision.explanation["top"][0]
        assert (shown.step.number, shown.count) == (number, len(found))
        assert (chosen.name, chosen.mean, chosen.sd) == (top["name"], top["mean"], top["sd"])
        agreed = {one.policy: one.same for one in shown.others}
        assert agreed[decision.policy]
        quality = tasks[decision.task_id].quality
        if quality is not None and chosen.mean_after is not None:
            before += abs(chosen.mean - quality)
            after += abs(chosen.mean_after - quality)
    assert 0 < after < before / 2
    assert not all(agreed.values())
    somebody = Caller("user", "ten_9")
    told = looking_back.show(world.store, somebody, 30).model_dump_json()
    assert world.jobs[0] not in told
    assert "m0" not in told
    with pytest.raises(NotFound):
        looking_back.show(world.store, PROVIDER, len(found) + 1)
