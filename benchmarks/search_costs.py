"""How well device seconds are predicted: held-out runs of recorded workloads, and a device kind
that is new.

    python benchmarks/search_costs.py --data DIR [--folds 5]

``DIR/workload_srbench`` and ``DIR/workload_easeml_deeplearning`` hold measured times. *Cells*: a
fifth of all runs is held out at random. *Tenants*: a fifth of the tenants is held out whole, so
that only model and size are known. Beside easeml's cost model: the model's median, a regression of
log seconds on log size for each model, and a random forest on the same features. Error: median and
mean absolute error in percent, root mean square error of log10 seconds, and the part of held-out
runs inside the 90 % interval.

*New device*: all srbench times on a known device and on another, a few on a third; both are made from the measured ones
by a factor for the device, one for each model (a factor of about 1.6 up or down), an exponent of the rows, and noise of
10 %, all drawn anew for each seed: no recorded workload has several kinds of devices. Peers: the source model as it is
(DM), its linear shift (LMS) and a random forest on its predictions and the features (NLMS).
"""

import csv
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from common import arguments, machine_line, read_options
from easeml.search import Work, learn_costs, most_telling
from easeml.search.costs import percentage_error

Runs = list[tuple[Work, float]]
Predictor = Callable[[Runs, list[Work]], tuple[np.ndarray, np.ndarray | None]]


def read_runs(folder: Path) -> Runs:
    """Return all measured runs of a workload, with rows and columns where they are known."""
    times = (
        folder / "time.csv" if (folder / "time.csv").is_file() else folder / "training_time_s.csv"
    )
    sizes = {}
    if (folder / "datasets.csv").is_file():
        with (folder / "datasets.csv").open(encoding="utf-8") as file:
            sizes = {
                row["name"]: (int(row["nsamples"]), int(row["nfeatures"]))
                for row in csv.DictReader(file)
            }
    with times.open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return [
        (Work(model, *sizes.get(row[0], (0, 0)), job=row[0]), float(cell))
        for row in rows
        for model, cell in zip(header[1:], row[1:], strict=True)
        if cell
    ]


def of_easeml(past: Runs, works: list[Work]) -> tuple[np.ndarray, np.ndarray]:
    """Predict with the cost model."""
    found = learn_costs(past).predict(works)
    return found.seconds, found.log_sd


def of_median(past: Runs, works: list[Work]) -> tuple[np.ndarray, None]:
    """Predict the median of the model."""
    medians = {
        m: np.median([s for w, s in past if w.model == m]) for m in {w.model for w, _ in past}
    }
    return np.array([medians[w.model] for w in works]), None


def of_regression(past: Runs, works: list[Work]) -> tuple[np.ndarray, None]:
    """Predict by a linear regression of log seconds on log rows and log columns for each model."""
    found = np.zeros(len(works))
    for model in {w.model for w in works}:
        mine = [(w, s) for w, s in past if w.model == model]
        weights = np.linalg.lstsq(
            _sizes([w for w, _ in mine]), np.log([s for _, s in mine]), rcond=None
        )[0]
        own = [place for place, w in enumerate(works) if w.model == model]
        found[own] = np.exp(_sizes([works[place] for place in own]) @ weights)
    return found, None


def of_forest(past: Runs, works: list[Work]) -> tuple[np.ndarray, None]:
    """Predict by a random forest on log size, model and tenant."""
    encode = _encoder([w for w, _ in past] + works)
    forest = RandomForestRegressor(100, random_state=0).fit(
        encode([w for w, _ in past]), np.log([s for _, s in past])
    )
    return np.exp(forest.predict(encode(works))), None


def _sizes(works: list[Work]) -> np.ndarray:
    return np.array([[1.0, np.log(max(1, w.rows)), np.log(max(1, w.columns))] for w in works])


def _encoder(works: list[Work]) -> Callable[[list[Work]], np.ndarray]:
    models, jobs = sorted({w.model for w in works}), sorted({w.job for w in works})

    def encode(some: list[Work]) -> np.ndarray:
        hot = np.zeros((len(some), len(models) + len(jobs)))
        for row, work in enumerate(some):
            hot[row, models.index(work.model)] = 1
            hot[row, len(models) + jobs.index(work.job)] = 1
        return np.hstack([_sizes(some), hot])

    return encode


PREDICTORS: dict[str, Predictor] = {
    "easeml": of_easeml, "model's median": of_median, "regression a model": of_regression, "random forest": of_forest,
}  # fmt: skip


def held_out(name: str, runs: Runs, by: str, folds: int, rows: list[list[object]]) -> None:
    """Print and keep the errors of every predictor, over all folds."""
    generator = np.random.default_rng(0)
    jobs = sorted({work.job for work, _ in runs})
    place = dict(zip(jobs, generator.permutation(len(jobs)) % folds, strict=True))
    fold = (
        generator.permutation(len(runs)) % folds
        if by == "cells"
        else np.array([place[w.job] for w, _ in runs])
    )
    for predictor, predict in PREDICTORS.items():
        actual, predicted, inside, seconds = [], [], [], 0.0
        for number in range(folds):
            past = [run for run, part in zip(runs, fold, strict=True) if part != number]
            out = [run for run, part in zip(runs, fold, strict=True) if part == number]
            begin = time.perf_counter()
            found, log_sd = predict(past, [work for work, _ in out])
            seconds += time.perf_counter() - begin
            truth = np.array([s for _, s in out])
            actual.append(truth)
            predicted.append(found)
            if log_sd is not None:
                inside.append(np.abs(np.log(truth / found)) <= 1.645 * log_sd)
        truth, found = np.concatenate(actual), np.concatenate(predicted)
        errors = 100 * np.abs(found - truth) / truth
        logs = np.log10(found / truth)
        covered = f"{100 * np.concatenate(inside).mean():.1f} %" if inside else "-"
        line = [name, by, predictor, f"{np.median(errors):.1f} %", f"{errors.mean():.0f} %",
                f"{np.sqrt(np.mean(logs**2)):.3f}", covered, f"{1e3 * seconds / folds:.0f} ms"]  # fmt: skip
        rows.append(line)
        print(
            f"{name:<30}{by:<10}{predictor:<20}" + "".join(f"{cell:>12}" for cell in line[3:]),
            flush=True,
        )


def new_device(runs: Runs, counts: list[int], seeds: int, rows: list[list[object]]) -> None:
    """Print and keep the errors on a third device kind, by the number of runs measured there."""
    works = [work for work, _ in runs]
    source = np.log([s for _, s in runs])
    for count in counts:
        errors: dict[str, list[float]] = {}
        for seed in range(seeds):
            generator = np.random.default_rng(seed)
            models = sorted({w.model for w in works})
            other, target = (_on_device(works, source, models, generator) for _ in range(2))
            known = [
                *runs,
                *((_at(w, "b"), float(np.exp(t))) for w, t in zip(works, other, strict=True)),
            ]
            wanted = [_at(w, "c") for w in works]
            truth = np.exp(target)
            model = learn_costs(known)
            guided = most_telling(model, wanted, count)
            drawn = generator.permutation(len(works))[:count].tolist()
            for kind, chosen in (("guided", guided), ("random", drawn)):
                seen = [(wanted[i], float(truth[i])) for i in chosen]
                rest = np.setdiff1d(np.arange(len(works)), chosen)
                learned = learn_costs([*known, *seen]).predict([wanted[i] for i in rest]).seconds
                errors.setdefault(f"easeml, {kind} runs", []).append(
                    percentage_error(truth[rest], learned)
                )
                shifted = (
                    source - source[chosen].mean() + target[chosen].mean() if count else source
                )
                errors.setdefault(f"linear shift, {kind} runs", []).append(
                    percentage_error(truth[rest], np.exp(shifted[rest]))
                )
                if count and kind == "random":
                    table = np.column_stack([source, _encoder(works)(works)])
                    forest = RandomForestRegressor(100, random_state=0).fit(
                        table[chosen], target[chosen]
                    )
                    found = np.exp(forest.predict(table[rest]))
                    errors.setdefault("forest on source, random runs", []).append(
                        percentage_error(truth[rest], found)
                    )
            errors.setdefault("source as it is", []).append(percentage_error(truth, np.exp(source)))
        for kind, values in errors.items():
            rows.append(["new device", count, kind, f"{np.mean(values):.1f} %"])
            print(
                f"{count:>5} of {len(works)} runs   {kind:<32}{np.mean(values):>10.1f} %",
                flush=True,
            )


def _at(work: Work, device: str) -> Work:
    return Work(work.model, work.rows, work.columns, device=device, job=work.job)


def _on_device(
    works: list[Work], source: np.ndarray, models: list[str], generator: np.random.Generator
) -> np.ndarray:
    own = dict(zip(models, generator.normal(0, 0.5, len(models)), strict=True))
    factor, exponent = generator.normal(-0.7, 0.5), generator.normal(0, 0.1)
    shift = np.array(
        [factor + own[w.model] + exponent * np.log(max(1, w.rows) / 1000) for w in works]
    )
    return source + shift + generator.normal(0, 0.1, len(works))


def main() -> None:
    """Print the tables."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--tenants", type=int, default=40, help="of srbench on the new device")
    parser.add_argument("--counts", default="0,5,20,60")
    parser.add_argument("--most", type=int, help="only so many runs of a workload")
    options = read_options(parser, folds=2, seeds=1, tenants=4, counts="0,5", most=200)
    print(machine_line("numpy", "scipy", "scikit-learn"))
    rows: list[list[object]] = []
    titles = ("median error", "mean", "rms log10", "in 90 %", "fit, predict")
    print(
        f"{'workload':<30}{'held out':<10}{'predictor':<20}"
        + "".join(f"{title:>12}" for title in titles)
    )
    for name in ("workload_srbench", "workload_easeml_deeplearning"):
        runs = read_runs(options.data / name)[: options.most]
        for by in ("cells", "tenants"):
            held_out(name, runs, by, options.folds, rows)
    print("\nmean error on a new device kind, by the runs measured there (some of the tenants)")
    runs = read_runs(options.data / "workload_srbench")
    few = set(sorted({work.job for work, _ in runs})[:: 122 // options.tenants][: options.tenants])
    runs = [run for run in runs if run[0].job in few]
    new_device(runs, [int(c) for c in options.counts.split(",")], options.seeds, rows)
    with (options.out / "errors.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


if __name__ == "__main__":
    main()
