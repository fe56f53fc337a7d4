"""What folds bring to small tables, beside choosing by one hold-out in the same seconds.

    python benchmarks/folds.py [--seconds 15] [--seeds 2] [--tables heart_disease,sonar]

Each public table is declared as easeml does: a fifth of its rows are test rows, which nothing looks
at but the scores at the end. A search of easeml's policy runs twice for each seed: its models are
judged by the validation rows, or by four folds of train and validation rows. The bodies of the
service's own tasks train, put models together, and fit what serves once more on all rows that are no
test rows. A task costs its processor seconds, and ``--overhead`` beside them.

``holdout`` and ``folds``: what serves in the end, scored on the test rows by the default objective (1
is best); ``bag``: by folds, but with the mean of the four fits in place of the last one. ``_loss``: the
mean logarithmic loss of classes, or the mean squared error over the variance. ``_latency``: seconds
for one row. A run appends to its table of results, and skips what is there.
"""

import csv
import shutil
import tempfile
import time
from collections import Counter
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from common import arguments, machine_line, read_options
from easeml.contract.tasks import Pipeline, WeightedPipeline
from easeml.data import declare, infer_table, read_table, read_version, write_version
from easeml.data.versions.folds import FOLDS
from easeml.estimators.frames import Table
from easeml.estimators.outcome import Trial
from easeml.estimators.problem import Problem
from easeml.estimators.searching import Search
from easeml.kinds.ensemble import EnsembleSpec, MayJoin, ensemble
from easeml.kinds.refit import RefitSpec, refit
from easeml.kinds.shared.judged import further_folds
from easeml.kinds.shared.predictions import read_predictions
from easeml.kinds.train import TrainSpec, train
from easeml.modules import Context, Predictions, load_registry, score
from easeml.modules.ensemble import combined
from easeml.modules.pipeline import fit

TABLES = {
    "heart_disease": ("", ""),
    "sonar": ("", ""),
    "auto_mpg": ("", "mpg"),
    "cholesterol": ("weka/cholesterol.arff", ""),
    "german_credit": ("", ""),
    "sacramento": ("more_tables/Sacramento.csv", "price"),
    "pima_diabetes": ("", ""),
    "bodyfat": ("weka/bodyfat.arff", ""),
    "vehicle": ("more_tables/Vehicle.csv", ""),
    "sensory": ("weka/sensory.arff", ""),
    "breast_cancer": ("weka/breast-cancer.arff", ""),
    "wine_quality_red": ("", "quality"),
    "titanic": ("", "Survived"),
    "quake": ("weka/quake.arff", ""),
}
"""File below the data (empty: the folder's table) and target (empty: the last column) by name."""
POOL, OF_ONE_MODULE = 16, 3  # models that may join, as ``service.models.ensembling`` has them
LEASH, SHORTEST_LEASH = 4.0, 10.0  # as ``service.search.training_tasks`` has them
ARMS = ("holdout", "folds", "bag")
COLUMNS = ["table", "rows", "objective", "seed", "seconds"]
COLUMNS += [f"{arm}{what}" for arm in ARMS for what in ("", "_loss", "_latency")]
COLUMNS += [f"{way}_{what}" for way in ARMS[:2] for what in ("models", "members", "told")]


def declared_of(data: Path, name: str, seed: int) -> Any:
    """Return a table as it is declared."""
    path, target = TABLES[name]
    file = data / path if path else next((data / name).glob("*.csv"))
    table = read_table(file)
    target = target or table.column_names[-1]
    return declare(table, infer_table(table, target).columns, target, seed=seed)


@dataclass
class Clock:
    """Seconds that the tasks of a search have cost so far."""

    seconds: float = 0.0

    def used(self) -> float:
        """Return the seconds."""
        return self.seconds


class SearchByTasks(Search):
    """A search whose models are trained by the body of the service's kind of task."""

    def __init__(self, problem: Problem, folder: Path, folds: int, overhead: float):
        super().__init__(load_registry(), problem, Clock())
        self.folder = folder
        self.folds = folds
        self.overhead = overhead
        self.done: dict[int, dict[str, Any]] = {}  # what tasks returned

    def _try(self, arm: int, latest: float) -> Trial:
        problem, module = self._problem, self._modules[arm]
        pipeline = self._pipeline(module, self._configs[arm])
        outputs = self.folder / f"{arm}" / "outputs"
        outputs.mkdir(parents=True)
        spec = TrainSpec(
            pipeline=Pipeline.model_validate(pipeline),
            objective=problem.objective,
            schema_in=problem.table.schema_in.to_json(),
            schema_out=problem.table.schema_out.to_json(),
            seed=problem.seed,
            leash=max(SHORTEST_LEASH * max(self.folds, 1), LEASH * self._arms[arm].cost),
        )
        began = time.process_time()
        quality, error = None, ""
        try:
            with redirect_stdout(StringIO()):
                self.done[arm] = train(spec, self.folder / "inputs", outputs).value
            quality = self.done[arm]["quality"]
        except Exception as failed:  # as in a service it ends its own task alone
            error = str(failed)
        seconds = time.process_time() - began + self.overhead
        self._clock.seconds += seconds
        return Trial(module.name, pipeline, seconds, quality, error)

    def _reserve(self) -> float:
        return 0.0  # a service puts together and fits again when the search has ended

    def _settles(self) -> bool:
        return False

    def may_join(self) -> list[int]:
        """Return the arms that may be members of an ensemble, the best few of each module first."""
        ranked = sorted(self.done, key=lambda arm: -self.done[arm]["quality"])
        taken: Counter[str] = Counter()
        later = {}
        for arm in ranked:
            taken[self._tried[arm].name] += 1
            later[arm] = taken[self._tried[arm].name] > OF_ONE_MODULE
        return sorted(ranked, key=lambda arm: later[arm])[:POOL]

    def best(self) -> int:
        """Return the arm of the best model."""
        return max(self.done, key=lambda arm: self.done[arm]["quality"])

    def pipeline_of(self, arm: int) -> Pipeline:
        """Return what an arm trains."""
        return Pipeline.model_validate(self._tried[arm].pipeline)


@dataclass
class Served:
    """What serves in the end. ``said``: of the test rows; ``told``: its quality before that."""

    members: list[WeightedPipeline]
    said: Predictions
    latency: float
    told: float
    models: int


def served(version: Any, search: SearchByTasks, folder: Path) -> Served:
    """Put models of a search together, and fit what serves once more, as tasks do."""
    arms = search.may_join()
    problem = search._problem
    common = {
        "objective": problem.objective,
        "schema_in": problem.table.schema_in.to_json(),
        "schema_out": problem.table.schema_out.to_json(),
        "seed": problem.seed,
    }
    inputs = folder / "ensemble" / "inputs"
    inputs.mkdir(parents=True)
    (inputs / "version").symlink_to(folder / "inputs" / "version")
    models = []
    for place, arm in enumerate(arms):
        own = folder / f"{arm}" / "outputs"
        (inputs / f"model-{place}").symlink_to(own / "model")
        (inputs / f"predictions-{place}").symlink_to(own / "predictions")
        models.append(MayJoin(model_id=f"{arm}", name=f"{arm}", latency=0.0))
    outputs = folder / "ensemble" / "outputs"
    outputs.mkdir()
    spec = EnsembleSpec(models=models, trained=len(search.done), name="ensemble", **common)
    found = ensemble(spec, inputs, outputs).value
    best = search.best()
    members = [WeightedPipeline(pipeline=search.pipeline_of(best), weight=1.0)]
    first, told = folder / f"{best}" / "outputs", search.done[best]["quality"]
    if len(found["members"]) > 1 and found["gain"] > 0:
        members = [
            WeightedPipeline(
                pipeline=search.pipeline_of(int(one["model_id"])), weight=one["weight"]
            )
            for one in found["members"]
        ]
        first, told = outputs, found["quality"]
    again = folder / "refit" / "inputs"
    again.mkdir(parents=True)
    (again / "version").symlink_to(folder / "inputs" / "version")
    (again / "predictions").symlink_to(first / "predictions")
    last = folder / "refit" / "outputs"
    last.mkdir()
    made = refit(RefitSpec(members=members, quality=told, **common), again, last).value
    ids, said = read_predictions(last / "predictions", "test")
    assert (ids == version.test["_row"]).all()
    return Served(members, said, made["latency"], told, len(search.done))


def bag_of(version: Any, found: Served, objective: str, seed: int) -> tuple[Predictions, float]:
    """Return what the mean of the fits by folds says of the test rows, and its seconds for a row."""
    schemas = version.schema_in.to_json(), version.schema_out.to_json()
    rows = [version.train, *(learned for learned, _ in further_folds(version))]
    said, weights, latency = [], [], 0.0
    for member in found.members:
        for learned in rows:
            context = Context(seed=seed, objective=objective)
            trained = fit(member.pipeline.model_dump(), learned, *schemas, context)
            said.append(trained.predict(version.test))
            weights.append(member.weight / len(rows))
            began = time.perf_counter()
            trained.predict(version.test.iloc[:1])
            latency += time.perf_counter() - began
    return combined(said, weights), latency


def loss_of(actual: pd.Series, said: Predictions) -> float:
    """Return the logarithmic loss of classes, or the squared error over the variance of numbers."""
    if said.classes is None:
        error = np.asarray(said.values, dtype=float) - actual.to_numpy(dtype=float)
        return float(np.mean(error**2) / actual.var(ddof=0))
    places = pd.Index(said.classes).get_indexer(actual.astype(str))
    assert said.probabilities is not None
    chances = said.probabilities[np.arange(len(places)), places]
    return float(-np.log(np.clip(chances, 1e-3, None)).mean())


def measure(
    declared: Any, seed: int, seconds: float, overhead: float, with_bag: bool
) -> dict[str, Any]:
    """Return the scores of what serves in the end, judged by a hold-out and by folds."""
    row: dict[str, Any] = {"rows": declared.summary["rows"]}
    without = {name: told for name, told in declared.summary.items() if name != "folds"}
    for way, folds in (("holdout", {}), ("folds", {"folds": FOLDS})):  # also of larger tables
        one = replace(declared, summary=without | folds)
        folder = Path(tempfile.mkdtemp(prefix="easeml-folds-"))
        write_version(folder / "inputs" / "version", one)
        version = read_version(folder / "inputs" / "version")
        objective = load_registry().objectives_for(version.schema_out.to_json())[0].name
        table = Table(
            version.train.drop(columns="_row"), version.target, one.schema_in, one.schema_out
        )
        places = np.arange(len(version.train))
        problem = Problem(table, [(places, places)], objective, seconds, 10_000, 1, seed)
        search = SearchByTasks(problem, folder, folds.get("folds", 0), overhead)
        search.run(lambda trial: None)
        found = served(version, search, folder)
        actual = version.test[version.target]
        said = {way: (found.said, found.latency)}
        if way == "folds" and with_bag:
            said["bag"] = bag_of(version, found, objective, seed)
        for name, (predictions, latency) in said.items():
            row[name] = score(objective, actual, predictions)
            row[f"{name}_loss"] = loss_of(actual, predictions)
            row[f"{name}_latency"] = latency
        row |= {f"{way}_models": found.models, f"{way}_members": len(found.members)}
        row[f"{way}_told"] = found.told
        row["objective"] = objective
        shutil.rmtree(folder)
    return row


def print_gains(rows: list[dict[str, Any]]) -> None:
    """Print the means of each table, and what one way brings over another, in pairs."""
    frame = pd.DataFrame(rows)
    numbers = [name for name in frame if name not in ("table", "objective")]
    frame[numbers] = frame[numbers].apply(pd.to_numeric)
    shown = [*ARMS, *(f"{arm}_loss" for arm in ARMS), "holdout_models", "folds_models"]
    print(frame.groupby("table", sort=False)[shown].mean().round(4).to_string())
    for one, other in (("folds", "holdout"), ("bag", "folds"), ("bag", "holdout")):
        _print_gain(f"{one} over {other}", frame[one] - frame[other])
        _print_gain(f"{one} over {other}, by loss", frame[f"{other}_loss"] - frame[f"{one}_loss"])
    for way in ARMS[:2]:
        off = (frame[f"{way}_told"] - frame[way]).to_numpy()
        print(f"{way}: told too much by {off.mean():+.4f}, off by {np.abs(off).mean():.4f}")


def _print_gain(title: str, gain: pd.Series) -> None:
    gain = gain.dropna()
    error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else float("nan")
    wins, losses = int((gain > 0).sum()), int((gain < 0).sum())
    print(
        f"{title}: {gain.mean():+.4f} +- {error:.4f}, better in {wins}, worse in {losses} of {len(gain)}"
    )


def main() -> None:
    """Measure what is not there yet, and print the table."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument(
        "--overhead", type=float, default=0.3, help="seconds of a task beside its body"
    )
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--bags", type=int, default=1, help="seeds of which bags are measured")
    parser.add_argument("--tables", default=",".join(TABLES))
    options = read_options(parser, seconds=0.6, seeds=1, tables="sonar")
    print(machine_line("easeml", "scikit-learn", "lightgbm"))
    path = options.out / f"folds_{options.seconds:g}s.csv"
    rows: list[dict[str, Any]] = []
    if path.exists():
        rows = list(csv.DictReader(path.open(encoding="utf-8")))
    done = {(one["table"], int(one["seed"])) for one in rows}
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if file.tell() == 0:
            writer.writeheader()
        for seed in range(options.seeds):
            for name in options.tables.split(","):
                if (name, seed) in done:
                    continue
                with threadpool_limits(1):  # OpenMP's threads would count twice
                    declared = declared_of(options.data, name, seed)
                    with_bag = seed < options.bags
                    found = measure(declared, seed, options.seconds, options.overhead, with_bag)
                row = {"table": name, "seed": seed, "seconds": options.seconds, **found}
                for column in COLUMNS[5:]:
                    row[column] = round(row[column], 5) if column in row else ""
                writer.writerow(row)
                file.flush()
                rows.append(row)
                print(row, flush=True)
    print_gains(rows)


if __name__ == "__main__":
    main()
