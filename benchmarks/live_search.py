"""The search of several tenants in a real easeml: test loss over processor seconds, and what runs
were believed to cost.

    python benchmarks/live_search.py [--tables adult,diamonds] [--seconds 320] [--report FILE ...]

Each table is an application of a user of its own, in one easeml with two workers; all arrive at
once. Processor seconds are those of the whole tree of its processes since the first upload. What an
application serves is judged on the test rows of its version, which no search sees, by the
predictions that its models have kept: those of the fit on all other rows, once that serves.

``--peer`` gives the same train and validation rows to FLAML, in an environment that the script
installs below ``--folder``: one search a table, each on one thread with an equal share of the
processor seconds. FLAML is started anew for each share (two are run at a time), and the quality
between two shares is drawn as a line over the logarithm of the seconds. Importing it and reading
the rows cost it nothing, as the start of easeml costs easeml nothing.

A run writes a JSON file. ``--report`` runs nothing: it compares files. The loss is measured against
the best test quality of any model in any of these files, so compare runs in one report.
"""

import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from common import CACHE, arguments, machine_line, peer_python, read_options
from easeml.client import Client
from easeml.contract.applications import Declaration
from easeml.contract.states import PromotionKind, TaskGroup, TaskState
from easeml.data import read_version
from easeml.ids import new_id
from easeml.kinds.shared.predictions import read_predictions
from easeml.modules import load_registry, score
from easeml.service.knowledge.trials import cost_belief, finished_trials, own_seconds
from easeml.settings import Settings
from easeml.store import Store, Transaction
from service_process import EasemlProcess

TABLES = {
    "abalone": ("abalone/abalone.csv", "Rings"),
    "adult": ("adult/adult.csv", "class"),
    "bike": ("bike_sharing_hourly/bike_sharing_hourly.csv", "count"),
    "diamonds": ("diamonds/diamonds.csv", "price"),
    "elec2": ("stream_elec2/elec2.csv", "class"),
    "german": ("german_credit/german_credit.csv", "credit_risk"),
    "telco": ("telco_churn/telco_churn.csv", "Churn"),
    "wage": ("more_tables/Wage.csv", "wage"),
}
LEAKS = {"bike": ("casual", "registered"), "wage": ("logwage",)}
WORKERS = 2
PASSWORD = "a long password of the benchmark"
MOMENTS = (20, 40, 80, 160, 320, 1000)
PEER_SHARES = (2.5, 5, 10, 20, 40, 80, 160, 320, 1000)  # processor seconds of all tables together
PEER_METRICS = {"accuracy": "accuracy", "r2": "r2"}
PEER = """
import sys, time
time.time = time.perf_counter = time.process_time
import json, flaml, pandas as pd
folder, target, kind, metric, seconds = sys.argv[1:]
train = pd.read_parquet(f"{folder}/train.parquet")
test = pd.read_parquet(f"{folder}/test.parquet")
began = time.process_time()
model = flaml.AutoML()
model.fit(train.drop(columns=target), train[target], task=kind, metric=metric, n_jobs=1, seed=0,
          verbose=0, time_budget=float(seconds))
spent = time.process_time() - began
said = model.predict(test.drop(columns=target))
told = said if said is None else said.astype(str if kind == "classification" else float).tolist()
print(json.dumps({"spent": spent, "said": told, "model": str(model.best_estimator)}))
"""
BASELINES = ("baseline", "decision-tree", "naive-bayes")


@dataclass
class Tenant:
    """What came of one table.

    ``serves``: (processor seconds, test quality, model) of each model that went live.
    """

    table: str
    declared: float
    best: float
    tree: float
    serves: list[tuple[float, float, str]]


@dataclass
class Run:
    """One run of easeml.

    ``costs``: (job, number of the decision in it, model, believed seconds, measured seconds).
    ``works``: what the costs of finished runs depend on, with their seconds, in the order in which
    they ended.
    """

    label: str
    seconds: float
    wall: float
    tenants: list[Tenant] = field(default_factory=list)
    costs: list[tuple[str, int, str, float, float]] = field(default_factory=list)
    works: list[dict[str, Any]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    shares: dict[str, float] = field(default_factory=dict)


class ProcessorClock(threading.Thread):
    """Notes what a tree of processes has used, twice a second, and by which of its parts."""

    def __init__(self, root: int):
        super().__init__(daemon=True)
        self._root = root
        self.samples: list[tuple[float, float]] = []
        self._first = 0.0
        self._over = threading.Event()

    def run(self) -> None:
        self._first = tree_seconds(self._root)
        while not self._over.wait(0.5):
            self.samples.append((time.time(), self.now()))

    def now(self) -> float:
        """Return the processor seconds since the clock was started."""
        return tree_seconds(self._root) - self._first

    def at(self, moment: float) -> float:
        """Return the processor seconds at a moment in seconds of the epoch."""
        times, used = zip(*self.samples, strict=True)
        return float(np.interp(moment, times, used))

    def stop(self) -> None:
        self._over.set()
        self.join()


def tree_seconds(root: int) -> float:
    """Return the processor seconds of a process, of its descendants, and of those that ended."""
    total = 0.0
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            for thread in Path(f"/proc/{pid}/task").iterdir():
                if thread.name != str(pid):
                    children += (thread / "children").read_text().split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        total += sum(int(ticks) for ticks in fields[11:15])
        waiting += [int(child) for child in children]
    return total / os.sysconf("SC_CLK_TCK")


def seconds_by_kind(easeml: EasemlProcess) -> dict[str, float]:
    """Return the processor seconds of each running process itself, by its kind."""
    used: dict[str, float] = {}
    for process in easeml.call("GET", "/api/v1/status")["processes"]:
        stat = Path(f"/proc/{process['pid']}/stat")
        if stat.exists():
            fields = stat.read_text().rpartition(")")[2].split()
            seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            used[process["kind"]] = used.get(process["kind"], 0.0) + seconds
    return used


def new_user(easeml: EasemlProcess, name: str) -> str:
    """Make a user; return a key of theirs."""
    easeml.call("POST", "/api/v1/users", {"name": name, "password": PASSWORD})
    return easeml.call("POST", "/api/v1/login", {"name": name, "password": PASSWORD})["secret"]


def declare(url: str, key: str, folder: Path, table: str) -> str:
    """Start the search of a table as the user with this key; return the application."""
    file, target = TABLES[table]
    with Client(url, key) as client:
        dataset = client.upload(folder / file)
        client.wait_version_ready(dataset.version.id)
        dropped = list(LEAKS.get(table, ()))
        wish = Declaration(dataset_id=dataset.id, name=table, target=target, drop=dropped)
        return client.create_application(wish).id


def all_settled(url: str, keys: Mapping[str, str]) -> bool:
    """Whether all searches rest, by application and the key of its user: nothing is left to wait for."""
    for application, key in keys.items():
        with Client(url, key) as client:
            job = client.application(application).job
        if job is None or not job.settled:
            return False
    return True


def run(folder: Path, tables: Sequence[str], seconds: float, label: str, splits: Path) -> Run:
    """Search until the processes have used so many processor seconds.

    The rows that each search had, and those that nobody saw, are written to ``splits``.
    """
    with tempfile.TemporaryDirectory() as home:
        easeml = EasemlProcess(Path(home) / "home", workers=WORKERS)
        easeml.start()
        easeml.wait_for_devices(easeml.workers)  # it answers before all libraries are imported
        try:
            keys = [new_user(easeml, table) for table in tables]
            before = seconds_by_kind(easeml)
            clock = ProcessorClock(easeml.process.pid)
            clock.start()
            began = time.time()

            def declared_at(key: str, table: str) -> tuple[str, tuple[str, float]]:
                application = declare(easeml.url, key, folder, table)
                return application, (table, clock.now())

            with ThreadPoolExecutor(len(tables)) as pool:
                declared = dict(pool.map(declared_at, keys, tables))
            wanted = dict(zip(declared, keys, strict=True))
            while clock.now() < seconds and not all_settled(easeml.url, wanted):
                time.sleep(0.5)
            result = Run(label, seconds, time.time() - began)
            after = seconds_by_kind(easeml)
            used = clock.now()
            clock.stop()
        finally:
            easeml.stop()
        for kind, total in after.items():
            result.shares[kind] = (total - before.get(kind, 0.0)) / used
        read_run(easeml, declared, clock, result, Path(home), splits)
    return result


def read_run(
    easeml: EasemlProcess,
    declared: Mapping[str, tuple[str, float]],
    clock: ProcessorClock,
    result: Run,
    folder: Path,
    splits: Path,
) -> None:
    """Add to a run what the store kept of it, and write the splits."""
    settings = Settings(home=easeml.home)
    store = Store.of(settings)
    with store.read() as tx:
        tables = tx.unscoped()
        for application, (table, moment) in declared.items():
            found = tables.applications.get(application)
            tenant = judged(store, tables, found, table, moment, clock, folder / table)
            write_split(store, tables, found, folder / table / "version", splits / table)
            result.tenants.append(tenant)
        decisions = tables.decisions.list(limit=None)
        tasks = {task.id: task for task in tables.tasks.list(kind=TaskGroup.TRAIN, limit=None)}
        models = {one.id: one.model for one in tables.candidates.list(limit=None)}
        numbers: dict[str, int] = {}
        for decision in sorted(decisions, key=lambda one: one.id):
            number = numbers.get(decision.job_id, 0)
            numbers[decision.job_id] = number + 1
            task = tasks[decision.task_id]
            believed = decision.explanation["top"][0]["cost"]
            if task.state == TaskState.DONE:
                measured = max(own_seconds(task), 0.01)
                model = models[decision.candidate_id]
                result.costs.append((decision.job_id, number, model, believed, measured))
            elif task.state == TaskState.FAILED:
                result.failed.append(f"{models[decision.candidate_id]}: {task.cost:.1f} s")
        result.works = recorded_works(tx)
    store.close()


def recorded_works(tx: Transaction) -> list[dict[str, Any]]:
    """Return the runs that costs are learned from, with searches as numbers; no names of data."""
    belief = cost_belief(load_registry(), finished_trials(tx))
    numbers: dict[str, str] = {}
    works = []
    for work, seconds in belief.runs:
        job = numbers.setdefault(work.job, str(len(numbers)))
        features = [round(value, 4) for value in work.features]
        told = asdict(work) | {"job": job, "features": features, "hinted": round(work.hinted, 4)}
        works.append({"work": told, "seconds": round(seconds, 3)})
    return works


def judged(
    store: Store,
    tables: Any,
    application: Any,
    table: str,
    declared: float,
    clock: ProcessorClock,
    folder: Path,
) -> Tenant:
    """Return what an application served, judged on its test rows."""
    version = tables.versions.get(application.version_id)
    rows = read_version(
        store.artefacts.fetch(version.tenant_id, version.artefact, folder / "version")
    ).test
    target = next(one["name"] for one in version.columns if one["role"] == "target")
    answers = rows.set_index("_row")[target]

    def quality_of(tenant: str, predictions: str) -> float:
        path = store.artefacts.fetch(tenant, predictions, folder / new_id("file"))
        ids, predicted = read_predictions(path, "test")
        return score(application.objective, answers.loc[ids], predicted)

    names, qualities, refits = {}, {}, {}
    for model in tables.models.list(application_id=application.id, limit=None):
        names[model.id] = model.name
        qualities[model.id] = quality_of(model.tenant_id, model.predictions)
        if model.refitted_predictions:
            refits[model.id] = quality_of(model.tenant_id, model.refitted_predictions)
    serves = []
    for promotion in tables.promotions.list(application_id=application.id, limit=None):
        served = refits if promotion.kind == PromotionKind.REFIT else qualities
        quality, name = served[promotion.model_id], names[promotion.model_id]
        serves.append((clock.at(promotion.created), quality, name))
    serves.sort()
    trees = [qualities[id] for id, name in names.items() if name.startswith("decision-tree")]
    best = max([*qualities.values(), *refits.values()], default=float("nan"))
    return Tenant(table, declared, best, max(trees, default=float("nan")), serves)


def write_split(store: Store, tables: Any, application: Any, version: Path, split: Path) -> None:
    """Write the rows that an application's search had, and its test rows."""
    kept = tables.versions.get(application.version_id)
    rows = read_version(version)
    split.mkdir(parents=True)
    train = pd.concat([rows.train, rows.validation])
    train.drop(columns="_row").to_parquet(split / "train.parquet")
    rows.test.drop(columns="_row").to_parquet(split / "test.parquet")
    target = next(one["name"] for one in kept.columns if one["role"] == "target")
    told = {"target": target, "objective": application.objective}
    (split / "told.json").write_text(json.dumps(told))


def peer_quality(python: Path, split: Path, seconds: float) -> tuple[float, float, str] | None:
    """Return what FLAML used, in processor seconds, its test quality, and its model.

    None where it found no model in this time.
    """
    told = json.loads((split / "told.json").read_text())
    target, objective = told["target"], told["objective"]
    kind = "regression" if objective == "r2" else "classification"
    command = [str(python), "-W", "ignore", "-c", PEER, str(split), target, kind]
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "LOKY_MAX_CPU_COUNT": "1"}
    done = subprocess.run(
        [*command, PEER_METRICS[objective], str(seconds)],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **one_thread},
    )
    if done.returncode:
        raise RuntimeError(f"FLAML failed on {split.name}: {done.stderr[-2000:]}")
    found = json.loads(done.stdout.strip().rpartition("\n")[2])
    if found["said"] is None:
        return None
    actual = pd.read_parquet(split / "test.parquet")[target]
    if kind == "classification":
        quality = float(np.mean(actual.astype(str).to_numpy() == np.array(found["said"])))
    else:
        errors = actual.to_numpy() - np.array(found["said"])
        quality = float(1 - np.mean(errors**2) / np.var(actual.to_numpy()))
    return found["spent"], quality, found["model"]


def run_peer(python: Path, splits: Path, tables: Sequence[str], seconds: float) -> Run:
    """Let FLAML search each table with an equal share of the seconds, for each of several shares."""
    began = time.time()
    totals = [total for total in PEER_SHARES if total <= seconds]
    asked = [(table, total) for table in tables for total in totals]

    def found_in(question: tuple[str, float]) -> tuple[float, float, str] | None:
        table, total = question
        return peer_quality(python, splits / table, total / len(tables))

    with ThreadPoolExecutor(WORKERS) as pool:
        found = dict(zip(asked, pool.map(found_in, asked), strict=True))
    result = Run("FLAML", seconds, time.time() - began)
    for table in tables:
        points = []
        for total in totals:
            if point := found[table, total]:
                spent, quality, model = point
                points.append((spent * len(tables), quality, model))
        best = max(quality for _, quality, _ in points)
        result.tenants.append(Tenant(table, 0.0, best, float("nan"), between(points)))
    return result


def between(points: Sequence[tuple[float, float, str]]) -> list[tuple[float, float, str]]:
    """Return measured points with a line between each two, over the logarithm of the seconds."""
    drawn = [points[0]]
    for before, after in itertools.pairwise(points):
        for part in np.linspace(0, 1, 9)[1:]:
            moment = before[0] * (after[0] / before[0]) ** part
            quality = before[1] + part * (after[1] - before[1])
            drawn.append((float(moment), float(quality), after[2]))
    return sorted(drawn)


def quality_at(tenant: Tenant, moment: float) -> float:
    """Return the test quality of what was served at a moment; 0 before the first model."""
    served = [quality for began, quality, _ in tenant.serves if began <= moment]
    return served[-1] if served else 0.0


def losses(one: Run, best: Mapping[str, float], moment: float) -> list[float]:
    """Return the loss of each tenant at a moment."""
    return [max(0.0, best[t.table] - quality_at(t, moment)) for t in one.tenants]


def area(one: Run, best: Mapping[str, float]) -> float:
    """Return the mean over time of the average test loss."""
    moments = np.linspace(0, one.seconds, 641)
    return float(np.mean([np.mean(losses(one, best, moment)) for moment in moments]))


def first_real(tenant: Tenant) -> float:
    """Return the seconds from a declaration to a model that is no baseline and no single tree."""
    for moment, _, name in tenant.serves:
        if not name.startswith(BASELINES):
            return moment - tenant.declared
    return float("nan")


def factors(one: Run, after: int) -> list[float]:
    """Return by which factors costs were off, for decisions of a job after its first ``after``."""
    return [
        max(believed / measured, measured / believed)
        for _, number, _, believed, measured in one.costs
        if number >= after
    ]


def print_report(runs: Sequence[Run]) -> None:
    """Print the runs side by side."""
    best: dict[str, float] = {}
    for one in runs:
        for tenant in one.tenants:
            best[tenant.table] = max(best.get(tenant.table, -1.0), tenant.best)
    for one in runs:
        print(f"{one.label}: {len(one.tenants)} tenants, {one.seconds:g} processor s")
        print(f"  wall {one.wall:.0f} s; area of the average test loss {area(one, best):.4f}")
        told = [m for m in MOMENTS if m <= one.seconds]
        means = ", ".join(f"{m} s {np.mean(losses(one, best, m)):.4f}" for m in told)
        print(f"  average test loss after {means}")
        for after in (0, 3):
            off = factors(one, after)
            if off:
                middle, high = statistics.median(off), float(np.quantile(off, 0.9))
                print(
                    f"  {len(off)} costs of a job's decisions after {after}: "
                    f"off by {middle:.2f} at the median, {high:.2f} at the 90th percentile"
                )
        longest = sorted(one.costs, key=lambda cost: -cost[4])[:3]
        for _, _, model, believed, measured in longest:
            print(f"  long: {model} believed {believed:.1f} s, took {measured:.1f} s")
        print(f"  failed: {one.failed or 'none'}")
        shares = ", ".join(f"{kind} {share:.3f}" for kind, share in sorted(one.shares.items()))
        print(f"  share of processor time: {shares}")
        for tenant in one.tenants:
            first = tenant.serves[0][0] - tenant.declared if tenant.serves else float("nan")
            last = tenant.serves[-1] if tenant.serves else (0.0, float("nan"), "-")
            print(
                f"  {tenant.table:10} declared {tenant.declared:6.1f} first {first:6.1f} "
                f"first real {first_real(tenant):6.1f} serves {last[2]:34} {last[1]:.4f} "
                f"best {best[tenant.table]:.4f}"
            )


def keep(one: Run, folder: Path) -> None:
    """Write a run."""
    (folder / f"{one.label}.json").write_text(json.dumps(asdict(one)))


def read_file(path: Path) -> Run:
    """Return a run that was written."""
    known = json.loads(path.read_text())
    known["tenants"] = [Tenant(**tenant) for tenant in known["tenants"]]
    return Run(**known)


def main() -> None:
    """Run once and print, or print what ran."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--seconds", type=float, default=320.0)
    parser.add_argument("--label", default="easeml")
    parser.add_argument("--report", type=Path, nargs="*")
    parser.add_argument("--record", type=Path, help="file for what runs cost, for tests")
    parser.add_argument("--peer", action="store_true", help="beside FLAML")
    parser.add_argument("--folder", type=Path, default=CACHE)
    options = read_options(parser, tables="german", seconds=6.0)
    if options.report:
        print_report([read_file(path) for path in options.report])
        return
    tables = options.tables.split(",")
    with tempfile.TemporaryDirectory() as temporary:
        splits = Path(temporary)
        runs = [run(options.data, tables, options.seconds, options.label, splits)]
        keep(runs[0], options.out)
        if options.peer:
            runs.append(
                run_peer(peer_python(options.folder, "FLAML"), splits, tables, options.seconds)
            )
            keep(runs[1], options.out)
    if options.record:
        options.record.write_text(json.dumps(runs[0].works, indent=0))
    print_report(runs)
    print(machine_line("scikit-learn", "lightgbm"))


if __name__ == "__main__":
    main()
