"""Many tenants at once, for long: latencies and memory over time.

    python benchmarks/many_tenants.py [--tenants 100] [--tasks 10000] [--streams 100]
        [--seconds 3600]

Starts an easeml of its own with two workers. Each tenant has an application on a small table and
searches models that train in milliseconds; together they may run so many tasks. Who has nothing
more to search feeds rows, so that there is always work. Each stream follows the events of one
tenant. Twice a second somebody asks for a prediction, and for the page's view of an application,
each of a tenant drawn at random. A row is written every half minute, so that a run that is cut
short leaves what it measured. It ends when the time is over or all tasks are done.

    predict, view   milliseconds of the requests of the last half minute: median and worst
    event           seconds from an event in the store to its line in a stream: median and worst
    MiB             of each kind of process with its children, shared pages counted once
"""

import asyncio
import itertools
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import numpy as np
import pandas as pd
from sklearn.datasets import make_classification

from common import arguments, machine_line, read_options, write_table
from easeml.client import Client
from easeml.contract.applications import Declaration
from easeml.contract.states import JobState
from easeml.errors import NotReady
from easeml.settings import Settings
from easeml.store import Store
from live_search import new_user
from service_process import EasemlProcess
from watched_memory import KINDS, MemoryWatch, proportional

MODELS = ["naive-bayes", "logistic", "decision-tree-classifier", "knn-classifier"]
LOOK_EVERY = 0.5  # seconds between looks at whether a search rests
EVERY = 30.0  # seconds between two rows
COLUMNS = ["seconds", "tasks", "events", "predict_median", "predict_worst", "view_median"]
COLUMNS += ["view_worst", "event_median", "event_worst", "refused"]
COLUMNS += [f"{kind}_mib" for kind in KINDS]


@dataclass
class Seen:
    """What was noted since the last row: milliseconds of requests, seconds of events."""

    predict: list[float] = field(default_factory=list)
    view: list[float] = field(default_factory=list)
    event: list[float] = field(default_factory=list)
    refused: int = 0

    def take(self) -> list[object]:
        """Return the cells of a row, and forget."""
        cells: list[object] = [len(self.event), *_middle_and_worst(self.predict, 1)]
        cells += [*_middle_and_worst(self.view, 1), *_middle_and_worst(self.event, 3), self.refused]
        self.__init__()
        return cells


@dataclass(frozen=True)
class Tenant:
    """A tenant's key and application, a file of rows like its own, and a row that it predicts."""

    key: str
    application: str
    source: Path
    row: dict[str, float]


def _middle_and_worst(values: list[float], digits: int) -> list[object]:
    if not values:
        return ["", ""]
    return [round(statistics.median(values), digits), round(max(values), digits)]


def write_source(path: Path, seed: int) -> dict[str, float]:
    """Write the small table of a tenant; return a row to predict."""
    inputs, target = make_classification(300, 6, flip_y=0.3, random_state=seed)
    frame = pd.DataFrame(inputs.round(3)).add_prefix("x")
    frame.assign(target=np.where(target, "yes", "no")).to_csv(path, index=False)
    return {name: float(value) for name, value in frame.iloc[0].items()}


def settle(easeml: EasemlProcess, folder: Path, place: int, tasks: int) -> Tenant:
    """Make a tenant with an application that searches."""
    key = new_user(easeml, f"tenant-{place}")
    source = folder / f"table-{place}.csv"
    row = write_source(source, place)
    with Client(easeml.url, key) as client:
        dataset = client.upload(source)
        client.wait_version_ready(dataset.version.id)
        wish = {"dataset_id": dataset.id, "target": "target", "models": MODELS, "seed": place}
        declared = Declaration(**wish, tolerance=0, max_tasks=tasks)
        return Tenant(key, client.create_application(declared).id, source, row)


async def feed_at_rest(easeml: EasemlProcess, tenants: list[Tenant]) -> None:
    """Look at one tenant after the other; feed rows to its application where the search rests."""
    for one in itertools.cycle(tenants):
        await asyncio.to_thread(_feed_at_rest, easeml, one)
        await asyncio.sleep(LOOK_EVERY)


def _feed_at_rest(easeml: EasemlProcess, tenant: Tenant) -> None:
    with Client(easeml.url, tenant.key) as client:
        job = client.application(tenant.application).job
        if job is None or job.state != JobState.RESTING:
            return
        with suppress(NotReady):  # fed a moment ago
            client.feed(tenant.application, tenant.source)


async def follow(easeml: EasemlProcess, key: str, seen: Seen) -> None:
    """Follow the events of one tenant, and note how late each is."""
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(easeml.url).port)
    head = f"GET /api/v1/events?latest=true HTTP/1.1\r\nhost: e\r\nauthorization: Bearer {key}"
    writer.write(f"{head}\r\n\r\n".encode())
    while line := await reader.readline():
        if line.startswith(b"data:"):
            seen.event.append(time.time() - json.loads(line[5:])["created"])
    raise SystemExit("A stream ended.")


async def ask_often(easeml: EasemlProcess, tenants: list[Tenant], seen: Seen) -> None:
    """Ask for a prediction and a view of tenants at random, twice a second."""
    draw = random.Random(0)
    while True:
        one = draw.choice(tenants)
        path = f"/api/v1/applications/{one.application}"
        await _asked(easeml, one.key, f"{path}/predict", {"rows": [one.row]}, seen, seen.predict)
        one = draw.choice(tenants)
        path = f"/api/v1/applications/{one.application}/view"
        await _asked(easeml, one.key, path, None, seen, seen.view)
        await asyncio.sleep(0.5)


async def _asked(
    easeml: EasemlProcess, key: str, path: str, body: Any, seen: Seen, taken: list[float]
) -> None:
    text = b"" if body is None else json.dumps(body).encode()
    method = "GET" if body is None else "POST"
    began = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(easeml.url).port)
    head = (
        f"{method} {path} HTTP/1.1\r\nhost: e\r\nconnection: close\r\nauthorization: Bearer {key}"
    )
    about = f"content-type: application/json\r\ncontent-length: {len(text)}"
    writer.write(f"{head}\r\n{about}\r\n\r\n".encode() + text)
    answer = await reader.read()
    writer.close()
    taken.append(1e3 * (time.perf_counter() - began))
    seen.refused += not answer.startswith(b"HTTP/1.1 200")


async def watch(
    easeml: EasemlProcess,
    tenants: list[Tenant],
    streams: int,
    seconds: float,
    tasks: int,
    keep: Any,
) -> None:
    """Follow, ask and write rows until the time is over or all tasks are done."""
    seen = Seen()
    done = _tasks_done(easeml)
    memory = MemoryWatch(easeml, EVERY / 2, proportional)
    memory.start()
    keys = [tenants[place % len(tenants)].key for place in range(streams)]
    running = [asyncio.create_task(follow(easeml, key, seen)) for key in keys]
    running.append(asyncio.create_task(ask_often(easeml, tenants, seen)))
    running.append(asyncio.create_task(feed_at_rest(easeml, tenants)))
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        await asyncio.sleep(min(EVERY, seconds))
        ended = [one for one in running if one.done()]
        for one in ended:
            one.result()
        count = await asyncio.to_thread(done)
        sizes = [memory.now[kind] for kind in KINDS]
        keep([round(time.monotonic() - began), count, *seen.take(), *sizes])
        if count >= tasks:
            break
    for one in running:
        one.cancel()
    memory.stop()


def _tasks_done(easeml: EasemlProcess) -> Callable[[], int]:
    store = Store.of(Settings(home=easeml.home))

    def count() -> int:
        with store.read() as tx:
            return tx.unscoped().tasks.count(kind="train", state="done")

    return count


def main() -> None:
    """Measure; print and keep a row every half minute."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--tenants", type=int, default=100)
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=3600.0)
    short = {"tenants": 2, "tasks": 4, "streams": 2, "seconds": 1.0}
    options = read_options(parser, **short)
    print(machine_line("easeml"))
    rows: list[list[object]] = []

    def keep(row: list[object]) -> None:
        rows.append(row)
        print(" ".join(f"{cell!s:>9}" for cell in row), flush=True)
        write_table(options.out / "rows.csv", COLUMNS, rows)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        easeml = EasemlProcess(folder / "home", workers=2)
        easeml.start()
        try:
            began = time.monotonic()
            each = -(-options.tasks // options.tenants)
            places = range(options.tenants)
            tenants = [settle(easeml, folder, place, each) for place in places]
            for one in tenants:
                with Client(easeml.url, one.key) as client:
                    client.wait(one.application, until="first-model", timeout=600)
            print(f"{len(tenants)} tenants in {time.monotonic() - began:.0f} s", flush=True)
            print(" ".join(f"{column[:9]:>9}" for column in COLUMNS))
            measured = (options.streams, options.seconds, options.tasks)
            asyncio.run(watch(easeml, tenants, *measured, keep))
        finally:
            easeml.stop()


if __name__ == "__main__":
    main()
