"""What predictors of more machines bring to a loaded endpoint: rate, latency, and a lost machine.

    python benchmarks/serving_replicas.py [--seconds 20] [--callers 8] [--most 4]

An easeml plays machines that joined and answer predictions (``easeml up --cluster``). Callers ask
one endpoint without a pause, while 1, 2, ... predictors at most may answer. Two models are asked:

- ``waiting`` waits a millisecond a row, as a model on a device of its own lets the processor wait;
  fifty rows a request. It shows what the way to the predictors costs and allows;
- ``lightgbm-classifier`` computes, 500 rows a request, on the processors that callers, controller and predictors share.
  More predictors than there are free cores bring nothing.

"CPU ms" is the processor time of all processes of the server for a request. With the most
predictors, a machine is killed (-9) in the middle of another run: a request that is refused or
wrong ends the benchmark. At last nobody asks, and the seconds are counted until one predictor is
left.

Ray Serve answers the same requests with models of the same kinds, by as many replicas, behind its
own HTTP proxy; nobody signs in there, and rows are not checked against a schema. One of its
replicas is killed as well, and the requests that it refuses are counted. ``ray_serve.py`` installs
it in an environment of its own. ``--servers`` measures one of the two; rows of the other stay.
"""

import argparse
import http.client
import json
import os
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from sklearn.datasets import load_breast_cancer

import ray_serve
import waiting_model
from cluster_machines import with_descendants
from common import arguments, machine_line, read_options, rows_before, write_table
from easeml.client import Client
from easeml.contract.states import ModuleState
from service_process import EasemlProcess

ROWS = {"waiting": 50, "lightgbm-classifier": 500}
"""Rows of a request, by model."""

COLUMNS = (
    *("server", "model", "replicas", "requests/s"),
    *("p50 ms", "p99 ms", "longest ms", "CPU ms", "refused"),
)
_WARM_SECONDS = 2.0
_SETTLED_SECONDS = 30.0  # in which the predictors that may answer are there
_QUIET_SECONDS = 240.0


@dataclass(frozen=True)
class Endpoint:
    """Where a model is asked. ``pid``: of what started all that answers; ``rows``: of a request."""

    port: int
    path: str
    pid: int
    rows: int
    key: str = ""


@dataclass
class Load:
    """Callers that ask an endpoint without a pause, each over one connection."""

    endpoint: Endpoint
    taken: list[float] = field(default_factory=list)  # seconds of each request
    refused: list[bytes] = field(default_factory=list)
    is_over: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def by(self, callers: int) -> Iterator[None]:
        """Ask meanwhile."""
        threads = [threading.Thread(target=self._ask) for _ in range(callers)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.is_over.set()
            for thread in threads:
                thread.join()

    def _ask(self) -> None:
        rows = self.endpoint.rows
        frame = load_breast_cancer(as_frame=True).frame.drop(columns="target").iloc[:rows]
        body = json.dumps({"rows": frame.to_dict("records")})
        headers = {"Content-Type": "application/json"}
        headers["Authorization"] = f"Bearer {self.endpoint.key}"
        connection = http.client.HTTPConnection("127.0.0.1", self.endpoint.port, timeout=60)
        while not self.is_over.is_set():
            began = time.monotonic()
            try:
                connection.request("POST", self.endpoint.path, body, headers)
                answer = connection.getresponse()
                content = answer.read()
            except (OSError, http.client.HTTPException) as error:
                self.refused.append(str(error).encode())
                connection.close()  # the next request opens another
                continue
            self.taken.append(time.monotonic() - began)
            if answer.status != 200 or len(json.loads(content)["predictions"]) != rows:
                self.refused.append(content)


def predictors(easeml: EasemlProcess, application: str) -> int:
    """Return how many predictors answer for an application, as the controller says."""
    count = 1
    for line in (easeml.home / "logs" / "controller-1.log").read_text().splitlines():
        said = json.loads(line) if line.startswith("{") else {}
        if said.get("application") == application:
            count = said.get("predictors", count)
    return count


def wait_for(holds: Callable[[], bool], seconds: float) -> float:
    """Wait until something holds; return the seconds. Raises ``TimeoutError``."""
    began = time.monotonic()
    while not holds():
        if time.monotonic() - began > seconds:
            raise TimeoutError(f"It did not come within {seconds:g} s.")
        time.sleep(0.2)
    return time.monotonic() - began


def processor_seconds(root: int) -> float:
    """Return the processor time of a process and of all that it has started and that runs."""
    ticks = 0
    for pid in with_descendants(root):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except FileNotFoundError:
            continue
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def declare(easeml: EasemlProcess, table: Path, model: str) -> str:
    """Declare an application that has one model; return its id."""
    arguments = ["app", "create", str(table), "--target", "target", "--models", model]
    told = easeml.command(*arguments, "--max-tasks", "1", "--name", model, "--yes", "--json")
    application = json.loads(told)["id"]
    easeml.wait(application, "first-model", 120)
    return application


def kill_machine(easeml: EasemlProcess) -> None:
    """Kill all processes of one machine that is played."""
    for pid in with_descendants(easeml.process.pid):
        if b"\0process\0machine\0" in Path(f"/proc/{pid}/cmdline").read_bytes():
            for one in with_descendants(pid):
                os.kill(one, signal.SIGKILL)
            return
    raise LookupError("No machine is played.")


def measure(
    load: Load,
    wait: Callable[[], object],
    callers: int,
    seconds: float,
    lose: Callable[[], object] | None,
) -> tuple[float, ...]:
    """Have an endpoint asked by ``callers``; ``wait``: until all answer that shall.

    ``lose``: what happens after half of the seconds. Returns requests a second, milliseconds of a
    request (median, 99th percentile, longest), and of the processors for a request.
    """
    pid = load.endpoint.pid
    with load.by(callers):
        wait()
        load.taken.clear()
        used, began = processor_seconds(pid), time.monotonic()
        time.sleep(seconds / 2)
        if lose is not None:
            lose()
        time.sleep(seconds / 2)
        taken, passed = sorted(load.taken), time.monotonic() - began
        used = processor_seconds(pid) - used
    p99 = statistics.quantiles(taken, n=100)[98]
    spent = float("nan") if lose else 1e3 * used / len(taken)  # the dead took theirs along
    milliseconds = [1e3 * one for one in (statistics.median(taken), p99, taken[-1])]
    return len(taken) / passed, *milliseconds, spent


@contextmanager
def service(home: Path, key: str, machines: int, count: int) -> Iterator[EasemlProcess]:
    """Run an easeml, of whose predictors ``count`` at most answer for an application."""
    easeml = EasemlProcess(
        home,
        workers=1,
        machines=str(machines),
        replicas=str(count),
        module_packages=waiting_model.__name__,
    )
    easeml.key = key
    (home / "logs" / "controller-1.log").unlink(missing_ok=True)  # which ``predictors`` reads
    easeml.start()
    try:
        yield easeml
    finally:
        easeml.stop()


def declare_all(easeml: EasemlProcess, folder: Path) -> dict[str, str]:
    """Declare an application for each model; return their ids."""
    table = folder / "cancer.csv"
    load_breast_cancer(as_frame=True).frame.to_csv(table, index=False)
    with Client(easeml.url, easeml.key) as client:
        name = client.add_module(waiting_model.MODULE).name
        wait_for(lambda: client.module_checks(name).state == ModuleState.READY, _SETTLED_SECONDS)
    return {model: declare(easeml, table, model) for model in ROWS}


def quiet_seconds(easeml: EasemlProcess, applications: Iterable[str]) -> float:
    """Return the seconds until one predictor answers for each application again."""
    return wait_for(
        lambda: all(predictors(easeml, one) == 1 for one in applications), _QUIET_SECONDS
    )


class Table:
    """The rows that are printed, and kept."""

    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.rows: list[tuple[str, ...]] = []
        self._print(COLUMNS)

    def add(
        self,
        server: str,
        model: str,
        count: int,
        load: Load,
        wait: Callable[[], object],
        lose: Callable[[], object] | None = None,
    ) -> None:
        """Measure, and add a row."""
        found = measure(load, wait, self.options.callers, self.options.seconds, lose)
        label = f"{count}, one killed" if lose else str(count)
        told = [f"{value:.1f}" for value in found]
        self.rows.append((server, model, label, *told, str(len(load.refused))))
        self._print(self.rows[-1])

    def write(self) -> None:
        """Keep the rows, and those of servers that were not measured now."""
        path = self.options.out / "replicas.csv"
        measured = {row[0] for row in self.rows}
        others = [row for row in rows_before(path) if row[0] not in measured]
        write_table(path, COLUMNS, [*others, *self.rows])

    def _print(self, cells: Sequence[str]) -> None:
        print(*(f"{cell:>19}" for cell in cells), flush=True)


def measure_easeml(table: Table, folder: Path) -> None:
    """Measure one predictor to the most, the loss of one, and how soon one is left."""
    most = table.options.most
    home, key = folder / "home", ""
    applications: dict[str, str] = {}

    def add(easeml: EasemlProcess, model: str, count: int, *, lost: bool = False) -> None:
        one = applications[model]
        path = f"/api/v1/applications/{one}/predict"
        endpoint = Endpoint(easeml.port, path, easeml.process.pid, ROWS[model], easeml.key)
        load = Load(endpoint)

        def wait() -> None:
            with suppress(TimeoutError):  # no more are needed where no request waits for long
                wait_for(lambda: predictors(easeml, one) >= count, _SETTLED_SECONDS)

        lose = (lambda: kill_machine(easeml)) if lost else None
        table.add("easeml", model, count, load, wait, lose)
        assert not load.refused, load.refused[0]

    for count in range(1, most + 1):
        with service(home, key, most - 1, count) as easeml:
            key = easeml.key
            applications = applications or declare_all(easeml, folder)
            for model in ROWS:
                add(easeml, model, count)
            if count < most:
                continue
            for model in ROWS:
                add(easeml, model, count, lost=True)
            table.write()
            seconds = quiet_seconds(easeml, applications.values())
            print(f"One predictor each again after {seconds:.0f} s without requests.")


def measure_ray_serve(table: Table, folder: Path) -> None:
    """Measure the same by as many replicas of Ray Serve."""
    frame = load_breast_cancer(as_frame=True).frame
    peer = ray_serve.RayServe(folder, frame, waiting_model.SECONDS_A_ROW)
    try:
        for count in range(1, table.options.most + 1):
            peer.scale(count)
            for model, rows in ROWS.items():
                endpoint = Endpoint(peer.port, f"/{model}", peer.pid, rows)
                load = Load(endpoint)
                table.add(ray_serve.NAME, model, count, load, _warm)
        for model, rows in ROWS.items():
            load = Load(Endpoint(peer.port, f"/{model}", peer.pid, rows))
            lose = partial(peer.lose_replica, model)
            table.add(ray_serve.NAME, model, table.options.most, load, _warm, lose)
    finally:
        peer.close()


def _warm() -> None:
    time.sleep(_WARM_SECONDS)


SERVERS = {"easeml": measure_easeml, ray_serve.NAME: measure_ray_serve}


def main() -> None:
    """Measure, and print the table."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each measurement")
    parser.add_argument("--callers", type=int, default=8)
    parser.add_argument("--most", type=int, default=4, help="predictors")
    parser.add_argument("--servers", nargs="+", choices=SERVERS, default=SERVERS)
    options = read_options(parser, seconds=2.0, callers=4, most=2, servers=["easeml"])
    print(machine_line("easeml", "scikit-learn", "lightgbm"), f"load {os.getloadavg()[0]:.1f}")
    os.environ["PYTHONPATH"] = str(Path(waiting_model.__file__).parent)
    table = Table(options)
    for server in options.servers:
        with tempfile.TemporaryDirectory() as folder:
            SERVERS[server](table, Path(folder))
        table.write()


if __name__ == "__main__":
    main()
