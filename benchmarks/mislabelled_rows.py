"""How well wrong labels are found: area under the ROC curve with a share of the labels of real
tables flipped.

easeml's order (rows judging each other; or judged with trusted rows) and its nearest-neighbour values beside cleanlab's
self-confidence, from a cross-validated logistic regression, and its data valuation. The last column is the chance of
a difference from cleanlab's self-confidence as large as this one, or larger, if there were none: a paired t-test over
--seeds. Of the rows flagged, the share that is wrong (precision) and the share of the wrong ones among them (recall)
stand beside those of cleanlab's ``find_label_issues``.

easeml's models were chosen on digits, wine, titanic, german_credit, sonar and telco_churn; all
others are a check. Tables ship with scikit-learn; more are read with --data FOLDER (NAME/NAME.csv,
target in the last column or as given). Writes CSV.

    python benchmarks/mislabelled_rows.py --data DIR --tables titanic:Survived german_credit
    telco_churn sonar ...
"""

import argparse
import csv
import warnings
from collections import defaultdict

import numpy as np
from scipy.stats import ttest_rel
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import StandardScaler

from common import arguments, machine_line, read_options
from easeml.lifecycle.labeling import find_mislabelled, knn_shapley

SHIPPED = {
    "breast_cancer": load_breast_cancer,
    "digits": load_digits,
    "iris": load_iris,
    "wine": load_wine,
}
PEER = "cleanlab self-confidence"
FIELDS = [
    "table",
    "rows",
    "method",
    "area",
    "low",
    "high",
    "precision",
    "recall",
    "p of difference",
]
Scores = dict[str, tuple[np.ndarray, np.ndarray | None]]


def tables(options: argparse.Namespace) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return matrices and label codes by name; a sample where there are more rows."""
    most, folder = options.most, options.data
    found = {}
    for name in options.shipped:
        X, y = SHIPPED[name](return_X_y=True)
        kept = np.random.default_rng(0).permutation(len(X))[:most]
        found[name] = StandardScaler().fit_transform(X[kept]), y[kept]
    for entry in options.tables:
        import pandas as pd

        from easeml.lifecycle import encode

        name, _, target = entry.partition(":")
        frame = pd.read_csv(folder / name / f"{name}.csv", sep=None, engine="python")
        frame = frame.dropna(subset=[target] if target else None)
        frame = frame.sample(min(len(frame), most), random_state=0)
        labels = frame.pop(target or frame.columns[-1])
        found[name] = encode(frame)[0], np.unique(labels, return_inverse=True)[1]
    return found


def judged(
    X: np.ndarray, noisy: np.ndarray, seed: int, *trusted: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return easeml's scores, by the place in its order, and what it flags."""
    answer = find_mislabelled(X, noisy, *trusted, seed=seed)
    score, flagged = np.empty(len(X)), np.empty(len(X), bool)
    score[answer.rows], flagged[answer.rows] = -np.arange(len(X)), answer.flagged
    return score, flagged


def scores(
    X: np.ndarray, noisy: np.ndarray, trusted: tuple[np.ndarray, np.ndarray], seed: int
) -> Scores:
    """Return by method a score, higher for rows more likely to be wrong, and the rows flagged."""
    from cleanlab.data_valuation import data_shapley_knn
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores

    model = LogisticRegression(max_iter=500)
    chances = np.asarray(cross_val_predict(model, X, noisy, cv=5, method="predict_proba"))
    quality = get_label_quality_scores(noisy, chances, method="self_confidence")
    return {
        "easeml": judged(X, noisy, seed),
        "easeml, with trusted rows": judged(X, noisy, seed, *trusted),
        "easeml values, trusted rows": (-knn_shapley(X, noisy, *trusted, 5), None),
        PEER: (-quality, find_label_issues(noisy, chances, n_jobs=1)),
        "cleanlab data valuation": (
            -data_shapley_knn(noisy, features=X, metric="euclidean", k=10),
            None,
        ),
    }


def measure(
    name: str, X: np.ndarray, y: np.ndarray, options: argparse.Namespace
) -> list[list[str]]:
    """Return a line a method."""
    areas: dict[str, list[float]] = {}
    hits: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(3, np.int64))
    for seed in range(options.seeds):
        generator = np.random.default_rng(seed)
        order = generator.permutation(len(X))
        train, valid = order[len(X) // 5 :], order[: len(X) // 5]
        wrong = generator.random(len(train)) < options.share
        shift = generator.integers(1, y.max() + 1, len(train))
        noisy = np.where(wrong, (y[train] + shift) % (y.max() + 1), y[train])
        for method, (score, flagged) in scores(X[train], noisy, (X[valid], y[valid]), seed).items():
            areas.setdefault(method, []).append(roc_auc_score(wrong, score))
            if flagged is not None:
                hits[method] += [(flagged & wrong).sum(), flagged.sum(), wrong.sum()]
    lines = []
    for method, found in areas.items():
        cells = [f"{area:.3f}" for area in (np.mean(found), min(found), max(found))]
        right, flagged, wrong = hits[method]
        cells += [f"{right / flagged:.2f}", f"{right / wrong:.2f}"] if flagged else ["", ""]
        cells += ["" if method == PEER else f"{ttest_rel(found, areas[PEER]).pvalue:.3f}"]
        lines.append([name, str(len(X)), method, *cells])
    return lines


def main() -> None:
    """Run, print and write."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--share", type=float, default=0.1, help="labels that are flipped")
    parser.add_argument("--most", type=int, default=1000, help="rows of a table")
    parser.add_argument("--tables", nargs="*", default=[], help="NAME or NAME:TARGET below --data")
    parser.add_argument(
        "--shipped", nargs="*", default=list(SHIPPED), help="tables that ship with scikit-learn"
    )
    options = read_options(parser, seeds=1, most=60, shipped=["iris"])
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(machine_line("numpy", "cleanlab"))
    print(f"{options.share:.0%} of labels flipped, {options.seeds} seeds")
    lines = []
    for name, (X, y) in tables(options).items():
        for line in measure(name, X, y, options):
            lines.append(line)
            table, rows, method, area, low, high, precision, recall, chance = line
            found = f"{table:>16} {rows:>5} {method:<28} {area} ({low} .. {high})"
            print(f"{found} {precision:>5} {recall:>5} {chance:>6}", flush=True)
    with (options.out / "areas.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        writer.writerows(lines)


if __name__ == "__main__":
    main()
