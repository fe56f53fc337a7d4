"""easeml's estimators beside FLAML, AutoGluon and the defaults of others, in the same processor
seconds.

    python benchmarks/estimators.py [--seconds 20] [--seeds 1] [--tables adult,diamonds] [--methods easeml]
        [--without gaussian-process-regressor]

A fifth of each public table is seen by nobody before the end. Each method gets the other rows, one
thread, and a process of its own. ``easeml``: ``AutoMLClassifier`` or ``AutoMLRegressor``.
``FLAML``: its ``AutoML``; ``AutoGluon``: its ``TabularPredictor`` of medium quality with LightGBM,
CatBoost and XGBoost, without neural networks; ``AutoGluon-high``: of high quality, with folds, stacks
and a refit. Each lies in an environment that the script installs
below ``--folder``; their clocks are told processor seconds, so that other work on the machine takes
nothing from them. All have the seconds less what importing and reading took. ``LightGBM``,
``CatBoost``, ``forest``: the defaults, fitted on all rows, texts as codes; CatBoost is told which
columns are texts. ``linear``: an elastic net of scaled columns, its penalty chosen by four folds;
of tables of numbers alone. ``fewer``: easeml again, whose search may not try the models of ``--without``:
what these bring.

Scores are accuracy or R2 on the rows that nobody saw; ``cpu``: processor seconds of the whole
process, with its imports and reading; ``row_ms``: of these the milliseconds that predicting one row
takes, the median of 21. ``normalised``: 0 for always guessing the commonest class or
the mean, 1 for the best of the methods. A run appends to its table of results and skips what is
there: it can be stopped, and goes on.

``--tables wide`` has tables of ``wide_laws.py`` instead, with more columns than rows.
"""

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from common import CACHE, arguments, machine_line, peer_python, read_options
from easeml.data import read_table
from wide_laws import PREFIX, UNSEEN, WIDE, wide_table

TABLES = {
    "adult": ("adult/adult.csv", "class"),
    "bank_marketing": ("bank_marketing/bank_marketing.csv", "y"),
    "telco_churn": ("telco_churn/telco_churn.csv", "Churn"),
    "titanic": ("titanic/titanic.csv", "Survived"),
    "german_credit": ("german_credit/german_credit.csv", ""),
    "phoneme": ("more_tables/phoneme.csv", ""),
    "vehicle": ("more_tables/Vehicle.csv", "Class"),
    "vowel": ("more_tables/Vowel.csv", "Class"),
    "segment": ("weka/segment-challenge.arff", ""),
    "sonar": ("sonar/sonar.csv", ""),
    "diamonds": ("diamonds/diamonds.csv", "price"),
    "ames_housing": ("ames_housing/ames_housing.csv", "SalePrice"),
    "abalone": ("abalone/abalone.csv", ""),
    "wine_quality_red": ("wine_quality_red/wine_quality_red.csv", "quality"),
    "auto_mpg": ("auto_mpg/auto_mpg.csv", "mpg"),
    "sacramento": ("more_tables/Sacramento.csv", "price"),
    "elec2": ("stream_elec2/elec2.csv", "class"),
    "bike_sharing": ("bike_sharing_hourly/bike_sharing_hourly.csv", "count"),
    "wage": ("more_tables/Wage.csv", "wage"),
    "bodyfat": ("weka/bodyfat.arff", ""),
    "cholesterol": ("weka/cholesterol.arff", ""),
    "sensory": ("weka/sensory.arff", ""),
    "quake": ("weka/quake.arff", ""),
    "strike": ("weka/strike.arff", ""),
    "pbc": ("weka/pbc.arff", ""),
    "fishcatch": ("weka/fishcatch.arff", ""),
    "servo": ("weka/servo.arff", ""),
    "lowbwt": ("weka/lowbwt.arff", ""),
    "meta": ("weka/meta.arff", ""),
    "pharynx": ("weka/pharynx.arff", ""),
    "auto_horse": ("weka/autoHorse.arff", ""),
    "life_expectancy": ("more_tables/Life_Expectancy_Data.csv", "Life expectancy"),
    "bangalore": ("more_tables/bangalore_house_prices.csv", "price"),
    "auto_imports": ("more_tables/auto_imports.csv", ""),
}
"""File below the data and target (empty: the last column) by name."""
LEAKS = {"wage": ["logwage"], "bangalore": ["price_per_sqft"]}
"""Columns from which the target could be read, by table."""
METHODS = ["easeml", "fewer", "FLAML", "AutoGluon", "AutoGluon-high", "LightGBM", "CatBoost"]
METHODS += ["forest", "linear"]
SELDOM = ("AutoGluon-high", "linear")  # only where they are asked for
BY_AUTOGLUON = ("AutoGluon", "AutoGluon-high", "CatBoost")  # methods that its environment has
COLUMNS = ["table", "rows", "seed", "seconds", "method", "score", "guess", "cpu", "tried", "row_ms"]
HELD = 0.2

PEER = """
import sys, time
time.time = time.perf_counter = time.process_time
import json, statistics, numpy as np, pandas as pd
folder, kind, method, seconds, seed = sys.argv[1:]
rows, unseen, told = (pd.read_parquet(f"{folder}/{name}.parquet") for name in ("X", "unseen", "y"))
answers = told["answer"]
tried = 1
if method == "FLAML":
    import flaml
    model = flaml.AutoML()
    measure = "r2" if kind == "regression" else "accuracy"
    model.fit(rows, answers, task=kind, metric=measure, n_jobs=1, seed=int(seed), verbose=0,
              time_budget=float(seconds) - time.process_time())
    tried = len(model.config_history)
elif method in ("AutoGluon", "AutoGluon-high"):
    from autogluon.tabular import TabularPredictor
    measure = "r2" if kind == "regression" else "accuracy"
    problem = "regression" if kind == "regression" else None
    model = TabularPredictor("answer", problem, measure, path=f"{folder}/AutoGluon", verbosity=0)
    preset = {"presets": "medium_quality"}
    if method == "AutoGluon-high":  # folds one after the other: its clock is that of this process
        folds = {"fold_fitting_strategy": "sequential_local"}
        preset = {"presets": "high_quality", "dynamic_stacking": False, "ag_args_ensemble": folds}
    model.fit(rows.assign(answer=answers), time_limit=float(seconds) - time.process_time(),
              num_cpus=1, **preset)
    tried = len(model.model_names())
elif method == "CatBoost":
    import catboost
    texts = [name for name in rows if not pd.api.types.is_numeric_dtype(rows[name])]
    for name in texts:
        rows[name], unseen[name] = rows[name].fillna("?").astype(str), unseen[name].fillna("?").astype(str)
    made = catboost.CatBoostRegressor if kind == "regression" else catboost.CatBoostClassifier
    model = made(verbose=0, thread_count=1, random_seed=int(seed), allow_writing_files=False)
    model.fit(rows, answers, cat_features=texts)
elif method == "linear":
    from sklearn.linear_model import ElasticNetCV, SGDClassifier
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    shares = [0.15, 0.5, 0.9]
    if kind == "regression":
        model = make_pipeline(StandardScaler(), ElasticNetCV(l1_ratio=shares, cv=4))
    else:
        net = SGDClassifier(loss="log_loss", penalty="elasticnet", max_iter=200, random_state=0)
        grid = {"sgdclassifier__alpha": [.001, .003, .01, .03, .1, .3], "sgdclassifier__l1_ratio": shares}
        model = GridSearchCV(make_pipeline(StandardScaler(), net), grid, cv=4)
    model.fit(rows, answers)
else:
    for name in rows:
        if not pd.api.types.is_numeric_dtype(rows[name]):
            known = {value: code for code, value in enumerate(rows[name].dropna().unique())}
            rows[name], unseen[name] = rows[name].map(known), unseen[name].map(known)
    rows.columns = unseen.columns = [f"f{place}" for place in range(rows.shape[1])]
    if method == "forest":
        import sklearn.ensemble as found
        made = found.RandomForestRegressor if kind == "regression" else found.RandomForestClassifier
        model = made(random_state=int(seed)).fit(rows.fillna(-1e6), answers)
        unseen = unseen.fillna(-1e6)
    else:
        import lightgbm
        made = lightgbm.LGBMRegressor if kind == "regression" else lightgbm.LGBMClassifier
        model = made(verbose=-1, n_jobs=1, random_state=int(seed)).fit(rows, answers)
said = np.asarray(model.predict(unseen)).reshape(-1)  # CatBoost says classes as a column
pd.DataFrame({"said": said}).to_parquet(f"{folder}/said.parquet")
taken = []
for number in range(21):
    began = time.process_time()
    model.predict(unseen.iloc[number:number + 1])
    taken.append(time.process_time() - began)
print(json.dumps({"tried": tried, "row_ms": round(1e3 * statistics.median(taken), 3)}))
"""

OURS = """
import sys, json, statistics, time, pandas as pd
from easeml import AutoMLClassifier, AutoMLRegressor
from easeml.modules import load_registry
folder, kind, method, seconds, seed, without = sys.argv[1:]
registry, left_out = load_registry(), without.split(",")
names = [one.name for one in registry.of_kind("model") if one.name not in registry.lacking]
rows, unseen, told = (pd.read_parquet(f"{folder}/{name}.parquet") for name in ("X", "unseen", "y"))
made = AutoMLRegressor if kind == "regression" else AutoMLClassifier
left = float(seconds) - time.process_time()
tried = [name for name in names if name not in left_out] if method == "fewer" else ()
model = made(left, models=tried, random_state=int(seed)).fit(rows, told["answer"])
pd.DataFrame({"said": model.predict(unseen)}).to_parquet(f"{folder}/said.parquet")
taken = []
for number in range(21):
    began = time.process_time()
    model.predict(unseen.iloc[number:number + 1])
    taken.append(time.process_time() - began)
row_ms = round(1e3 * statistics.median(taken), 3)
print(json.dumps({"tried": len(model.trials_), "row_ms": row_ms}))
print(model.fit_summary(), file=sys.stderr)
"""


def as_numbers(column: pd.Series) -> Any:
    """Return a column of cells as numbers, where all of them are."""
    try:
        return pd.to_numeric(column)
    except (ValueError, TypeError):
        return column


def split(data: Path, name: str, seed: int, folder: Path) -> tuple[str, pd.Series]:
    """Write the rows that methods learn from; return the kind of task, and the unseen answers."""
    if name.startswith(PREFIX):
        frame, answers = wide_table(name, seed)
        rows = np.arange(len(frame))
        return written(frame, answers, rows[:-UNSEEN], rows[-UNSEEN:], folder)
    path, target = TABLES[name]
    frame = read_table(data / path).to_pandas().apply(as_numbers)
    frame = frame.drop(columns=LEAKS.get(name, []))
    target = target or str(frame.columns[-1])
    frame = frame[frame[target].notna()].reset_index(drop=True)
    answers = frame.pop(target)
    order = np.random.default_rng(seed).permutation(len(frame))
    held, learned = np.split(order, [int(HELD * len(frame))])
    return written(frame, answers, learned, held, folder)


def written(
    frame: pd.DataFrame, answers: pd.Series, learned: Any, held: Any, folder: Path
) -> tuple[str, pd.Series]:
    """Write rows by their numbers; return the kind of task, and the unseen answers."""
    is_number = pd.api.types.is_numeric_dtype(answers) and answers.nunique() > 2
    frame.iloc[learned].to_parquet(folder / "X.parquet")
    frame.iloc[held].to_parquet(folder / "unseen.parquet")
    told = answers if is_number else answers.astype(str)
    told.iloc[learned].to_frame("answer").to_parquet(folder / "y.parquet")
    kind = "regression" if is_number else "classification"
    return kind, told.iloc[held].reset_index(drop=True)


def run(
    python: Path, folder: Path, kind: str, method: str, seconds: float, seed: int, without: str
) -> Any:
    """Let a method learn and predict; return its predictions, its seconds, how many models it tried
    and the milliseconds of a row.
    """
    is_ours = method in ("easeml", "fewer")
    program = OURS if is_ours else PEER
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "LOKY_MAX_CPU_COUNT": "1"}
    command = [str(python), "-W", "ignore", "-c", program]
    command += [str(folder), kind, method, str(seconds), str(seed)]
    if is_ours:
        command.append(without)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, env={**os.environ, **one}
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"{method} failed: {done.stderr[-2000:]}")
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    said = pd.read_parquet(folder / "said.parquet")["said"]
    return said, spent, json.loads(done.stdout.strip().rpartition("\n")[2])


def judged(kind: str, actual: pd.Series, said: Any) -> float:
    """Return accuracy or R2."""
    if kind == "classification":
        return float(np.mean(actual.to_numpy() == np.asarray(said)))
    return float(1 - np.mean((actual - said) ** 2) / np.var(actual))


def measure(
    options: argparse.Namespace,
    name: str,
    seed: int,
    methods: list[str],
    pythons: Mapping[str, Path],
) -> list[dict[str, Any]]:
    """Return a row of results a method."""
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        kind, actual = split(options.data, name, seed, folder)
        answers = pd.read_parquet(folder / "y.parquet")["answer"]
        guess = answers.mean() if kind == "regression" else answers.mode()[0]
        least = judged(kind, actual, np.repeat(guess, len(actual)))
        for method in methods:
            python = pythons.get(method, Path(sys.executable))
            told = (options.seconds, seed, options.without)
            said, spent, found = run(python, folder, kind, method, *told)
            row = {"table": name, "rows": len(answers), "seed": seed, "seconds": options.seconds}
            row |= {"method": method, "score": round(judged(kind, actual, said), 5)}
            rows.append(row | {"guess": round(least, 5), "cpu": round(spent, 2)} | found)
            print(rows[-1], flush=True)
    return rows


def print_summary(rows: list[dict[str, Any]]) -> None:
    """Print the mean scores by table, then ranks and normalised scores by method."""
    frame = pd.DataFrame(rows)
    frame["seed"] = frame["seed"].astype(int)  # those read from a file are texts
    frame[["score", "guess", "cpu"]] = frame[["score", "guess", "cpu"]].astype(float)
    cells = frame.groupby(["table", "seed"], sort=False)
    best = cells["score"].transform("max")
    spread = (best - frame["guess"]).clip(lower=1e-9)
    frame["normalised"] = ((frame["score"] - frame["guess"]) / spread).clip(lower=0)
    frame["rank"] = cells["score"].rank(ascending=False)
    methods = [method for method in METHODS if method in set(frame["method"])]
    table = frame.pivot_table("score", "table", "method", sort=False)[methods]
    print(table.round(4).to_string())
    means: Any = frame.groupby("method")[["rank", "normalised", "cpu"]].mean()
    print(means.loc[methods].round(4).to_string())
    wide: Any = frame.pivot_table("normalised", ["table", "seed"], "method", sort=False)
    for other in methods[1:]:
        gain = (wide["easeml"] - wide[other]).dropna()
        error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else float("nan")
        wins, losses = int((gain > 0).sum()), int((gain < 0).sum())
        counted = f"better in {wins}, worse in {losses} of {len(gain)}"
        print(f"easeml over {other}: {gain.mean():+.4f} +- {error:.4f} (normalised), {counted}")


def installed(folder: Path, methods: list[str]) -> dict[str, Path]:
    """Return the Python of each method that has an environment of its own, or one that it shares."""
    pythons = {}
    for method in methods:
        if method not in ("easeml", "fewer", "linear"):
            owner = "AutoGluon" if method in BY_AUTOGLUON else "FLAML"
            pythons[method] = peer_python(folder, owner)
    return pythons


def main() -> None:
    """Measure what is not there yet, and print the tables."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--tables", default=",".join(TABLES))
    usual = [method for method in METHODS if method not in SELDOM]
    parser.add_argument("--methods", default=",".join(usual))
    parser.add_argument("--without", default="", help="models that 'fewer' may not try")
    parser.add_argument("--folder", type=Path, default=CACHE)
    parser.add_argument("--no-peer", action="store_true", help="without FLAML and AutoGluon")
    options = read_options(parser, seconds=3.0, tables="sonar", no_peer=True)
    tables = WIDE if options.tables == "wide" else options.tables.split(",")
    print(machine_line("easeml", "scikit-learn", "lightgbm"))
    methods = options.methods.split(",")
    pythons = {} if options.no_peer else installed(options.folder, methods)
    path = options.out / f"estimators_{options.seconds:g}s.csv"
    rows: list[dict[str, Any]] = []
    if path.exists():
        rows = list(csv.DictReader(path.open(encoding="utf-8")))
    done = {(one["table"], int(one["seed"]), one["method"]) for one in rows}
    peers = ("FLAML", *BY_AUTOGLUON)
    wanted = [method for method in methods if method not in peers or method in pythons]
    if not options.without and "fewer" in wanted:
        wanted.remove("fewer")
    with path.open("a", newline="", encoding="utf-8") as file:
        columns = list(rows[0]) if rows else COLUMNS  # tables of before have no milliseconds
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        if file.tell() == 0:
            writer.writeheader()
        for seed in range(options.seeds):
            for name in tables:
                left = [one for one in wanted if (name, seed, one) not in done]
                found = measure(options, name, seed, left, pythons) if left else []
                writer.writerows(found)
                file.flush()
                rows += found
    print_summary(rows)


if __name__ == "__main__":
    main()
