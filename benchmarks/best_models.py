"""What each idea brings to the best model that some CPU seconds buy, beside default LightGBM.

    python benchmarks/best_models.py [--seconds 10] [--seeds 2] [--tables wine_quality_red,sonar]

Each public table is declared as easeml does (train 60 %, validation 20 %, test 20 %). The candidates
that a search begins with are fitted in a fixed order, first every model with its defaults, until
the CPU seconds are used; refits and the ensemble come on top. Then:

- ``best``: the model that is best on validation rows, as fitted on train rows;
- ``refit``: the same, fitted on train and validation rows;
- ``ensemble``: greedy selection over what all models predicted of validation rows, its members
  refitted; ``gated``: the same where it is better than the best single model on rows that chose
  neither, else ``refit``;
- ``folds_refit``, ``folds_ensemble``, ``folds_gated``: likewise, where each candidate is judged by
  four folds of the train and validation rows in place of the validation rows, in the same seconds;
- ``default``: LightGBM with its own defaults on train and validation rows, columns as categories or
  numbers.

Scores are on the test rows, by easeml's default objective, scaled so that 1 is best. A run appends to
its table of results, and skips what is there: it can be stopped and goes on.
"""

import csv
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from common import arguments, machine_line, read_options
from easeml.data import declare, infer_table, read_table, read_version, write_version
from easeml.modules import Context, Predictions, load_registry, score
from easeml.modules.ensemble import combined
from easeml.modules.pipeline import fit
from easeml.modules.selection import choose
from easeml.search import spaces

TABLES = {
    "wine_quality_red": ("", "quality"),
    "sonar": ("", ""),
    "ionosphere": ("", ""),
    "german_credit": ("", ""),
    "titanic": ("", "Survived"),
    "heart_disease": ("", ""),
    "auto_mpg": ("", "mpg"),
    "abalone": ("", ""),
    "pima_diabetes": ("", ""),
    "telco_churn": ("", "Churn"),
    "vehicle": ("more_tables/Vehicle.csv", ""),
    "vowel": ("more_tables/Vowel.csv", ""),
    "sacramento": ("more_tables/Sacramento.csv", "price"),
    "segment": ("weka/segment-challenge.arff", ""),
    "cholesterol": ("weka/cholesterol.arff", ""),
}
"""File below the data (empty: the folder's table) and target (empty: the last column) by name."""
IDEAS = [
    "best",
    "refit",
    "ensemble",
    "gated",
    "folds_refit",
    "folds_ensemble",
    "folds_gated",
    "default",
]
PAIRS = [
    ("refit", "best"),
    ("ensemble", "refit"),
    ("gated", "refit"),
    ("folds_refit", "refit"),
    ("folds_ensemble", "folds_refit"),
    ("folds_gated", "folds_refit"),
    ("folds_ensemble", "default"),
    ("gated", "default"),
]
COLUMNS = ["table", "rows", "objective", "seed", "seconds"]
COLUMNS += ["models", "members", "gain", "folds_models", "folds_members", "folds_gain"]
FOLDS = 4
POOL, MEMBERS = 16, 6  # as the kind of task ``ensemble`` has them
CONFIGURATIONS = 4  # of each model, as a search begins with


def version_of(data: Path, name: str, seed: int) -> Any:
    """Return the declared version of a table."""
    path, target = TABLES[name]
    file = data / path if path else next((data / name).glob("*.csv"))
    return version_of_file(file, target, seed)


def version_of_file(file: Path, target: str, seed: int) -> Any:
    """Return the declared version of a file; the target is its last column where it is empty."""
    table = read_table(file)
    target = target or table.column_names[-1]
    declared = declare(table, infer_table(table, target).columns, target, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        write_version(folder, declared)
        return read_version(folder)


def pipelines_of(version: Any) -> list[dict[str, Any]]:
    """Return the candidates that a search begins with: all defaults, then the other ones."""
    schema_in, schema_out = version.schema_in.to_json(), version.schema_out.to_json()
    registry = load_registry()
    numbered = []
    for match in registry.models_for(schema_in, schema_out):
        if not match.fits or match.module.name.startswith("baseline"):
            continue
        chain = [each.choice() for each in registry.candidates(match.module, schema_in)]
        configs = spaces.suggest(match.module.space, CONFIGURATIONS, seed=0)
        for number, config in enumerate(configs):
            numbered.append((number, {"transforms": chain, "model": match.module.choice(config)}))
    return [pipeline for _, pipeline in sorted(numbered, key=lambda one: one[0])]


def default_lightgbm(version: Any) -> Predictions:
    """Return what LightGBM with its own defaults predicts of the test rows."""
    import lightgbm

    rows = pd.concat([version.train, version.validation], ignore_index=True)
    features, test = rows.drop(columns=["_row", version.target]), version.test
    for name in features:
        if not pd.api.types.is_numeric_dtype(features[name]):
            known = pd.CategoricalDtype(features[name].dropna().astype(str).unique())
            features[name] = features[name].astype(str).astype(known)
            same = test[name].astype(str)
            same = same.where(same.isin(known.categories))
            test = test.assign(**{name: same.astype(known)})
    features.columns = [f"f{place}" for place in range(features.shape[1])]
    inputs = test.drop(columns=["_row", version.target]).set_axis(features.columns, axis=1)
    is_number = pd.api.types.is_numeric_dtype(rows[version.target])
    kind = lightgbm.LGBMRegressor if is_number else lightgbm.LGBMClassifier
    model = kind(verbose=-1, n_jobs=1, random_state=0)
    answers = rows[version.target] if is_number else rows[version.target].astype(str)
    model.fit(features, answers)
    if is_number:
        return Predictions(np.asarray(model.predict(inputs)), None, None)
    labels = np.asarray(model.classes_, dtype=object)
    return Predictions(np.asarray(model.predict(inputs)), model.predict_proba(inputs), labels)


@dataclass
class Tried:
    """A candidate, what it predicted of rows that it had not seen, and the quality of that."""

    pipeline: dict[str, Any]
    unseen: Predictions
    quality: float


def joined(parts: list[tuple[np.ndarray, Predictions]], rows: int) -> Predictions:
    """Return predictions of parts of the rows as those of all rows."""
    _, first = parts[0]
    outputs = first.values if first.classes is None else first.probabilities
    assert outputs is not None
    whole = np.zeros((rows, *outputs.shape[1:]))
    for held, part in parts:
        whole[held] = part.values if part.classes is None else part.probabilities
    if first.classes is None:
        return Predictions(whole, None, None)
    return Predictions(first.classes[whole.argmax(axis=1)], whole, first.classes)


def search(
    version: Any, rows: pd.DataFrame, fold: np.ndarray, seconds: float, context: Context
) -> list[Tried]:
    """Try candidates until the seconds are used; return each with what it predicted.

    ``fold``: of each of the ``rows``; fold 0 is only learned from. A candidate is fitted once for
    each other fold, on all rows but these, and predicts them.
    """
    schemas = version.schema_in.to_json(), version.schema_out.to_json()
    objective = load_registry().objectives_for(schemas[1])[0].name
    judged = np.flatnonzero(fold > 0)
    actual = rows[version.target].to_numpy()[judged]
    found = []
    begun = time.process_time()
    for pipeline in pipelines_of(version):
        parts = []
        for number in np.unique(fold[judged]):
            held = fold == number
            trained = fit(pipeline, rows[~held], *schemas, context)
            parts.append((held[judged], trained.predict(rows[held])))
        unseen = joined(parts, len(judged))
        found.append(Tried(pipeline, unseen, score(objective, actual, unseen)))
        if time.process_time() - begun > seconds:
            break
    return found


def measure(version: Any, seconds: float, seed: int) -> dict[str, Any]:
    """Return the test score of each idea, and what was trained."""
    schemas = version.schema_in.to_json(), version.schema_out.to_json()
    objective = load_registry().objectives_for(schemas[1])[0].name
    context = Context(seed=seed)
    answers = version.test[version.target]
    rows = pd.concat([version.train, version.validation], ignore_index=True)
    held_out = np.repeat([0, 1], [len(version.train), len(version.validation)])
    folds = 1 + np.random.default_rng(seed).permutation(len(rows)) % FOLDS
    kept: dict[str, Predictions] = {}

    def predicted(pipeline: dict[str, Any], learned: pd.DataFrame) -> Predictions:
        key = f"{len(learned)} {pipeline}"
        if key not in kept:
            kept[key] = fit(pipeline, learned, *schemas, context).predict(version.test)
        return kept[key]

    scores = {"default": score(objective, answers, default_lightgbm(version))}
    facts: dict[str, Any] = {"objective": objective, "rows": len(rows)}
    for name, fold in (("", held_out), ("folds_", folds)):
        tried = search(version, rows, fold, seconds, context)
        tried.sort(key=lambda one: -one.quality)
        pool = tried[:POOL]
        actual = rows[version.target].to_numpy()[fold > 0]
        unseen = [one.unseen for one in pool]
        choice = choose(objective, actual, unseen, lambda places: len(places) <= MEMBERS, seed)
        gain = score(objective, actual, choice.unseen) - score(objective, actual, choice.best)
        places = np.flatnonzero(choice.weights).tolist()
        members = [predicted(pool[place].pipeline, rows) for place in places]
        together = combined(members, choice.weights[places].tolist())
        alone = score(objective, answers, predicted(tried[0].pipeline, rows))
        if not name:
            first = predicted(tried[0].pipeline, version.train)
            scores["best"] = score(objective, answers, first)
        scores[f"{name}refit"] = alone
        scores[f"{name}ensemble"] = score(objective, answers, together)
        scores[f"{name}gated"] = scores[f"{name}ensemble"] if gain > 0 else alone
        facts |= {f"{name}models": len(tried), f"{name}members": len(places)}
        facts[f"{name}gain"] = round(gain, 5)
    return facts | scores


def print_gains(rows: list[dict[str, Any]]) -> None:
    """Print the mean of each idea, and what each brings over others, in pairs."""
    frame = pd.DataFrame(rows)
    frame[IDEAS] = frame[IDEAS].astype(float)
    print(frame.groupby("table", sort=False)[IDEAS].mean().round(4).to_string())
    for idea, other in PAIRS:
        gain = frame[idea] - frame[other]
        error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else float("nan")
        wins, losses = int((gain > 0).sum()), int((gain < 0).sum())
        counted = f"better in {wins}, worse in {losses} of {len(gain)}"
        print(f"{idea} over {other}: {gain.mean():+.4f} +- {error:.4f}, {counted}")


def main() -> None:
    """Measure what is not there yet, and print the table."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--tables", default=",".join(TABLES))
    options = read_options(parser, seconds=0.2, seeds=1, tables="sonar")
    print(machine_line("easeml", "scikit-learn", "lightgbm"))
    path = options.out / f"ideas_{options.seconds:g}s.csv"
    names = [*COLUMNS, *IDEAS]
    rows: list[dict[str, Any]] = []
    if path.exists():
        rows = list(csv.DictReader(path.open(encoding="utf-8")))
    done = {(one["table"], int(one["seed"])) for one in rows}
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        if file.tell() == 0:
            writer.writeheader()
        for seed in range(options.seeds):
            for name in options.tables.split(","):
                if (name, seed) in done:
                    continue
                with threadpool_limits(1):  # OpenMP's threads would count twice
                    found = measure(version_of(options.data, name, seed), options.seconds, seed)
                row = {"table": name, "seed": seed, "seconds": options.seconds, **found}
                for idea in IDEAS:
                    row[idea] = round(row[idea], 5)
                writer.writerow(row)
                file.flush()
                rows.append(row)
                print(row, flush=True)
    print_gains(rows)


if __name__ == "__main__":
    main()
