"""Texts: what each model of easeml reaches, beside TF-IDF with logistic regression.

    python benchmarks/text_models.py [--folds 5]

Each public set is cut into folds. A fold's accuracy is that of a model fitted on the others. The
peer is scikit-learn's TfidfVectorizer and LogisticRegression, both with their defaults. Times are
processor seconds of this process, of fitting and predicting all folds.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline

from common import arguments, machine_line, read_options, write_table
from easeml.modules import load_registry
from easeml.modules.pipeline import fit

MODELS = ["words-logistic", "logistic", "lightgbm-classifier", "hist-gradient-boosting-classifier"]
PEER = "TF-IDF + logistic regression"
Predict = Callable[[pd.DataFrame, pd.DataFrame], Any]


def read_sets(data: Path) -> dict[str, pd.DataFrame]:
    """Return the sets by name, each with the columns ``text`` and ``label``."""
    youtube = [pd.read_csv(file) for file in sorted((data / "youtube_spam").glob("*.csv"))]
    clothes = pd.read_csv(data / "clothing_reviews" / "reviews.csv")
    restaurants = pd.read_csv(data / "more_tables" / "restaurant_reviews.csv")
    sets = {
        "movie_reviews": pd.read_csv(data / "movie_reviews" / "movie_reviews.csv.gz"),
        "bbc_news": named(pd.read_csv(data / "bbc_news" / "bbc-text.csv"), "text", "category"),
        "sms_spam": pd.read_csv(data / "sms_spam" / "sms_spam.csv"),
        "youtube_spam": named(pd.concat(youtube), "CONTENT", "CLASS"),
        "clothing_reviews": named(clothes, "Review Text", "Recommended IND"),
        "restaurant_reviews": named(restaurants, "Review", "Liked"),
    }
    return {name: cleaned(frame) for name, frame in sets.items()}


def named(frame: pd.DataFrame, text: str, label: str) -> pd.DataFrame:
    """Return the columns of a text and its label under these names."""
    return frame.rename(columns={text: "text", label: "label"})


def cleaned(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with a text and a label, as texts, in a random order."""
    frame = frame[["text", "label"]].dropna().astype(str)
    return frame.sample(frac=1, random_state=0).reset_index(drop=True)


def peer(train: pd.DataFrame, test: pd.DataFrame) -> Any:
    """Return what TF-IDF and logistic regression say of test rows."""
    model = make_pipeline(TfidfVectorizer(), LogisticRegression(max_iter=1000))
    return model.fit(train["text"], train["label"]).predict(test["text"])


def of_easeml(name: str) -> Predict:
    """Return a function that fits a model of easeml with its default configuration."""
    registry = load_registry()
    schema_in = {"nodes": {"text": {"singleton": True, "type": "text", "optional": True}}}
    chain = [transform.choice() for transform in registry.candidates(registry.get(name), schema_in)]
    pipeline = {"transforms": chain, "model": {"module": name}}

    def predict(train: pd.DataFrame, test: pd.DataFrame) -> Any:
        labels = sorted(train["label"].unique())
        target = {"singleton": True, "type": "category", "class": "t"}
        classes = {"t": {"dim": len(labels), "labels": labels}}
        schema_out = {"nodes": {"target": target}, "classes": classes}
        learnt = train.assign(target=pd.Categorical(train["label"], categories=labels))
        return fit(pipeline, learnt, schema_in, schema_out).predict(test).values

    return predict


def measure(frame: pd.DataFrame, predict: Predict, folds: int) -> tuple[float, float, float]:
    """Return mean accuracy over the folds, its standard error, and processor seconds."""
    cut = StratifiedKFold(folds, shuffle=True, random_state=0)
    begun = time.process_time()
    accuracies = []
    for train, test in cut.split(frame, frame["label"]):
        predicted = predict(frame.iloc[train], frame.iloc[test])
        accuracies.append(float(np.mean(predicted == frame["label"].iloc[test])))
    seconds = time.process_time() - begun
    return float(np.mean(accuracies)), float(np.std(accuracies) / np.sqrt(folds)), seconds


def main() -> None:
    """Print and write the table."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=0, help="rows a set at most; 0: all")
    parser.add_argument("--models", nargs="+", default=MODELS)
    options = read_options(parser, folds=2, rows=150, models=MODELS[:1])
    rivals: dict[str, Predict] = {PEER: peer}
    rivals |= {name: of_easeml(name) for name in options.models}
    print(machine_line("easeml", "scikit-learn", "lightgbm", "skrub"))
    print(f"{'set':20} {'rows':>6} {'model':34} {'accuracy':>9} {'+-':>6} {'seconds':>8}")
    rows = []
    for name, frame in read_sets(options.data).items():
        used = frame[: options.rows] if options.rows else frame
        for rival, predict in rivals.items():
            accuracy, error, seconds = measure(used, predict, options.folds)
            row = [name, len(used), rival, f"{accuracy:.4f}", f"{error:.4f}", f"{seconds:.1f}"]
            rows.append(row)
            print(f"{name:20} {len(used):6} {rival:34} {accuracy:9.4f} {error:6.4f} {seconds:8.1f}")
    columns = ["set", "rows", "model", "accuracy", "standard_error", "processor_seconds"]
    write_table(options.out / "text_models.csv", columns, rows)


if __name__ == "__main__":
    main()
