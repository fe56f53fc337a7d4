"""What predictors of more machines bring to a loaded endpoint: rate, latency, and a lost machine.

    python benchmarks/serving_replicas.py [--seconds 20] [--callers 8] [--most 4]

An easeml plays machines that joined and answer predictions (``easeml up --cluster``). Callers ask
one endpoint without a pause, while 1, 2, ... predictors at most may answer. Two models are asked:

- ``waiting`` waits a millisecond a row, as a model on a device of its own lets the processor wait;
  fifty rows a request. It shows what the way to the predictors costs and allows;
- ``lightgbm-classifier`` computes, 500 rows a request, on the processors that callers, controller and predictors share.
  More predictors than there are free cores bring nothing.

"CPU ms" is the processor time of all of easeml's processes for a request. With the most predictors,
a machine is killed (-9) in the middle of another run: a request that is refused or wrong ends the
benchmark. At last nobody asks, and the seconds are counted until one predictor is left.
"""

import http.client
import json
import os
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from sklearn.datasets import load_breast_cancer

import waiting_model
from cluster_faults import with_descendants
from common import arguments, machine_line, read_options, write_table
from easeml.client import Client
from service_process import EasemlProcess

ROWS = {"waiting": 50, "lightgbm-classifier": 500}
"""Rows of a request, by model."""

COLUMNS = ("model", "predictors", "requests/s", "p50 ms", "p99 ms", "longest ms", "CPU ms")
_SETTLED_SECONDS = 30.0  # in which the predictors that may answer are there
_QUIET_SECONDS = 240.0


@dataclass
class Load:
    """Callers that ask an endpoint without a pause, each over one connection."""

    easeml: EasemlProcess
    application: str
    rows: int  # of a request
    taken: list[float] = field(default_factory=list)  # seconds of each request
    refused: list[bytes] = field(default_factory=list)
    is_over: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def by(self, callers: int) -> Iterator[None]:
        """Ask meanwhile. Raises ``AssertionError`` where an answer was none."""
        threads = [threading.Thread(target=self._ask) for _ in range(callers)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.is_over.set()
            for thread in threads:
                thread.join()
        assert not self.refused, self.refused[0]

    def _ask(self) -> None:
        frame = load_breast_cancer(as_frame=True).frame.drop(columns="target").iloc[: self.rows]
        body = json.dumps({"rows": frame.to_dict("records")})
        path = f"/api/v1/applications/{self.application}/predict"
        headers = {"Content-Type": "application/json"}
        headers["Authorization"] = f"Bearer {self.easeml.key}"
        connection = http.client.HTTPConnection("127.0.0.1", self.easeml.port, timeout=60)
        while not self.is_over.is_set():
            began = time.monotonic()
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            content = answer.read()
            self.taken.append(time.monotonic() - began)
            if answer.status != 200 or len(json.loads(content)["predictions"]) != self.rows:
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
    load: Load, count: int, callers: int, seconds: float, *, lost: bool
) -> tuple[float, float, float, float, float]:
    """Have an endpoint asked by ``callers`` once it has ``count`` predictors; ``lost``: a machine
    is, after half of the seconds.

    Returns requests a second, milliseconds of a request (median, 99th percentile, longest), and of
    the processors for a request.
    """
    easeml, application = load.easeml, load.application
    with load.by(callers):
        wait_for(lambda: predictors(easeml, application) >= count, _SETTLED_SECONDS)
        load.taken.clear()
        used, began = processor_seconds(easeml.process.pid), time.monotonic()
        time.sleep(seconds / 2)
        if lost:
            kill_machine(easeml)
        time.sleep(seconds / 2)
        taken, passed = sorted(load.taken), time.monotonic() - began
        used = processor_seconds(easeml.process.pid) - used
    p99 = statistics.quantiles(taken, n=100)[98]
    spent = float("nan") if lost else 1e3 * used / len(taken)  # the dead took theirs along
    milliseconds = [1e3 * one for one in (statistics.median(taken), p99, taken[-1])]
    return len(taken) / passed, milliseconds[0], milliseconds[1], milliseconds[2], spent


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
        client.add_module(waiting_model.MODULE)
    return {model: declare(easeml, table, model) for model in ROWS}


def quiet_seconds(easeml: EasemlProcess, applications: Iterable[str]) -> float:
    """Return the seconds until one predictor answers for each application again."""
    return wait_for(
        lambda: all(predictors(easeml, one) == 1 for one in applications), _QUIET_SECONDS
    )


def main() -> None:
    """Measure, and print the table."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each measurement")
    parser.add_argument("--callers", type=int, default=8)
    parser.add_argument("--most", type=int, default=4, help="predictors")
    options = read_options(parser, seconds=2.0, callers=4, most=2)
    print(machine_line("easeml", "scikit-learn", "lightgbm"))
    os.environ["PYTHONPATH"] = str(Path(waiting_model.__file__).parent)
    rows: list[tuple[str, ...]] = []

    def add(easeml: EasemlProcess, model: str, count: int, *, lost: bool = False) -> None:
        load = Load(easeml, applications[model], ROWS[model])
        found = measure(load, count, options.callers, options.seconds, lost=lost)
        label = f"{count}, one killed" if lost else str(count)
        rows.append((model, label, *(f"{value:.1f}" for value in found)))
        print(*(f"{cell:>19}" for cell in rows[-1]), flush=True)

    print(*(f"{column:>19}" for column in COLUMNS))
    with tempfile.TemporaryDirectory() as folder:
        home, key = Path(folder) / "home", ""
        applications: dict[str, str] = {}
        for count in range(1, options.most + 1):
            with service(home, key, options.most - 1, count) as easeml:
                key = easeml.key
                applications = applications or declare_all(easeml, Path(folder))
                for model in ROWS:
                    add(easeml, model, count)
                if count < options.most:
                    continue
                for model in ROWS:
                    add(easeml, model, count, lost=True)
                seconds = quiet_seconds(easeml, applications.values())
                print(f"One predictor each again after {seconds:.0f} s without requests.")
    write_table(options.out / "replicas.csv", COLUMNS, rows)


if __name__ == "__main__":
    main()
