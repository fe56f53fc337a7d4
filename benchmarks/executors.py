"""What running a task costs beside the task itself: by executor, beside bare Ray and bare Dask.

    PYTHONPATH=RAY:DASK python benchmarks/executors.py [--runs 200]

An empty body, again and again, one at a time; the seconds from asking for it to having its result.
``local`` and ``ray`` are easeml's executors: a work folder with an input of ``--bytes``, a confined
and limited child of its own, a log and an output, which for Ray travel to the node and back.
``bare Ray`` and ``bare Dask`` call an empty function with the same bytes in a process that goes on,
without a limit or a folder.

Then the same task by a whole easeml: a local worker, a machine that joined over the network, and a
worker on Ray. See ``task_latency.py`` for what is measured: from the row of a task to its body.

Ray and Dask are measured where they can be imported; the short form has neither. Cluster, machine
and service are on one machine, on loopback, so no time of a network is in the numbers.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification

from task_latency import measure, runs_of, search

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "engine"))
import bodies_for_tests

from common import arguments, machine_line, read_options, write_table
from easeml.client import Client
from easeml.contract.tasks import Limits, TaskSpec
from easeml.engine import task_main
from easeml.engine.executors import Executor, executor_named
from ray_cluster import RayCluster
from service_process import EasemlProcess

PRELOAD = ("bodies_for_tests",)
LIMITS = Limits(seconds=60, memory=2**30, threads=1)
WARM_UP = 5  # tasks that are not counted: what runs them starts, and imports
PATIENCE = 180.0  # seconds
Task = Callable[[], object]


def nothing(content: bytes) -> int:
    """Do nothing."""
    return len(content)


@contextmanager
def by_executor(name: str, content: bytes) -> Iterator[Task]:
    """Give a task of one of easeml's executors."""
    executor: Executor = executor_named(name)(
        LIMITS, run=bodies_for_tests.run, preload=PRELOAD, isolation="process"
    )
    with tempfile.TemporaryDirectory() as made:
        folders = (Path(made).resolve() / str(number) for number in range(10**9))

        def task() -> None:
            folder = next(folders)
            task_main.prepare(folder, TaskSpec(module="", body={}, inputs={"rows": "digest"}))
            (folder / task_main.INPUTS / "rows").write_bytes(content)
            (folder / task_main.INPUTS / "source").write_text("finish")
            outcome = executor.start(folder, LIMITS).wait()
            if not (outcome.result.ok and (folder / task_main.OUTPUTS / "table").exists()):
                raise RuntimeError(outcome.result.error)

        try:
            yield task
        finally:
            executor.close()


@contextmanager
def by_bare_ray(content: bytes) -> Iterator[Task]:
    """Give a call of an empty function by Ray."""
    import ray

    ray.init(address="auto", log_to_driver=False, logging_level="warning")
    function = ray.remote(nothing)
    given = ray.put(content)
    try:
        yield lambda: ray.get(function.remote(given))
    finally:
        ray.shutdown()


@contextmanager
def by_bare_dask(content: bytes) -> Iterator[Task]:
    """Give a call of an empty function by Dask, which keeps its worker in a process of its own."""
    from distributed import Client as Dask
    from distributed import LocalCluster

    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        Dask(cluster) as client,
    ):
        given = client.scatter(content)
        yield lambda: client.submit(nothing, given, pure=False).result()


def seconds_of(task: Task, runs: int) -> list[float]:
    """Return the seconds of each run of a warm task."""
    for _ in range(WARM_UP):
        task()
    found = []
    for _ in range(runs):
        began = time.perf_counter()
        task()
        found.append(time.perf_counter() - began)
    return found


def devices_when(client: Client, count: int) -> set[str]:
    """Return the ids of the devices, as soon as there are so many. Raises ``TimeoutError``."""
    latest = time.monotonic() + PATIENCE
    while len(found := {device.id for device in client.devices()}) < count:
        if time.monotonic() > latest:
            raise TimeoutError(f"there are {len(found)} of {count} devices")
        time.sleep(0.1)
    return found


@contextmanager
def joined(easeml: EasemlProcess, home: Path) -> Iterator[None]:
    """Have a machine work for the service, whose own device takes nothing new."""
    command = [sys.executable, "-m", "easeml.cli", "worker", "--join", easeml.url]
    environment = {**os.environ, "EASEML_API_KEY": easeml.key}
    with Client(easeml.url, easeml.key) as client:
        own = devices_when(client, 1)
        machine = subprocess.Popen([*command, "--home", str(home)], env=environment)
        try:
            devices_when(client, 2)
            for device_id in own:
                client.drain_device(device_id, draining=True)
            yield
        finally:
            machine.terminate()
            machine.wait()


def by_easeml(way: str, folder: Path, tasks: int) -> dict[str, list[float]]:
    """Return what ``task_latency`` measures, in milliseconds, of an easeml that works so."""
    inputs, target = make_classification(300, 8, flip_y=0.3, random_state=0)
    pd.DataFrame(inputs).add_prefix("x").assign(target=target).to_csv(folder / "t.csv", index=False)
    settings = {"executor": "ray"} if way == "ray" else {}
    easeml = EasemlProcess(folder / "home", workers=1, task_memory=str(LIMITS.memory), **settings)
    easeml.start()
    try:
        if way == "joined machine":
            with joined(easeml, folder / "machine"):
                search(easeml, folder / "t.csv", tasks, 1, tasks)
        else:
            search(easeml, folder / "t.csv", tasks, 1, tasks)
    finally:
        easeml.stop()
    return measure(runs_of(easeml.home))


@contextmanager
def cluster() -> Iterator[None]:
    """Have a Ray cluster on loopback, which the environment names. Before Ray is imported."""
    with tempfile.TemporaryDirectory() as made:
        started = RayCluster(Path(made).resolve())
        places = [
            str(Path(bodies_for_tests.__file__).parent),
            os.environ.get("PYTHONPATH", ""),
        ]  # for its nodes
        os.environ.update(started.environment, PYTHONPATH=os.pathsep.join(places))
        try:
            started.start()
            yield
        finally:
            started.stop()


def print_row(name: str, milliseconds: list[float]) -> list[object]:
    """Print the percentiles of what was measured; return them with its name."""
    fast, median, slow = np.percentile(milliseconds, [10, 50, 90]) if milliseconds else [np.nan] * 3
    print(f"{name:40} {len(milliseconds):5} {fast:9.1f} {median:9.1f} {slow:9.1f}", flush=True)
    return [name, len(milliseconds), f"{fast:.2f}", f"{median:.2f}", f"{slow:.2f}"]


def calls(content: bytes, *, with_ray: bool, with_dask: bool) -> dict[str, Callable]:
    """Return what opens each way of running an empty task."""
    found: dict[str, Callable] = {"local": lambda: by_executor("local", content)}
    if with_ray:
        found["ray"] = lambda: by_executor("ray", content)
        found["bare Ray"] = lambda: by_bare_ray(content)
    if with_dask:
        found["bare Dask"] = lambda: by_bare_dask(content)
    return found


def measured(options, *, with_ray: bool, with_dask: bool) -> list[list[object]]:
    """Measure all ways, print them, and return the rows of the table."""
    rows = []
    content = bytes(options.bytes)
    print(f"{'milliseconds':40} {'n':>5} {'p10':>9} {'median':>9} {'p90':>9}")
    ways = calls(content, with_ray=with_ray, with_dask=with_dask)
    for name, opened in ways.items():
        with opened() as task:
            taken = seconds_of(task, options.runs)
        rows.append(print_row(f"an empty task: {name}", [1e3 * one for one in taken]))
    if not options.tasks:
        return rows
    for way in ("local", "joined machine", *(["ray"] if with_ray else [])):
        with tempfile.TemporaryDirectory() as made:
            found = by_easeml(way, Path(made).resolve(), options.tasks)
        rows += [print_row(f"{name}: {way}", taken) for name, taken in found.items()]
    return rows


def main() -> None:
    """Print the table, and keep it."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--bytes", type=int, default=10**6, help="of the input of a task")
    parser.add_argument("--tasks", type=int, default=15, help="of each easeml; 0: none is started")
    options = read_options(parser, runs=3, tasks=0)
    with_ray = not options.short and importlib.util.find_spec("ray") is not None
    with_dask = not options.short and importlib.util.find_spec("distributed") is not None
    vars(sys.modules["__main__"]).pop("__file__")  # children do not import this file again
    print(machine_line("easeml", *["ray"] * with_ray, *["dask"] * with_dask))
    print(f"load {os.getloadavg()[0]:.1f}")
    if with_ray:
        with cluster():
            rows = measured(options, with_ray=True, with_dask=with_dask)
    else:
        rows = measured(options, with_ray=False, with_dask=with_dask)
    columns = ["what", "n", "p10 ms", "median ms", "p90 ms"]
    write_table(options.out / "table.csv", columns, rows)


if __name__ == "__main__":
    main()
