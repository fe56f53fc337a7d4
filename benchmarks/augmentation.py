"""What made train rows bring: models of few rows, with and without rows that ``augment`` makes.

    python benchmarks/augmentation.py [--rows 200] [--seeds 10] [--tables german_credit,sms]

Of each public table a few rows train, and at most 2,000 others judge. A logistic regression of
scaled columns and LightGBM with its defaults learn the rows alone, and with as many and three times
as many made rows (tables: mixed with neighbours; texts, as TF-IDF: with other words); with classes
made of equal size (``balance``) and with weights of classes in its place (``weighted``). ``gain``
is over the rows alone, in accuracy or R2, and ``balanced`` in balanced accuracy, each the mean of
the seeds with its standard error.
"""

import argparse
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline

from common import arguments, machine_line, read_options, write_table
from easeml import Relation
from easeml.data import infer_table, read_table, typed_table
from easeml.lifecycle.features import encode

TABLES = {
    "german_credit": ("german_credit/german_credit.csv", "credit_risk"),
    "telco_churn": ("telco_churn/telco_churn.csv", "Churn"),
    "bank_marketing": ("bank_marketing/bank_marketing.csv", "y"),
    "phoneme": ("more_tables/phoneme.csv", ""),
    "vehicle": ("more_tables/Vehicle.csv", "Class"),
    "titanic": ("titanic/titanic.csv", "Survived"),
    "wine": ("wine_quality_red/wine_quality_red.csv", "quality"),
    "abalone": ("abalone/abalone.csv", "Rings"),
    "bike": ("bike_sharing_hourly/bike_sharing_hourly.csv", "count"),
}
TEXTS = {
    "sms": ("sms_spam/sms_spam.csv", ""),
    "youtube": ("youtube_spam/Youtube04-Eminem.csv", "CLASS"),
}
MOST_UNSEEN = 2_000
MADE: Mapping[str, Mapping[str, Any]] = {
    "alone": {},
    "1 copy": {"copies": 1},
    "3 copies": {"copies": 3},
    "balance": {"copies": "balance"},
    "weighted": {},
}
COLUMNS = ["table", "model", "rows", "made", "quality", "gain", "error", "balanced", "its error"]


def relation_of(frame: pd.DataFrame, target: str, rows: int, seed: int) -> Relation:
    """Return a relation of which ``rows`` rows train, and others are for judging."""
    order = np.random.default_rng(seed).permutation(len(frame))[: rows + MOST_UNSEEN]
    roles = ["train"] * rows + ["test"] * (len(order) - rows)
    return Relation.from_frame(frame.iloc[order].reset_index(drop=True), target, roles)


def matrices(train: pd.DataFrame, test: pd.DataFrame, text: str) -> tuple[Any, Any]:
    """Return what models see of the rows."""
    if text:
        words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
        return words.fit_transform(train[text].fillna("")), words.transform(test[text].fillna(""))
    return encode(train, test)


def models(kind: str, text: str, made: str) -> dict[str, Any]:
    """Return the models to fit, by name."""
    weights = "balanced" if made == "weighted" else None
    if text:
        return {"logistic": LogisticRegression(C=10, max_iter=2000, class_weight=weights)}
    quiet = {"verbose": -1, "n_jobs": 1}
    if kind == "regression":
        return {"ridge": Ridge(10.0), "LightGBM": LGBMRegressor(**quiet)}
    linear = make_pipeline(LogisticRegression(max_iter=2000, class_weight=weights))
    return {"logistic": linear, "LightGBM": LGBMClassifier(class_weight=weights, **quiet)}


def measured(relation: Relation, made: str, seed: int, text: str) -> dict[str, tuple[float, float]]:
    """Return quality and balanced accuracy of each model; R2, and NaN, of numbers."""
    target = str(relation.target)
    told = MADE[made]
    more = relation.augment(**told, seed=seed) if told else relation
    roles = np.array(more.roles)
    frame = more.to_frame()
    train, test = frame[roles == "train"], frame[roles == "test"]
    seen, unseen = matrices(train.drop(columns=target), test.drop(columns=target), text)
    kind = "regression" if pd.api.types.is_float_dtype(frame[target]) else "classification"
    found = {}
    for name, model in models(kind, text, made).items():
        said = model.fit(seen, train[target]).predict(unseen)
        quality = float(model.score(unseen, test[target]))
        balanced = float("nan")
        if kind == "classification":
            balanced = float(balanced_accuracy_score(test[target], said))
        found[name] = (quality, balanced)
    return found


def frame_of(data: Path, path: str, target: str) -> tuple[pd.DataFrame, str, str]:
    """Return a table with typed columns, its target, and its column of texts if there is one."""
    text = read_table(data / path)
    report = infer_table(text, target or None)
    target = target or report.target or text.column_names[-1]
    frame = typed_table(text, report.columns).to_pandas()
    long = [one.name for one in report.columns if one.type == "text" and one.name != target]
    long.sort(key=lambda column: -frame[column].str.len().mean())
    frame = frame[frame[target].notna()].reset_index(drop=True)
    if not pd.api.types.is_float_dtype(frame[target]):
        frame[target] = frame[target].astype(str)
    return frame, target, long[0] if long else ""


def rows_of(options: argparse.Namespace, name: str) -> list[tuple[Any, ...]]:
    """Return a row of results a model and way to make rows."""
    path, target = {**TABLES, **TEXTS}[name]
    frame, target, text = frame_of(options.data, path, target)
    if name in TEXTS:
        frame = frame[[text, target]]
    results: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for seed in range(options.seeds):
        relation = relation_of(frame, target, options.rows, seed)
        for made in MADE:
            is_of_classes = made in ("balance", "weighted")
            if is_of_classes and pd.api.types.is_float_dtype(frame[target]):
                continue
            found = measured(relation, made, seed, text if name in TEXTS else "")
            for model, numbers in found.items():
                results.setdefault((model, made), []).append(numbers)
    rows = []
    for (model, made), numbers in results.items():
        gains = np.array(numbers) - np.array(results[model, "alone"])
        means = gains.mean(axis=0)
        errors = gains.std(axis=0, ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else means
        quality = np.mean(numbers, axis=0)[0]
        told = [quality, means[0], errors[0], means[1], errors[1]]
        rows.append((name, model, options.rows, made, *(f"{number:.4f}" for number in told)))
        print(*rows[-1], sep="  ", flush=True)
    return rows


def main() -> None:
    """Measure, print and keep the table."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--tables", default=",".join({**TABLES, **TEXTS}))
    options = read_options(parser, seeds=2, tables="titanic")
    print(machine_line("easeml", "scikit-learn", "lightgbm"))
    warnings.simplefilter("ignore")  # categories of unseen rows that no train row has
    rows = []
    for name in options.tables.split(","):
        rows += rows_of(options, name)
    write_table(options.out / f"rows_{options.rows}.csv", COLUMNS, rows)


if __name__ == "__main__":
    main()
