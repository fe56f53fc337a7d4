"""What applications cost that nobody asks: memory, and time of the start; and what the first request
of one that rested takes.

    python benchmarks/resting_endpoints.py [--applications 300]

One application is searched for a moment; then its rows are copied until there are so many, all of
one tenant, each with a live model of its own id. An easeml starts on them, once with all loaded and
once with the setting's default, and is asked for one application after the other that rests.
"""

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import numpy as np
import pandas as pd

from cluster_machines import with_descendants
from common import arguments, machine_line, read_options, write_table
from easeml.settings import Settings
from easeml.store import Store
from service_process import EasemlProcess

COLUMNS = (
    *("applications", "most loaded", "serving MiB", "CPU s of the start"),
    *("p50 ms", "longest ms", "p50 ms of a rested one", "longest ms of a rested one"),
)
ASKED = 10  # applications, of each kind
QUIET_LOOKS = 5  # seconds without work, and the start is over
_CLOCK = 100  # ticks a second of /proc


def copied(home: Path, count: int) -> list[str]:
    """Copy the only application until there are ``count``; return their ids, the oldest first."""
    store = Store.of(Settings(home=home))
    try:
        with store.write() as tx:
            tables = tx.unscoped()
            (application,) = tables.applications.list()
            model = tables.models.get(application.live_model_id)
            tables.applications.update(application.id, created=0.0)
            ids = [application.id]
            for number in range(1, count):
                app, name = f"app_copy{number:06}", f"{application.name}-{number}"
                facts = {"created": float(number), "live_model_id": f"mdl_copy{number:06}"}
                own = {"id": f"mdl_copy{number:06}", "task_id": f"tsk_copy{number:06}"}
                tables.models.add(replace(model, application_id=app, **own))
                tables.applications.add(replace(application, id=app, name=name))
                tables.applications.update(app, **facts)
                ids.append(app)
    finally:
        store.close()
    return ids


def serving_pids(easeml: EasemlProcess) -> list[int]:
    """Return the process ids of the predictor and its children; none before it is there."""
    processes = easeml.call("GET", "/api/v1/status")["processes"]
    predictors = [one["pid"] for one in processes if one["kind"] == "predictor"]
    return with_descendants(predictors[0]) if predictors else []


def cpu_seconds(pids: list[int]) -> float:
    """Return the processor seconds of processes."""
    seconds = 0.0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        seconds += (int(fields[11]) + int(fields[12])) / _CLOCK
    return seconds


def mebibytes(pids: list[int]) -> float:
    """Return the memory of processes; pages that several share count in parts."""
    found = 0
    for pid in pids:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        (proportional,) = (line for line in lines if line.startswith("Pss:"))
        found += int(proportional.split()[1])
    return found / 1024


def seconds_until_quiet(easeml: EasemlProcess) -> float:
    """Wait until the processes that serve do nothing; return what processor seconds they took."""
    before, quiet = 0.0, 0
    while quiet < QUIET_LOOKS:
        time.sleep(1)
        now = cpu_seconds(serving_pids(easeml))
        quiet = quiet + 1 if 0 < now < before + 0.05 else 0
        before = now
    return before


def asked(easeml: EasemlProcess, ids: list[str], rows: list[dict]) -> list[float]:
    """Return the milliseconds of the first prediction of each application."""
    taken = []
    for app in ids:
        began = time.perf_counter()
        easeml.call("POST", f"/api/v1/applications/{app}/predict", {"rows": rows})
        taken.append(1e3 * (time.perf_counter() - began))
    return taken


def measured(home: Path, ids: list[str], most: int, row: list[dict], key: str) -> list[object]:
    """Return what ``COLUMNS`` say of a start with at most so many loaded."""
    easeml = EasemlProcess(home, workers=1, loaded_endpoints=str(most))
    easeml.start()
    easeml.key = key
    try:
        cpu = seconds_until_quiet(easeml)
        memory = mebibytes(serving_pids(easeml))
        loaded = asked(easeml, ids[-ASKED:], row)
        rested = asked(easeml, ids[:ASKED], row)
    finally:
        easeml.stop()
    times = [f(one) for one in (loaded, rested) for f in (np.median, max)]
    return [len(ids), most, round(memory), round(cpu, 1), *(round(float(one), 1) for one in times)]


def main() -> None:
    """Measure both starts, and write the table."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--applications", type=int, default=300)
    options = read_options(parser, applications=3)
    print(machine_line("easeml", "scikit-learn"))
    with tempfile.TemporaryDirectory() as folder:
        home, table = Path(folder) / "home", Path(folder) / "table.csv"
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
        frame.assign(target=frame["a"] > frame["b"]).to_csv(table, index=False)
        easeml = EasemlProcess(home, workers=1)
        easeml.start()
        try:
            how = ("--target", "target", "--yes", "--max-tasks", "3", "--json")
            easeml.command("app", "create", str(table), *how)
            (app,) = easeml.call("GET", "/api/v1/applications")["items"]
            easeml.wait(app["id"], "converged", 120)
        finally:
            easeml.stop()
        ids = copied(home, options.applications)
        row = [dict.fromkeys("abcd", 0.5)]
        rows = []
        for most in (max(len(ids), 1), Settings(home=home).loaded_endpoints):
            rows.append(measured(home, ids, most, row, easeml.key))
            print(dict(zip(COLUMNS, rows[-1], strict=True)), flush=True)
    write_table(options.out / "resting.csv", COLUMNS, rows)


if __name__ == "__main__":
    main()
