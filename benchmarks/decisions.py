"""Which label is said: the most probable one, or the one that is best for the objective.

    python benchmarks/decisions.py [--measure balanced-accuracy] [--seeds 3]
        [--tables bank_marketing,mammography]

Each public table is declared as easeml does. Three models with their defaults learn from the train
and validation rows and predict the test rows. ``most probable``: the measure of the labels
with the highest probability; ``decided``: of those that ``easeml.modules.decision`` chooses from the
same probabilities; ``tuned``: with the threshold that is best on the validation rows, found with a
model of the train rows, where there are two classes.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from best_models import version_of_file
from common import arguments, machine_line, read_options, write_table
from easeml.modules import Context, Predictions, score
from easeml.modules.pipeline import fit

TABLES = {
    "bank_marketing": ("bank_marketing/bank_marketing.csv", "y"),
    "telco_churn": ("telco_churn/telco_churn.csv", "Churn"),
    "german_credit": ("german_credit/german_credit.csv", ""),
    "mammography": ("more_tables/mammography.csv", ""),
    "oil-spill": ("more_tables/oil-spill.csv", ""),
    "unbalanced": ("weka/unbalanced.arff", ""),
    "adult": ("adult/adult.csv", "class"),
}
"""File below the data and target (empty: the last column) by name: classes of unequal size."""
ASIDE = {
    "hr_attrition": ("more_tables/hr_attrition.xlsx", "Attrition"),
    "loan_eligibility": ("more_tables/loan_eligibility.csv", "Loan_Status"),
    "phoneme": ("more_tables/phoneme.csv", ""),
    "hungarian": ("weka/hungarian.arff", ""),
}
"""Others, by which no weight was chosen."""
MODELS = {
    "logistic": ("table-onehot", "scale"),
    "lightgbm-classifier": ("table-codes",),
    "random-forest-classifier": ("table-codes",),
}
WAYS = ("most probable", "decided", "tuned")
COLUMNS = ["table", "rows", "rarest", "seed", "model", *WAYS]


def pipeline_of(model: str) -> dict[str, Any]:
    """Return a model with its defaults, after its transforms."""
    transforms = [{"module": name, "config": {}} for name in MODELS[model]]
    return {"transforms": transforms, "model": {"module": model, "config": {}}}


def tuned(version: Any, model: str, found: Predictions, context: Context) -> float:
    """Return the measure of test rows at the threshold that validation rows choose."""
    schemas = version.schema_in.to_json(), version.schema_out.to_json()
    assert found.classes is not None
    if len(found.classes) != 2:
        return float("nan")
    first = fit(pipeline_of(model), version.train, *schemas, context).predict(version.validation)
    actual = version.validation[version.target]

    def quality(answers: Any, predictions: Predictions, threshold: float) -> float:
        assert predictions.probabilities is not None
        assert predictions.classes is not None
        said = predictions.classes[(predictions.probabilities[:, 1] > threshold).astype(int)]
        return score(context.objective, answers, Predictions(said, None, predictions.classes))

    thresholds = np.linspace(0.01, 0.99, 99).tolist()
    best = max(thresholds, key=lambda threshold: quality(actual, first, threshold))
    return quality(version.test[version.target], found, best)


def measure(options: argparse.Namespace, name: str, seed: int) -> list[list[Any]]:
    """Return a row of results a model."""
    path, target = (TABLES | ASIDE)[name]
    version = version_of_file(options.data / path, target, seed)
    schemas = version.schema_in.to_json(), version.schema_out.to_json()
    rows = pd.concat([version.train, version.validation], ignore_index=True)
    answers = version.test[version.target]
    rarest = float(rows[version.target].value_counts(normalize=True).min())
    context = Context(seed=seed, objective=options.measure)
    results = []
    for model in MODELS:
        decided = fit(pipeline_of(model), rows, *schemas, context).predict(version.test)
        assert decided.probabilities is not None
        assert decided.classes is not None
        plain = Predictions.of_probabilities(decided.probabilities, decided.classes)
        values = [score(options.measure, answers, one) for one in (plain, decided)]
        values.append(tuned(version, model, decided, context))
        rounded = [round(value, 4) for value in values]
        results.append([name, len(rows), round(rarest, 3), seed, model, *rounded])
        print(*results[-1], flush=True)
    return results


def main() -> None:
    """Measure, and print what each way brings over the most probable label."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--measure", default="balanced-accuracy")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--tables", default=",".join(TABLES))
    options = read_options(parser, seeds=1, tables="german_credit")
    print(machine_line("easeml", "scikit-learn", "lightgbm"))
    rows: list[list[Any]] = []
    for seed in range(options.seeds):
        for name in options.tables.split(","):
            rows += measure(options, name, seed)
    is_first = options.measure == "balanced-accuracy"
    name = "decisions.csv" if is_first else f"{options.measure}.csv"
    write_table(Path(options.out) / name, COLUMNS, rows)
    frame = pd.DataFrame(rows, columns=COLUMNS)
    means: Any = frame.groupby(["table", "model"], sort=False)[list(WAYS)].mean()
    print(means.round(4).to_string())
    for way in WAYS[1:]:
        gain = (frame[way] - frame[WAYS[0]]).dropna()
        error = gain.std(ddof=1) / np.sqrt(len(gain))
        worse = int((gain < 0).sum())
        print(f"{way}: {gain.mean():+.4f} +- {error:.4f}, worse in {worse} of {len(gain)}")


if __name__ == "__main__":
    main()
