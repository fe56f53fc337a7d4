"""Wrong labels of five kinds on real tables: what easeml and cleanlab flag, and what can be found.

A tenth of the labels is wrong: drawn evenly over the other classes (uniform); always the next class
(pair); near the boundary of a model of the true labels (boundary); in a quarter of the space
(region); by one of five annotators (annotator). Of the rows that are flagged, the share that is
wrong (precision) and the share of the wrong ones among them (recall); the precision that easeml's
models suppose, which is not shown to anybody; and at cleanlab's own recall the precision of easeml's order, and of the
order that the same models have when they learn from the *true* labels of the other rows: about what
any finder with such models can reach. Writes CSV; a finished line is not measured again.

    python benchmarks/label_noise.py --data DIR [--seeds 2] [--most 600]

The rule that flags was chosen on churn, german, pima, titanic, ionosphere and wine_red with uniform
and boundary noise; other tables and kinds are a check.
"""

import csv
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import StandardScaler

from common import arguments, machine_line, read_options
from easeml.lifecycle.held_out import held_out_chances
from easeml.lifecycle.labeling import judge_classes

SHARE = 0.1
KINDS = ("uniform", "pair", "boundary", "region", "annotator")
TABLES = {  # name: file, target (None: the last column), columns to leave out, is there a header?
    "churn": ("telco_churn/telco_churn.csv", "Churn", ["customerID"], True),
    "loan": ("more_tables/loan_eligibility.csv", "Loan_Status", ["Customer_ID"], True),
    "wine_red": ("wine_quality_red/wine_quality_red.csv", "quality", [], True),
    "titanic": ("titanic/titanic.csv", "Survived", [], True),
    "german": ("german_credit/german_credit.csv", None, [], True),
    "pima": ("pima_diabetes/pima_diabetes.csv", None, [], True),
    "ionosphere": ("ionosphere/ionosphere.csv", None, [], True),
    "vehicle": ("more_tables/Vehicle.csv", "Class", [], True),
    "phoneme": ("more_tables/phoneme.csv", None, [], False),
    "orange": ("more_tables/orange_juice_withmissing.csv", "Purchase", [], True),
    "adult": ("adult/adult.csv", None, [], True),
    "bank": ("bank_marketing/bank_marketing.csv", None, [], True),
    "banknote": ("more_tables/banknote_authentication.csv", None, [], False),
    "vowel": ("more_tables/Vowel.csv", "Class", [], True),
}
FIELDS = [
    "table",
    "kind",
    "seed",
    "rows",
    "wrong",
    "cleanlab recall",
    "cleanlab precision",
    "easeml recall",
    "easeml precision",
    "easeml expects",
    "easeml at cleanlab's recall",
    "learnt from true labels, at that recall",
]


def table(name: str, data: Path, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a table's matrix and label codes; a sample where there are more rows."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        kept = np.random.default_rng(0).permutation(len(X))[:most]
        return StandardScaler().fit_transform(X[kept]), y[kept]
    import pandas as pd

    from easeml.lifecycle import encode

    file, target, dropped, header = TABLES[name]
    frame = pd.read_csv(data / file, sep=None, engine="python", header="infer" if header else None)
    frame.columns = [str(column) for column in frame.columns]
    target = target or frame.columns[-1]
    frame = frame.dropna(subset=[target]).drop(columns=dropped)
    common = frame[target].map(frame[target].value_counts()) >= 20  # cleanlab needs every class
    frame = frame[common].sample(min(int(common.sum()), most), random_state=0)
    labels = frame.pop(target)
    return encode(frame)[0], np.unique(labels.astype(str), return_inverse=True)[1]


def spoiled(
    kind: str, X: np.ndarray, y: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return labels of which some are wrong, and which these are."""
    n, classes = len(y), int(y.max()) + 1
    chances = np.full(n, SHARE)
    other = (y + rng.integers(1, classes, n)) % classes
    if kind == "pair":
        other = (y + 1) % classes
    elif kind == "boundary":
        model = LogisticRegression(max_iter=500)
        likely = cross_val_predict(model, X, y, cv=5, method="predict_proba")
        ranked = np.argsort(likely, axis=1)
        ordered = np.sort(likely, axis=1)
        near = np.exp(-3 * (ordered[:, -1] - ordered[:, -2]))
        chances = np.clip(near / near.mean() * SHARE, 0, 0.9)
        other = np.where(ranked[:, -1] == y, ranked[:, -2], ranked[:, -1])
    elif kind == "region":
        side = X @ rng.normal(size=X.shape[1])
        chances = np.where(side > np.quantile(side, 0.75), 4 * SHARE, 0.0)
    elif kind == "annotator":
        chances = np.where(rng.integers(0, 5, n) == 0, 5 * SHARE, 0.0)
    wrong = rng.random(n) < chances
    return np.where(wrong, other, y), wrong


def precision_at(recall: float, doubt: np.ndarray, wrong: np.ndarray) -> float:
    """Return the precision of the shortest head of the order that has the recall."""
    order = np.argsort(-doubt, kind="stable")
    found = np.cumsum(wrong[order])
    length = int(np.searchsorted(found, recall * wrong.sum() - 1e-9)) + 1
    return float(found[length - 1] / length)


def share(flagged: np.ndarray, wrong: np.ndarray) -> tuple[float, float]:
    """Return recall and precision."""
    hits = int((flagged & wrong).sum())
    return hits / int(wrong.sum()), hits / max(1, int(flagged.sum()))


def measured(kind: str, X: np.ndarray, y: np.ndarray, seed: int) -> list[object]:
    """Return the cells of a line after its name."""
    from cleanlab.filter import find_label_issues

    noisy, wrong = spoiled(kind, X, y, np.random.default_rng(seed))
    rows, classes = np.arange(len(y)), int(y.max()) + 1
    model = LogisticRegression(max_iter=500)
    chances = cross_val_predict(model, X, noisy, cv=5, method="predict_proba")
    theirs = share(find_label_issues(noisy, chances, n_jobs=1), wrong)
    chances = held_out_chances(X, noisy, classes, seed=seed)
    found = judge_classes(chances, noisy)
    ours = share(found.flagged, wrong)
    informed = held_out_chances(X, y, classes, seed=seed)
    return [
        len(y),
        int(wrong.sum()),
        *theirs,
        *ours,
        found.supposed_precision,
        precision_at(theirs[0], -chances[rows, noisy], wrong),
        precision_at(theirs[0], -informed[rows, noisy], wrong),
    ]


def main() -> None:
    """Run, print and write."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--most", type=int, default=600, help="rows of a table")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--tables", nargs="+", default=[*TABLES, "digits"])
    options = read_options(parser, seeds=1, most=80, kinds="uniform", tables=["wine_red"])
    print(machine_line("numpy", "scikit-learn", "cleanlab"))
    results = options.out / "flags.csv"
    warnings.simplefilter("ignore", ConvergenceWarning)
    done = set()
    if results.exists():
        with results.open(newline="") as file:
            done = {tuple(line[:3]) for line in csv.reader(file)}
    else:
        results.write_text(",".join(FIELDS) + "\n")
    for seed in range(options.seeds):
        for kind in options.kinds.split(","):
            for name in options.tables:
                if (name, kind, str(seed)) in done:
                    continue
                X, y = table(name, options.data, options.most)
                cells = [
                    f"{cell:.3f}" if isinstance(cell, float) else str(cell)
                    for cell in measured(kind, X, y, seed)
                ]
                line = [name, kind, str(seed), *cells]
                with results.open("a", newline="") as file:
                    csv.writer(file, lineterminator="\n").writerow(line)
                print(*line, flush=True)


if __name__ == "__main__":
    main()
