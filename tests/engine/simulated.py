"""Parts of a simulation of the engine: a store that crashes its user, an executor without
processes, a tiny world.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from easeml.contract.tasks import Limits, TaskResult
from easeml.engine import task_main
from easeml.engine.executors import Outcome
from easeml.ids import new_id
from easeml.modules import Module, Registry, load_registry
from easeml.store import Store, Transaction
from easeml.store.records import Application, Candidate, Dataset, DatasetVersion, Job, Tenant
from easeml.store.shapes import (
    CandidatePipeline,
    ModuleConfig,
    Operation,
    OperationName,
    VersionSummary,
)

ARMS = 3


_USUAL = load_registry().get("baseline-classifier")


class OfAnyName(Registry):
    """A knowledge base with a model of every name. ``spaces``: by name, of those that can vary."""

    spaces: ClassVar[Mapping[str, Any]] = {}

    def get(self, name: str) -> Module:
        """Return the model."""
        return replace(
            _USUAL, name=name, space=self.spaces.get(name, {}), resources={"retries": 1}, cost={}
        )


REGISTRY = OfAnyName(())


class Crash(BaseException):
    """The process is gone: nothing after this point runs."""


class CrashingStore:
    """A store whose user dies at a chosen writing transaction, just before it begins or just after
    its commit.
    """

    def __init__(self, store: Store):
        self._store = store
        self.artefacts = store.artefacts
        self.crash_at: int | None = None  # writing transactions from now
        self.after_commit = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """As ``Store.write``, with the crash."""
        due = self.crash_at == 0
        if self.crash_at is not None:
            self.crash_at -= 1
        if due and not self.after_commit:
            raise Crash
        with self._store.write() as tx:
            yield tx
        if due:
            raise Crash


@dataclass
class SimulatedExecutor:
    """Ends every body at once, as told; ``meanwhile`` is called while the body 'runs'."""

    result: TaskResult | None = None  # None: a good result
    meanwhile: Callable[[], None] = lambda: None
    runs: list[str] = field(default_factory=list)

    def start(self, folder: Path, limits: Limits) -> "SimulatedExecutor":
        """Note the folder."""
        self._folder = folder
        return self

    def wait(self) -> Outcome:
        """Let time pass, then write a good result's outputs or give back the result that was asked
        for.
        """
        folder = self._folder
        self.meanwhile()
        if self.result is not None:
            return Outcome("finished", self.result, 1.0)
        outputs = folder / task_main.OUTPUTS
        (outputs / "model").mkdir()
        (outputs / "model" / "weights").write_text(folder.name)
        (outputs / "predictions").write_text(folder.name)
        value = {"quality": 0.5, "metrics": {}, "name": "m", "seconds": 1.0}
        result = TaskResult(ok=True, value=value, outputs=["model", "predictions"], cost=1.0)
        return Outcome("finished", result, 1.0)

    def kill(self) -> None:
        """Nothing runs."""

    def close(self) -> None:
        """Nothing is held."""


def make_template(folder: Path) -> None:
    """Make a home with a migrated, empty database."""
    Store.open(f"sqlite:///{folder / 'easeml.db'}", folder / "artefacts").close()


def open_copy(template: Path, folder: Path, clock: Callable[[], float]) -> Store:
    """Open a fresh copy of the template on a clock of one's own."""
    shutil.copytree(template, folder)
    return Store.open(f"sqlite:///{folder / 'easeml.db'}", folder / "artefacts", clock)


def add_job(store: Store, scratch: Path) -> str:
    """Add a tenant with an application whose version is ready and whose job runs; return the job's
    id.
    """
    tenant = Tenant(new_id("ten"), new_id("name"))
    rows = scratch / "rows"
    rows.write_text(tenant.id)
    digest = store.artefacts.put(tenant.id, rows)
    dataset = Dataset(new_id("data"), tenant.id, "d")
    version = DatasetVersion(
        new_id("ver"), tenant.id, dataset.id, 1, Operation(OperationName.DECLARE, {"seed": 0}),
        state="ready", artefact=digest, summary=VersionSummary({"rows": 10}),
    )  # fmt: skip
    application = Application(
        new_id("app"), tenant.id, "a", dataset.id, version.id, "y", "accuracy", state="searching"
    )
    job = Job(new_id("job"), tenant.id, application.id, version.id, state="running", tolerance=0.0)
    candidates = [
        Candidate(
            new_id("cand"), tenant.id, job.id, arm, f"m{arm}", f"m{arm}",
            CandidatePipeline([], ModuleConfig(f"m{arm}")), 1.0,
        )
        for arm in range(ARMS)
    ]  # fmt: skip
    with store.write() as tx:
        tx.tenants.add(tenant)
        tables = tx.scoped(tenant.id)
        tables.datasets.add(dataset)
        tables.versions.add(version)
        tables.applications.add(application)
        tables.jobs.add(job)
        tables.candidates.add_all(candidates)
        tx.events.append("job.running", job.id, {}, tenant.id)
    return job.id
