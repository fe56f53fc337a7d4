"""Data that is fetched, where a test plays the source: all other bodies are the real ones."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from easeml.contract.applications import Declaration
from easeml.contract.sources import NewOrigin, Retrieval
from easeml.contract.states import Lane
from easeml.contract.tasks import TaskResult
from easeml.engine import task_main
from easeml.modules import load_registry
from easeml.search import CostBelief
from easeml.search import Decision as Choice
from easeml.service.access.caller import Caller
from easeml.service.applications import applications
from easeml.service.models import promotion
from easeml.service.search import job_states, training_tasks
from easeml.service.sources import adding, refreshing, retrievals
from easeml.service.tasks import results
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.records import Attempt, DatasetVersion, Task

ADDRESS = "https://lab.example/rows.csv"


def rows(first: int, last: int, odd: str = "") -> str:
    """A table of rows by number; ``odd``: one line more."""
    lines = [f"{i}.5,{('red', 'blue')[i % 2]},{3 * i}" for i in range(first, last)]
    return "\n".join(["size,colour,price", *lines, *([odd] if odd else []), ""])


def train(store: Store, folder: Path, job_id: str) -> None:
    """Train a model of a search and let it serve, as scheduler and worker do."""
    with store.write() as tx:
        job_states.start_ready_jobs(tx, load_registry(), CostBelief.of(()))
    with store.write() as tx:
        choice = Choice(job_id, 0, "test", dict)
        assert training_tasks.write_decision(tx, load_registry(), choice, "test", 1)
    Source(store, folder, lanes=(Lane.SEARCH,)).work()
    with store.write() as tx:
        promotion.consider(tx, tx.unscoped().jobs.get(job_id).application_id)


@dataclass
class Source:
    """What an address has; an empty text: it does not answer."""

    store: Store
    folder: Path
    text: str = ""
    done: list[str] = field(default_factory=list)  # kinds of the tasks that were worked off
    lanes: tuple[Lane, ...] = (Lane.SHORT, Lane.LONG)

    def work(self) -> list[Task]:
        """Do all work that waits in the lanes."""
        ended = []
        while claimed := self._claim():
            ended.append(self._do(*claimed))
            self.done.append(ended[-1].spec_kind)
        return ended

    def _claim(self) -> tuple[Task, Attempt] | None:
        for lane in self.lanes:
            with self.store.write() as tx:
                if claimed := tx.queue.claim("proc_1", lane, 600.0):
                    return claimed
        return None

    def _do(self, task: Task, attempt: Attempt) -> Task:
        if task.spec_kind == "fetch":
            return self._fetch(task, attempt)
        with self.store.read() as tx:
            spec = results.task_spec(tx, task)
        place = self.folder / attempt.id
        place.mkdir(parents=True)
        task_main.prepare(place, spec)
        for name, digest in spec.inputs.items():
            target = place / task_main.INPUTS / name
            self.store.artefacts.fetch(task.tenant_id, digest, target)
        result = task_main.run(place)
        outputs = place / task_main.OUTPUTS
        digests = {}
        for name in result.outputs:
            digests[name] = self.store.artefacts.put(task.tenant_id, outputs / name)
        return self._bring(attempt, result, digests)

    def _fetch(self, task: Task, attempt: Attempt) -> Task:
        if not self.text:
            return self._bring(attempt, TaskResult(ok=False, error="It answers 404."), {})
        content = self.text.encode()
        kept, size = self.store.artefacts.put_stream(task.tenant_id, [content], 10_000_000)
        value = {"digest": hashlib.sha256(content).hexdigest(), "size": size, "etag": ""}
        value |= {"filename": "rows.csv", "fetched": 0.0}
        result = TaskResult(ok=True, value=value, outputs=["source"])
        return self._bring(attempt, result, {"source": kept})

    def _bring(self, attempt: Attempt, result: TaskResult, digests: dict[str, str]) -> Task:
        with self.store.write() as tx:
            return results.accept(tx, attempt, result, digests, dict.fromkeys(digests, 100))


@dataclass
class Fetched:
    """A data set that was fetched, and an application of it."""

    store: Store
    settings: Settings
    caller: Caller
    source: Source
    dataset_id: str
    application_id: str

    def refresh(self, text: str, *, fewer: bool = False) -> Retrieval:
        """Have the data set fetched again, now that its source has ``text``."""
        self.source.text = text
        retrieval = refreshing.refresh(
            self.store, self.settings, self.caller, self.dataset_id, fewer=fewer
        )
        self.source.work()
        return retrievals.get(self.store, self.caller, retrieval.id)

    def in_use(self) -> DatasetVersion:
        """The version that the application has."""
        with self.store.read() as tx:
            tables = tx.scoped(self.caller.tenant_id)
            return tables.versions.get(tables.applications.get(self.application_id).version_id)

    def notifications(self) -> list[str]:
        """Kinds of the events about data and predictions, oldest first."""
        with self.store.read() as tx:
            events = tx.events.after(0, limit=10_000)
        told = ("dataset.stale", "dataset.fresh", "dataset.failed", "predictions")
        return [event.kind for event in events if event.kind.startswith(told)]


def made(store: Store, caller: Caller, folder: Path) -> Fetched:
    """A data set of 40 rows, and an application that follows it."""
    settings = Settings(home=folder)
    source = Source(store, folder / "work", rows(0, 40))
    dataset = adding.add_origin(store, settings, caller, NewOrigin(address=ADDRESS))
    source.work()
    wish = {"dataset_id": dataset.id, "target": "colour", "models": ["logistic"]}
    declaration = Declaration.model_validate(wish)
    application = applications.declare(store, caller, declaration)
    source.work()
    return Fetched(store, settings, caller, source, dataset.id, application.id)
