"""What serving costs, by kind of model: latency of one row, rate of many callers, processor time.

    python benchmarks/serving_costs.py [--kinds linear text] [--peers BentoML] [--requests 600]

Starts an easeml of its own, trains a linear model, boosted trees, a forest, a model of texts and an
ensemble, and asks each endpoint for one row, with authentication and validation on. Beside it: the
same model called in this process by arrays, in a loop and after a pause of 2 ms (a process that has
slept finds its caches cold, and the same code takes longer: so it is in a server); a bare server
(uvicorn, JSON and ONNX Runtime, nothing else) of the same model; and MLflow, MLServer and BentoML
with scikit-learn pipelines of the same kind (``--peers``, each installed into an environment of its
own). All of a kind take turns in blocks, so that a busy moment of the machine meets all alike.

``p50``, ``p99``: milliseconds over one connection, where no other asks. ``over``: p50 less that of
the model called in a loop. ``over 2``: less that of the model called after a pause. ``rate``:
answers a second to ``--connections`` callers who ask again at once. ``cpu 1``, ``cpu n``:
milliseconds of processor time that an answer costs all processes of the server, for one caller and
for many: what does not depend on who else uses the machine.
"""

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import uvloop

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from sklearn.datasets import load_breast_cancer
from threadpoolctl import threadpool_limits

from common import CACHE, arguments, machine_line, peer_programs, read_options, write_table
from easeml.client import Client
from easeml.contract.applications import Declaration
from service_process import EasemlProcess
from serving_peers import KINDS, PACKAGES, Server, bare_server, peer_server, train

MODELS = {
    "linear": ["logistic"],
    "boosting": ["lightgbm-classifier"],
    "forest": ["random-forest-classifier"],
    "text": ["logistic"],
    "ensemble": ["logistic", "lightgbm-classifier", "random-forest-classifier"],
}
_TASKS = {"ensemble": 8}  # of the search; of the others it is one
_TRIES = 5  # of searches that may end without an ensemble: none is kept that gains nothing
_BLOCK = 20  # requests of one connection in a row
_LONG_BLOCK = 200  # and of many
_WARM = 50
_PAUSE = 0.002  # seconds, after which a process finds its caches cold
TITLES = ("kind", "server", "p50", "p99", "over", "over 2", "rate", "cpu 1", "cpu n")


class _Caller(asyncio.Protocol):
    """A connection that asks the same again as soon as it is answered, until enough are."""

    def __init__(self, request: bytes, left: list[int], taken: list[float], done: asyncio.Event):
        self._request = request
        self._left = left
        self._taken = taken
        self._done = done
        self._received = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport
        self._ask()

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, ended, body = self._received.partition(b"\r\n\r\n")
        if not ended or len(body) < _length_of(head):
            return
        assert b" 200 " in head[:20], self._received
        self._received = b""
        self._taken.append((time.perf_counter() - self._asked) * 1e3)
        self._left[0] -= 1
        if self._left[0] > 0:
            self._ask()
        else:
            self._done.set()

    def _ask(self) -> None:
        self._asked = time.perf_counter()
        self._transport.write(self._request)


def _length_of(head: bytes) -> int:
    rest = head.lower().partition(b"content-length:")[2]
    return int(rest.partition(b"\r\n")[0])


async def _asked(port: int, request: bytes, connections: int, count: int) -> list[float]:
    """Return milliseconds of ``count`` requests over so many connections."""
    taken: list[float] = []
    left, done = [count], asyncio.Event()
    loop = asyncio.get_running_loop()
    opened = []
    for _ in range(connections):
        made = await loop.create_connection(
            lambda: _Caller(request, left, taken, done), "127.0.0.1", port
        )
        opened.append(made[0])
    await done.wait()
    for transport in opened:
        transport.close()
    return taken


@dataclass
class Load:
    """Requests of one kind to one server: how long they took, and what they cost."""

    taken: list[float] = field(default_factory=list)  # milliseconds
    seconds: float = 0.0
    cpu: float = 0.0  # milliseconds of all processes of the server

    @property
    def rate(self) -> float:
        """Answers a second."""
        return len(self.taken) / self.seconds

    @property
    def cpu_each(self) -> float:
        """Milliseconds of processor time an answer."""
        return self.cpu / len(self.taken)


def _cpu(pid: int) -> float:
    """Return milliseconds of processor time of a process and all its children, so far."""
    total = 0.0
    tasks = Path(f"/proc/{pid}/task")
    for task in tasks.iterdir():
        total += int((task / "schedstat").read_text().split()[0]) / 1e6
        for child in (task / "children").read_text().split():
            total += _cpu(int(child))
    return total


def ask(server: Server, key: str, connections: int, count: int, load: Load) -> None:
    """Add ``count`` requests to a load."""
    head = f"POST {server.path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    if key:
        head += f"Authorization: Bearer {key}\r\n"
    request = f"{head}Content-Length: {len(server.body)}\r\n\r\n".encode() + server.body
    before, begun = _cpu(server.process.pid), time.perf_counter()
    load.taken += uvloop.run(_asked(server.port, request, connections, count))
    load.seconds += time.perf_counter() - begun
    load.cpu += _cpu(server.process.pid) - before


def serve(easeml: EasemlProcess, kind: str, table: pd.DataFrame, folder: Path) -> str:
    """Have easeml train and serve a kind of model; return the id of the application."""
    path = folder / f"{kind}.csv"
    table.to_csv(path, index=False)
    with Client(easeml.url, easeml.key) as client:
        dataset = client.upload(path)
        client.wait_version_ready(dataset.version.id)
        wish = Declaration(
            dataset_id=dataset.id,
            target=str(table.columns[-1]),
            models=MODELS[kind],
            max_tasks=_TASKS.get(kind, 1),
        )
        for _ in range(_TRIES):
            made = client.create_application(wish)
            served = client.wait(made.id, until="converged", timeout=300)
            assert served.live is not None
            if bool(served.live.ensemble) == (kind == "ensemble"):
                return made.id
    raise RuntimeError(f"No {kind} serves.")


def trained_of(easeml: EasemlProcess, application_id: str, folder: Path) -> Any:
    """Return the model that an application serves, loaded in this process."""
    from easeml.modules.ensemble import load_model
    from easeml.settings import Settings
    from easeml.store import Store

    store = Store.of(Settings(home=easeml.home))
    with store.read() as tx:
        application = tx.unscoped().applications.get(application_id)
        kept = tx.unscoped().models.get(application.live_model_id)
    try:
        return load_model(store.artefacts.fetch(kept.tenant_id, kept.served, folder))
    finally:
        store.close()


def bare_call(trained: Any, row: Mapping[str, Any]) -> Callable[[], object]:
    """Return the call of a model in this process with one row that is ready: arrays, as served."""
    from easeml.data import parse_rows
    from easeml.schema import Schema

    schemas = (Schema.from_json(trained.schema_in), Schema.from_json(trained.schema_out))
    table = parse_rows(json.dumps([row]).encode(), "application/json", *schemas).table
    return lambda: trained.predict(table)


def graph_of(kind: str, trained: Any, peers: Path, folder: Path) -> Path:
    """Write the ONNX graph that the bare server answers with; return its path."""
    path = folder / f"{kind}.onnx"
    if kind != "text":
        from easeml.export.graphs import convert

        path.write_bytes(convert(trained).SerializeToString())
        return path
    import joblib
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import StringTensorType

    pipeline = joblib.load(peers / "text.joblib")
    options = {"zipmap": False}
    inputs = [("text", StringTensorType([None, 1]))]
    path.write_bytes(to_onnx(pipeline, initial_types=inputs, options=options).SerializeToString())
    return path


@dataclass
class Called:
    """Milliseconds of calls of a model in this process."""

    in_loop: list[float]
    after_pause: list[float]


def call(bare: Callable[[], object], pause: float, taken: list[float]) -> None:
    """Add the milliseconds of a block of calls, with a pause before each."""
    for _ in range(_BLOCK):
        time.sleep(pause)
        begun = time.perf_counter()
        bare()
        taken.append((time.perf_counter() - begun) * 1e3)


def measure(
    servers: Mapping[str, tuple[Server, str]],
    bare: Callable[[], object],
    requests: int,
    connections: int,
) -> tuple[Called, dict[str, tuple[Load, Load]]]:
    """Return the bare calls, and the loads of one and of many callers by server."""
    loads = {name: (Load(), Load()) for name in servers}
    called = Called([], [])
    for server, key in servers.values():
        ask(server, key, 1, _WARM, Load())
        ask(server, key, connections, _WARM, Load())
    for _ in range(0, requests, _BLOCK):
        with threadpool_limits(1):
            call(bare, 0.0, called.in_loop)
            call(bare, _PAUSE, called.after_pause)
        for name, (server, key) in servers.items():
            ask(server, key, 1, _BLOCK, loads[name][0])
    for _ in range(0, 2 * requests, _LONG_BLOCK):
        for name, (server, key) in servers.items():
            ask(server, key, connections, min(_LONG_BLOCK, 2 * requests), loads[name][1])
    return called, loads


def rows_of(kind: str, called: Called, loads: Mapping[str, tuple[Load, Load]]) -> list[list[Any]]:
    """Return the table's rows of a kind."""
    bare, cold = statistics.median(called.in_loop), statistics.median(called.after_pause)
    empty = [""] * 6
    rows: list[list[Any]] = [
        [kind, "(called in a loop)", round(bare, 3), *empty],
        [kind, "(called after a pause)", round(cold, 3), *empty],
    ]
    for name, (one, many) in loads.items():
        p50, p99 = np.percentile(one.taken, [50, 99])
        figures = [round(float(figure), 3) for figure in (p50, p99, p50 - bare, p50 - cold)]
        costs = [round(one.cpu_each, 3), round(many.cpu_each, 3)]
        rows.append([kind, name, *figures, round(many.rate), *costs])
    return rows


def main() -> None:
    """Print the table."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--peers", nargs="*", choices=list(PACKAGES), default=list(PACKAGES))
    parser.add_argument("--requests", type=int, default=600)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--folder", type=Path, default=CACHE, help="of the peers' environments")
    options = read_options(parser, requests=20, kinds=["linear"], peers=[])
    tables = {kind: load_breast_cancer(as_frame=True).frame for kind in options.kinds}
    if "text" in tables:
        spam = pd.read_csv(options.data / "sms_spam" / "sms_spam.csv")
        tables["text"] = spam[["text", "label"]]
    if "ensemble" in tables:  # where one is better than its members
        tables["ensemble"] = pd.read_csv(options.data / "pima_diabetes" / "pima_diabetes.csv")
    lines = [machine_line("easeml", "scikit-learn", "lightgbm", "onnxruntime")]
    lines.append(f"{options.requests} requests, one row; rate: {options.connections} callers")
    rows: list[list[Any]] = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        own = Path(sys.executable).parent
        if "text" in tables:
            train(folder / "own", {"text": tables["text"]}, own)
        for peer in options.peers:
            programs = peer_programs(options.folder, peer, PACKAGES[peer])
            train(folder / peer, tables, programs)
        easeml = EasemlProcess(folder / "home", workers=1)
        easeml.start()
        try:
            for kind, table in tables.items():
                rows += _measure_kind(kind, table, easeml, folder, options)
                print(*_formatted(rows[-len(options.peers) - 4 :]), sep="\n", flush=True)
        finally:
            easeml.stop()
    print(*lines, *_formatted([list(TITLES), *rows]), sep="\n")
    write_table(options.out / "costs.csv", TITLES, rows)
    (options.out / "table.txt").write_text(
        "\n".join([*lines, *_formatted([list(TITLES), *rows]), ""])
    )


def _measure_kind(
    kind: str, table: pd.DataFrame, easeml: EasemlProcess, folder: Path, options: Any
) -> list[list[Any]]:
    """Start all servers of a kind, measure them, and end them."""
    row = table.iloc[0, :-1].to_dict()
    application = serve(easeml, kind, table, folder)
    trained = trained_of(easeml, application, folder / f"{kind}-model")
    graph = graph_of(kind, trained, folder / "own", folder)
    path = f"/api/v1/applications/{application}/predict"
    asked = json.dumps({"rows": [row]}).encode()
    servers = {
        "easeml": (Server(easeml.port, path, asked, easeml.process), easeml.key),
        "bare, ONNX Runtime": (bare_server(graph, row, folder), ""),
    }
    try:
        for peer in options.peers:
            servers[peer] = peer_server(peer, kind, row, folder, options.folder), ""
        bare = bare_call(trained, row)
        return rows_of(kind, *measure(servers, bare, options.requests, options.connections))
    finally:
        for name, (server, _) in servers.items():
            if name != "easeml":
                server.stop()


def _formatted(rows: list[list[Any]]) -> list[str]:
    return ["{:9} {:22} {:>7} {:>7} {:>7} {:>7} {:>6} {:>7} {:>7}".format(*row) for row in rows]


if __name__ == "__main__":
    main()
