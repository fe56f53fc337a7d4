"""Tables from file to served model by the CLI alone, beside what FLAML reaches in the same wall
time.

    python benchmarks/tables_beside_flaml.py [--seconds 60] [--tables
    titanic,ames_housing] [--details]

``DIR/NAME/NAME.csv`` are the tables. Each is given to an easeml of its own (two workers) as ``app create FILE --yes
--json``, with the target named and the device seconds limited to ``2 * seconds``; once its search has ended, the test
quality is read through the ledger. FLAML, in an environment that the script installs below ``--folder``, then gets the
train and validation rows of the same declared version, the same measure, two jobs, and the wall time that easeml took
from ``app create`` to the end of its search. Both are judged on the same test rows. ``--details`` also prints what
easeml inferred of each column and every failed task.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from common import CACHE, arguments, machine_line, peer_python, read_options
from easeml.data import read_version
from easeml.settings import Settings
from easeml.store import Store
from service_process import EasemlProcess

TARGETS = {
    "titanic": "Survived",
    "telco_churn": "Churn",
    "ames_housing": "SalePrice",
    "bank_marketing": "y",
}
WORKERS = 2  # device seconds are counted for each worker; FLAML gets as many jobs
PATIENCE = 600.0  # seconds
NO_PEER = {"version": "left out", "wall": 0.0, "quality": float("nan"), "model": "-", "tried": 0}
PEER = """
import json, sys, time
begun = time.perf_counter()
import flaml, pandas as pd
folder, target, metric, seconds, jobs = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]), int(sys.argv[5])
train, test = (pd.read_csv(f"{folder}/{n}.csv", keep_default_na=False, na_values=[""]) for n in ("train", "test"))
task = "regression" if metric == "r2" else "classification"
search = flaml.AutoML()
search.fit(train.drop(columns=target), train[target], task=task, metric=metric, n_jobs=jobs, seed=0, verbose=0,
           time_budget=seconds - (time.perf_counter() - begun))
predicted, actual = search.predict(test.drop(columns=target)), test[target]
if metric == "r2":
    value = 1 - ((actual - predicted) ** 2).sum() / ((actual - actual.mean()) ** 2).sum()
else:
    value = (actual.to_numpy() == predicted).mean()
print(json.dumps({"quality": float(value), "model": search.best_estimator, "wall": time.perf_counter() - begun,
                  "tried": len(search.config_history), "version": flaml.__version__}))
"""


@dataclass(frozen=True)
class Found:
    """What easeml made of a table.

    ``first`` and ``wall``: seconds from ``app create`` to first model and end.
    """

    application: dict[str, Any]
    columns: list[dict[str, Any]]
    proposed: str
    failed: list[dict[str, Any]]
    first: float
    wall: float


def search_table(easeml: EasemlProcess, file: Path, target: str, seconds: float) -> Found:
    """Take a table through easeml by its commands; return what came of it."""
    begun = time.perf_counter()
    limit = str(seconds * WORKERS)
    made = easeml.command(
        "app", "create", str(file), "--target", target, "--max-seconds", limit, "--yes", "--json"
    )
    name = json.loads(made)["id"]
    easeml.command("app", "wait", name, "--until", "first-model", "--timeout", "170")
    first = time.perf_counter() - begun
    while True:
        application = json.loads(easeml.command("app", "show", name, "--json"))
        if application["job"]["state"] not in ("waiting", "running"):
            break
        if time.perf_counter() - begun > PATIENCE:
            raise TimeoutError(f"the search of {file.name} has not ended: {application['job']}")
        time.sleep(0.5)
    wall = time.perf_counter() - begun
    application = wait_for_test_quality(easeml, name)
    failed = json.loads(easeml.command("task", "list", "--state", "failed", "--json"))
    upload = easeml.call("GET", f"/api/v1/datasets/{application['dataset_id']}")["version"]
    declared = easeml.call("GET", f"/api/v1/versions/{application['version_id']}")
    proposed = next(
        (column["name"] for column in upload["columns"] if column["role"] == "target"), ""
    )
    return Found(application, declared["columns"], proposed, failed, first, wall)


def wait_for_test_quality(easeml: EasemlProcess, name: str) -> dict[str, Any]:
    """Return the application once the test quality of what it serves is read."""
    deadline = time.perf_counter() + 60
    while time.perf_counter() < deadline:
        application = json.loads(easeml.command("app", "show", name, "--json"))
        if (
            application["test_quality"]
            and application["test_quality"]["model_id"] == application["live_model"]["id"]
        ):
            return application
        time.sleep(0.5)
    raise TimeoutError("no test quality of the served model")


def export_split(easeml: EasemlProcess, application: dict[str, Any], folder: Path) -> None:
    """Write the rows of the declared version as ``train.csv`` (train and validation rows) and
    ``test.csv``.
    """
    import pandas as pd

    settings = Settings(home=easeml.home)
    store = Store.of(settings)
    with store.read() as tx:
        kept = tx.unscoped().versions.get(application["version_id"])
    tables = read_version(store.artefacts.fetch(kept.tenant_id, kept.artefact, folder / "version"))
    store.close()
    for name, frame in (
        ("train", pd.concat([tables.train, tables.validation])),
        ("test", tables.test),
    ):
        frame.drop(columns="_row").to_csv(folder / f"{name}.csv", index=False)


def run_peer(
    python: Path, split: Path, target: str, objective: str, seconds: float
) -> dict[str, Any]:
    """Return what FLAML reached in ``seconds``."""
    arguments = [str(split), target, objective, str(seconds), str(WORKERS)]
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run = subprocess.run(
        [str(python), "-W", "ignore", "-c", PEER, *arguments],
        check=False,
        capture_output=True,
        text=True,
        env=variables,
    )
    if run.returncode:
        raise RuntimeError(f"FLAML failed: {run.stderr[-2000:]}")
    return json.loads(run.stdout.strip().rpartition("\n")[2])


def print_inferred(name: str, found: Found, details: bool) -> None:
    """Print what easeml saw in a table, and what went wrong."""
    inputs = Counter(column["type"] for column in found.columns if column["role"] == "input")
    dropped = [column["name"] for column in found.columns if column["role"] == "drop"]
    counts = ", ".join(f"{count} {kind}" for kind, count in inputs.most_common())
    print(
        f"{name}: inputs {counts}; dropped {', '.join(dropped) or 'none'}; proposed target {found.proposed or 'none'}"
    )
    job = found.application["job"]
    print(
        f"  search {job['state']}: {job['tasks_done']} done, {job['tasks_failed']} failed, {job['candidates']} seen,"
    )
    print(
        f"  {job['cost']:.1f} device seconds, validation {job['best_quality']:.4f}; {len(found.failed)} failed tasks"
    )
    if details:
        for column in found.columns:
            print(
                f"    {column['name']:24} {column['type']:10} {column['role']:7} {column['evidence']}"
            )
        for task in found.failed:
            print(f"    failed: {task['name']} ({task['kind']}): {task['error'].strip()}")


def main() -> None:
    """Print what was inferred of each table, then both qualities side by side."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--tables", default=",".join(TARGETS))
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--folder", type=Path, default=CACHE)
    parser.add_argument("--details", action="store_true")
    parser.add_argument("--no-peer", action="store_true", help="leave FLAML out")
    options = read_options(parser, tables="titanic", seconds=2.0, no_peer=True)
    python = None if options.no_peer else peer_python(options.folder, "FLAML")
    lines, peer_version = [], ""
    for name in options.tables.split(","):
        with tempfile.TemporaryDirectory() as folder:
            easeml = EasemlProcess(Path(folder) / "home", workers=WORKERS)
            easeml.start()
            try:
                found = search_table(
                    easeml, options.data / name / f"{name}.csv", TARGETS[name], options.seconds
                )
            finally:
                easeml.stop()
            print_inferred(name, found, options.details)
            export_split(easeml, found.application, Path(folder))
            objective = found.application["objective"]
            peer = NO_PEER
            if python is not None:
                peer = run_peer(python, Path(folder), TARGETS[name], objective, found.wall)
        test, peer_version = found.application["test_quality"], peer["version"]
        reached = f"{test['value']:.4f} ({test['low']:.4f} to {test['high']:.4f})"
        served = found.application["live_model"]["name"]
        lines.append(
            f"{name:15} {objective:9} {test['rows']:5} {found.first:6.1f} {found.wall:6.1f}  {reached:26} {served:34} "
            f"{peer['wall']:6.1f} {peer['quality']:8.4f}  {peer['model']}, {peer['tried']} improvements"
        )
        print(lines[-1], flush=True)
    print(f"\n{machine_line('scikit-learn', 'lightgbm', 'pandas')}; FLAML {peer_version}")
    print(f"{WORKERS} workers, {WORKERS} jobs; walls in seconds, quality on test rows")
    print(
        f"{'table':15} {'measure':9} {'rows':>5} {'first':>6} {'wall':>6}  {'easeml (95 % interval)':26} {'serves':34} "
        f"{'wall':>6} {'FLAML':>8}  with"
    )
    print("\n".join(lines))


if __name__ == "__main__":
    main()
