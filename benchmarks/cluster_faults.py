"""Faults in a cluster of processes on this machine: what is lost, and how soon all goes on.

    python benchmarks/cluster_faults.py [--faults 1000] [--machines 4] [--database postgresql|sqlite]

An easeml with one worker, on a PostgreSQL of its own, and machines that have joined it with one
device each. Applications are declared one after the other, so that there is always something to
search. At random moments one fault after the other happens:

- ``worker``, ``scheduler``, ``predictor``, ``controller``: that process of the service is killed;
- ``machine lost``: all processes of a machine are killed, and a machine joins anew;
- ``machine stalls``: a machine stands still for longer than its leases last, and goes on;
- ``database stalls``: the database stands still for up to two seconds (not with SQLite).

The time runs until a prediction arrives. At the end the books are checked: every application and
user that was acknowledged is there; every finished task has one accepted attempt and a whole
trained model; what serves belongs to its application; all machines have devices again.

The machines share this kernel and its clock. A network that is cut in halves, and clocks that
jump, are not played.
"""

import argparse
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from common import arguments, machine_line, read_options, write_table
from easeml.client import Client
from easeml.settings import Settings
from killing import check_books, declare, predict
from postgres_cluster import cluster, database
from service_process import EasemlProcess

EACH = 50  # faults between two declarations
LEASE_SECONDS = 3.0
LONGEST_DATABASE_STALL = 2.0  # seconds
PROCESSES = ("worker", "scheduler", "predictor", "controller")
READY_SECONDS = 60.0


@dataclass(frozen=True)
class Fault:
    """What happened, and the seconds until the endpoint gave a prediction again."""

    kind: str
    seconds: float


class Machine:
    """A machine that has joined: ``easeml worker --join`` with a home of its own."""

    def __init__(self, easeml: EasemlProcess, home: Path):
        self._easeml = easeml
        self._home = home
        self._said = home.with_suffix(".log")
        self.join()

    def join(self) -> None:
        """Start it."""
        arguments = ["worker", "--join", self._easeml.url, "--home", str(self._home)]
        with self._said.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "easeml.cli", *arguments],
                env={**os.environ, "EASEML_API_KEY": self._easeml.key},
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
        else:
            self.easeml.kill(kind)

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


def play(
    found: Cluster, folder: Path, count: int, tell: Callable[[str], None]
) -> tuple[list[Fault], list[str]]:
    """Let so many faults happen; return them, and the applications that were acknowledged."""
    kinds = [*PROCESSES, "machine lost", "machine stalls"]
    if found.database is not None:
        kinds.append("database stalls")
    faults: list[Fault] = []
    applications: list[str] = []
    for seed in range(count):
        if seed % EACH == 0:
            applications.append(declare(found.easeml, folder, f"wine-{seed}"))
            found.easeml.wait(applications[-1], "first-model", 120)
        draw = random.Random(seed)
        time.sleep(draw.uniform(0.0, 1.0))  # the random moment
        kind = draw.choice(kinds)
        began = time.monotonic()
        found.happen(kind, draw)
        found.easeml.wait_until_answering()
        answer = predict(found.easeml, draw.choice(applications))
        assert len(answer["predictions"]) == 1, answer
        faults.append(Fault(kind, time.monotonic() - began))
        if len(faults) % EACH == 0:
            tell(f"{len(faults)} faults")
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


def run(options: argparse.Namespace, folder: Path, stack: ExitStack) -> None:
    """Start everything, let the faults happen, and check the books."""
    changed: dict[str, str] = {}
    server = None
    if options.database == "postgresql":
        template = stack.enter_context(cluster())
        changed["database_url"] = stack.enter_context(database(template))
        changed["lease_seconds"] = str(LEASE_SECONDS)
        server = postgres_process(template)
    easeml = EasemlProcess(folder / "home", workers=1, **changed)
    easeml.start()
    stack.callback(easeml.stop)
    settings = Settings(
        home=easeml.home, **{key: value for key, value in changed.items() if key == "database_url"}
    )
    machines = [Machine(easeml, folder / f"machine-{n}") for n in range(options.machines)]
    for machine in machines:
        stack.callback(machine.leave)
    lease = LEASE_SECONDS if changed else settings.lease_seconds
    wait_for_devices(easeml, machines)
    began = time.monotonic()

    def tell(text: str) -> None:
        print(f"{text} in {time.monotonic() - began:.0f} s", flush=True)

    found = Cluster(easeml, machines, server, lease)
    faults, applications = play(found, folder, options.faults, tell)
    tell(f"{len(faults)} faults")
    wait_for_devices(easeml, machines)
    check_acknowledged(easeml, applications)
    for application in applications:
        easeml.command("job", "stop", application)
    ended: Counter[str] = check_books(easeml, settings)
    rows = print_table(faults)
    write_table(options.out / "faults.csv", ("fault", "n", "median", "p90", "worst"), rows)
    tasks = ", ".join(f"{count} {state}" for state, count in sorted(ended.items()))
    print(f"{len(applications)} applications, {len(machines)} machines; tasks: {tasks}")
    print("The books balance: nothing acknowledged is lost, and no result was taken twice.")


def main() -> None:
    """Play, print and check."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--faults", type=int, default=1000)
    parser.add_argument("--machines", type=int, default=4)
    parser.add_argument("--database", choices=("postgresql", "sqlite"), default="postgresql")
    options = read_options(parser, faults=1, machines=1, database="sqlite")
    print(machine_line("easeml", "sqlalchemy", "psycopg"))
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        run(options, Path(folder), stack)


if __name__ == "__main__":
    main()
