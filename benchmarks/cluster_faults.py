"""Faults in a cluster of processes on this machine: what is lost, and how soon all goes on.

    python benchmarks/cluster_faults.py [--faults 1000] [--machines 4] [--database postgresql|sqlite]

Faults are played in rounds of 50. Each has an easeml with one worker of its own, on a PostgreSQL of
its own, and machines that have joined it, with one device each, and answer predictions. One
application after the other is declared, so that there is something to search. At random moments one
fault after the other happens:

- ``worker``, ``scheduler``, ``predictor``, ``controller``: that process of the service is killed;
- ``machine lost``: all processes of a machine are killed, and a machine joins anew;
- ``machine stalls``: a machine stands still for longer than its leases last, and goes on;
- ``machine cut off``: a machine's way to the database is cut for longer than its leases last: both
  ways, or only there, or only back, so that what it says arrives and it hears nothing. Then what
  waited arrives late, or the connections break;
- ``network delays``: its way takes .05 to .3 s longer in each direction, for one lease;
- ``clock jumps``: a machine's clock goes a second to a day wrong, and stays so (where there is a
  C compiler);
- ``database stalls``: the database stands still for up to two seconds.

The time runs until a prediction arrives. At the end of a round the books are checked: every
application that was acknowledged is there; every finished task has one accepted attempt and a whole
trained model; what serves belongs to its application; all machines have devices again. Only then do
its faults count: they are added to ``played.csv``, and the next start goes on behind them.

With SQLite the last four kinds are not played, but for clocks. The machines share this kernel. The
clocks of the service and of the database do not jump.
"""

import argparse
import csv
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import jumping_clock
import service_process
from common import arguments, machine_line, read_options, write_table
from cut_network import Direction, Network
from easeml.client import Client
from easeml.settings import Settings
from jumping_clock import JumpingClock
from killing import check_books, declare, predict
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
PLAYED = ("number", "fault", "seconds")
READY_SECONDS = 300.0  # many start at once, on few cores


@dataclass(frozen=True)
class Fault:
    """What happened, and the seconds until the endpoint gave a prediction again."""

    kind: str
    seconds: float


class Machine:
    """A machine that has joined: ``easeml worker --join`` with a home, a clock and a network of its
    own.
    """

    def __init__(self, easeml: EasemlProcess, home: Path, server: Path | None, clocks: Path | None):
        """``server``: socket of the database; ``clocks``: library that lets clocks jump."""
        self._easeml = easeml
        self._home = home
        self._said = home.with_suffix(".log")
        self._environment = {"EASEML_API_KEY": easeml.key}
        self.network: Network | None = None
        self.clock: JumpingClock | None = None
        if server is not None:
            way = home.with_suffix(".net")
            way.mkdir()
            self.network = Network(way / server.name, server)
            self._environment["PGHOST"] = str(way)
        if clocks is not None:
            self.clock = JumpingClock(clocks, home.with_suffix(".clock"))
            self._environment |= self.clock.environment
        self.join()

    def join(self) -> None:
        """Start it."""
        arguments = ["worker", "--join", self._easeml.url, "--home", str(self._home)]
        arguments += ["--serve", "127.0.0.1"]
        with self._said.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "easeml.cli", *arguments],
                env={**os.environ, **self._environment},
                stdout=output,
                stderr=output,
            )

    def vanish(self) -> None:
        """Kill all of its processes at once."""
        self._signal(signal.SIGKILL)
        self._process.wait()

    @contextmanager
    def stalled(self) -> Iterator[None]:
        """Let all of its processes stand still meanwhile."""
        self._signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._signal(signal.SIGCONT)

    def state(self) -> str:
        """Return whether it runs, and the last that it said."""
        code = self._process.poll()
        ended = "runs" if code is None else f"ended with {code}"
        said = self._said.read_text(errors="replace").splitlines()[-5:]
        return "\n  ".join([f"{self._home.name} {ended}", *said])

    def leave(self) -> None:
        """End it as Ctrl-C does."""
        self._process.terminate()
        self._process.wait()
        if self.network is not None:
            self.network.close()

    def _signal(self, number: signal.Signals) -> None:
        for pid in with_descendants(self._process.pid):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue


def with_descendants(root: int) -> list[int]:
    """Return a process and all that it has started, parents first."""
    found = [root]
    for pid in found:
        try:
            for thread in Path(f"/proc/{pid}/task").iterdir():
                found += [int(child) for child in (thread / "children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def wait_for_devices(easeml: EasemlProcess, machines: Sequence[Machine]) -> None:
    """Wait until the service and all machines have their devices."""
    count = easeml.workers + len(machines)
    latest = time.monotonic() + READY_SECONDS
    with Client(easeml.url, easeml.key) as client:
        while sum(device.state.value in ("free", "working") for device in client.devices()) < count:
            if time.monotonic() > latest:
                states = "\n".join(machine.state() for machine in machines)
                raise TimeoutError(f"Fewer than {count} devices are there.\n{states}")
            time.sleep(0.2)


@dataclass
class Cluster:
    """What faults happen to."""

    easeml: EasemlProcess
    machines: list[Machine]
    database: int | None  # process id of the database's server
    lease_seconds: float
    clocks_jump: bool

    def kinds(self) -> list[str]:
        """Return the faults that can be played."""
        kinds = [*PROCESSES, "machine lost", "machine stalls"]
        if self.database is not None:
            kinds += ["database stalls", "machine cut off", "network delays"]
        return kinds + ["clock jumps"] * self.clocks_jump

    def happen(self, kind: str, draw: random.Random) -> None:
        """Let one fault happen, and end."""
        machine = draw.choice(self.machines)
        if kind == "machine lost":
            machine.vanish()
            machine.join()
        elif kind == "machine stalls":
            with machine.stalled():
                time.sleep(self.lease_seconds * draw.uniform(1.0, 2.0))
        elif kind == "database stalls":
            self._stall_database(draw.uniform(0.0, LONGEST_DATABASE_STALL))
        elif kind == "machine cut off":
            self._cut_off(machine, draw)
        elif kind == "network delays":
            self._delay(machine, draw.uniform(0.05, LONGEST_DELAY))
        elif kind == "clock jumps":
            assert machine.clock is not None
            machine.clock.jump(draw.choice((-1, 1)) * LONGEST_JUMP ** draw.random())
        else:
            self.easeml.kill(kind)

    def _cut_off(self, machine: Machine, draw: random.Random) -> None:
        assert machine.network is not None
        machine.network.cut(*draw.choice(CUTS))
        time.sleep(self.lease_seconds * draw.uniform(1.0, 2.0))
        machine.network.mend(breaks=draw.choice((True, False)))

    def _delay(self, machine: Machine, seconds: float) -> None:
        assert machine.network is not None
        machine.network.slow(seconds)
        time.sleep(self.lease_seconds)
        machine.network.mend(breaks=False)

    def _stall_database(self, seconds: float) -> None:
        assert self.database is not None
        stopped = with_descendants(self.database)
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(seconds)
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)


def postgres_process(address: str) -> int:
    """Return the process id of the server of a private PostgreSQL, by its URL."""
    folder = Path(address.rpartition("host=")[2])
    return int((folder / "data" / "postmaster.pid").read_text().splitlines()[0])


def play(found: Cluster, folder: Path, numbers: Sequence[int]) -> tuple[list[Fault], list[str]]:
    """Let the faults of these numbers happen; return them, and the applications that were
    acknowledged.
    """
    kinds = found.kinds()
    faults: list[Fault] = []
    applications: list[str] = []
    for number in numbers:
        if not faults or number % DECLARED_EVERY == 0:
            applications.append(declare(found.easeml, folder, f"wine-{number}"))
            found.easeml.wait(applications[-1], "first-model", READY_SECONDS)
        draw = random.Random(number)
        time.sleep(draw.uniform(0.0, 1.0))  # the random moment
        kind = draw.choice(kinds)
        began = time.monotonic()
        found.happen(kind, draw)
        found.easeml.wait_until_answering()
        answer = predict(found.easeml, draw.choice(applications))
        assert len(answer["predictions"]) == 1, answer
        faults.append(Fault(kind, time.monotonic() - began))
    return faults, applications


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
        ordered = sorted(seconds)
        ninety = ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))]
        row = (kind, len(seconds), statistics.median(seconds), ninety, ordered[-1])
        print(f"{row[0]:16} {row[1]:5} {row[2]:9.2f} {row[3]:8.2f} {row[4]:8.2f}")
        rows.append(row)
    return rows


def play_round(
    options: argparse.Namespace, folder: Path, stack: ExitStack, numbers: Sequence[int]
) -> list[Fault]:
    """Start everything, let the faults happen, and check the books."""
    changed: dict[str, str] = {}
    server, socket = None, None
    if options.database == "postgresql":
        template = stack.enter_context(cluster())
        address, _, place = stack.enter_context(database(template)).partition("?host=")
        # Without the place in it, each machine finds the database by a way of its own.
        changed["database_url"] = address
        changed["lease_seconds"] = str(LEASE_SECONDS)
        os.environ["PGHOST"] = place
        server, socket = postgres_process(template), Path(place) / ".s.PGSQL.5432"
    service_process.READY_SECONDS = READY_SECONDS
    easeml = EasemlProcess(folder / "home", workers=1, **changed)
    easeml.start()
    stack.callback(easeml.stop)
    stack.callback(keep_logs, easeml.home, options.logs)
    database_url = changed.get("database_url", "")
    settings = Settings(home=easeml.home, database_url=database_url)
    clocks = jumping_clock.build(folder)
    machines: list[Machine] = []
    for number in range(options.machines):
        machine = Machine(easeml, folder / f"machine-{number}", socket, clocks)
        machines.append(machine)
        stack.callback(machine.leave)
    lease = LEASE_SECONDS if changed else settings.lease_seconds
    wait_for_devices(easeml, machines)
    found = Cluster(easeml, machines, server, lease, clocks is not None)
    faults, applications = play(found, folder, numbers)
    wait_for_devices(easeml, machines)
    check_acknowledged(easeml, applications)
    for application in applications:
        easeml.command("job", "stop", application)
    ended: Counter[str] = check_books(easeml, settings)
    tasks = ", ".join(f"{count} {state}" for state, count in sorted(ended.items()))
    print(f"{len(applications)} applications, {len(machines)} machines; tasks: {tasks}")
    return faults


def keep_logs(home: Path, kept: Path | None) -> None:
    """Copy the logs of the service for whoever looks for the reason of a failure."""
    if kept is not None and (home / "logs").exists():
        shutil.copytree(home / "logs", kept, dirs_exist_ok=True)


def played_before(path: Path) -> list[Fault]:
    """Return the faults of the rounds whose books balanced."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [Fault(row["fault"], float(row["seconds"])) for row in csv.DictReader(file)]


def main() -> None:
    """Play, check and print, round by round."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--faults", type=int, default=1000, help="in all, with those played before")
    parser.add_argument("--machines", type=int, default=4)
    parser.add_argument("--database", choices=("postgresql", "sqlite"), default="postgresql")
    parser.add_argument("--logs", type=Path, help="folder for the logs of a round")
    options = read_options(parser, faults=1, machines=1, database="sqlite")
    print(machine_line("easeml", "sqlalchemy", "psycopg"))
    faults = played_before(options.out / "played.csv")
    while len(faults) < options.faults:
        began = time.monotonic()
        numbers = range(len(faults), min(len(faults) + EACH, options.faults))
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            faults += play_round(options, Path(folder), stack, numbers)
        rows = [(number, fault.kind, f"{fault.seconds:.2f}") for number, fault in enumerate(faults)]
        write_table(options.out / "played.csv", PLAYED, rows)
        print(f"{len(faults)} faults; {time.monotonic() - began:.0f} s", flush=True)
        rows = print_table(faults)
        write_table(options.out / "faults.csv", ("fault", "n", "median", "p90", "worst"), rows)
    print("The books balance: nothing acknowledged is lost, and no result was taken twice.")


if __name__ == "__main__":
    main()
