"""Feasibility: error of the estimate where the truth is known, beside a logistic proxy and
cross-validated AutoML.

    python benchmarks/feasibility.py [--parts synthetic,noise,halving,verdicts] [--rows 1000]
                                     [--seeds 2] [--automl-seeds 1] [--folder DIR]

``synthetic``: distributions whose Bayes error is known. ``noise``: digits (of scikit-learn), and
from ``--data`` sms_spam and adult, with labels replaced by uniform draws: the Bayes error then
moves by a known amount, and a method is judged by how far its own estimate moves. ``halving``: with
and without it, seconds, and verdicts over a grid of goals. ``verdicts``: seconds to a verdict on
whole data sets.

Beside: the cross-validated error of logistic regression on scaled features, and FLAML (own
environment, below ``--folder``) with cross-validation and ten times the seconds that easeml took.
All seconds but those of ``verdicts`` are CPU seconds of all threads, which a busy machine hardly
changes; FLAML's clock is set to tell them too. Each part writes a CSV to ``--out``.
"""

import argparse
import csv
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import norm

from common import arguments, machine_line, read_options
from easeml.lifecycle import encode
from easeml.lifecycle.feasibility import BayesError, bayes_error, with_noise

PACKAGES = ("flaml[automl]", "pandas<3")
AUTOML = """
import json, sys, time
time.time = time.process_time
import numpy as np, flaml
file, seconds = sys.argv[1], float(sys.argv[2])
data = np.load(file)
begun = time.process_time()
search = flaml.AutoML()
search.fit(data["X"], data["y"], task="classification", metric="accuracy", eval_method="cv", n_splits=5,
           time_budget=seconds, n_jobs=2, seed=0, verbose=0)
print(json.dumps({"estimate": float(search.best_loss), "seconds": time.process_time() - begun}))
"""
Sample = tuple[Any, np.ndarray]


def gaussians(
    rows: int, rng: np.random.Generator, dimensions: int
) -> tuple[np.ndarray, np.ndarray, float]:
    """Two normal classes whose means are 2 standard deviations apart in one of the dimensions."""
    y = rng.integers(0, 2, rows)
    X = rng.normal(size=(rows, dimensions))
    X[:, 0] += 2 * y - 1
    return X, y, float(norm.cdf(-1))


def clusters(rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, float]:
    """Six normal classes in ten dimensions."""
    means = np.random.default_rng(7).normal(size=(6, 10)) * 1.2

    def draw(count: int, source: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        y = source.integers(0, 6, count)
        return means[y] + source.normal(size=(count, 10)), y

    many, labels = draw(100_000, np.random.default_rng(8))
    nearest = ((many[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    return *draw(rows, rng), float((nearest != labels).mean())


def from_chance(
    chance: Callable[[np.ndarray], np.ndarray], dimensions: int
) -> Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray, float]]:
    """Uniform inputs in [-1, 1]^d, where ``chance`` gives the probability of class 1."""

    def draw(rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, float]:
        X = rng.uniform(-1, 1, (rows, dimensions))
        share = chance(np.random.default_rng(9).uniform(-1, 1, (200_000, dimensions)))
        return (
            X,
            (rng.random(rows) < chance(X)).astype(int),
            float(np.minimum(share, 1 - share).mean()),
        )

    return draw


def _rings(X: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-12 * np.cos(3 * np.pi * np.hypot(X[:, 0], X[:, 1]) / 2)))


CASES: dict[str, Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray, float]]] = {
    "gaussians, 3 d": lambda rows, rng: gaussians(rows, rng, 3),
    "gaussians, 30 d": lambda rows, rng: gaussians(rows, rng, 30),
    "six clusters, 10 d": clusters,
    "linear logit, 10 d": from_chance(
        lambda X: 1 / (1 + np.exp(-4 * (X[:, 0] - X[:, 1] + X[:, 2] / 2))), 10
    ),
    "quadratic with 10 % noise, 6 d": from_chance(
        lambda X: np.where(X[:, 0] ** 2 + X[:, 1] ** 2 + X[:, 2] > 0.5, 0.9, 0.1), 6
    ),
    "checkerboard with 15 % noise, 2 d": from_chance(
        lambda X: np.where(np.floor(2 * X).sum(axis=1) % 2 == 0, 0.85, 0.15), 2
    ),
    "rings, 4 d": from_chance(_rings, 4),
}


def real(name: str, data: Path, rows: int) -> Sample:
    """Return inputs and class numbers of a real data set; a sample where it is larger."""
    if name == "digits":
        from sklearn.datasets import load_digits

        found = load_digits()
        X, y = found.images, found.target
    else:
        from easeml.cli.local_tables import read_labelled

        target = {"sms_spam": "label", "adult": "class"}[name]
        table = read_labelled(data / name / f"{name}.csv", target)
        X, y = table.inputs, table.target.cat.codes.to_numpy()
    kept = np.sort(np.random.default_rng(0).permutation(len(y))[:rows])
    return (X.iloc[kept].reset_index(drop=True) if hasattr(X, "iloc") else X[kept]), np.asarray(y)[
        kept
    ].astype(int)


def features(X: Any) -> np.ndarray:
    """Return the matrix that the other methods get."""
    if hasattr(X, "iloc"):
        return encode(X)[0]
    return np.asarray(X, dtype=float).reshape(len(X), -1)


def logistic_proxy(X: Any, y: np.ndarray) -> float:
    """Return the cross-validated error of logistic regression."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return 1 - float(cross_val_score(model, features(X), y, cv=folds).mean())


def automl_python(folder: Path) -> Path:
    """Make (once) the environment of FLAML; return its Python."""
    programs = folder / "FLAML" / "bin"
    if not (folder / "installed").exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder / "FLAML")], check=True)
        subprocess.run([str(programs / "pip"), "install", "--quiet", *PACKAGES], check=True)
        (folder / "installed").touch()
    return programs / "python"


def automl(python: Path, X: Any, y: np.ndarray, seconds: float) -> tuple[float, float]:
    """Return the cross-validated error of what FLAML found, and the CPU seconds it took."""
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder) / "sample.npz", X=features(X), y=y)
        command = [
            str(python),
            "-W",
            "ignore",
            "-c",
            AUTOML,
            str(Path(folder) / "sample.npz"),
            str(seconds),
        ]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = json.loads(done.stdout.strip().rpartition("\n")[2])
    return found["estimate"], found["seconds"]


def timed(
    work: Callable[[], Any], clock: Callable[[], float] = time.process_time
) -> tuple[Any, float]:
    """Return what the work returns, and its seconds by the clock."""
    begun = clock()
    return work(), clock() - begun


def compare(X: Any, y: np.ndarray, python: Path | None) -> Iterator[dict[str, Any]]:
    """Give the estimate of every method."""
    ours, seconds = timed(lambda: bayes_error(X, y))
    found = {"method": "easeml", "estimate": ours.estimate, "seconds": seconds}
    yield {**found, "lower": ours.lower, "upper": ours.upper}
    yield {"method": "easeml, reached", "estimate": ours.reached, "seconds": seconds}
    snoopy = min(tried.lower for tried in ours.tried if not tried.dropped)
    yield {"method": "least bound of 1NN (Snoopy)", "estimate": snoopy, "seconds": seconds}
    proxy, took = timed(lambda: logistic_proxy(X, y))
    yield {"method": "logistic proxy", "estimate": proxy, "seconds": took}
    if python is not None:
        error, took = automl(python, X, y, 10 * seconds)
        yield {"method": "FLAML, 10 times the time", "estimate": error, "seconds": took}


def synthetic(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Estimates where the Bayes error is known."""
    lines = []
    for name in options.cases:
        for seed in range(options.seeds):
            draw = CASES[name]
            X, y, truth = draw(options.rows, np.random.default_rng(seed))
            python = automl_python(options.folder) if seed < options.automl_seeds else None
            for found in compare(X, y, python):
                lines.append({"case": name, "rows": len(y), "seed": seed, "truth": truth, **found})
                show(lines[-1])
    return lines


def noise(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Estimates after a known share of the labels is drawn anew; ``truth`` follows from the
    method's own at 0.
    """
    lines = []
    for name in options.sets.split(","):
        X, y = real(name, options.data, options.noise_rows)
        classes, clean = len(np.unique(y)), {}
        for share in (0.0, 0.2, 0.4):
            rng = np.random.default_rng(1)
            drawn = np.where(rng.random(len(y)) < share, rng.integers(0, classes, len(y)), y)
            python = automl_python(options.folder) if options.automl_seeds else None
            for found in compare(X, drawn, python):
                clean.setdefault(found["method"], found["estimate"])
                truth = with_noise(clean[found["method"]], share, classes)
                lines.append(
                    {
                        "case": f"{name}, {share:.0%} drawn anew",
                        "rows": len(y),
                        "seed": 1,
                        "truth": truth,
                        **found,
                    }
                )
                show(lines[-1])
    return lines


def verdict(result: BayesError, goal: float) -> str:
    """Return the verdict that the bounds give for a goal."""
    if result.upper <= 1 - goal:
        return "realistic"
    return "unrealistic" if result.lower > 1 - goal else "cannot tell"


def halving(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Compare with and without halving: work, seconds, and verdicts for the goals 0.50, 0.51, ...,
    0.99.
    """
    lines = []
    goals = np.arange(0.5, 1.0, 0.01)
    for name in options.cases:
        X, y, truth = CASES[name](options.rows, np.random.default_rng(0))
        fast, seconds = timed(lambda X=X, y=y: bayes_error(X, y))
        full, full_seconds = timed(lambda X=X, y=y: bayes_error(X, y, halving=False))
        pairs = [(verdict(fast, goal), verdict(full, goal)) for goal in goals]
        opposite = sum({"realistic", "unrealistic"} == set(pair) for pair in pairs)
        line = {"case": name, "rows": len(y), "truth": truth, "work": fast.work, "seconds": seconds}
        line |= {
            "all_seconds": full_seconds,
            "estimate": fast.estimate,
            "all_estimate": full.estimate,
        }
        line |= {
            "goals": len(goals),
            "same_verdict": sum(one == two for one, two in pairs),
            "opposite": opposite,
        }
        lines.append(line)
        show(line)
    return lines


def verdicts(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Seconds to a verdict on whole data sets, to the end and stopping when decided."""
    lines = []
    for name, goal in (("digits", 0.9), ("sms_spam", 0.9), ("adult", 0.95)):
        if name not in options.sets:
            continue
        X, y = real(name, options.data, 10**9)
        for until_decided in (True, False):
            found, seconds = timed(
                lambda X=X, y=y, goal=goal, early=until_decided: bayes_error(
                    X, y, goal=goal, until_decided=early
                ),
                time.perf_counter,
            )
            line = {
                "case": name,
                "rows": len(y),
                "goal": goal,
                "stops": until_decided,
                "verdict": found.verdict,
            }
            line |= {
                "seconds": seconds,
                "lower": found.lower,
                "estimate": found.estimate,
                "upper": found.upper,
            }
            lines.append(line)
            show(line)
    return lines


def show(line: dict[str, Any]) -> None:
    """Print a line as it comes."""
    print(
        "  ".join(
            f"{value:.4f}" if isinstance(value, float) else str(value) for value in line.values()
        ),
        flush=True,
    )


def summarise(lines: list[dict[str, Any]]) -> None:
    """Print the error of every method over the samples that all methods saw, and over all of its
    own.
    """
    methods = list(dict.fromkeys(line["method"] for line in lines))
    seen = {
        method: {(line["case"], line["seed"]) for line in lines if line["method"] == method}
        for method in methods
    }
    common = set.intersection(*seen.values())
    print(
        f"\n{'method':32} {'samples':>7} {'RMSE':>7} {'mean abs':>8} {'bias':>8} {'seconds':>8}   (CPU seconds: median)"
    )
    for scope in (common, set.union(*seen.values())):
        for method in methods:
            own = [
                line
                for line in lines
                if line["method"] == method and (line["case"], line["seed"]) in scope
            ]
            gaps = np.array([line["estimate"] - line["truth"] for line in own])
            seconds = np.median([line["seconds"] for line in own])
            errors = (
                f"{math.sqrt((gaps**2).mean()):7.4f} {np.abs(gaps).mean():8.4f} {gaps.mean():+8.4f}"
            )
            print(f"{method:32} {len(own):7} {errors} {seconds:8.2f}")
        print()
    bounds = [line for line in lines if line.get("lower") is not None]
    held = sum(line["lower"] <= line["truth"] <= line["upper"] for line in bounds)
    print(f"the bounds of easeml hold the truth in {held} of {len(bounds)} samples")


def save(name: str, lines: list[dict[str, Any]], out: Path) -> None:
    """Write the lines as CSV."""
    columns = list(dict.fromkeys(key for line in lines for key in line))
    with (out / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        for line in lines:
            writer.writerow(
                {
                    key: round(value, 5) if isinstance(value, float) else value
                    for key, value in line.items()
                }
            )


def main() -> None:
    """Measure the parts asked for."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--parts", default="synthetic,noise,halving,verdicts")
    parser.add_argument(
        "--cases",
        nargs="+",
        choices=list(CASES),
        default=list(CASES),
        help="where the error is known",
    )
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--noise-rows", type=int, default=1500)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--automl-seeds", type=int, default=1)
    parser.add_argument(
        "--sets", default="digits", help="of digits, sms_spam, adult; all but digits need --data"
    )
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "easeml-flaml")
    options = read_options(
        parser,
        parts="synthetic,halving",
        cases=list(CASES)[:1],
        rows=100,
        seeds=1,
        automl_seeds=0,
    )
    bayes_error(
        np.random.default_rng(0).normal(size=(100, 3)), np.arange(100) % 2
    )  # imports and compiles
    for part in options.parts.split(","):
        print(f"\n{part}")
        lines = {"synthetic": synthetic, "noise": noise, "halving": halving, "verdicts": verdicts}[
            part
        ](options)
        save(part, lines, options.out)
        if part in ("synthetic", "noise"):
            summarise(lines)
    print(f"\n{machine_line('numpy', 'scikit-learn', 'lightgbm', 'skrub')}")


if __name__ == "__main__":
    main()
