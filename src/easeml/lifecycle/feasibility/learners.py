"""Quick learners: their errors bound the Bayes error from above, their scores are representations."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

FEWEST_LEAVES, MOST_LEAVES = 15, 255  # of a tree
A_LEAF = 120  # rows: trees of one size would stop learning from more of them
ONE_THREAD = 20_000  # rows below which threads cost more than they save


class Discriminant:
    """Linear discriminants over the pooled covariance with the shrinkage of Ledoit and Wolf (2004)."""

    def fit(self, matrix: np.ndarray, labels: np.ndarray) -> Self:
        from sklearn.covariance import ledoit_wolf

        self.classes_, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
        means = np.zeros((len(counts), matrix.shape[1]))
        np.add.at(means, codes, matrix)
        means /= counts[:, None]
        covariance, _ = ledoit_wolf(matrix - means[codes], assume_centered=True)
        covariance[np.diag_indices_from(covariance)] += 1e-9
        self._weights = np.linalg.solve(covariance, means.T)
        self._offsets = np.log(counts / counts.sum()) - (means * self._weights.T).sum(axis=1) / 2
        return self

    def predict_proba(self, matrix: np.ndarray) -> np.ndarray:
        from scipy.special import softmax

        return softmax(matrix @ self._weights + self._offsets, axis=1)


def discriminant(rows: int) -> Any:
    """Linear discriminants, in closed form."""
    return Discriminant()


def logistic(rows: int) -> Any:
    """Multinomial logistic regression, shrunk more where rows are few."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=min(1.0, rows / 10_000), max_iter=100)


def rules() -> Any:
    """Logistic regression of the few log odds that patterns give."""
    from sklearn.linear_model import LogisticRegression

    # a few steps of Newton: patterns without noise take other solvers hundreds
    return LogisticRegression(C=1.0, solver="newton-cholesky", max_iter=200)


def ridge(rows: int) -> Any:
    """Linear regression with a penalty chosen by leave-one-out."""
    from sklearn.linear_model import RidgeCV

    return RidgeCV((0.1, 1.0, 10.0, 100.0, 1000.0))


def boosted(classes: int, seed: int, rounds: int = 60) -> Any:
    """Return what makes boosted trees."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    def make(rows: int) -> Any:
        kind: Any = LGBMClassifier if classes else LGBMRegressor
        return kind(
            n_estimators=rounds,
            num_leaves=max(FEWEST_LEAVES, min(MOST_LEAVES, rows // A_LEAF)),
            min_child_samples=max(2, min(20, rows // 20)),
            random_state=seed,
            n_jobs=1 if rows < ONE_THREAD else None,
            deterministic=True,
            force_row_wise=True,
            verbose=-1,
        )

    return make


def importance(learner: Any, columns: int) -> np.ndarray:
    """Return how much trees gained by each column, (columns,); ones where there are no trees."""
    if hasattr(learner, "booster_"):
        return np.asarray(learner.booster_.feature_importance("gain"), dtype=float)
    return np.asarray(getattr(learner, "feature_importances_", np.ones(columns)), dtype=float)


class Shares:
    """The same shares of the classes for every row: what can be learned from too few rows."""

    def fit(self, matrix: np.ndarray, labels: np.ndarray) -> Self:
        self.classes_, counts = np.unique(labels, return_counts=True)
        self._shares = counts / counts.sum()
        return self

    def predict_proba(self, matrix: np.ndarray) -> np.ndarray:
        return np.tile(self._shares, (len(matrix), 1))


def teach_classes(labels: np.ndarray) -> bool:
    """Tell whether there is something to part: two classes or more, of two rows each on average."""
    distinct = len(np.unique(labels))
    return 1 < distinct <= len(labels) / 2


class Leaves:
    """A few boosted trees, asked only for the leaves that rows fall into."""

    def __init__(self, classes: int, seed: int, rows: int):
        rounds = max(4, 32 // max(1, classes if classes > 2 else 1))
        self._model = boosted(classes, seed, rounds)(rows)
        self._classes = classes
        self._fitted = False

    def fit(self, matrix: np.ndarray, labels: np.ndarray) -> Self:
        is_number = self._classes == 0
        self._fitted = bool((labels != labels[0]).any()) if is_number else teach_classes(labels)
        if self._fitted:
            self._model.fit(matrix, labels)
        return self

    def apply(self, matrix: np.ndarray) -> np.ndarray:
        """Return (rows, trees) leaf numbers; one leaf for all where there was nothing to part."""
        if not self._fitted:
            return np.zeros((len(matrix), 1), dtype=np.int64)
        return np.asarray(self._model.predict(matrix, pred_leaf=True)).reshape(len(matrix), -1)


def leaves(classes: int, seed: int) -> Any:
    """Return what makes learners whose leaves are a representation."""
    return lambda rows: Leaves(classes, seed, rows)


def forest(seed: int) -> Any:
    """Return what makes a forest for many classes, where boosting would grow a tree for each."""
    from sklearn.ensemble import RandomForestClassifier

    def make(rows: int) -> Any:
        least = max(2, min(20, rows // 200))
        jobs = None if rows < ONE_THREAD else -1
        return RandomForestClassifier(30, min_samples_leaf=least, random_state=seed, n_jobs=jobs)

    return make
