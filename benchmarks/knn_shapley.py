"""Speed and exactness of nearest-neighbour Shapley values beside pyDVL, DataScope and cleanlab.

Every peer runs in an environment of its own, made below --envs on first use. Seconds are of one call on data in
memory, after a small call that compiles or loads, as the median of --runs. pyDVL and easeml use two cores. DataScope
solves k = 1 only, within this time, with another worth of the empty set; cleanlab values the training rows against
each other, from k neighbours alone: both are timed, and not compared in value. Writes CSV and a figure.

    python benchmarks/knn_shapley.py --sizes 2000x500 10000x1000 --k 1 5 10
"""

import argparse
import csv
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results" / "knn_shapley"
PEERS = {"pydvl": ["numpy<2", "pydvl"], "datascope": ["numpy<2", "datascope"], "cleanlab": ["cleanlab"]}
TOO_LARGE = {"cleanlab": 20_000}
FIELDS = ["n", "t", "d", "k", "method", "seconds", "low", "high", "largest_difference", "pydvl_times"]

PEER_PROGRAM = """
import json, sys, time
import numpy as np
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
    begin = time.perf_counter()
    values = solve(X, y, V, v)
    seconds.append(time.perf_counter() - begin)
np.save(path + ".values.npy", np.asarray(values, float))
from importlib.metadata import version
print(json.dumps({"seconds": seconds, "version": version(name)}))
"""


def environment(folder: Path, name: str) -> Path:
    """Return the Python of a peer's environment, made if it is not there."""
    python = folder / name / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder / name)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PEERS[name]], check=True)
    return python


def timed(call, runs: int) -> tuple[list[float], np.ndarray]:
    """Return the seconds of each run, and the last answer."""
    seconds, answer = [], np.zeros(0)
    for _ in range(runs):
        begin = time.perf_counter()
        answer = call()
        seconds.append(time.perf_counter() - begin)
    return seconds, answer


def numpy_floor(X: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Compute distances by matrix products, and sort each row: what every exact method must at least do."""
    norms = (X**2).sum(axis=1)
    for start in range(0, len(V), 16):
        distances = norms - 2 * (V[start : start + 16] @ X.T)
        for row in distances:
            np.argsort(row)
    return np.zeros(0)


def own_methods(X: np.ndarray, y: np.ndarray, V: np.ndarray, v: np.ndarray, k: int, runs: int) -> dict:
    """Return seconds and values of easeml's methods and of the floor."""
    from easeml.lifecycle.labeling import approximate_knn_shapley, knn_shapley

    calls = {
        "easeml exact": lambda X, y, V, v: knn_shapley(X, y, V, v, k),
        "easeml, error 0.001": lambda X, y, V, v: knn_shapley(X, y, V, v, k, error=0.001),
        "easeml, error 0.01": lambda X, y, V, v: knn_shapley(X, y, V, v, k, error=0.01),
        "NumPy distances + sort alone": lambda X, y, V, v: numpy_floor(X, V),
    }
    if len(X) >= 50_000:
        calls["easeml approximate, error 0.01"] = lambda X, y, V, v: (
            approximate_knn_shapley(X, y, V, v, k, error=0.01).values
        )
    answers = {}
    for name, call in calls.items():
        call(X[:2000], y[:2000], V[:20], v[:20])
        answers[name] = timed(lambda call=call: call(X, y, V, v), runs)
    return answers


def compare(n: int, t: int, d: int, k: int, options: argparse.Namespace, versions: dict[str, str]) -> list[dict]:
    """Return the rows of the table for one size and k."""
    generator = np.random.default_rng(0)
    centres = generator.normal(size=(10, d)) * 0.8
    y, v = generator.integers(0, 10, n), generator.integers(0, 10, t)
    X, V = centres[y] + generator.normal(size=(n, d)), centres[v] + generator.normal(size=(t, d))
    answers = own_methods(X, y, V, v, k, options.runs)
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
    slow = statistics.median(answers["pydvl"][0]) if "pydvl" in answers else None
    rows = []
    for name, (seconds, values) in answers.items():
        median = statistics.median(seconds)
        comparable = name.startswith("easeml") or name == "pydvl"
        rows.append(
            {
                "n": n, "t": t, "d": d, "k": k, "method": name, "seconds": round(median, 4),
                "low": round(min(seconds), 4), "high": round(max(seconds), 4),
                "largest_difference": f"{np.abs(values - exact).max():.1e}" if comparable else "",
                "pydvl_times": round(slow / median, 1) if slow else "",
            }
        )  # fmt: skip
    return rows


def merge(rows: list[dict]) -> list[dict]:
    """Return all rows of the CSV file with those of this run replaced, and write them."""
    path = RESULTS / "seconds.csv"
    kept: dict[tuple, dict] = {}
    if path.exists():
        with path.open() as file:
            kept = {(row["n"], row["t"], row["d"], row["k"], row["method"]): row for row in csv.DictReader(file)}
    for row in rows:
        kept[tuple(str(row[name]) for name in ("n", "t", "d", "k", "method"))] = row
    ordered = sorted(kept.values(), key=lambda row: (int(row["n"]), int(row["k"]), -float(row["seconds"])))
    RESULTS.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(ordered)
    return ordered


def draw(rows: list[dict]) -> None:
    """Write an SVG of the seconds by size at k = 5, or at the k there is."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4))
    for name in sorted({row["method"] for row in rows}):
        picked = [row for row in rows if row["method"] == name and int(row["k"]) == (1 if name == "datascope" else 5)]
        axes.loglog([int(row["n"]) for row in picked], [float(row["seconds"]) for row in picked], "o-", label=name)
    axes.set(xlabel="training rows (500 or 1,000 validation rows, k = 5; DataScope k = 1)", ylabel="seconds")
    axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(RESULTS / "seconds.svg", metadata={"Date": None})


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", default=["2000x500", "10000x1000"], help="training x validation rows")
    parser.add_argument("--k", nargs="+", type=int, default=[1, 5, 10])
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--peer-runs", type=int, default=1)
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=list(PEERS))
    parser.add_argument("--envs", type=Path, default=Path.home() / ".cache" / "easeml-benchmarks")
    options = parser.parse_args()
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
    try:
        draw(merged)
    except ImportError:
        print("No figure: matplotlib is not installed.", file=sys.stderr)


if __name__ == "__main__":
    main()
