"""Speed and exactness of nearest-neighbour Shapley values beside pyDVL, DataScope and cleanlab.

Every peer runs in an environment of its own, made below --envs on first use. Seconds are of one call on data in
memory, after a small call that compiles or loads, as the median of --runs; ``cpu`` are those of all cores and child
processes together, which a busy machine hardly changes, and ``pydvl_times`` compares these. pyDVL and easeml use two
cores. DataScope solves k = 1 only, within this time, with another worth of the empty set; cleanlab values the training
rows against each other, from k neighbours alone: both are timed, and not compared in value. ``--rows`` values so many
rows without peers, each method in a process of its own, and tells its largest memory. Writes CSV and a figure.

    python benchmarks/knn_shapley.py --sizes 2000x500 10000x1000 100000x1000 --k 1 5 10 --rows 1000000
"""

import argparse
import csv
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results" / "knn_shapley"
PEERS = {"pydvl": ["numpy<2", "pydvl"], "datascope": ["numpy<2", "datascope"], "cleanlab": ["cleanlab"]}
TOO_LARGE = {"cleanlab": 20_000}
MANY = 50_000  # rows from which approximate neighbours are worth a try
FIELDS = ["n", "t", "d", "k", "method", "seconds", "cpu", "largest_difference", "pydvl_times"]

PEER_PROGRAM = """
import json, os, sys, time
import numpy as np
def cpu():
    ticks = sum(os.times()[:4])
    for entry in os.listdir("/proc"):
        try:
            fields = open(f"/proc/{entry}/stat").read().rpartition(")")[2].split() if entry.isdigit() else []
        except OSError:
            continue
        if fields and int(fields[1]) == os.getpid():
            ticks += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return ticks
name, path, k, runs = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
data = np.load(path + ".npz")
X, y, V, v = data["X"], data["y"], data["X_valid"], data["y_valid"]
def pydvl(X, y, V, v):
    from joblib import parallel_config
    from pydvl.valuation import Dataset, KNNShapleyValuation
    from sklearn.neighbors import KNeighborsClassifier
    valuation = KNNShapleyValuation(KNeighborsClassifier(k), Dataset(V, v), progress=False)
    with parallel_config(n_jobs=2):
        return valuation.fit(Dataset(X, y)).result.values
def datascope(X, y, V, v):
    from datascope.importance.shapley import ShapleyImportance
    from datascope.importance import SklearnModelAccuracy
    from sklearn.neighbors import KNeighborsClassifier
    utility = SklearnModelAccuracy(KNeighborsClassifier(n_neighbors=1))
    return ShapleyImportance(method="neighbor", utility=utility).fit(X, y).score(V, v)
def cleanlab(X, y, V, v):
    from cleanlab.data_valuation import data_shapley_knn
    return data_shapley_knn(y, features=X, metric="euclidean", k=k)
solve = {"pydvl": pydvl, "datascope": datascope, "cleanlab": cleanlab}[name]
solve(X[:200], y[:200], V[:20], v[:20])
seconds = []
for _ in range(runs):
    begin, before = time.perf_counter(), cpu()
    values = solve(X, y, V, v)
    seconds.append((time.perf_counter() - begin, cpu() - before))
np.save(path + ".values.npy", np.asarray(values, float))
from importlib.metadata import version
print(json.dumps({"seconds": seconds, "version": version(name)}))
"""
Times = list[tuple[float, float]]


def environment(folder: Path, name: str) -> Path:
    """Return the Python of a peer's environment, made if it is not there."""
    python = folder / name / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder / name)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PEERS[name]], check=True)
    return python


def timed(call: Callable[[], np.ndarray], runs: int) -> tuple[Times, np.ndarray]:
    """Return the seconds and CPU seconds of each run, and the last answer."""
    seconds, answer = [], np.zeros(0)
    for _ in range(runs):
        begin, before = time.perf_counter(), time.process_time()
        answer = call()
        seconds.append((time.perf_counter() - begin, time.process_time() - before))
    return seconds, answer


def numpy_floor(X: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Compute distances by matrix products, and sort each row: what every exact method must at least do."""
    norms = (X**2).sum(axis=1)
    for start in range(0, len(V), 16):
        distances = norms - 2 * (V[start : start + 16] @ X.T)
        for row in distances:
            np.argsort(row)
    return np.zeros(0)


def own_methods() -> dict[str, Callable[..., np.ndarray]]:
    """Return easeml's methods, and the floor, by name: functions of rows, labels, validation rows and labels, k."""
    from easeml.lifecycle.labeling import approximate_knn_shapley, knn_shapley

    return {
        "easeml exact": knn_shapley,
        "easeml, error 0.001": lambda X, y, V, v, k: knn_shapley(X, y, V, v, k, error=0.001),
        "easeml, error 0.01": lambda X, y, V, v, k: knn_shapley(X, y, V, v, k, error=0.01),
        "easeml approximate, error 0.01": lambda X, y, V, v, k: (
            approximate_knn_shapley(X, y, V, v, k, error=0.01).values
        ),
        "NumPy distances + sort alone": lambda X, y, V, v, k: numpy_floor(X, V),
    }


def sample(n: int, t: int, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training rows and labels, and validation rows and labels: ten normal classes."""
    generator = np.random.default_rng(0)
    centres = generator.normal(size=(10, d)) * 0.8
    y, v = generator.integers(0, 10, n), generator.integers(0, 10, t)
    X, V = generator.normal(size=(n, d)), generator.normal(size=(t, d))
    for some in range(0, n, 100_000):
        X[some : some + 100_000] += centres[y[some : some + 100_000]]
    return X, y, V + centres[v], v


def compare(n: int, t: int, d: int, k: int, options: argparse.Namespace, versions: dict[str, str]) -> list[dict]:
    """Return the rows of the table for one size and k."""
    X, y, V, v = sample(n, t, d)
    answers: dict[str, tuple[Times, np.ndarray]] = {}
    for name, call in own_methods().items():
        if "approximate" in name and n < MANY:
            continue
        call(X[:2000], y[:2000], V[:20], v[:20], k)
        answers[name] = timed(lambda call=call: call(X, y, V, v, k), options.runs)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "data")
        np.savez(path + ".npz", X=X, y=y, X_valid=V, y_valid=v)
        for name in options.peers:
            if n > TOO_LARGE.get(name, n) or (name == "datascope" and k > 1):
                continue
            python = environment(options.envs, name)
            command = [str(python), "-c", PEER_PROGRAM, name, path, str(k), str(options.peer_runs)]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            if run.returncode:
                print(f"{name} failed at {n} x {t}: {run.stderr.strip().splitlines()[-1]}", file=sys.stderr)
                continue
            told = json.loads(run.stdout.splitlines()[-1])
            versions[name] = told["version"]
            answers[name] = told["seconds"], np.load(path + ".values.npy")
    exact = answers["easeml exact"][1]
    rows = []
    for name, (times, values) in answers.items():
        seconds, cpu = middle(times)
        comparable = name.startswith("easeml") or name == "pydvl"
        rows.append(
            {
                "n": n, "t": t, "d": d, "k": k, "method": name, "seconds": round(seconds, 4), "cpu": round(cpu, 4),
                "largest_difference": f"{np.abs(values - exact).max():.1e}" if comparable else "",
            }
        )  # fmt: skip
    return rows


def middle(times: Times) -> tuple[float, float]:
    """Return the median of the seconds and of the CPU seconds."""
    return statistics.median(wall for wall, _ in times), statistics.median(cpu for _, cpu in times)


def alone(name: str, n: int, t: int, d: int, k: int) -> None:
    """Run one method in this process; print its seconds and largest memory in MiB (before: of the data alone)."""
    call = own_methods()[name]
    X, y, V, v = sample(n, t, d)
    call(X[:2000], y[:2000], V[:20], v[:20], k)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    ((seconds, cpu),), values = timed(lambda: call(X, y, V, v, k), 1)
    print(json.dumps([seconds, cpu, before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, values.sum()]))


def many_rows(n: int, options: argparse.Namespace) -> None:
    """Print and write seconds and memory of each method on so many rows."""
    t, d, k = options.points, options.columns, 5
    rows = []
    for name in own_methods():
        if name.startswith("easeml") and "approximate" not in name:  # its cells pay with many validation rows only
            command = [sys.executable, __file__, "--alone", name, "--sizes", f"{n}x{t}", "--columns", str(d)]
            run = subprocess.run(command, capture_output=True, text=True, check=True)
            rows.append([n, t, d, k, name, *(round(number, 3) for number in json.loads(run.stdout))])
            print("  ".join(f"{cell!s:>10}" for cell in rows[-1]), flush=True)
    RESULTS.mkdir(parents=True, exist_ok=True)
    with (RESULTS / "memory.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["n", "t", "d", "k", "method", "seconds", "cpu", "MiB before", "MiB at most", "sum of values"])
        writer.writerows(rows)


def merge(rows: list[dict]) -> list[dict]:
    """Return all rows of the CSV file with those of this run replaced, and write them, each compared with pyDVL."""
    path = RESULTS / "seconds.csv"
    kept: dict[tuple, dict] = {}
    if path.exists():
        with path.open() as file:
            kept = {(row["n"], row["t"], row["d"], row["k"], row["method"]): row for row in csv.DictReader(file)}
    for row in rows:
        kept[tuple(str(row[name]) for name in ("n", "t", "d", "k", "method"))] = row
    for place, row in kept.items():
        slow = kept.get((*place[:-1], "pydvl"))
        row["pydvl_times"] = round(float(slow["cpu"]) / float(row["cpu"]), 1) if slow else ""
    ordered = sorted(kept.values(), key=lambda row: (int(row["n"]), int(row["k"]), -float(row["seconds"])))
    RESULTS.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(ordered)
    return ordered


def draw(rows: list[dict]) -> None:
    """Write the CPU seconds by size at k = 5 (DataScope: k = 1) as a page."""
    from easeml.figures import blank

    figure = blank("Values of training rows", "training rows (500 or 1,000 validation rows)", "CPU seconds")
    for name in sorted({row["method"] for row in rows}):
        picked = [row for row in rows if row["method"] == name and int(row["k"]) == (1 if name == "datascope" else 5)]
        x, y = [int(row["n"]) for row in picked], [float(row["cpu"]) for row in picked]
        figure.add_scatter(x=x, y=y, name=name, mode="lines+markers")
    figure.update_xaxes(type="log").update_yaxes(type="log")
    (RESULTS / "seconds.html").write_text(figure.to_html(full_html=True, include_plotlyjs="cdn"))


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="*", default=["2000x500", "10000x1000"], help="training x validation rows")
    parser.add_argument("--k", nargs="+", type=int, default=[1, 5, 10])
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--peer-runs", type=int, default=1)
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=list(PEERS))
    parser.add_argument("--envs", type=Path, default=Path.home() / ".cache" / "easeml-benchmarks")
    parser.add_argument("--rows", type=int, default=0, help="values of so many rows, with the memory they take")
    parser.add_argument("--points", type=int, default=100, help="validation rows for --rows")
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        n, t = map(int, options.sizes[0].split("x"))
        return alone(options.alone, n, t, options.columns, options.k[0] if len(options.k) == 1 else 5)
    versions: dict[str, str] = {}
    merged: list[dict] = []
    print(f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}; Python {platform.python_version()}")
    for size in options.sizes:
        n, t = map(int, size.split("x"))
        for k in options.k:
            rows = compare(n, t, options.columns, k, options, versions)
            merged = merge(rows)
            for row in rows:
                print("  ".join(f"{row[name]!s:>{30 if name == 'method' else 8}}" for name in FIELDS), flush=True)
    print(f"NumPy {np.__version__}; " + ", ".join(f"{name} {version}" for name, version in versions.items()))
    if merged:
        draw(merged)
    if options.rows:
        many_rows(options.rows, options)
    return None


if __name__ == "__main__":
    main()
