"""Faults in a cluster of processes on this machine: what is lost, and how soon all goes on.

    python benchmarks/cluster_faults.py [--faults 1000] [--machines 4] [--artefacts s3|folder]
        [--database postgresql|sqlite] [--services 2] [--clients 3]

Faults are played in rounds of 50. Each has two easemls with one worker each, on a PostgreSQL and a
bucket (S3) of its own, and machines that have joined, with one device each, and answer predictions.
One application after the other is declared, so that there is something to search. At random moments
one fault after the other happens:

- ``worker``, ``scheduler``, ``predictor``, ``controller``: that process of a service is killed;
- ``machine lost``: all processes of a machine are killed, and a machine joins anew;
- ``machine stalls``: a machine stands still for longer than its leases last, and goes on;
- ``machine cut off``: a machine's way to the database is cut for longer than its leases last: both
  ways, or only there, or only back, so that what it says arrives and it hears nothing. Then what
  waited arrives late, or the connections break;
- ``network delays``: its way takes .05 to .3 s longer in each direction, for one lease;
- ``clock jumps``: a machine's clock goes a second to a day wrong, and stays so (where there is a
  C compiler);
- ``database stalls``: the database stands still for up to two seconds;
- ``bucket stalls``: the bucket stands still for up to two leases;
- ``bucket cut off``: a machine's way to the bucket is cut, as that to the database.

The time runs until a prediction arrives. Meanwhile clients use both services at random: they pin,
roll back, rename, limit, drain, cancel, declare, delete, upload, predict and look
(``cluster_history.py``). At the end of a round the history of what they asked and were told is
checked: it has to be linearizable. So are the books: every application that was acknowledged is
there; every finished task has one accepted attempt and a whole trained model; what serves belongs
to its application; all machines have devices again. Only then do its faults count: they are added
to ``played.csv``, and the next start goes on behind them. ``idle.csv`` tells how long devices
idled that no fault kept from working, while a task waited that they could do.

With SQLite there is one service, a folder in place of the bucket, and the faults of networks and of
the database are not played. The machines share this kernel. The clocks of the services, of the
database and of the bucket do not jump.
"""

import argparse
import os
import random
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import jumping_clock
import service_process
from cluster_bucket import URL, Bucket
from cluster_history import Crowd, Verdict, check_history, crowd_of, kept_by
from cluster_machines import (
    READY_SECONDS,
    Machine,
    signal_all,
    wait_for_devices,
    with_descendants,
)
from common import arguments, machine_line, read_options, rows_before, write_table
from cut_network import Direction, Network
from easeml.client import Client
from easeml.settings import Settings
from easeml.store import Store
from idle_devices import LONGEST, IdleDevices, ancestors
from killing import check_books, declare, predict
from linearizability import Operation
from postgres_cluster import cluster, database
from service_process import EasemlProcess

EACH = 50  # faults of a round
DECLARED_EVERY = 25  # faults an application is declared
LEASE_SECONDS = 3.0
LONGEST_DATABASE_STALL = 2.0  # seconds
LONGEST_DELAY = 0.3  # seconds
LONGEST_JUMP = 86400.0  # seconds
PROCESSES = ("worker", "scheduler", "predictor", "controller")
CUTS: tuple[tuple[Direction, ...], ...] = (("there", "back"), ("there",), ("back",))
PLAYED = ("number", "fault", "seconds", "artefacts", "history")
HISTORY = ("faults up to", *Verdict.__dataclass_fields__)
IDLE = (
    "faults up to",
    "looks",
    "times",
    "median s",
    "p99 s",
    "longest s",
    "longer than 1 s",
    "load",
)


@dataclass(frozen=True)
class Fault:
    """What happened, and the seconds until the endpoint gave a prediction again.

    ``artefacts``: where they were kept; ``history``: whether that of clients was checked.
    """

    kind: str
    seconds: float
    artefacts: str = "folder"
    history: str = ""


@dataclass
class Cluster:
    """What faults happen to."""

    services: list[EasemlProcess]
    machines: list[Machine]
    database: int | None  # process id of the database's server
    bucket: Bucket | None
    lease_seconds: float
    clocks_jump: bool
    hindered: set[int] = field(default_factory=set)  # process ids of machines that cannot work
    last: str = "the start"  # the fault that came last

    def kinds(self) -> list[str]:
        """Return the faults that can be played."""
        kinds = [*PROCESSES, "machine lost", "machine stalls"]
        if self.database is not None:
            kinds += ["database stalls", "machine cut off", "network delays"]
        if self.bucket is not None:
            kinds += ["bucket stalls", "bucket cut off"]
        return kinds + ["clock jumps"] * self.clocks_jump

    def is_hindered(self, pid: int) -> bool:
        """Tell whether a fault keeps a process from working at the moment."""
        return not self.hindered.isdisjoint(ancestors(pid))

    def happen(self, kind: str, draw: random.Random) -> None:
        """Let one fault happen, and end."""
        machine = draw.choice(self.machines)
        touched = {machine.pid}
        if kind in ("database stalls", "bucket stalls"):
            touched = {service.process.pid for service in self.services}
            touched |= {one.pid for one in self.machines}
        self.hindered = touched if kind not in PROCESSES else set()
        self.last = kind
        self._play(kind, machine, draw)
        self.hindered = set()

    def _play(self, kind: str, machine: Machine, draw: random.Random) -> None:
        if kind == "machine lost":
            machine.vanish()
            machine.join()
        elif kind == "machine stalls":
            with machine.stalled():
                time.sleep(self._while(draw))
        elif kind == "database stalls":
            self._stall_database(draw.uniform(0.0, LONGEST_DATABASE_STALL))
        elif kind == "bucket stalls":
            assert self.bucket is not None
            with self.bucket.stalled():
                time.sleep(self._while(draw))
        elif kind == "machine cut off":
            self._cut_off(machine.network, draw)
        elif kind == "bucket cut off":
            self._cut_off(machine.bucket_network, draw)
        elif kind == "network delays":
            self._delay(machine, draw.uniform(0.05, LONGEST_DELAY))
        elif kind == "clock jumps":
            assert machine.clock is not None
            machine.clock.jump(draw.choice((-1, 1)) * LONGEST_JUMP ** draw.random())
        else:
            draw.choice(self.services).kill(kind)

    def _while(self, draw: random.Random) -> float:
        return self.lease_seconds * draw.uniform(1.0, 2.0)

    def _cut_off(self, network: Network | None, draw: random.Random) -> None:
        assert network is not None
        network.cut(*draw.choice(CUTS))
        time.sleep(self._while(draw))
        network.mend(breaks=draw.choice((True, False)))

    def _delay(self, machine: Machine, seconds: float) -> None:
        assert machine.network is not None
        machine.network.slow(seconds)
        time.sleep(self.lease_seconds)
        machine.network.mend(breaks=False)

    def _stall_database(self, seconds: float) -> None:
        assert self.database is not None
        stopped = with_descendants(self.database)
        signal_all(stopped, signal.SIGSTOP)
        time.sleep(seconds)
        signal_all(stopped, signal.SIGCONT)


def postgres_process(address: str) -> int:
    """Return the process id of the server of a private PostgreSQL, by its URL."""
    folder = Path(address.rpartition("host=")[2])
    return int((folder / "data" / "postmaster.pid").read_text().splitlines()[0])


class Round:
    """Fifty faults or fewer, and what is checked after them."""

    def __init__(self, options: argparse.Namespace, folder: Path, stack: ExitStack):
        self._options = options
        self._folder = folder
        self._stack = stack
        self._changed: dict[str, str] = {}
        self.found = self._started()
        self._easeml = self.found.services[0]
        self._settings = Settings(
            home=self._easeml.home,
            database_url=self._changed.get("database_url", ""),
            artefacts_url=self._changed.get("artefacts_url", ""),
        )
        self._store = Store.of(self._settings)
        stack.callback(self._store.close)
        self.verdict: Verdict | None = None
        self.idle = IdleDevices(self._store, self.found.is_hindered, lambda: self.found.last)

    def play(self, numbers: Sequence[int]) -> list[Fault]:
        """Let the faults of these numbers happen, while clients use the services, and check."""
        folder = self._folder
        applications = [declare(self._easeml, folder, f"wine-{numbers[0]}")]
        self._easeml.wait(applications[0], "first-model", READY_SECONDS)
        crowd = crowd_of(self.found.services, applications, numbers[0])
        faults: list[Fault] = []
        with crowd.of(self._options.clients), self.idle.watched():
            for number in numbers:
                if faults and number % DECLARED_EVERY == 0:
                    declared = declare(self._easeml, folder, f"wine-{number}")
                    self._easeml.wait(declared, "first-model", READY_SECONDS)
                    applications.append(declared)
                faults.append(self._happen(number, applications))
        self._check(crowd, applications)
        return faults

    def _happen(self, number: int, applications: Sequence[str]) -> Fault:
        draw = random.Random(number)
        time.sleep(draw.uniform(0.0, 1.0))  # the random moment
        kind = draw.choice(self.found.kinds())
        began = time.monotonic()
        self.found.happen(kind, draw)
        for service in self.found.services:
            service.wait_until_answering()
        asked = draw.choice(self.found.services)
        answer = predict(asked, draw.choice(applications))
        assert len(answer["predictions"]) == 1, answer
        history = "checked" if self._options.clients else ""
        artefacts = "s3" if self.found.bucket is not None else "folder"
        return Fault(kind, time.monotonic() - began, artefacts, history)

    def _check(self, crowd: Crowd, applications: list[str]) -> None:
        """Raise where something is lost, taken twice, or was told that cannot be."""
        crowd.drain_none()
        wait_for_devices(self.found.services, self.found.machines)
        check_acknowledged(self._easeml, applications)
        for application in applications:
            self._easeml.command("job", "stop", application)
        crowd.look_at_all()
        if self._options.clients:
            operations = [*crowd.history.operations, *kept_by(self._store, applications)]
            keep_history(operations, self._options.logs)
            self.verdict = check_history(operations)
        ended: Counter[str] = check_books(self._easeml, self._settings)
        tasks = ", ".join(f"{count} {state}" for state, count in sorted(ended.items()))
        machines = len(self.found.machines)
        print(f"{len(applications)} applications, {machines} machines; tasks: {tasks}")

    def _started(self) -> Cluster:
        """Start everything, and wait until it works."""
        options, folder = self._options, self._folder
        server, socket, bucket = None, None, None
        count = 1
        if options.database == "postgresql":
            server, socket = self._start_database()
            count = options.services
            if options.artefacts == "s3":
                bucket = Bucket(folder / "bucket.log")
                self._stack.callback(bucket.close)
                os.environ.update(bucket.environment)
                self._changed["artefacts_url"] = URL
            else:
                self._changed["artefacts_url"] = f"file://{folder}/shared"
        service_process.READY_SECONDS = READY_SECONDS
        services = [self._start_service(number) for number in range(count)]
        for service in services:
            service.key = services[0].key
        clocks = jumping_clock.build(folder)
        machines: list[Machine] = []
        for number in range(options.machines):
            home = folder / f"machine-{number}"
            machine = Machine(services[0], home, socket, bucket, clocks)
            machines.append(machine)
            self._stack.callback(machine.leave)
        lease = LEASE_SECONDS if self._changed else Settings(home=folder).lease_seconds
        wait_for_devices(services, machines)
        return Cluster(services, machines, server, bucket, lease, clocks is not None)

    def _start_database(self) -> tuple[int, Path]:
        template = self._stack.enter_context(cluster())
        address, _, place = self._stack.enter_context(database(template)).partition("?host=")
        # Without the place in it, each machine finds the database by a way of its own.
        self._changed["database_url"] = address
        self._changed["lease_seconds"] = str(LEASE_SECONDS)
        os.environ["PGHOST"] = place
        return postgres_process(template), Path(place) / ".s.PGSQL.5432"

    def _start_service(self, number: int) -> EasemlProcess:
        easeml = EasemlProcess(self._folder / f"home-{number}", workers=1, **self._changed)
        self._stack.callback(keep_logs, easeml.home, self._options.logs)
        easeml.start()
        self._stack.callback(easeml.stop)
        return easeml


def check_acknowledged(easeml: EasemlProcess, applications: list[str]) -> None:
    """Raise ``AssertionError`` where an application that was acknowledged is not there."""
    with Client(easeml.url, easeml.key) as client:
        there = {application.id for application in client.applications()}
    lost = set(applications) - there
    assert not lost, lost


def print_table(faults: list[Fault]) -> list[tuple[str, int, float, float, float]]:
    """Print, and return, the seconds until the endpoint answered, by kind of fault."""
    rows = []
    print(f"{'fault':16} {'n':>5} {'median s':>9} {'p90 s':>8} {'worst s':>8}")
    for kind in [*sorted({fault.kind for fault in faults}), "any"]:
        seconds = [fault.seconds for fault in faults if kind in (fault.kind, "any")]
        row = (kind, len(seconds), statistics.median(seconds), at(0.9, seconds), max(seconds))
        print(f"{row[0]:16} {row[1]:5} {row[2]:9.2f} {row[3]:8.2f} {row[4]:8.2f}")
        rows.append(row)
    return rows


def at(share: float, numbers: Sequence[float]) -> float:
    """Return the number below which a share of numbers lies."""
    ordered = sorted(numbers)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def idle_row(up_to: int, idle: IdleDevices) -> tuple[int | str, ...]:
    """Return, and print, how long devices idled while work waited; ``load``: processes that wait."""
    seconds = [span.seconds for span in idle.spans] or [0.0]
    too_long = sum(one > LONGEST for one in seconds)
    told = [statistics.median(seconds), at(0.99, seconds), max(seconds)]
    print(
        f"Devices idled {len(idle.spans)} times while work waited ({idle.looks} looks): median "
        f"{told[0]:.2f} s, p99 {told[1]:.2f} s, longest {told[2]:.2f} s; {too_long} over a second."
    )
    after = Counter(span.after for span in idle.spans if span.seconds > LONGEST)
    print(*(f"- over a second after {fault}: {count}" for fault, count in after.items()), sep="\n")
    load = f"{os.getloadavg()[1]:.0f}"
    return (up_to, idle.looks, len(idle.spans), *(f"{one:.2f}" for one in told), too_long, load)


def history_row(up_to: int, verdict: Verdict) -> tuple[int | str, ...]:
    """Return, and print, what the check of a history found."""
    print(
        f"Linearizable: {verdict.operations} operations on {verdict.objects} objects "
        f"({verdict.unanswered} without an answer), {verdict.looks} looks in "
        f"{verdict.seconds:.1f} s; predictions at most {verdict.lag:g} s late."
    )
    numbers = (f"{one:.4g}" if isinstance(one, float) else one for one in vars(verdict).values())
    return (up_to, *numbers)


def keep_logs(home: Path, kept: Path | None) -> None:
    """Copy the logs of a service for whoever looks for the reason of a failure."""
    if kept is not None and (home / "logs").exists():
        shutil.copytree(home / "logs", kept / home.name, dirs_exist_ok=True)


def keep_history(operations: Sequence[Operation], kept: Path | None) -> None:
    """Write what was asked and told for whoever looks for the reason of a failure."""
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        ordered = sorted(operations, key=lambda one: one.asked)
        (kept / "history.txt").write_text("".join(f"{one}\n" for one in ordered))


def played_before(path: Path) -> list[Fault]:
    """Return the faults of the rounds whose books balanced."""
    return [Fault(fault, float(seconds), *more) for _, fault, seconds, *more in rows_before(path)]


def append(path: Path, columns: Sequence[str], row: Sequence[object]) -> None:
    """Add a row to a table."""
    write_table(path, columns, [*rows_before(path), row])


def write_faults(out: Path, faults: list[Fault]) -> None:
    """Write which faults were played, and how long they took."""
    rows = [
        (number, fault.kind, f"{fault.seconds:.2f}", fault.artefacts, fault.history)
        for number, fault in enumerate(faults)
    ]
    write_table(out / "played.csv", PLAYED, rows)
    write_table(out / "faults.csv", ("fault", "n", "median", "p90", "worst"), print_table(faults))


def main() -> None:
    """Play, check and print, round by round."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--faults", type=int, default=1000, help="in all, with those played before")
    parser.add_argument("--each", type=int, default=EACH, help="faults of a round")
    parser.add_argument("--machines", type=int, default=4)
    parser.add_argument("--services", type=int, default=2)
    parser.add_argument("--clients", type=int, default=3, help="that use the services meanwhile")
    parser.add_argument("--database", choices=("postgresql", "sqlite"), default="postgresql")
    parser.add_argument("--artefacts", choices=("s3", "folder"), default="s3")
    parser.add_argument("--logs", type=Path, help="folder for the logs of a round")
    options = read_options(parser, faults=1, machines=1, database="sqlite", clients=1)
    print(machine_line("easeml", "sqlalchemy", "psycopg"))
    faults = played_before(options.out / "played.csv")
    while len(faults) < options.faults:
        began = time.monotonic()
        numbers = range(len(faults), min(len(faults) + options.each, options.faults))
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            played = Round(options, Path(folder), stack)
            faults += played.play(numbers)
        write_faults(options.out, faults)
        append(options.out / "idle.csv", IDLE, idle_row(len(faults), played.idle))
        if played.verdict is not None:
            row = history_row(len(faults), played.verdict)
            append(options.out / "histories.csv", HISTORY, row)
        print(f"{len(faults)} faults; {time.monotonic() - began:.0f} s", flush=True)
    print("The books balance: nothing acknowledged is lost, and no result was taken twice.")
    print("Every history of clients is linearizable." * bool(options.clients))


if __name__ == "__main__":
    main()
