"""Values of unlabelled rows: what each would add to the training rows if it were labelled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.labeling import rank_tables
from easeml.lifecycle.labeling.inputs import Task, check_matrix, check_posterior, check_task
from easeml.lifecycle.labeling.knn import in_blocks, knn_shapley
from easeml.lifecycle.result import Progress, listener

if TYPE_CHECKING:
    from sklearn.ensemble import RandomForestClassifier

_PAIRS = 2_000_000  # of rows between two reports of progress


def value_pool(
    X: Any,
    y: Any,
    pool: Any,
    X_valid: Any,
    y_valid: Any,
    k: int = 5,
    *,
    posterior: Any = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> np.ndarray:
    """Return the expected value (p,) of each unlabelled row, were it alone added to training.

    The game is that of ``knn_shapley`` on the training rows and this one row, whose label is drawn
    from its ``posterior``: its value is linear in the chance that it matches, so the expectation is
    exact. Takes O(t ((n + p) (d + log n))).

    Args:
        X: Labelled rows (n, d).
        y: Their labels (n,).
        pool: Unlabelled rows (p, d).
        X_valid: Validation rows (t, d).
        y_valid: Their labels (t,).
        k: Neighbours that vote.
        posterior: Class probabilities (p, classes) over the sorted classes of ``y``; by default those of a random
            forest fitted with ``seed``. A validation label that is no class of ``y`` is matched by none.

    Raises:
        InvalidInput: if the inputs do not fit each other, are empty or not finite.
    """
    task = check_task(X, y, X_valid, y_valid, k)
    candidates = check_pool(task, pool)
    columns = np.zeros((len(candidates), len(task.classes)))
    columns[:, np.unique(task.y)] = chances_of(task, candidates, posterior, seed)
    return values_in(task, candidates, columns, progress)


def predicted_pool_values(
    X: Any, y: Any, pool: Any, X_valid: Any, y_valid: Any, k: int = 5, *, seed: int = 0
) -> np.ndarray:
    """Return the values (p,) of unlabelled rows that a forest predicts from the labelled ones.

    It knows nothing about labels: useful where no posterior can be trusted. Arguments as for
    ``value_pool``.
    """
    from sklearn.ensemble import RandomForestRegressor

    task = check_task(X, y, X_valid, y_valid, k)
    candidates = check_pool(task, pool)
    values = knn_shapley(X, y, X_valid, y_valid, k)
    forest = RandomForestRegressor(100, min_samples_leaf=2, random_state=seed).fit(
        task.X, values * len(values)
    )
    return forest.predict(candidates) / len(values)


def check_pool(task: Task, pool: Any) -> np.ndarray:
    """Return the pool as a matrix with the columns of the training rows."""
    candidates = check_matrix(pool, "pool")
    if candidates.shape[1] != task.X.shape[1]:
        raise InvalidInput(
            f"It has {candidates.shape[1]} columns, X has {task.X.shape[1]}.",
            where="pool",
            remedy="Encode both with the same encoder, fitted on X.",
        )
    return candidates


def chances_of(task: Task, candidates: np.ndarray, posterior: Any, seed: int) -> np.ndarray:
    """Return class probabilities (p, classes in y): the ``posterior``, else a forest's.

    The forest is fitted on ``task``.

    Raises:
        InvalidInput: if the ``posterior`` is none.
    """
    if posterior is not None:
        return check_posterior(posterior, len(candidates), len(np.unique(task.y)), "posterior")
    return guessed(forest_of(task, seed), candidates)


def forest_of(task: Task, seed: int) -> RandomForestClassifier:
    """Return the forest that guesses the labels of the pool, fitted on the labelled rows."""
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(100, min_samples_leaf=2, random_state=seed)
    return forest.fit(task.X, task.y)


def guessed(forest: RandomForestClassifier, candidates: np.ndarray) -> np.ndarray:
    """Return class probabilities (p, classes) of candidates."""
    return np.asarray(forest.predict_proba(candidates))


def values_in(
    task: Task, candidates: np.ndarray, chances: np.ndarray, progress: Progress | None = None
) -> np.ndarray:
    """Return the values (p,) of candidates with chances (p, classes of ``task``)."""
    from easeml.lifecycle.labeling.kernels_pool import add_pool_values

    t = len(task.X_valid)
    table = rank_tables.hard(len(task.X) + 1, task.k)
    totals = np.zeros(len(candidates))
    rows, asked = in_blocks(task.X), in_blocks(candidates)
    tell = listener(progress)
    step = 4 * max(1, _PAIRS // (4 * (len(task.X) + len(candidates))))
    for start in range(0, t, step):
        some = slice(start, min(start + step, t))
        add_pool_values(
            rows, task.y, asked, chances, task.X_valid[some], task.y_valid[some], table, totals
        )
        tell(some.stop / t)
    return totals / t
