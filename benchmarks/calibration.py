"""Do probabilities say how often a class is right, and what does calibrating them bring?

    python benchmarks/calibration.py [--seeds 2] [--tables adult,vowel] [--models naive-bayes]
                                     [--out DIR] [--short]

A model learns from three fifths of the rows of a table, a fifth calibrates it, and a fifth judges.
Beside easeml's one temperature a model (``modules.calibration``) stand the probabilities as they
are, and scikit-learn's isotonic regression, one class against the others, told by the same fifth
(B. Zadrozny and C. Elkan, KDD 2002).

``log loss``: mean over rows, of probabilities of at least a millionth. ``gap``: the expected
calibration error of ten bins of as many rows. ``served``: what ``AutoMLClassifier`` finds in
``--limit`` processor seconds, a model or an ensemble fitted on all rows that it has, as it serves
and without its temperatures.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.isotonic import IsotonicRegression

from common import arguments, machine_line, read_options, write_table
from easeml import AutoMLClassifier
from easeml.data import read_table
from easeml.estimators.frames import typed
from easeml.modules import calibration, load_registry
from easeml.modules.ensemble import TrainedEnsemble
from easeml.modules.pipeline import TrainedPipeline, fit
from easeml.modules.target import encode_labels

TABLES = {
    "adult": ("adult/adult.csv", "class"),
    "german_credit": ("german_credit/german_credit.csv", "credit_risk"),
    "phoneme": ("more_tables/phoneme.csv", "column 6"),
    "segment": ("weka/segment-challenge.arff", "class"),
    "telco_churn": ("telco_churn/telco_churn.csv", "Churn"),
    "titanic": ("titanic/titanic.csv", "Survived"),
    "vehicle": ("more_tables/Vehicle.csv", "Class"),
    "vowel": ("more_tables/Vowel.csv", "Class"),
}
MODELS = [
    "decision-tree-classifier",
    "extra-trees-classifier",
    "hist-gradient-boosting-classifier",
    "knn-classifier",
    "lightgbm-classifier",
    "logistic",
    "mlp-classifier",
    "naive-bayes",
    "random-forest-classifier",
    "svm-classifier",
]
MOST_ROWS = 3000
HEAD = ["table", "seed", "model", "probabilities", "right", "log loss", "gap"]
_Numbers = NDArray[np.float64]


def rows_of(name: str, data: Path, seed: int) -> tuple[pd.DataFrame, str]:
    """Return typed rows in a random order, and the target."""
    if name == "made":
        return made_rows(seed), "answer"
    path, target = TABLES[name]
    table = read_table(data / path).to_pandas()
    answers = table.pop(target)
    for column in table:
        numbers = pd.to_numeric(table[column], errors="coerce")
        if numbers.notna().mean() > 0.95:
            table[column] = numbers
        else:
            table[column] = table[column].astype("category")
    known = answers.notna() & (answers.astype(str) != "")
    rows = table.assign(**{target: answers.astype(str)})[known]
    return rows.sample(frac=1, random_state=seed).iloc[:MOST_ROWS].reset_index(drop=True), target


def made_rows(seed: int) -> pd.DataFrame:
    """Return rows of the short form."""
    random = np.random.default_rng(seed)
    rows = pd.DataFrame(random.normal(size=(300, 4)), columns=list("abcd"))
    codes = np.digitize(rows["a"] + rows["b"] + random.normal(size=300), [-0.8, 0.8])
    return rows.assign(answer=np.array(["low", "middle", "high"])[codes])


def isotonic(codes: NDArray[np.intp], told: _Numbers, new: _Numbers) -> _Numbers:
    """Return new probabilities by scikit-learn's isotonic regression of each class against others."""
    found = np.empty_like(new)
    for code in range(told.shape[1]):
        line = IsotonicRegression(out_of_bounds="clip").fit(told[:, code], codes == code)
        found[:, code] = line.predict(new[:, code])
    total = found.sum(axis=1, keepdims=True)
    return np.where(total > 0, found / np.maximum(total, 1e-12), 1 / found.shape[1])


def line_of(codes: NDArray[np.intp], probabilities: _Numbers) -> list[float]:
    """Return the share of right rows, the log loss and the expected calibration error."""
    own = np.maximum(probabilities[np.arange(len(codes)), codes], 1e-6)
    is_right = probabilities.argmax(axis=1) == codes
    sure = probabilities.max(axis=1)
    bins = np.array_split(np.argsort(sure), 10)
    gaps = [abs(float(np.sum(is_right[rows]) - np.sum(sure[rows]))) for rows in bins]
    found = float(np.mean(is_right)), float(-np.log(own).mean()), sum(gaps) / len(codes)
    return [round(one, 4) for one in found]


def of_models(name: str, seed: int, models: list[str], data: Path) -> list[list[object]]:
    """Return the lines of models with their defaults on one split of a table."""
    rows, target = rows_of(name, data, seed)
    registry = load_registry()
    table = typed(rows.drop(columns=target), rows[target].to_numpy(), "category")
    answers = table.frame[table.target]
    ends = [int(0.6 * len(rows)), int(0.8 * len(rows))]
    learned, telling, judged = np.split(np.arange(len(rows)), ends)
    lines: list[list[object]] = []
    for model in models:
        chain = registry.candidates(registry.get(model), table.schema_in)
        transforms = [{"module": one.name, "config": {}} for one in chain]
        pipeline = {"transforms": transforms, "model": {"module": model, "config": {}}}
        schemas = table.schema_in.to_json(), table.schema_out.to_json()
        trained = fit(pipeline, table.frame.iloc[learned], *schemas)
        told = calibration.floored(trained.predict(table.frame.iloc[telling]))
        new = calibration.floored(trained.predict(table.frame.iloc[judged]))
        assert told.classes is not None
        codes = encode_labels(answers, told.classes)
        temperature, _ = calibration.calibrated(answers.iloc[telling], told)
        found = {
            "as they are": new.probabilities,
            "easeml": calibration.at(new, temperature).probabilities,
            "isotonic": isotonic(codes[telling], told.probabilities, new.probabilities),
        }
        for how, probabilities in found.items():
            lines.append([name, seed, model, how, *line_of(codes[judged], probabilities)])
    return lines


def of_served(name: str, seed: int, limit: float, data: Path) -> list[list[object]]:
    """Return the lines of what a search finds, on a fifth of the rows that it has not seen."""
    rows, target = rows_of(name, data, seed)
    known, new = np.split(np.arange(len(rows)), [int(0.8 * len(rows))])
    made = AutoMLClassifier(time_limit=limit, random_state=seed)
    made.fit(rows.drop(columns=target).iloc[known], rows[target].iloc[known])
    inputs = rows.drop(columns=target).iloc[new]
    names = made.model_.labels  # of the classes, by what the model calls them
    codes = pd.Index(list(names.values())).get_indexer(rows[target].iloc[new])
    columns = [f"probability_{name}" for name in names]
    exported = made.model_.exported
    plain = replace(exported, trained=uncalibrated(exported.trained))
    lines: list[list[object]] = []
    for how, one in (("easeml", exported), ("as they are", plain)):
        probabilities = one.predict(inputs)[columns].to_numpy()
        lines.append([name, seed, "served", how, *line_of(codes, probabilities)])
    return lines


def uncalibrated(
    trained: TrainedPipeline | TrainedEnsemble,
) -> TrainedPipeline | TrainedEnsemble:
    """Return a model without its temperatures."""
    if isinstance(trained, TrainedPipeline):
        return trained.at_temperature(None)
    members = tuple(member.at_temperature(None) for member in trained.members)
    return replace(trained, members=members, temperature=1.0)


def main() -> None:
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--limit", type=float, default=15.0, help="processor seconds of a search")
    options = read_options(parser, seeds=1, tables="made", models="naive-bayes", limit=1.0)
    print(machine_line("scikit-learn", "lightgbm", "numpy"))
    lines: list[list[object]] = []
    for name in options.tables.split(","):
        for seed in range(options.seeds):
            lines += of_models(name, seed, options.models.split(","), options.data)
            lines += of_served(name, seed, options.limit, options.data)
            write_table(options.out / "calibration.csv", HEAD, lines)
    found = pd.DataFrame(lines, columns=HEAD)
    by_model = found.pivot_table(index="model", columns="probabilities", values=HEAD[4:])
    print(by_model.round(4).to_string())


if __name__ == "__main__":
    main()
