"""Speed and exactness of nearest-neighbour Shapley values beside pyDVL, DataScope and cleanlab.

Every peer runs in an environment of its own, made below --envs on first use. Seconds are of one call on data in
memory, after a small call that compiles or loads, as the median of --runs; ``cpu`` are those of all cores and child
processes together, which a busy machine hardly changes, and ``pydvl_times`` compares these; ``floor_times`` is
``cpu`` over that of the distances and the sort alone. pyDVL and easeml use two cores. From --large training rows on,
pyDVL and DataScope get --peer-points validation rows, and their seconds are scaled up: both take time linear in them.
DataScope solves k = 1 only, within this time, with another worth of the empty set; cleanlab values the training rows
against each other, from k neighbours alone: both are timed, and not compared in value. A peer that takes more than
--limit seconds is stopped. ``note`` says so, and why a peer is missing. ``--rows`` values so many rows without peers,
each method in a process of its own, and tells its largest memory. Writes CSV and a figure.

    python benchmarks/knn_shapley.py --sizes 2000x500 10000x1000 100000x1000 --k 1 5 10 --rows
    1000000
"""

import argparse
import csv
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from common import CACHE, arguments, machine_line, read_options

PEERS = {
    "pydvl": ["numpy<2", "pydvl"],
    "datascope": ["numpy<2", "datascope"],
    "cleanlab": ["cleanlab"],
}
NOTES = {
    "datascope": "another worth of the empty set",
    "cleanlab": "training rows valued against each other, from k neighbours",
}
MANY = 50_000  # rows from which approximate neighbours are worth a try
FLOOR = "NumPy distances + sort alone"
FIELDS = [
    "n",
    "t",
    "d",
    "k",
    "method",
    "seconds",
    "cpu",
    "largest_difference",
    "pydvl_times",
    "floor_times",
    "note",
]

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
        install = [str(python), "-m", "pip", "install", "--quiet", *PEERS[name]]
        try:
            subprocess.run(install, check=True, capture_output=True, text=True)
        except subprocess.CalledProcessError:
            shutil.rmtree(folder / name)
            raise
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
    """Compute distances by matrix products, and sort each row: what every exact method must at
    least do.
    """
    norms = (X**2).sum(axis=1)
    for start in range(0, len(V), 16):
        distances = norms - 2 * (V[start : start + 16] @ X.T)
        for row in distances:
            np.argsort(row)
    return np.zeros(0)


def own_methods() -> dict[str, Callable[..., np.ndarray]]:
    """Return easeml's methods, and the floor, by name: functions of rows, labels, validation rows
    and labels, k.
    """
    from easeml.lifecycle.labeling import approximate_knn_shapley, knn_shapley

    return {
        "easeml exact": knn_shapley,
        "easeml, error 0.001": lambda X, y, V, v, k: knn_shapley(X, y, V, v, k, error=0.001),
        "easeml, error 0.01": lambda X, y, V, v, k: knn_shapley(X, y, V, v, k, error=0.01),
        "easeml approximate, error 0.01": lambda X, y, V, v, k: (
            approximate_knn_shapley(X, y, V, v, k, error=0.01).values
        ),
        FLOOR: lambda X, y, V, v, k: numpy_floor(X, V),
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


def compare(
    n: int, t: int, d: int, k: int, options: argparse.Namespace, versions: dict[str, str]
) -> list[dict]:
    """Return the rows of the table for one size and k."""
    X, y, V, v = sample(n, t, d)
    answers: dict[str, tuple[Times, np.ndarray]] = {}
    for name, call in own_methods().items():
        if "approximate" in name and n < MANY:
            continue
        call(X[:2000], y[:2000], V[:20], v[:20], k)
        answers[name] = timed(lambda call=call: call(X, y, V, v, k), options.runs)
    exact = answers["easeml exact"][1]
    rows = [
        row_of((n, t, d, k), name, middle(times), values - exact if len(values) else None)
        for name, (times, values) in answers.items()
    ]
    few = min(t, options.peer_points) if n >= options.large else t
    fair = exact if few == t else own_methods()["easeml exact"](X, y, V[:few], v[:few], k)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "data")
        np.savez(path + ".npz", X=X, y=y, X_valid=V[:few], y_valid=v[:few])
        for name in options.peers:
            if name == "datascope" and k > 1:
                continue
            notes, found = [NOTES[name]] if name in NOTES else [], None
            try:
                found = peer(name, path, k, options)
            except subprocess.CalledProcessError as error:
                notes = [
                    f"not measured: {(error.stderr.strip() or 'killed').splitlines()[-1][:200]}"
                ]
            except subprocess.TimeoutExpired:
                notes = [f"more than {options.limit:.0f} s: stopped"]
            if found is None:
                rows.append({**row_of((n, t, d, k), name, None, None), "note": notes[0]})
                continue
            times, values, versions[name] = found
            scale = 1.0 if name == "cleanlab" else t / few
            if scale > 1:
                notes.append(f"{few} validation rows timed, scaled up")
            seconds, cpu = middle(times)
            error = values - fair if name == "pydvl" else None
            rows.append(
                {
                    **row_of((n, t, d, k), name, (seconds * scale, cpu * scale), error),
                    "note": "; ".join(notes),
                }
            )
    return rows


def peer(
    name: str, path: str, k: int, options: argparse.Namespace
) -> tuple[Times, np.ndarray, str]:
    """Return the times of a peer, its values and its version."""
    command = [
        str(environment(options.envs, name)),
        "-c",
        PEER_PROGRAM,
        name,
        path,
        str(k),
        str(options.peer_runs),
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=options.limit)
    told = json.loads(run.stdout.splitlines()[-1])
    return told["seconds"], np.load(path + ".values.npy"), told["version"]


def row_of(
    size: tuple, name: str, times: tuple[float, float] | None, error: np.ndarray | None
) -> dict:
    """Return a row of the table."""
    seconds, cpu = ("", "") if times is None else (round(times[0], 4), round(times[1], 4))
    difference = "" if error is None else f"{np.abs(error).max():.1e}"
    return {
        **dict(zip(FIELDS, size, strict=False)),
        "method": name, "seconds": seconds, "cpu": cpu, "largest_difference": difference, "note": "",
    }  # fmt: skip


def middle(times: Times) -> tuple[float, float]:
    """Return the median of the seconds and of the CPU seconds."""
    return statistics.median(wall for wall, _ in times), statistics.median(cpu for _, cpu in times)


def alone(name: str, n: int, t: int, d: int, k: int) -> None:
    """Run one method in this process; print its seconds and largest memory in MiB (before: of the
    data alone).
    """
    call = own_methods()[name]
    X, y, V, v = sample(n, t, d)
    call(X[:2000], y[:2000], V[:20], v[:20], k)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    ((seconds, cpu),), values = timed(lambda: call(X, y, V, v, k), 1)
    print(
        json.dumps(
            [
                seconds,
                cpu,
                before,
                resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                values.sum(),
            ]
        )
    )


def many_rows(n: int, options: argparse.Namespace) -> None:
    """Print and write seconds and memory of each method on so many rows."""
    t, d, k = options.points, options.columns, 5
    rows = []
    for name in own_methods():
        if (
            name.startswith("easeml") and "approximate" not in name
        ):  # its cells pay with many validation rows only
            command = [
                sys.executable,
                __file__,
                "--alone",
                name,
                "--sizes",
                f"{n}x{t}",
                "--columns",
                str(d),
            ]
            run = subprocess.run(command, capture_output=True, text=True, check=True)
            rows.append(
                [n, t, d, k, name, *(round(number, 3) for number in json.loads(run.stdout))]
            )
            print("  ".join(f"{cell!s:>10}" for cell in rows[-1]), flush=True)
    with (options.out / "memory.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            [
                "n",
                "t",
                "d",
                "k",
                "method",
                "seconds",
                "cpu",
                "MiB before",
                "MiB at most",
                "sum of values",
            ]
        )
        writer.writerows(rows)


def merge(rows: list[dict], folder: Path) -> list[dict]:
    """Return all rows of the CSV file with those of this run replaced, and write them, each
    compared with pyDVL.
    """
    path = folder / "seconds.csv"
    kept: dict[tuple, dict] = {}
    if path.exists():
        with path.open() as file:
            kept = {
                (row["n"], row["t"], row["d"], row["k"], row["method"]): row
                for row in csv.DictReader(file)
            }
    for row in rows:
        kept[tuple(str(row[name]) for name in ("n", "t", "d", "k", "method"))] = row
    for place, row in kept.items():
        for field, base, turned in (("pydvl_times", "pydvl", False), ("floor_times", FLOOR, True)):
            other = kept.get((*place[:-1], base))
            pair = (row["cpu"], other["cpu"]) if other else ("", "")
            known = "" not in pair and float(pair[1]) > 0  # a clock of ten milliseconds says 0
            ratio = float(pair[0]) / float(pair[1]) if known and turned else 0.0
            row[field] = (
                (f"{ratio:.2f}" if turned else f"{float(pair[1]) / float(pair[0]):.1f}")
                if known
                else ""
            )
    ordered = sorted(
        kept.values(), key=lambda row: (int(row["n"]), int(row["k"]), -float(row["cpu"] or 0))
    )
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(ordered)
    return ordered


def draw(rows: list[dict], folder: Path) -> None:
    """Write the CPU seconds by size at k = 5 (DataScope: k = 1) as a picture."""
    from easeml.figures import Axis, Figure, Series, column, tone_of

    series = []
    for place, name in enumerate(sorted({row["method"] for row in rows})):
        at = 1 if name == "datascope" else 5
        picked = [
            row for row in rows if row["method"] == name and int(row["k"]) == at and row["cpu"]
        ]
        series.append(Series(name, column(picked, "n"), column(picked, "cpu"), tone=tone_of(place)))
    figure = Figure(
        "Values of training rows",
        Axis("training rows (500 or 1,000 validation rows)", scale="log"),
        Axis("processor time", unit="s", scale="log"),
        tuple(series),
    )
    (folder / "seconds.svg").write_text(figure.to_svg(), encoding="utf-8")


def main() -> None:
    """Run, print and write."""
    parser = arguments(__file__, __doc__)
    parser.add_argument(
        "--sizes", nargs="*", default=["2000x500", "10000x1000"], help="training x validation rows"
    )
    parser.add_argument("--k", nargs="+", type=int, default=[1, 5, 10])
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--peer-runs", type=int, default=1)
    parser.add_argument(
        "--large", type=int, default=50_000, help="training rows from which peers get fewer points"
    )
    parser.add_argument(
        "--peer-points", type=int, default=100, help="validation rows for peers there"
    )
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=list(PEERS))
    parser.add_argument(
        "--limit", type=float, default=1e6, help="seconds for a peer's call, with its start"
    )
    parser.add_argument("--envs", type=Path, default=CACHE)
    parser.add_argument(
        "--rows", type=int, default=0, help="values of so many rows, with the memory they take"
    )
    parser.add_argument("--points", type=int, default=100, help="validation rows for --rows")
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    options = read_options(parser, sizes=["60x20"], k=[3], runs=1, peers=[])
    if options.alone:
        n, t = map(int, options.sizes[0].split("x"))
        return alone(
            options.alone, n, t, options.columns, options.k[0] if len(options.k) == 1 else 5
        )
    versions: dict[str, str] = {}
    merged: list[dict] = []
    print(machine_line("numpy", "numba"))
    for size in options.sizes:
        n, t = map(int, size.split("x"))
        for k in options.k:
            rows = compare(n, t, options.columns, k, options, versions)
            merged = merge(rows, options.out)
            for row in rows:
                print(
                    "  ".join(f"{row[name]!s:>{30 if name == 'method' else 8}}" for name in FIELDS),
                    flush=True,
                )
    print(", ".join(f"{name} {version}" for name, version in versions.items()))
    if merged:
        draw(merged, options.out)
    if options.rows:
        many_rows(options.rows, options)
    return None


if __name__ == "__main__":
    main()
