"""What applications cost whose searches have come to an end, while nobody asks for anything.

    python benchmarks/cluster_at_rest.py [--applications 10 1000 10000] [--seconds 60]

PostgreSQL, the process of the scheduler, that of the controller, and two devices, as in a running
easeml. Each application is another tenant's. Its search has tried all that it had, a model serves,
and nothing that follows from it is under way. The scheduler has looked at all of them long ago (a
new leader does, a few a second). Once it has taken the lead, everything is counted for some time:

    took the lead   seconds until the scheduler had decided for the first time
    statements      SQL statements a minute, of the scheduler, the controller and the devices
    rows            that the database has read a minute
    cpu             processor seconds a minute, of the trees of processes
    memory          MiB of the scheduler at the end
    most            the statements of the scheduler that come most often, a minute

Processor seconds are counted, not a latency: they depend little on what else the machine does.
"""

import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import psutil
import sqlalchemy as sa

from common import arguments, machine_line, read_options, rows_before, write_table
from easeml.api.controller import run_controller
from easeml.contract.states import ApplicationState, JobState, Lane, TaskGroup, TaskState
from easeml.engine import scheduler_process
from easeml.engine.rested_searches import RestedSearches
from easeml.engine.scheduler import Scheduler
from easeml.ids import new_id
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.records import (
    Application,
    Candidate,
    Dataset,
    DatasetVersion,
    Job,
    Task,
    Tenant,
)
from easeml.store.shapes import CandidatePipeline, ModuleConfig, Operation, OperationName
from hundred_devices import Watched, counted, postmaster, run_devices, started
from postgres_cluster import cluster, database
from sleeping_devices import EveryModel

MODELS = 4  # of a search
AT_ONCE = 200  # applications written in one transaction
DEVICES = 2
COLUMNS = ["applications", "took the lead s", "seconds", "load"]
COLUMNS += ["scheduler statements", "controller statements", "device statements", "rows"]
COLUMNS += ["scheduler cpu s", "controller cpu s", "devices cpu s", "database cpu s", "memory MiB"]
Counted = list[tuple[float, str]]
"""Statements: the moment of each, and how it begins."""


def fill(store: Store, count: int) -> None:
    """Write applications that rest, each of another tenant."""
    for first in range(0, count, AT_ONCE):
        made = [Resting.made() for _ in range(first, min(first + AT_ONCE, count))]
        with store.write() as tx:
            tables = tx.unscoped()
            for one in made:
                tx.tenants.add(one.tenant)
            tables.datasets.add_all([one.dataset for one in made])
            tables.versions.add_all([one.version for one in made])
            tables.applications.add_all([one.application for one in made])
            tables.jobs.add_all([one.job for one in made])
            tables.candidates.add_all(list(chain.from_iterable(one.candidates for one in made)))
            tables.tasks.add_all(list(chain.from_iterable(one.tasks for one in made)))
            for one in made:
                tx.events.append("job.resting", one.job.id, {}, one.tenant.id)


@dataclass
class Resting:
    """What there is of an application whose search has tried everything, and which serves."""

    tenant: Tenant
    dataset: Dataset
    version: DatasetVersion
    application: Application
    job: Job
    candidates: list[Candidate]
    tasks: list[Task]

    @classmethod
    def made(cls) -> "Resting":
        """Return another one."""
        tenant = Tenant(new_id("ten"), new_id("rests"))
        dataset = Dataset(new_id("data"), tenant.id, "rows")
        made = Operation(OperationName.DECLARE, {"seed": 0})
        version = DatasetVersion(
            new_id("ver"), tenant.id, dataset.id, 1, made, state="ready", artefact=new_id("rows")
        )
        application = Application(
            new_id("app"), tenant.id, "rests", dataset.id, version.id, "y", "accuracy"
        )
        # Of what serves there is no row: nobody has to read its test rows, as was done long ago.
        serving = {"live_model_id": new_id("model"), "state": ApplicationState.SERVING}
        application = replace(application, pinned=True, **serving)
        job = Job(new_id("job"), tenant.id, application.id, version.id, JobState.RESTING)
        candidates = [_candidate(job, arm) for arm in range(MODELS)]
        tasks = [_trained(job, candidate) for candidate in candidates]
        best = max(task.quality or 0.0 for task in tasks)
        job = replace(job, settled=True, best_quality=best, expected_improvement=0.0)
        return cls(tenant, dataset, version, application, job, candidates, tasks)


def _candidate(job: Job, arm: int) -> Candidate:
    model = f"model-{arm}"
    pipeline = CandidatePipeline([], ModuleConfig(model))
    return Candidate(new_id("cand"), job.tenant_id, job.id, arm, model, model, pipeline, 1.0)


def _trained(job: Job, candidate: Candidate) -> Task:
    """Return a training task that is done."""
    return Task(
        new_id("task"),
        job.tenant_id,
        TaskGroup.TRAIN,
        Lane.SEARCH,
        {"kind": "train", "objective": "accuracy"},
        job_id=job.id,
        candidate_id=candidate.id,
        state=TaskState.DONE,
        attempts=1,
        quality=0.5 + candidate.arm / 100,
        cost=1.0,
        finished=time.time(),
    )


def counting(out: Path, run: Callable[..., None], *told: object) -> None:
    """Do something, and write down when which statement was executed."""
    found: Counted = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        found.append((time.time(), " ".join(statement.split())[:400]))

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        run(*told)
    finally:
        write_table(out, ("time", "statement"), found)


def run_scheduler(settings: Settings, folder: Path) -> None:
    """Be the process of a scheduler that has looked at all; leave a file when it leads."""
    step = Scheduler.step

    def noted(scheduler: Scheduler) -> None:
        step(scheduler)
        (folder / "leads").touch()

    Scheduler.step = noted
    RestedSearches.take = lambda *_: None
    scheduler_process.load_registry = lambda: EveryModel(())
    scheduler_process.run_scheduler(settings)


def wait_for(path: Path, began: float) -> float:
    """Wait for a file; return the seconds since ``began``."""
    while not path.exists():
        time.sleep(0.05)
    return time.time() - began


def measure(settings: Settings, address: str, folder: Path, count: int, seconds: float) -> list:
    """Let everything rest for a while; return a row of the table."""
    folder.mkdir()
    outs = {name: folder / f"{name}.csv" for name in ("scheduler", "controller", "devices")}
    told = {
        "scheduler": (run_scheduler, settings, folder),
        "controller": (run_controller, settings),
        "devices": (run_devices, settings, DEVICES, (1.0, 1.0), folder / "slept.csv"),
    }
    with ExitStack() as stack:
        began = time.time()
        watched = []
        for name, out in outs.items():
            pid = stack.enter_context(started(counting, out, *told[name]))
            watched.append(Watched(name, pid))
        watched.append(Watched("database", postmaster(address)))
        lead = wait_for(folder / "leads", began)
        time.sleep(min(10.0, seconds))
        for one in watched:
            one.restart()
        rows = counted(address)[1]
        since = time.time()
        time.sleep(seconds)
        until = time.time()
        minutes = (until - since) / 60
        rows = counted(address)[1] - rows
        cpu = [one.taken() / minutes for one in watched]
        memory = psutil.Process(watched[0].pid).memory_info().rss / 2**20
        load = os.getloadavg()[0]
    of_each = [within(out, since, until) for out in outs.values()]
    for text, times in of_each[0].most_common(12):
        print(f"    {times / minutes:8.1f}  {text[:150]}")
    row = [count, f"{lead:.1f}", round(until - since), f"{load:.1f}"]
    row += [round(found.total() / minutes) for found in of_each]
    row += [round(rows / minutes), *(f"{one:.2f}" for one in cpu), round(memory)]
    return row


def within(path: Path, since: float, until: float) -> Counter[str]:
    """Return how often each statement was executed between two moments."""
    rows = rows_before(path)
    return Counter(text for moment, text in rows if since <= float(moment) <= until)


def main() -> None:
    """Measure with more and more applications, print and keep the table."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--applications", type=int, nargs="*", default=[10, 1000, 10_000])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--port", type=int, default=9160)
    options = read_options(parser, applications=[2], seconds=2.0)
    print(machine_line("easeml", "sqlalchemy", "psycopg"))
    rows = []
    with tempfile.TemporaryDirectory() as made, cluster() as template, database(template) as url:
        home = Path(made)
        settings = Settings(
            home=home / "home", database_url=url, port=options.port, lease_seconds=60.0
        )
        there = 0
        for count in options.applications:
            store = Store.of(settings)
            fill(store, count - there)
            store.close()
            there = count
            row = measure(settings, url, home / str(count), count, options.seconds)
            rows.append(tuple(map(str, row)))
            print(*map(": ".join, zip(COLUMNS, rows[-1], strict=True)), sep="\n", flush=True)
            write_table(options.out / "table.csv", COLUMNS, rows)


if __name__ == "__main__":
    main()
