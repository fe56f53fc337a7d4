"""How long a device idles around a task: from the scheduler's write to the running body, and from
body to body.

    python benchmarks/task_latency.py [--single 20] [--searches 2]

Starts an easeml of its own with one worker and searches only models that train in milliseconds on a
small noisy table: first ``--single`` applications of one task each, one after the other (the worker
is idle and warm when the task is written), then ``--searches`` applications at once (the device is
always wanted). All times come from the store's rows: ``tasks.created`` is read inside the
transaction that writes the task, so its commit counts; ``began`` and ``ended`` are noted by the
process of the body itself, right around the call; attempts tell when the worker had recorded the
task before. One machine, one clock.

    written -> running    a task written while the worker was idle, to its body running
    end -> next, waiting  the end of a body to the next body running, the next task having been written before that end
    end -> next, decided  the same where nothing waited at that end: includes the scheduler's decision after it
"""

import itertools
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from common import arguments, machine_line, read_options
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.records import Attempt, Task
from easeml.store.sqlite import library_version
from service_process import EasemlProcess

MODELS = [
    "naive-bayes",
    "logistic",
    "decision-tree-classifier",
    "knn-classifier",
    "baseline-classifier",
]
MEASURES = ["written -> running", "end -> next, waiting", "end -> next, decided"]
LIMIT_SECONDS = 120.0


@dataclass(frozen=True)
class Run:
    """One body that ran; seconds of the epoch.

    ``recorded``: when its worker had written down its end.
    """

    created: float
    began: float
    ended: float
    recorded: float


def run_of(task: Task, attempt: Attempt) -> Run:
    """Return when a finished training task was written, ran and was recorded."""
    assert attempt.finished is not None
    return Run(task.created, task.result["began"], task.result["ended"], attempt.finished)


def measure(runs: list[Run]) -> dict[str, list[float]]:
    """Return the milliseconds of each measure over the runs of one worker."""
    taken: dict[str, list[float]] = {name: [] for name in MEASURES}
    runs = sorted(runs, key=lambda run: run.began)
    for before, run in itertools.pairwise(runs):
        if run.created >= before.recorded:
            taken["written -> running"].append(run.began - run.created)
        elif run.created <= before.ended:
            taken["end -> next, waiting"].append(run.began - before.ended)
        else:
            taken["end -> next, decided"].append(run.began - before.ended)
    return {name: [1e3 * seconds for seconds in values] for name, values in taken.items()}


def declare(easeml: EasemlProcess, dataset_id: str, **changes: object) -> str:
    """Declare an application over the dataset; return its id."""
    declaration = {
        "dataset_id": dataset_id,
        "target": "target",
        "models": MODELS,
        "tolerance": 0,
        **changes,
    }
    return easeml.call("POST", "/api/v1/applications", declaration)["id"]


def wait_until_searched(easeml: EasemlProcess, applications: Iterable[str]) -> None:
    """Return when the jobs of the applications rest. Raises ``TimeoutError``."""
    deadline = time.monotonic() + LIMIT_SECONDS
    for application in applications:
        while (shown := easeml.call("GET", f"/api/v1/applications/{application}"))["job"][
            "state"
        ] != "resting":
            if time.monotonic() > deadline or shown["error"]:
                raise TimeoutError(
                    f"{application} did not finish: {shown['job']['state']} {shown['error']}"
                )
            time.sleep(0.1)


def search(
    easeml: EasemlProcess, table: Path, single: int, searches: int, tasks: int | None
) -> None:
    """Have the easeml train: ``single`` applications of one task, then ``searches`` at once, whole
    or of ``tasks`` tasks.
    """
    command = [
        "app",
        "create",
        str(table),
        "--target",
        "target",
        "--models",
        MODELS[0],
        "--max-tasks",
        "1",
    ]
    first = json.loads(easeml.command(*command, "--yes", "--json"))
    wait_until_searched(easeml, [first["id"]])
    for seed in range(single):
        wait_until_searched(easeml, [declare(easeml, first["dataset_id"], max_tasks=1, seed=seed)])
    wait_until_searched(
        easeml,
        [
            declare(easeml, first["dataset_id"], seed=seed, max_tasks=tasks)
            for seed in range(searches)
        ],
    )


def runs_of(home: Path) -> list[Run]:
    """Return the runs of all finished training tasks that took one attempt."""
    settings = Settings(home=home)
    store = Store.of(settings)
    with store.read() as tx:
        tasks = tx.unscoped().tasks.list(kind="train", state="done", attempts=1, limit=None)
        attempts = {attempt.task_id: attempt for attempt in tx.unscoped().attempts.list(limit=None)}
    store.close()
    return [run_of(task, attempts[task.id]) for task in tasks]


def print_table(runs: list[Run]) -> None:
    """Print the table of all measures, in milliseconds."""
    packages = ("easeml", "scikit-learn", "sqlalchemy")
    print(machine_line(*packages))
    print(f"SQLite {library_version()}, load {os.getloadavg()[0]:.1f}, one worker")
    print(f"{'milliseconds':24} {'n':>5} {'median':>8} {'p90':>8} {'p99':>8}")
    bodies = [1e3 * (run.ended - run.began) for run in runs]
    for name, values in {**measure(runs), "(the bodies themselves)": bodies}.items():
        numbers = np.percentile(values, [50, 90, 99]) if values else [float("nan")] * 3
        print(f"{name:24} {len(values):5} " + " ".join(f"{number:8.1f}" for number in numbers))


def main() -> None:
    """Print the table."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--single", type=int, default=20)
    parser.add_argument("--searches", type=int, default=2)
    parser.add_argument("--tasks", type=int, help="of a search; all by default")
    options = read_options(parser, single=1, searches=1, tasks=3)
    with tempfile.TemporaryDirectory() as folder:
        table, home = Path(folder) / "table.csv", Path(folder) / "home"
        inputs, target = make_classification(
            300, 8, flip_y=0.3, random_state=0
        )  # no model is perfect: searches go on
        pd.DataFrame(inputs).add_prefix("x").assign(target=target).to_csv(table, index=False)
        easeml = EasemlProcess(home, workers=1)
        easeml.start()
        try:
            search(easeml, table, options.single, options.searches, options.tasks)
        finally:
            easeml.stop()
        print_table(runs_of(easeml.home))


if __name__ == "__main__":
    main()
