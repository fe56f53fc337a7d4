"""Runs every model of the zoo on generated tables, and keeps what came: what their hints of costs
are made of (scripts/write_costs.py).

    python scripts/measure_zoo.py RUNS.jsonl [--first 0] [--last 83] [--large]

``--large``: tables of many rows, on which time matters. A run appends a line a table, and skips
those that are there: it can be stopped and goes on.
"""

import argparse
import json
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parent))
from generated_tables import ROWS, GeneratedTable, generated_table

from easeml.data import read_table
from easeml.estimators.frames import Table, typed
from easeml.modules import Module, load_registry, score
from easeml.modules.pipeline import Context, fit
from easeml.search import spaces

CONFIGURATIONS = {
    "lightgbm": 16,
    "hist-gradient-boosting": 6,
    "extra-trees": 6,
    "random-forest": 5,
    "mlp": 6,
    "svm": 4,
    "knn": 5,
}
"""How many, evenly spread, of each family of models."""
FEW = 4  # of any other model
CUSTOMARY: dict[str, list[dict[str, Any]]] = {
    "lightgbm": [
        {"trees": 500, "learning_rate": 0.05, "leaf_rows": 10, "row_share": 0.8},
        {"trees": 300, "learning_rate": 0.05, "leaves": 15, "leaf_rows": 5, "feature_share": 0.6},
        {"trees": 500, "learning_rate": 0.03, "leaves": 63, "leaf_rows": 5, "feature_share": 0.5},
        {"trees": 500, "learning_rate": 0.1, "leaves": 127, "leaf_rows": 10, "row_share": 0.9},
        {"trees": 150, "learning_rate": 0.05, "leaves": 8, "leaf_rows": 10, "l2": 1.0},
        {"trees": 60, "learning_rate": 0.15, "leaf_rows": 10},
    ],
    "hist-gradient-boosting": [
        {"trees": 400, "learning_rate": 0.05, "leaf_rows": 10},
        {"trees": 200, "learning_rate": 0.05, "leaves": 12, "leaf_rows": 10, "l2": 1.0},
    ],
    "extra-trees": [
        {"trees": 200, "features": 0.6, "leaf_rows": 1},
        {"trees": 200, "features": 1.0, "leaf_rows": 1},
        {"trees": 60, "features": 0.6, "leaf_rows": 1},
    ],
    "random-forest": [
        {"trees": 200, "features": 0.5, "leaf_rows": 1},
        {"trees": 50, "features": 0.3, "leaf_rows": 1},
    ],
    "mlp": [
        {"units": 128, "layers": 2, "alpha": 0.0001, "learning_rate": 0.001},
        {"units": 128, "layers": 1, "alpha": 0.1, "learning_rate": 0.005},
    ],
    "svm": [{"C": 10.0}, {"C": 50.0}],
}
"""What people often choose, measured besides."""
HELD = 0.25
OPEN = {
    "ionosphere": ("ionosphere/ionosphere.csv", ""),
    "pima_diabetes": ("pima_diabetes/pima_diabetes.csv", ""),
    "banknote": ("more_tables/banknote_authentication.csv", ""),
    "mammography": ("more_tables/mammography.csv", ""),
    "musk": ("more_tables/musk.csv", ""),
    "house_votes": ("more_tables/HouseVotes84.csv", "Class"),
    "soybean": ("more_tables/Soybean.csv", "Class"),
    "auto_horse": ("weka/autoHorse.arff", ""),
    "bodyfat": ("weka/bodyfat.arff", ""),
    "breast_cancer": ("weka/breast-cancer.arff", ""),
    "cholesterol": ("weka/cholesterol.arff", ""),
    "fishcatch": ("weka/fishcatch.arff", ""),
    "hungarian": ("weka/hungarian.arff", ""),
    "lowbwt": ("weka/lowbwt.arff", ""),
    "meta": ("weka/meta.arff", ""),
    "pbc": ("weka/pbc.arff", ""),
    "quake": ("weka/quake.arff", ""),
    "sensory": ("weka/sensory.arff", ""),
    "servo": ("weka/servo.arff", ""),
    "strike": ("weka/strike.arff", ""),
    "noaa_weather": ("stream_noaa_weather/noaa_weather.csv", ""),
}
"""File below the folder and target (empty: the last column) by name."""
MOST_ROWS = 8000
LARGE = (5000, 25000)  # rows
SLOW = 12.0  # seconds that a run is said to take, or it is left out
LEASH = 15.0  # processor seconds of a run that can end early
OBJECTIVES = {"classification": "accuracy", "regression": "r2"}


def runs_of_table(table: Table, kind: str) -> list[dict[str, Any]]:
    """Return a row of results a configuration of each model that fits.

    What is said to take very long is left out.
    """
    registry = load_registry()
    classes = table.frame[table.target].nunique() if kind == "classification" else 0
    objective = OBJECTIVES[kind]
    order = np.random.default_rng(0).permutation(len(table.frame))
    held, train = np.split(order, [int(HELD * len(order))])
    rows, unseen = table.frame.iloc[train], table.frame.iloc[held]
    schemas = table.schema_in.to_json(), table.schema_out.to_json()
    found = []
    for match in registry.models_for(table.schema_in, table.schema_out):
        if not match.fits:
            continue
        transforms = [{"module": one.name, "config": {}} for one in match.transforms]
        for config in _configurations(match.module, _count(match.module)):
            if match.module.hinted_cost(*rows.shape, classes, config) > SLOW:
                continue
            pipeline = {
                "transforms": transforms,
                "model": {"module": match.module.name, "config": config},
            }
            began = time.process_time()
            ends = began + LEASH
            context = Context(
                seed=0,
                threads=1,
                enough=lambda ends=ends: time.process_time() >= ends,
                objective=objective,
            )
            try:
                said = fit(pipeline, rows, *schemas, context).predict(unseen)
                quality = score(objective, unseen[table.target], said)
            except Exception as error:
                print(f"  {match.module.name}: {error}", flush=True)
                continue
            seconds = time.process_time() - began
            found.append(
                {
                    "model": match.module.name,
                    "config": config,
                    "quality": round(float(quality), 5),
                    "seconds": round(seconds, 3),
                }
            )
    return found


def _configurations(module: Module, count: int) -> list[dict[str, Any]]:
    found = spaces.suggest(module.space, count, seed=0)
    for family, customary in CUSTOMARY.items():
        if module.name.startswith(family):
            found += [spaces.complete(module.space, config) for config in customary]
    return found


def _count(module: Module) -> int:
    for family, count in CONFIGURATIONS.items():
        if module.name.startswith(family):
            return count
    return FEW


def open_tables(folder: Path) -> Iterator[GeneratedTable]:
    """Yield public tables of a folder: none that a benchmark compares searches on."""
    generator = np.random.default_rng(0)
    for name, (path, given) in OPEN.items():
        frame = read_table(folder / path).to_pandas().apply(_as_numbers)
        target = given or str(frame.columns[-1])
        frame = frame[frame[target].notna()]
        chosen = generator.permutation(len(frame))[:MOST_ROWS]
        frame = frame.iloc[chosen].reset_index(drop=True)
        answers = frame.pop(target)
        is_number = pd.api.types.is_numeric_dtype(answers) and answers.nunique() > 10
        kind = "regression" if is_number else "classification"
        told = answers if is_number else answers.astype(str)
        yield GeneratedTable(name, kind, frame, told.to_numpy())


def _as_numbers(column: pd.Series) -> Any:
    try:
        return pd.to_numeric(column)
    except (ValueError, TypeError):
        return column


def main() -> None:
    """Measure the tables that the file does not have yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--last", type=int, default=83)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--data", type=Path, help="measure public tables of this folder instead")
    options = parser.parse_args()
    done = set()
    if options.runs.exists():
        lines = options.runs.read_text(encoding="utf-8").splitlines()
        done = {json.loads(line)["table"] for line in lines}
    warnings.simplefilter("ignore")
    numbers = range(options.first, options.last + 1)
    sizes = LARGE if options.large else ROWS
    tables = (generated_table(number, sizes) for number in numbers)
    for made in open_tables(options.data) if options.data else tables:
        if made.name not in done:
            measure(made, options.runs)


def measure(made: GeneratedTable, path: Path) -> None:
    """Run all models on a table, and append what came to a file."""
    began = time.process_time()
    answers = "category" if made.kind == "classification" else "number"
    table = typed(made.rows, made.answers, answers)
    with threadpool_limits(1):
        runs = runs_of_table(table, made.kind)
    rows, columns = made.rows.shape
    classes = len(set(made.answers)) if made.kind == "classification" else 0
    told = {"table": made.name, "kind": made.kind, "rows": rows, "columns": columns}
    line = json.dumps(told | {"classes": classes, "runs": runs})
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    best = max(runs, key=lambda one: one["quality"])
    spent = time.process_time() - began
    print(made.name, made.kind, rows, columns, classes, best, f"{spent:.0f} s", flush=True)


if __name__ == "__main__":
    main()
