"""Finding training rows whose label is probably wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.labeling._inputs import Task, check_task
from easeml.lifecycle.labeling.knn import Game
from easeml.lifecycle.labeling.values import standard_errors
from easeml.lifecycle.result import Result

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from easeml.lifecycle.result import Progress


@dataclass(frozen=True)
class Suspects(Result):
    """Training rows by how likely their label is wrong, the most suspicious first: arrays of equal length.

    ``suggestions`` are the labels of the majority of their neighbours; ``flagged`` marks rows whose value is negative
    beyond chance at a false-discovery rate of ``rate``, and whose neighbours say something else.
    """

    rows: np.ndarray
    labels: np.ndarray
    suggestions: np.ndarray
    values: np.ndarray
    standard_errors: np.ndarray
    flagged: np.ndarray
    rate: float

    @property
    def advice(self) -> str:
        n = int(self.flagged.sum())
        if not n:
            return (
                f"None of {len(self.rows)} labels is wrong beyond doubt; the table still lists the least likely first."
            )
        return (
            f"{n} of {len(self.rows)} labels are probably wrong. Check them from the top; "
            "stop when several in a row turn out to be right."
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row a training row, the most suspicious first."""
        import pandas as pd

        names = ("rows", "labels", "suggestions", "values", "standard_errors", "flagged")
        heads = ("row", "label", "suggestion", "value", "standard_error", "flagged")
        return pd.DataFrame({head: getattr(self, name) for head, name in zip(heads, names, strict=True)})

    def figure(self) -> go.Figure:
        """Return the values, flagged rows apart."""
        from easeml.figures.labeling import suspects

        return suspects(self.to_json())


def find_mislabelled(
    X: Any,
    y: Any,
    X_valid: Any = None,
    y_valid: Any = None,
    k: int = 5,
    *,
    rate: float = 0.1,
    folds: int = 5,
    metric: str = "euclidean",
    seed: int = 0,
    progress: Progress | None = None,
) -> Suspects:
    """Return training rows in the order in which their labels should be checked.

    Rows are valued by ``knn_shapley`` against the validation rows, or, without any, against each other: each of
    ``folds`` random parts in turn is the validation set of the rest. A wrong label makes neighbours wrong, so its
    value is low. Rows are flagged by a one-sided test of value / standard error at the false-discovery rate
    ``rate`` (Benjamini and Hochberg, 1995), if the majority of their k neighbours disagrees.

    Args:
        X: Training rows (n, d).
        y: Their labels (n,), some of them wrong.
        X_valid: Validation rows with trusted labels, if there are any; both or none.
        y_valid: Their labels.
        k: Neighbours that vote.
        rate: Share of false alarms allowed among the flagged, in (0, 1).
        folds: Parts, in 2 .. n, where there are no validation rows.
        metric: 'euclidean' or 'cosine'.
        seed: Seed of the parts.
        progress: Called with the share of the work that is done.

    Raises:
        InvalidInput: if the inputs do not fit each other, are empty or not finite.
    """
    if not 0 < rate < 1:
        raise InvalidInput(f"Expected a share above 0 and below 1, found {rate!r}.", where="rate")
    if (X_valid is None) != (y_valid is None):
        raise InvalidInput("Give both validation rows and their labels, or none.", where="X_valid")
    if X_valid is None:
        task = check_task(X, y, X, y, k, metric)
        values, errors = _value_each_other(task, folds, seed, progress)
    else:
        task = check_task(X, y, X_valid, y_valid, k, metric)
        values, squares = Game(task).exact(progress, squares=True)
        errors = standard_errors(values, squares, len(task.X_valid))
    suggested = _majority_of_neighbours(task)
    flagged = _harmful(values, errors, rate) & (suggested != task.y)
    order = np.lexsort((values, ~flagged))
    labels, suggestions = task.classes[task.y], task.classes[suggested]
    return Suspects(order, labels[order], suggestions[order], values[order], errors[order], flagged[order], float(rate))


def _value_each_other(task: Task, folds: int, seed: int, progress: Progress | None) -> tuple[np.ndarray, np.ndarray]:
    """Return mean values over all other parts' rows, and standard errors."""
    n = len(task.X)
    if isinstance(folds, bool) or not 2 <= folds <= n:
        raise InvalidInput(f"Expected a whole number from 2 to the {n} rows, found {folds!r}.", where="folds")
    part = np.random.default_rng(seed).permutation(n) % folds
    first, second, draws = np.zeros(n), np.zeros(n), np.zeros(n)
    for fold in range(folds):
        valid, train = part == fold, part != fold
        some = replace(task, X=task.X[train], y=task.y[train], X_valid=task.X[valid], y_valid=task.y[valid])
        values, squares = Game(some).exact(squares=True)
        first[train] += values * valid.sum()
        second[train] += squares * valid.sum()
        draws[train] += valid.sum()
        if progress:
            progress((fold + 1) / folds)
    mean = first / draws
    with np.errstate(divide="ignore", invalid="ignore"):
        return mean, np.sqrt(np.maximum(second / draws - mean**2, 0.0) / (draws - 1))


def _majority_of_neighbours(task: Task) -> np.ndarray:
    """Return the most frequent class among each row's k nearest other rows; its own where that ties, or alone."""
    from sklearn.neighbors import NearestNeighbors

    n = len(task.X)
    if n == 1:
        return task.y.copy()
    k = min(task.k, n - 1)
    found = NearestNeighbors(n_neighbors=k).fit(task.X).kneighbors(return_distance=False)
    votes = np.zeros((n, len(task.classes)))
    np.add.at(votes, (np.arange(n)[:, None], task.y[found]), 1.0)
    votes[np.arange(n), task.y] += 0.5
    return votes.argmax(axis=1)


def _harmful(values: np.ndarray, errors: np.ndarray, rate: float) -> np.ndarray:
    """Return which values are negative beyond chance (Benjamini and Hochberg, 1995)."""
    from scipy.stats import norm

    known = np.isfinite(errors) & (errors > 0)
    chances = np.ones(len(values))
    chances[known] = norm.cdf(values[known] / errors[known])
    order = np.argsort(chances)
    passed = np.flatnonzero(chances[order] <= rate * np.arange(1, len(values) + 1) / len(values))
    harmful = np.zeros(len(values), bool)
    if len(passed):
        harmful[order[: passed[-1] + 1]] = True
    return harmful
