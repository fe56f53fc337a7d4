"""What serving adds to a prediction: one row, one client, against the bare in-process predict, and
beside peers.

    python benchmarks/prediction_latency.py [--requests 2000] [--peers]

Starts an easeml of its own, trains LightGBM and the logistic pipeline on breast cancer, and times
``POST .../predict`` over one kept-open connection with authentication and validation on. The bare
times are of the same trained model in this process, fed a data frame that is ready, or arrays
(``ColumnTable``), the quickest that it takes. Served and bare requests take turns in blocks, so
that a busy moment of the machine meets all; "over" is the difference of the medians and of the 99th
percentiles. Two relays bound what any service with a controller and a limited child can reach here:
a message through two processes that do nothing, and through two that compute as long as easeml's
do. ``--peers`` also serves the scikit-learn pipeline with MLflow's model server and with MLServer,
each in an environment that the script installs below ``--folder``. "Stolen" is the time in which a
virtual machine's host ran somebody else: the first table is of all requests, the second of the
blocks of requests in which nothing was stolen.
"""

import http.client
import json
import multiprocessing
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from sklearn.datasets import load_breast_cancer
from threadpoolctl import threadpool_limits

from common import CACHE, arguments, machine_line, read_options
from service_process import EasemlProcess, free_port

_BLOCK = 20  # requests of one kind in a row
MODELS = ["lightgbm-classifier", "logistic"]
PEER_TRAINING = """
import sys, mlflow.sklearn
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
mlflow.sklearn.save_model(make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X, y), sys.argv[1])
"""


@dataclass
class Timed:
    """Durations of one kind of request in milliseconds: of all, and of the blocks in which nothing
    was stolen.
    """

    every: list[float] = field(default_factory=list)
    undisturbed: list[float] = field(default_factory=list)

    def time_block(self, call: Callable[[], object], count: int) -> None:
        """Add ``count`` durations of the call."""
        stolen_before, durations = stolen()[0], list[float]()
        for _ in range(count):
            begun = time.perf_counter()
            call()
            durations.append((time.perf_counter() - begun) * 1e3)
        self.every += durations
        if stolen()[0] == stolen_before:
            self.undisturbed += durations


def times_in_turn(calls: Sequence[Callable[[], object]], count: int) -> list[Timed]:
    """Return ``count`` durations of each call, taken in turns of a block, after some to warm up."""
    for call in calls:
        for _ in range(max(count // 10, 20)):
            call()
    taken = [Timed() for _ in calls]
    for done in range(0, count, _BLOCK):
        for call, timed in zip(calls, taken, strict=True):
            timed.time_block(call, min(_BLOCK, count - done))
    return taken


def times(call: Callable[[], object], count: int) -> Timed:
    """Return ``count`` durations of ``call``."""
    return times_in_turn([call], count)[0]


class Table:
    """The rows, printed as they come; the rows of undisturbed requests are kept for a table of
    their own.
    """

    def __init__(self) -> None:
        self._undisturbed: list[str] = []

    def add(self, name: str, taken: Timed, *bare: Timed) -> None:
        """Print a row; the overhead is against each of ``bare``, percentile against percentile."""
        print(row_of(name, taken.every, *(each.every for each in bare)), flush=True)
        enough = all(len(each.undisturbed) >= 100 for each in (taken, *bare))
        if enough:
            row = row_of(name, taken.undisturbed, *(each.undisturbed for each in bare))
            self._undisturbed.append(f"{row}  of {len(taken.undisturbed)}")

    def print_undisturbed(self) -> None:
        """Print the table of the blocks in which nothing was stolen."""
        print("requests in blocks of which nothing was stolen:", *self._undisturbed, sep="\n")


def row_of(name: str, taken: list[float], *bare: list[float]) -> str:
    """Format one line of the table."""
    p50, p99 = percentiles(taken)
    over = " ".join(f"{p50 - low:8.2f} {p99 - high:8.2f}" for low, high in map(percentiles, bare))
    return f"{name:38} {p50:8.2f} {p99:8.2f} {1e3 * len(taken) / sum(taken):8.0f} {over:35}"


def percentiles(taken: list[float]) -> tuple[float, float]:
    """Return the median and the 99th percentile."""
    return statistics.median(taken), statistics.quantiles(taken, n=100)[98]


def stolen() -> tuple[int, int]:
    """Return clock ticks since the start of the machine: those that its host gave to others, and
    all.
    """
    ticks = [int(part) for part in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
    return ticks[7], sum(ticks)


def poster(port: int, path: str, body: bytes, headers: dict[str, str]) -> Callable[[], bytes]:
    """Return a function that posts the body over one kept-open connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port)

    def post() -> bytes:
        connection.request("POST", path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        assert answer.status == 200, content
        return content

    return post


def serve_and_time(model: str, count: int, table: Path, easeml: EasemlProcess) -> list[Timed]:
    """Return the times of one model: served, bare with a data frame, bare with arrays."""
    from easeml.data import ColumnTable
    from easeml.modules.pipeline import load_trained
    from easeml.settings import Settings
    from easeml.store import Store

    created = json.loads(
        easeml.command(
            "app",
            "create",
            str(table),
            "--target",
            "target",
            "--models",
            model,
            "--max-tasks",
            "1",
            "--yes",
            "--json",
        )
    )
    easeml.command("app", "wait", created["id"], "--until", "first-model", "--timeout", "120")
    while any(
        easeml.call("GET", f"/api/v1/tasks?state={state}")["items"]
        for state in ("waiting", "running")
    ):
        time.sleep(0.1)  # the test quality is still being read, on the same cores
    frame = load_breast_cancer(as_frame=True).frame.drop(columns="target").iloc[:1]
    body = json.dumps({"rows": frame.to_dict("records")}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {easeml.key}"}
    post = poster(easeml.port, f"/api/v1/applications/{created['id']}/predict", body, headers)
    settings = Settings(home=easeml.home)
    store = Store.of(settings)
    with store.read() as tx:
        kept = tx.unscoped().models.list(application_id=created["id"], limit=1)[0]
    with tempfile.TemporaryDirectory() as folder:
        trained = load_trained(
            store.artefacts.fetch(kept.tenant_id, kept.artefact, Path(folder) / "model")
        )
        arrays = ColumnTable({str(name): frame[name].to_numpy() for name in frame}, len(frame))
        with threadpool_limits(1):  # as in the serving child
            timed = times_in_turn(
                [post, lambda: trained.predict(frame), lambda: trained.predict(arrays)], count
            )
    store.close()
    return timed


def answer_on(listener: socket.socket, onward: int | None, work: float) -> None:
    """Answer every message of one connection with itself, by way of the port ``onward`` if there is
    one.

    ``work``: milliseconds of computing before that.
    """
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    ask = None if onward is None else sender(onward)
    while message := connection.recv(65536):
        busy_until = time.thread_time() + work / 1e3
        while time.thread_time() < busy_until:
            pass
        connection.sendall(message if ask is None else ask(message))


def sender(port: int) -> Callable[[bytes], bytes]:
    """Return a function that sends a message to a loopback port and returns the answer."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(message: bytes) -> bytes:
        connection.sendall(message)
        return connection.recv(65536)

    return send


def relay_times(count: int, first_work: float = 0.0, second_work: float = 0.0) -> Timed:
    """Return times of a message through two processes that compute so many milliseconds each, and
    nothing else.
    """
    context = multiprocessing.get_context("fork")
    first, second = socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0))
    ports = [listener.getsockname()[1] for listener in (first, second)]
    for listener, onward, work in ((second, None, second_work), (first, ports[1], first_work)):
        context.Process(target=answer_on, args=(listener, onward, work), daemon=True).start()
    send, message = sender(ports[0]), b"x" * 600
    return times(lambda: send(message), count)


def environment(folder: Path, *packages: str) -> Path:
    """Make (once) a virtual environment with the packages; return its ``bin``."""
    if not (folder / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(folder / "bin" / "pip"), "install", "--quiet", *packages], check=True)
    return folder / "bin"


def mlserver_folder(folder: Path, model: Path, port: int) -> Path:
    """Write MLServer's settings for an MLflow model, served in its own process; return their
    folder.
    """
    made = folder / "serving"
    made.mkdir(exist_ok=True)
    ports = {"http_port": port, "grpc_port": free_port(), "metrics_port": free_port()}
    settings = {"host": "127.0.0.1", "parallel_workers": 0, "debug": False, **ports}
    served = {"implementation": "mlserver_mlflow.MLflowRuntime", "parameters": {"uri": str(model)}}
    (made / "settings.json").write_text(json.dumps(settings))
    (made / "model-settings.json").write_text(json.dumps({"name": "serving", **served}))
    return made


def time_peer(name: str, folder: Path, count: int) -> Timed:
    """Return times of a peer that serves the logistic pipeline."""
    packages = ["mlflow", "scikit-learn"] + (
        ["mlserver", "mlserver-mlflow"] if name == "MLServer" else []
    )
    programs = environment(folder / name, *packages)
    model, port = folder / name / "model", free_port()
    if not model.exists():
        subprocess.run([str(programs / "python"), "-c", PEER_TRAINING, str(model)], check=True)
    if name == "MLServer":
        command = [
            str(programs / "mlserver"),
            "start",
            str(mlserver_folder(folder / name, model, port)),
        ]
    else:
        command = [str(programs / "mlflow"), "models", "serve", "-m", str(model), "-p", str(port)]
        command += ["--env-manager", "local"]
    variables = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    server = subprocess.Popen(
        command,
        env=variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        frame = load_breast_cancer(as_frame=True).frame.drop(columns="target").iloc[:1]
        body = json.dumps({"dataframe_records": frame.to_dict("records")}).encode()
        deadline = time.monotonic() + 180
        while True:
            try:
                post = poster(port, "/invocations", body, {"Content-Type": "application/json"})
                post()
                break
            except (OSError, AssertionError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.5)
        return times(post, count)
    finally:
        os.killpg(server.pid, 15)
        server.wait(30)


def main() -> None:
    """Print the table."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--folder", type=Path, default=CACHE)
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    options = read_options(parser, requests=20, models=list(MODELS)[:1])
    print(machine_line("easeml", "scikit-learn", "lightgbm"))
    print(f"{options.requests} requests, one row, one client")
    print(f"{'':64} {'over the data frame':>17} {'over the arrays':>17}")
    print(
        f"{'milliseconds':38} {'p50':>8} {'p99':>8} {'req/s':>8} {'p50':>8} {'p99':>8} {'p50':>8} {'p99':>8}"
    )
    rows = Table()
    rows.add("two idle processes, loopback", relay_times(options.requests))
    before = stolen()
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "cancer.csv"
        load_breast_cancer(as_frame=True).frame.to_csv(table, index=False)
        easeml = EasemlProcess(Path(folder) / "home", workers=1)
        easeml.start()
        try:
            for model in options.models:
                served, bare, quickest = serve_and_time(model, options.requests, table, easeml)
                rows.add(f"bare {model}, data frame", bare)
                rows.add(f"bare {model}, arrays", quickest)
                rows.add(f"easeml {model}", served, bare, quickest)
                model_time = statistics.median(quickest.every)
                busy = relay_times(
                    options.requests, statistics.median(served.every) - model_time, model_time
                )
                rows.add("two processes as busy, loopback", busy, bare, quickest)
        finally:
            easeml.stop()
    ours, everything = (after - earlier for after, earlier in zip(stolen(), before, strict=True))
    print(f"stolen: {ours / everything:.1%}")
    for peer in ["MLflow", "MLServer"] if options.peers else []:
        rows.add(peer, time_peer(peer, options.folder, options.requests))
    rows.print_undisturbed()


if __name__ == "__main__":
    main()
