"""How well are several labels a row found, beside scikit-learn's ways?

    python benchmarks/several_labels.py [--seeds 2] [--sets made,texts] [--out DIR] [--short]

Four fifths of the rows are learned from, the last fifth judges. ``easeml``: of the ``MODELS`` with
their defaults, fitted on three fifths, a further fifth chooses a mixture by greedy selection, one
temperature and the thresholds; then its members are fitted once more on four fifths, as what serves
is. ``even``: the same mixture, with every label said that is more likely than not. ``by label``: with
the thresholds of the objective F1 by label. Beside it, on four fifths: scikit-learn's ``OneVsRestClassifier`` of
logistic regression and of LightGBM, and ``ClassifierChain`` of logistic regression, all with their
defaults, on TF-IDF of texts or on standardised numbers. ``OneVsRest, tuned``: of logistic
regression, with the one threshold that is best for F1 by row on five folds.

Sets: ``made`` and ``rare``: scikit-learn's ``make_multilabel_classification`` with 10 labels, two and
one a row on average. ``baskets``: which of eight products are in a basket, by the other products
(Weka's supermarket). ``texts``: eight words each of one, two or three texts of different kinds, one
after the other; the kinds are the labels: the BBC's sport and politics, reviews of films and of
clothes, and short messages.

``F1``: by row, averaged; ``label F1``: by label; ``exact``: share of rows that are all right; ``told``:
F1 by row as easeml measures it before, on the fifth that chose.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import metrics
from sklearn.datasets import make_multilabel_classification
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from common import arguments, machine_line, read_options, write_table
from easeml.data import Declared, declare, infer_table, read_table
from easeml.modules import calibration, load_registry, score, thresholds
from easeml.modules.ensemble import combined
from easeml.modules.pipeline import TrainedPipeline, fit
from easeml.modules.selection import choose
from easeml.modules.target import as_numbers

SETS = ["made", "rare", "baskets", "texts"]
MODELS = ["words-logistic", "logistic", "lightgbm-classifier", "extra-trees-classifier"]
HEAD = ["set", "seed", "way", "F1", "label F1", "exact", "told"]
OBJECTIVE = "row-f1"
TEXTS, WORDS = 1500, 8
BASKETS = 3000
_Numbers = NDArray[np.float64]


def made(labels: int, rows: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return numbers and labels; ``labels``: of a row on average."""
    found: Any = make_multilabel_classification(
        rows, n_features=20, n_classes=10, n_labels=labels, length=40, random_state=seed
    )
    inputs, answers = found
    named = pd.DataFrame(answers, columns=[f"label {place}" for place in range(10)])
    return pd.DataFrame(inputs, columns=[f"n{place}" for place in range(20)]), named


def baskets(data: Path, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return which products are in baskets: the other ones, and the eight that near a third has."""
    table = read_table(data / "weka" / "supermarket.arff").to_pandas()
    table = table.drop(columns="total").sample(BASKETS, random_state=seed, ignore_index=True)
    there = (table == "t").astype(int)
    there = there.loc[:, there.mean() > 0.02]
    names = (there.mean() - 1 / 3).abs().nsmallest(8).index
    return there.drop(columns=names), there[names]


def texts_by_kind(data: Path) -> dict[str, list[str]]:
    news = pd.read_csv(data / "bbc_news" / "bbc-text.csv")
    films = pd.read_csv(data / "movie_reviews" / "movie_reviews.csv.gz")
    clothes = pd.read_csv(data / "clothing_reviews" / "reviews.csv")
    messages = pd.read_csv(data / "sms_spam" / "sms_spam.csv")
    return {
        "sport": news.loc[news["category"] == "Sports", "text"].tolist(),
        "politics": news.loc[news["category"] == "Politics", "text"].tolist(),
        "film": films["text"].tolist(),
        "clothes": clothes["Review Text"].dropna().tolist(),
        "message": messages["text"].tolist(),
    }


def texts_of_kinds(data: Path, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return texts of one to three kinds, and their kinds."""
    random = np.random.default_rng(seed)
    by_kind = texts_by_kind(data)
    texts, answers = [], []
    for _ in range(TEXTS):
        chosen = random.choice(list(by_kind), random.integers(1, 4), replace=False)
        parts = [" ".join(some_words(by_kind[name], random)) for name in chosen]
        texts.append(" ".join(parts))
        answers.append([int(name in chosen) for name in by_kind])
    return pd.DataFrame({"text": texts}), pd.DataFrame(answers, columns=list(by_kind))


def some_words(texts: list[str], random: np.random.Generator) -> list[str]:
    """Return words that follow each other in one of the texts."""
    words = texts[random.integers(len(texts))].split()
    start = random.integers(max(1, len(words) - WORDS))
    return words[start : start + WORDS]


def rows_of(name: str, data: Path, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return inputs and labels of a set, in a random order."""
    if name == "short":
        return made(2, 300, seed)
    if name in ("made", "rare"):
        return made(2 if name == "made" else 1, 2500, seed)
    return baskets(data, seed) if name == "baskets" else texts_of_kinds(data, seed)


def declared(inputs: pd.DataFrame, answers: pd.DataFrame, folder: Path) -> Declared:
    """Return the rows as easeml reads them from a file, whose column ``part`` says which part a row is."""
    names = np.array(answers.columns)
    cells = ["; ".join(names[row.astype(bool)]) for row in answers.to_numpy()]
    ends = [int(0.6 * len(inputs)), int(0.8 * len(inputs))]
    parts = np.select(
        [np.arange(len(inputs)) < end for end in ends], ["train", "validation"], "test"
    )
    path = folder / "rows.csv"
    inputs.assign(labels=cells, part=parts).to_csv(path, index=False)
    table = read_table(path)
    return declare(table, infer_table(table, "labels").columns, "labels", split="given:part")


def fitted(version: Declared, rows: pd.DataFrame, models: list[str]) -> list[TrainedPipeline]:
    """Return models of rows, with their defaults."""
    registry = load_registry()
    schemas = version.schema_in.to_json(), version.schema_out.to_json()
    matches = {one.module.name: one for one in registry.models_for(*schemas) if one.fits}
    found = []
    for name in models:
        if name in matches:
            chain = [one.choice() for one in matches[name].transforms]
            pipeline = {"transforms": chain, "model": matches[name].module.choice()}
            found.append(fit(pipeline, rows, *schemas))
    return found


def of_easeml(
    version: Declared, models: list[str]
) -> tuple[dict[str, _Numbers], tuple[str, ...], float]:
    """Return the labels of the test rows by each way of choosing, their names, and F1 as told before."""
    train, told, test = (version.frames[role] for role in ("train", "validation", "test"))
    answers = told["labels"]
    first = fitted(version, train, models)
    said = []
    temperatures = []
    for one in first:
        temperature, mild = calibration.calibrated(answers, one.predict(told))
        temperatures.append(temperature)
        said.append(mild)
    chosen = choose(OBJECTIVE, answers, said)
    temperature, unseen = calibration.calibrated(answers, chosen.unseen)
    best, judged = thresholds.told_by(OBJECTIVE, answers, unseen)
    by_label, _ = thresholds.told_by("label-f1", answers, unseen)
    assert best is not None
    assert by_label is not None
    again = fitted(version, pd.concat([train, told], ignore_index=True), models)
    each = [one.at_temperature(t).predict(test) for one, t in zip(again, temperatures, strict=True)]
    mean = calibration.at(combined(each, chosen.weights.tolist()), temperature)
    ways = {
        "easeml": best,
        "easeml, even": best.with_thresholds([0.5] * len(best.names)),
        "easeml, by label": by_label,
    }
    values = {way: thresholds.decided_by(mean, choice).values for way, choice in ways.items()}
    return values, best.names, score(OBJECTIVE, answers, judged)


def of_peers(inputs: pd.DataFrame, answers: Any, seed: int) -> Iterator[tuple[str, _Numbers]]:
    """Yield what scikit-learn's ways say of the last fifth."""
    from lightgbm import LGBMClassifier

    end = int(0.8 * len(inputs))
    texts = "text" in inputs
    features = inputs["text"] if texts else inputs.to_numpy(float)
    prepare = TfidfVectorizer if texts else StandardScaler
    known, new = features[:end], features[end:]
    labels = answers.to_numpy()[:end]
    logistic = LogisticRegression(max_iter=1000)
    boosted = LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1)
    one = make_pipeline(prepare(), OneVsRestClassifier(logistic))
    ways = {
        "OneVsRest, logistic": one,
        "OneVsRest, LightGBM": make_pipeline(prepare(), OneVsRestClassifier(boosted)),
        "ClassifierChain": make_pipeline(prepare(), ClassifierChain(logistic)),
    }
    for way, estimator in ways.items():
        yield way, np.asarray(estimator.fit(known, labels).predict(new), dtype=float)
    chances = cross_val_predict(one, known, labels, method="predict_proba")
    tried = np.linspace(0.02, 0.8, 40)
    found = [f1(labels, (chances >= limit).astype(float)) for limit in tried]
    limit = tried[int(np.argmax(found))]
    yield "OneVsRest, tuned", (one.fit(known, labels).predict_proba(new) >= limit).astype(float)


def f1(actual: NDArray[np.integer] | _Numbers, said: _Numbers) -> float:
    """Return F1 by row; 1 of a row without labels, for which none is said."""
    of_none: Any = 1
    return float(metrics.f1_score(actual, said, average="samples", zero_division=of_none))


def line_of(actual: _Numbers, said: _Numbers) -> list[float]:
    """Return F1 by row and by label, and the share of rows that are all right."""
    none: Any = 0
    by_label = metrics.f1_score(actual, said, average="macro", zero_division=none)
    found = f1(actual, said), float(by_label), float(metrics.accuracy_score(actual, said))
    return [round(one, 4) for one in found]


def main() -> None:
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--models", default=",".join(MODELS))
    options = read_options(parser, seeds=1, sets="short", models="logistic")
    print(machine_line("scikit-learn", "lightgbm", "numpy"))
    lines: list[list[object]] = []
    for name in options.sets.split(","):
        for seed in range(options.seeds):
            inputs, answers = rows_of(name, options.data, seed)
            version = declared(inputs, answers, options.out)
            found, names, told = of_easeml(version, options.models.split(","))
            test = version.frames["test"]
            actual = as_numbers(test["labels"])
            for way, said in found.items():
                shown = round(told, 4) if way == "easeml" else ""
                lines.append([name, seed, way, *line_of(actual, said), shown])
            ordered = answers[list(names)]
            for way, said in of_peers(inputs, ordered, seed):
                judged = ordered.to_numpy(float)[int(0.8 * len(inputs)) :]
                lines.append([name, seed, way, *line_of(judged, said), ""])
            write_table(options.out / "several_labels.csv", HEAD, lines)
    (options.out / "rows.csv").unlink()
    table = pd.DataFrame(lines, columns=HEAD)
    for measure in HEAD[3:6]:
        print(measure)
        print(table.pivot_table(index="way", columns="set", values=measure).round(3).to_string())


if __name__ == "__main__":
    main()
