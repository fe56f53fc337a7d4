"""A hundred devices and a hundred people on PostgreSQL: how soon the next task is decided and begun.

    python benchmarks/hundred_devices.py [--devices 100] [--people 100] [--seconds 180]
        [--shortest 5] [--longest 60] [--resting 10000] [--looks 10]

Everything is as in a running easeml, and takes its real time, but for the bodies of tasks, which
sleep: the process of the scheduler, the workers with their slots, leases, heartbeats and wake-ups,
the controller, and a PostgreSQL server with its usual settings. Each device is a worker; the
workers are threads of a few processes. Each person has a tenant whose application searches. Then
the same is measured again beside applications that rest, their searches at an end.

    decided     seconds from a result to the decisions that follow from it, all committed
    handed over seconds from the end of a body to the beginning of the next on its device
    idle        share of the devices' time without a body
    looked      milliseconds of a request for an application's state, by people over REST
    cores       processor seconds a second: of the scheduler, of the database, of a device, and of
                the controller

The processors are shared with whatever else runs: ``load`` is how many processes ran or waited.
"""

import argparse
import asyncio
import os
import random
import secrets
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import httpx
import numpy as np
import psutil
import sqlalchemy as sa

from common import arguments, machine_line, read_options, rows_before, write_table
from easeml.api.controller import run_controller
from easeml.contract.states import JobState, KeyScope, ProcessKind
from easeml.contract.tasks import Limits, TaskResult, TaskSpec
from easeml.engine import scheduler_process, task_main
from easeml.engine.executors.base import Outcome
from easeml.engine.membership import register, sign_off
from easeml.engine.scheduler import Scheduler
from easeml.engine.sensors import Sensors
from easeml.engine.signals import Stop
from easeml.engine.slot import SlotContext
from easeml.engine.worker import Worker
from easeml.ids import new_id
from easeml.service.accounts import keys
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.records import Membership, User
from postgres_cluster import cluster, database
from sleeping_devices import EveryModel, add_tenant

MODELS = 40  # of a search: more than are tried while it is measured
OF_A_PROCESS = 25  # devices
WARM_UP = 20.0  # seconds that do not count
COLUMNS = ["devices", "people", "resting", "seconds", "tasks", "load"]
COLUMNS += ["decided p50 ms", "decided p99 ms", "handed over p50 ms", "handed over p99 ms"]
COLUMNS += ["idle %", "looked p50 ms", "looked p99 ms", "commits/s", "rows read/s"]
COLUMNS += ["scheduler cores", "database cores", "cores a device", "controller cores"]
COLUMNS += ["connections", "took the lead s"]


@dataclass(frozen=True)
class Slept:
    """A body: which device it was on, and its seconds of the epoch."""

    device: str
    began: float
    ended: float


class SleepingExecution:
    """A body that sleeps, and then says that a model was trained."""

    def __init__(self, folder: Path, seconds: float, device: str, note: Callable[[Slept], None]):
        self._folder = folder
        self._seconds = seconds
        self._device = device
        self._note = note
        self._ended = threading.Event()
        self._began = time.time()

    def wait(self) -> Outcome:
        """Sleep to the end."""
        if self._ended.wait(self._seconds):
            return Outcome("killed", TaskResult(ok=False, error="Killed."), self._seconds)
        ended = time.time()
        result = self._result()
        if result.ok:
            self._note(Slept(self._device, self._began, ended))
        return Outcome("finished", result, self._seconds)

    def ask_to_end(self, grace: float) -> None:
        """Sleep on: it has nothing to show before."""

    def kill(self) -> None:
        """End now."""
        self._ended.set()

    def _result(self) -> TaskResult:
        spec = TaskSpec.model_validate_json((self._folder / task_main.SPEC).read_text())
        if spec.body["kind"] != "train":
            return TaskResult(ok=False, error="Nothing but training is played here.")
        outputs = ["model", "predictions", "evaluation"]
        for name in outputs:
            (self._folder / task_main.OUTPUTS / name).write_text(self._folder.name)
        quality = random.Random(self._folder.name).uniform(0.5, 0.9)
        value = {"quality": quality, "metrics": {}, "name": "model", "seconds": self._seconds}
        value |= {"low": quality - 0.1, "high": quality + 0.1, "measures": {}, "latency": 0.001}
        return TaskResult(ok=True, value=value, outputs=outputs, cost=self._seconds)


@dataclass
class SleepingExecutor:
    """Runs no body: each sleeps for a time drawn between two numbers of seconds."""

    device: str
    between: tuple[float, float]
    note: Callable[[Slept], None]

    def start(self, folder: Path, limits: Limits) -> SleepingExecution:
        """Begin to sleep."""
        seconds = random.Random(f"{folder.name} sleeps").uniform(*self.between)
        return SleepingExecution(folder, seconds, self.device, self.note)

    def close(self) -> None:
        """There is nothing to give back."""


def run_devices(settings: Settings, count: int, between: tuple[float, float], out: Path) -> None:
    """Be the workers of some devices until SIGTERM; then write what was slept."""
    stop = Stop.on_signals()
    store = Store.of(settings)
    slept: list[Slept] = []
    threads = []
    for _ in range(count):
        process = register(store, ProcessKind.WORKER)
        executor = SleepingExecutor(process.id, between, slept.append)
        limits = Limits(seconds=600, memory=2**30, threads=1)
        folder = settings.home / "work" / process.id
        context = SlotContext(
            store, executor, limits, process.id, folder, settings.lease_seconds, settings=settings
        )
        worker = Worker(context, Sensors())
        threads.append(threading.Thread(target=worker.run, args=(stop,)))
        threads[-1].start()
        time.sleep(0.1)  # so that heartbeats do not come all at once
    for thread in threads:
        thread.join()
    write_table(out, ("device", "began", "ended"), [tuple(vars(one).values()) for one in slept])
    with store.read() as tx:
        processes = tx.processes.column("id", kind=ProcessKind.WORKER, pid=os.getpid())
    for process_id in processes:
        sign_off(store, process_id)


def run_scheduler(settings: Settings, out: Path) -> None:
    """Be the process of the scheduler until SIGTERM; write when it had followed which event."""
    followed: list[tuple[float, int]] = []
    step = Scheduler.step

    def noted(scheduler: Scheduler) -> None:
        step(scheduler)
        followed.append((time.time(), scheduler._seq))

    Scheduler.step = noted
    scheduler_process.load_registry = lambda: EveryModel(())
    try:
        scheduler_process.run_scheduler(settings)
    finally:
        write_table(out, ("time", "seq"), followed)


@dataclass
class Watched:
    """Processor seconds of processes and of their children."""

    name: str
    pid: int
    seconds: float = 0.0

    def restart(self) -> None:
        """Count from now on."""
        self.seconds = self._now()

    def taken(self) -> float:
        """Return the processor seconds since it was restarted."""
        return self._now() - self.seconds

    def _now(self) -> float:
        process = psutil.Process(self.pid)
        times = [process.cpu_times()]
        times += [child.cpu_times() for child in process.children(recursive=True)]
        ended = times[0].children_user + times[0].children_system  # those that were waited for
        return ended + sum(one.user + one.system for one in times)


@dataclass(frozen=True)
class Person:
    """Somebody with a key, and the application that they look at."""

    key: str
    application: str


@dataclass
class Lab:
    """An easeml whose devices sleep. ``address``: of its database."""

    folder: Path
    address: str
    options: argparse.Namespace
    people: list[Person] = field(default_factory=list)

    @property
    def settings(self) -> Settings:
        """What all processes are told."""
        return Settings(
            home=self.folder / "home",
            database_url=self.address,
            port=self.options.port,
            lease_seconds=60.0,
        )

    @contextmanager
    def store(self) -> Iterator[Store]:
        """Open the store."""
        store = Store.of(self.settings)
        try:
            yield store
        finally:
            store.close()

    def fill(self) -> None:
        """Write the people, whose searches run."""
        with self.store() as store:
            for number in range(self.options.people):
                self._add_person(store, number)

    def _add_person(self, store: Store, number: int) -> None:
        models = [f"model-{arm}" for arm in range(MODELS)]
        key = f"eml_{secrets.token_hex(32)}"
        with store.write() as tx:
            job, _ = add_tenant(tx, f"person-{number}", models)
            rows = store.artefacts.put_stream(job.tenant_id, [b"rows"], 4)[0]
            tx.scoped(job.tenant_id).versions.update(job.version_id, artefact=rows)
            user = tx.users.add(
                User(new_id("user"), f"person-{number}", "", tenant_id=job.tenant_id)
            )
            tx.scoped(job.tenant_id).memberships.add(
                Membership(new_id("mem"), user.id, job.tenant_id)
            )
            keys.add_given(tx, user, "looks", KeyScope.ALL, key)
        self.people.append(Person(key, job.application_id))

    def add_resting(self, count: int) -> None:
        """Write applications that rest, each of another tenant."""
        with self.store() as store:
            for number in range(count):
                with store.write() as tx:
                    add_tenant(tx, f"resting-{number}", ["model-0"], JobState.STOPPED)


@contextmanager
def started(run: Callable[..., None], *told: object) -> Iterator[int]:
    """Have a process do something; it is asked to end afterwards, and waited for."""
    process = get_context("spawn").Process(target=run, args=told)
    process.start()
    assert process.pid is not None
    try:
        yield process.pid
    finally:
        os.kill(process.pid, signal.SIGTERM)
        process.join(120)
        process.kill()


async def look(lab: Lab, seconds: float) -> list[float]:
    """Let people look at their applications for a while; return the milliseconds of each look."""
    taken: list[float] = []
    latest = time.monotonic() + seconds
    address = f"http://{lab.settings.host}:{lab.settings.port}"
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        waiting = set()
        while time.monotonic() < latest:
            look = asyncio.create_task(_look(client, random.choice(lab.people), taken))
            waiting.add(look)
            look.add_done_callback(waiting.discard)
            await asyncio.sleep(random.expovariate(lab.options.looks))
        await asyncio.gather(*waiting)
    return taken


async def _look(client: httpx.AsyncClient, person: Person, taken: list[float]) -> None:
    headers = {"Authorization": f"Bearer {person.key}"}
    began = time.perf_counter()
    answer = await client.get(f"/api/v1/applications/{person.application}", headers=headers)
    answer.raise_for_status()
    taken.append(1e3 * (time.perf_counter() - began))


def counted(address: str) -> tuple[int, int, int]:
    """Return the commits of the database so far, the rows it has read, and its connections."""
    engine = sa.create_engine(address)
    asked = "SELECT xact_commit, tup_fetched, numbackends FROM pg_stat_database"
    with engine.connect() as connection:
        row = connection.exec_driver_sql(f"{asked} WHERE datname = current_database()").one()
    engine.dispose()
    return tuple(row)


def postmaster(address: str) -> int:
    """Return the process id of the server of a private PostgreSQL, by its URL."""
    folder = Path(urlsplit(address).query.partition("host=")[2])
    return int((folder / "data" / "postmaster.pid").read_text().splitlines()[0])


def measure(lab: Lab, resting: int) -> list[object]:
    """Run everything for the time asked for; return a row of the table."""
    options = lab.options
    between = (options.shortest, options.longest)
    steps = lab.folder / f"steps-{resting}.csv"
    outs = []
    with ExitStack() as stack:
        asked = time.time()
        scheduler = stack.enter_context(started(run_scheduler, lab.settings, steps))
        controller = stack.enter_context(started(run_controller, lab.settings))
        watched = [Watched("scheduler", scheduler), Watched("controller", controller)]
        watched.append(Watched("database", postmaster(lab.address)))
        for first in range(0, options.devices, OF_A_PROCESS):
            outs.append(lab.folder / f"slept-{resting}-{first}.csv")
            count = min(OF_A_PROCESS, options.devices - first)
            told = (run_devices, lab.settings, count, between, outs[-1])
            watched.append(Watched("devices", stack.enter_context(started(*told))))
        wait_for_all(lab)
        lead = time.time() - asked
        time.sleep(min(WARM_UP, options.seconds))
        for one in watched:
            one.restart()
        commits, rows, connections = counted(lab.address)
        began = time.time()
        looks = asyncio.run(look(lab, options.seconds))
        ended = time.time()
        after = counted(lab.address)
        cores = dict.fromkeys(("scheduler", "database", "devices", "controller"), 0.0)
        for one in watched:
            cores[one.name] += one.taken() / (ended - began)
        load = os.getloadavg()[1]
    slept = read_slept(outs)
    decided = decisions(lab, read_steps(steps), began, ended)
    passed, idle = between_bodies(slept, began, ended)
    done = sum(began <= one.ended <= ended for one in slept)
    row: list[object] = [options.devices, options.people, resting, round(ended - began), done]
    row += [f"{load:.0f}", *middle_and_99th(decided), *middle_and_99th(passed), f"{idle:.2f}"]
    row += [*middle_and_99th([one / 1e3 for one in looks])]
    row += [round((after[0] - commits) / (ended - began))]
    row += [round((after[1] - rows) / (ended - began))]
    row += [f"{cores['scheduler']:.2f}", f"{cores['database']:.2f}"]
    row += [f"{cores['devices'] / options.devices:.4f}", f"{cores['controller']:.2f}"]
    return [*row, connections, f"{lead:.1f}"]


def wait_for_all(lab: Lab) -> None:
    """Wait until every device has a body. Raises ``TimeoutError``."""
    latest = time.monotonic() + 600
    with lab.store() as store:
        while time.monotonic() < latest:
            with store.read() as tx:
                if tx.unscoped().attempts.count(state="running") >= lab.options.devices:
                    return
            time.sleep(0.5)
    raise TimeoutError("some devices have nothing to do")


def read_steps(path: Path) -> list[tuple[float, int]]:
    """Return when the scheduler had followed the events up to which number."""
    return [(float(moment), int(seq)) for moment, seq in rows_before(path)]


def read_slept(paths: Sequence[Path]) -> list[Slept]:
    """Return the bodies of all devices."""
    found = []
    for path in paths:
        found += [Slept(name, float(began), float(end)) for name, began, end in rows_before(path)]
    return found


def decisions(
    lab: Lab, steps: Sequence[tuple[float, int]], began: float, ended: float
) -> list[float]:
    """Return the seconds from each result within a time to the end of the step that followed it."""
    with lab.store() as store, store.read() as tx:
        events = []
        seq = 0
        while found := tx.events.after(seq):
            events += [one for one in found if one.kind == "task.done"]
            seq = found[-1].seq
    moments = [moment for moment, _ in steps]
    seqs = np.maximum.accumulate([seq for _, seq in steps])
    taken = []
    for event in events:
        place = int(np.searchsorted(seqs, event.seq))
        if began <= event.created <= ended and place < len(moments):
            taken.append(moments[place] - event.created)
    return taken


def between_bodies(slept: Sequence[Slept], began: float, ended: float) -> tuple[list[float], float]:
    """Return the seconds between two bodies of a device, and the share (%) that devices idled."""
    of_device: dict[str, list[Slept]] = {}
    for one in sorted(slept, key=lambda one: one.began):
        of_device.setdefault(one.device, []).append(one)
    gaps = []
    for bodies in of_device.values():
        pairs = [pair for pair in pairwise(bodies) if began <= pair[0].ended <= ended]
        gaps += [after.began - before.ended for before, after in pairs]
    time_of_all = len(of_device) * (ended - began)
    return gaps, 100 * sum(gaps) / time_of_all


def middle_and_99th(seconds: Sequence[float]) -> list[object]:
    """Return the median and the 99th percentile in milliseconds."""
    if not seconds:
        return ["", ""]
    return [f"{1e3 * one:.1f}" for one in np.percentile(seconds, [50, 99])]


def main() -> None:
    """Measure without and with applications that rest, print and keep the table."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--devices", type=int, default=100)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=180.0)
    parser.add_argument("--shortest", type=float, default=5.0, help="seconds of a body")
    parser.add_argument("--longest", type=float, default=60.0)
    parser.add_argument("--resting", type=int, default=10_000, help="applications, at the second")
    parser.add_argument("--looks", type=float, default=10.0, help="of people, a second")
    parser.add_argument("--port", type=int, default=9150)
    short = {"devices": 2, "people": 2, "seconds": 3.0, "resting": 0, "shortest": 0.2}
    options = read_options(parser, **short, longest=0.4)
    print(machine_line("easeml", "sqlalchemy", "psycopg"))
    rows = rows_before(options.out / "table.csv")
    with tempfile.TemporaryDirectory() as made, cluster() as template, database(template) as url:
        lab = Lab(Path(made), url, options)
        lab.fill()
        for resting in dict.fromkeys((0, options.resting)):
            lab.add_resting(resting)
            row = measure(lab, resting)
            print(*map(": ".join, zip(COLUMNS, map(str, row), strict=True)), sep="\n", flush=True)
            rows.append(tuple(row))
            write_table(options.out / "table.csv", COLUMNS, rows)


if __name__ == "__main__":
    main()
