"""The optimizers beside each other, on the spaces of the zoo's models.

    python benchmarks/optimizers.py [--evaluations 30] [--seeds 2] [--optimizers guided,tpe]

Each trains a model of the zoo on two thirds of a table again and again, and proposes the next
two configurations from what came of those before. Quality is measured on the other rows: from log
loss or RMSE, as a search does. ``own program``: the skeleton of ``easeml module init --kind
optimizer``, asked as a confined process. Tables are numbers only, standardised.

``after 10`` and ``after 30``: how much of the way an optimizer has come from the default
configuration to the best that any of them found, the mean of all tasks and seeds (1 is best).
``half the seconds``, ``seconds``: the same after so much training as 30 runs of the default
configuration take: where runs are cheaper, more of them are made. ``a run``: seconds of training,
as a share of the default's, medians. ``propose``: processor seconds that it
thinks, for each configuration.
"""

import csv
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from common import arguments, machine_line, read_options
from easeml.confinement import why_unavailable
from easeml.modules import Context, Data, Module, load_registry, packed, parse, skeletons
from easeml.search import spaces
from easeml.search.optimizers import Optimizer, Tried, installed_optimizers

OWN = "own program"
BATCH = 2  # as a search asks
MOST = 4  # times as many runs as evaluations, where runs are cheap
TASKS = {
    "auto_mpg": ("decision-tree-regressor", "lightgbm-regressor", "mlp-regressor"),
    "diabetes": ("hist-gradient-boosting-regressor", "extra-trees-regressor"),
    "sonar": (
        *("mlp-classifier", "random-forest-classifier", "elastic-net-classifier"),
        *("lightgbm-classifier", "svm-classifier"),
    ),
}
COLUMNS = ["optimizer", "task", "seed", "run", "quality", "seconds", "thought"]


@dataclass
class Task:
    """A model on a table. ``known``: configuration -> quality and seconds, so that none is run twice."""

    table: str
    module: Module
    X: np.ndarray
    y: np.ndarray
    classes: int
    known: dict[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """How the results call it."""
        return f"{self.module.name} on {self.table}"

    def evaluate(self, config: Mapping[str, Any]) -> tuple[float, float]:
        """Return quality on validation rows, and seconds of training."""
        key = repr(sorted(config.items()))
        if key not in self.known:
            self.known[key] = self._evaluate(config)
        return self.known[key]

    def _evaluate(self, config: Mapping[str, Any]) -> tuple[float, float]:
        validation = np.arange(len(self.y)) % 3 == 2
        data = Data(self.X[~validation], self.y[~validation], classes=self.classes)
        began = time.process_time()
        trained = self.module.make().fit(data, config, Context(threads=1))
        seconds = time.process_time() - began
        name = "log-loss" if self.classes else "rmse"
        objective = load_registry().get(name).make()
        predicted = trained.predict(self.X[validation])
        return float(objective.quality(self.y[validation], predicted)), seconds


@cache
def table(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray, int]:
    """Return features, target and classes (0 for a number), the rows in a random order."""
    X, y, classes = _read(name, folder)
    order = np.random.default_rng(0).permutation(len(y))
    spread = X.std(axis=0)
    scaled = (X - X.mean(axis=0)) / np.where(spread == 0, 1.0, spread)
    return scaled[order], y[order], classes


def _read(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray, int]:
    import pandas as pd
    from sklearn.datasets import load_diabetes

    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
        return np.asarray(X, float), np.asarray(y, float), 0
    if name == "auto_mpg":
        frame = pd.read_csv(folder / "auto_mpg" / "auto_mpg.csv").select_dtypes("number").dropna()
        return frame.drop(columns="mpg").to_numpy(float), frame["mpg"].to_numpy(float), 0
    frame = pd.read_csv(folder / name / f"{name}.csv")
    codes, labels = pd.factorize(frame.iloc[:, -1], sort=True)
    return frame.iloc[:, :-1].to_numpy(float), codes, len(labels)


def tasks(folder: Path) -> Iterator[Task]:
    """Yield all models on their tables."""
    for name, models in TASKS.items():
        X, y, classes = table(name, folder)
        for model in models:
            module = load_registry().get(model)
            target = y if classes else (y - y.mean()) / y.std()
            task = Task(name, module, X, target, classes)
            task.evaluate(spaces.default(module.space))  # imports what the model needs
            task.known.clear()
            yield task


def played(task: Task, optimizer: Optimizer, seed: int, evaluations: int) -> Iterator[list[float]]:
    """Yield quality, seconds and thought of one run after the other, the default first.

    It ends when there were so many, and so many seconds of the default, or nothing is left to try.
    """
    config = spaces.default(task.module.space)
    quality, usual = task.evaluate(config)
    yield [quality, usual, 0.0]
    tried = [Tried(config, quality)]
    spent = usual
    while len(tried) < evaluations or (
        spent < evaluations * usual and len(tried) < MOST * evaluations
    ):
        began = processor()
        found = optimizer.propose(task.module.space, tried, BATCH, seed)
        thought = (processor() - began) / BATCH
        for config in found:
            quality, seconds = task.evaluate(config)
            spent += seconds
            tried.append(Tried(config, quality))
            yield [quality, seconds, thought]
        if not found:
            return


def processor() -> float:
    """Return the processor seconds of this process and of programs that it started."""
    return sum(os.times()[:4])


def shares(rows: list[dict[str, Any]], evaluations: int) -> dict[str, list[float]]:
    """Return the table's columns by optimizer."""
    runs: dict[tuple[str, str, str], np.ndarray] = {}
    for row in rows:
        key = (row["optimizer"], row["task"], row["seed"])
        values = [[float(row[name]) for name in COLUMNS[4:]]]
        runs[key] = np.concatenate([runs.get(key, np.empty((0, 3))), values])
    best: dict[str, float] = {}
    for (_, task, _), found in runs.items():
        best[task] = max(best.get(task, -np.inf), found[:, 0].max())
    columns: dict[str, list[list[float]]] = {}
    for (optimizer, task, _), found in runs.items():
        quality, seconds, thought = found.T
        reached = (np.maximum.accumulate(quality) - quality[0]) / max(best[task] - quality[0], 1e-9)
        spent = np.cumsum(seconds)
        usual = seconds[0]

        def after(count: float, spent: np.ndarray = spent, usual: float = usual) -> int:
            within = np.searchsorted(spent, count * usual, side="right") - 1
            return max(0, int(within))

        counted = [min(number, len(reached)) - 1 for number in (evaluations // 3, evaluations)]
        timed = [after(evaluations / 2), after(evaluations)]
        values = [*reached[counted + timed], np.median(seconds[1:]) / usual, thought.mean()]
        columns.setdefault(optimizer, []).append([float(value) for value in values])
    return {name: np.mean(found, axis=0).tolist() for name, found in columns.items()}


def own_program(folder: Path) -> Optimizer:
    """Return the skeleton of an optimizer, as a service would ask it."""
    skeletons.make(folder / "own", "optimizer", "shell")
    made = parse(packed.pack(folder / "own"), "module.toml").make()
    return replace(made, seconds=300.0)  # other work may have the processor meanwhile


def main() -> None:
    """Print the table, and keep the runs."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--evaluations", type=int, default=30)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--tasks", type=int, default=100, help="only the first of them")
    parser.add_argument("--optimizers", default="", help="some of them, by name")
    options = read_options(parser, evaluations=3, seeds=1, tasks=1)
    with tempfile.TemporaryDirectory() as made:
        known: dict[str, Optimizer] = dict(installed_optimizers().by_name)
        if not why_unavailable():
            known[OWN] = own_program(Path(made).resolve())
        names = options.optimizers.split(",") if options.optimizers else list(known)
        rows: list[dict[str, Any]] = []
        with (options.out / "runs.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            for task in islice(tasks(options.data), options.tasks):
                for seed in range(options.seeds):
                    for name in names:
                        found = played(task, known[name], seed, options.evaluations)
                        for number, values in enumerate(found):
                            told = [name, task.name, str(seed), number, *values]
                            rows.append(dict(zip(COLUMNS, told, strict=True)))
                            writer.writerow(rows[-1])
                        file.flush()
                print(f"done: {task.name}", file=sys.stderr)
    lines = table_lines(shares(rows, options.evaluations), options.evaluations)
    (options.out / "table.txt").write_text("\n".join([machine_line("optuna"), *lines]) + "\n")
    print(machine_line("optuna"), *lines, sep="\n")


def table_lines(found: Mapping[str, list[float]], evaluations: int) -> list[str]:
    """Return the table, the best first."""
    third = f"after {evaluations // 3}"
    heads = [third, f"after {evaluations}", "half the seconds", "seconds", "a run", "propose"]
    lines = [f"{'optimizer':14}" + "".join(f"{head:>18}" for head in heads)]
    for name, values in sorted(found.items(), key=lambda one: -one[1][1]):
        lines.append(f"{name:14}" + "".join(f"{value:18.3f}" for value in values))
    return lines


if __name__ == "__main__":
    main()
