"""How well wrong labels are found: area under the ROC curve with a share of the labels of real tables flipped.

easeml's values (rows judging each other; or judged by trusted rows) beside cleanlab's confident learning and its data
valuation, and the loss of a cross-validated logistic regression. Tables ship with scikit-learn; more are read with
--data FOLDER (NAME/NAME.csv, target in the last column or as given). Mean and range over --seeds. Writes CSV.
"""

import argparse
import csv
import os
import platform
from importlib.metadata import version
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import StandardScaler

from easeml.lifecycle.labeling import find_mislabelled, knn_shapley

RESULTS = Path(__file__).parent / "results" / "mislabelled_rows"
SHIPPED = {"breast_cancer": load_breast_cancer, "digits": load_digits, "iris": load_iris, "wine": load_wine}


def tables(folder: Path | None, names: list[str]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return matrices and label codes by name."""
    found = {}
    for name, load in SHIPPED.items():
        X, y = load(return_X_y=True)
        found[name] = StandardScaler().fit_transform(X), y
    for entry in names if folder else []:
        import pandas as pd

        from easeml.lifecycle import encode

        name, _, target = entry.partition(":")
        frame = pd.read_csv(folder / name / f"{name}.csv").dropna(subset=[target] if target else None)
        frame = frame.sample(min(len(frame), 3000), random_state=0)
        labels = frame.pop(target or frame.columns[-1])
        found[name] = encode(frame)[0], np.unique(labels, return_inverse=True)[1]
    return found


def scores(X: np.ndarray, noisy: np.ndarray, trusted: tuple[np.ndarray, np.ndarray], k: int, seed: int) -> dict:
    """Return a score by method, higher for rows more likely to be wrong."""
    from cleanlab.data_valuation import data_shapley_knn
    from cleanlab.rank import get_label_quality_scores

    chances = cross_val_predict(LogisticRegression(max_iter=500), X, noisy, cv=5, method="predict_proba")
    suspects = find_mislabelled(X, noisy, k=k, seed=seed)
    values = np.empty(len(X))
    values[suspects.rows] = suspects.values
    return {
        "easeml, rows judge each other": -values,
        "easeml, trusted rows": -knn_shapley(X, noisy, *trusted, k),
        "easeml soft, trusted rows": -knn_shapley(X, noisy, *trusted, k, soft=True),
        "cleanlab self-confidence": -get_label_quality_scores(noisy, chances, method="self_confidence"),
        "cleanlab data valuation": -data_shapley_knn(noisy, features=X, metric="euclidean", k=10),
    }


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--share", type=float, default=0.1, help="labels that are flipped")
    parser.add_argument("-k", type=int, default=5)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--tables", nargs="*", default=[], help="NAME or NAME:TARGET below --data")
    options = parser.parse_args()
    rows = []
    for name, (X, y) in tables(options.data, options.tables).items():
        found: dict[str, list[float]] = {}
        for seed in range(options.seeds):
            generator = np.random.default_rng(seed)
            order = generator.permutation(len(X))
            train, valid = order[len(X) // 5 :], order[: len(X) // 5]
            wrong = generator.random(len(train)) < options.share
            shift = generator.integers(1, y.max() + 1, len(train))
            noisy = np.where(wrong, (y[train] + shift) % (y.max() + 1), y[train])
            for method, score in scores(X[train], noisy, (X[valid], y[valid]), options.k, seed).items():
                found.setdefault(method, []).append(roc_auc_score(wrong, score))
        for method, areas in found.items():
            rows.append([name, len(X), method, *(f"{area:.3f}" for area in (np.mean(areas), min(areas), max(areas)))])
    print(f"{platform.machine()}, {os.cpu_count()} cores; Python {platform.python_version()}, NumPy {np.__version__}")
    print(
        f"cleanlab {version('cleanlab')}; {options.share:.0%} of labels flipped, {options.seeds} seeds, k {options.k}"
    )
    for row in rows:
        print(f"{row[0]:>16} {row[1]:>6} {row[2]:<32} {row[3]} ({row[4]} .. {row[5]})")
    RESULTS.mkdir(parents=True, exist_ok=True)
    with (RESULTS / "areas.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["table", "rows", "method", "area", "low", "high"])
        writer.writerows(rows)


if __name__ == "__main__":
    main()
