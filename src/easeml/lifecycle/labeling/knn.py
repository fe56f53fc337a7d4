"""Shapley values of training rows for nearest neighbours: exact, or truncated at a stated error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.labeling import rank_tables
from easeml.lifecycle.labeling.inputs import Task, check_posterior, check_task
from easeml.lifecycle.result import Progress, listener

_PAIRS_A_CALL = 2e7  # pairs of rows between two reports of progress


def knn_shapley(
    X: Any,
    y: Any,
    X_valid: Any,
    y_valid: Any,
    k: int = 5,
    *,
    soft: bool = False,
    error: float = 0.0,
    ties: str = "average",
    metric: str = "euclidean",
    progress: Progress | None = None,
) -> np.ndarray:
    """Return the Shapley value of each training row, averaged over the validation rows.

    The players are the training rows; a coalition S is worth the mean over validation rows of
    (matches among the min(k, |S|) nearest in S) / k, and 0 where it is empty (Jia et al., PVLDB
    2019; right for fewer than k rows too). Values sum to what all rows together are worth. Takes
    O(t n (d + log n)), with memory for X and a few arrays of n numbers a core, on all cores.

    Args:
        X: Training rows (n, d), finite; scale the columns first.
        y: Their labels (n,).
        X_valid: Validation rows (t, d) with trusted labels.
        y_valid: Their labels (t,); one that no training row has is no error: nothing matches it.
        k: Neighbours that vote, at least 1.
        soft: Divide by min(k, |S|) instead of k; the empty coalition is worth 1 / classes (Wang and Jia, 2023).
        error: The largest error of any value that is allowed, 0 for none. Above 0 only the nearest rows of a
            validation row are ranked, at least ``max(k, 1 / error)``, and the rest valued as if at equal distance:
            the sum stays exact.
        ties: 'average': rows at equal distance get the mean over all their orders, so equal rows with equal labels
            have equal values. 'index': the row that comes first counts as nearer.
        metric: 'euclidean' or 'cosine'.
        progress: Called with the share of the work that is done.

    Raises:
        InvalidInput: if the inputs do not fit each other, are empty or not finite.
    """
    task = check_task(X, y, X_valid, y_valid, k, metric)
    if not 0 <= error < np.inf:
        raise InvalidInput(f"Expected a number of at least 0, found {error!r}.", where="error")
    game = Game(task, soft=soft, ties=ties)
    least = game.ranked_for(error)
    if least < len(task.X):
        return game.truncated(least, progress)
    return game.exact(progress)[0]


def expected_knn_shapley(
    X: Any,
    posterior: Any,
    X_valid: Any,
    y_valid: Any,
    k: int = 5,
    *,
    soft: bool = False,
    classes: Any = None,
    ties: str = "average",
    metric: str = "euclidean",
    progress: Progress | None = None,
) -> np.ndarray:
    """Return the expected ``knn_shapley`` of rows (n,) whose labels are known in probability only.

    Labels are taken as independent; the value is linear in the matches, so the expectation is
    exact.

    Args: posterior: Class probabilities (n, classes); a known label is a row with a single 1.
        classes: The class of each column of ``posterior``; by default the sorted labels of
        ``y_valid``.

    The other arguments are those of ``knn_shapley``.
    """
    task = check_task(X, np.resize(np.asarray(y_valid), len(X)), X_valid, y_valid, k, metric)
    named = task.classes if classes is None else np.unique(np.asarray(classes))
    matrix = check_posterior(posterior, len(task.X), len(named), "posterior")
    unknown = set(task.classes.tolist()) - set(named.tolist())
    if unknown:
        raise InvalidInput(
            f"The validation label {unknown.pop()!r} is not among them.", where="classes"
        )
    codes = np.searchsorted(named, task.classes)[task.y_valid].astype(np.int32)
    if classes is not None:
        matrix = matrix[:, np.argsort(np.asarray(classes))]
    task = replace(task, y_valid=codes, classes=named)
    return Game(task, soft=soft, ties=ties, posterior=np.ascontiguousarray(matrix)).exact(progress)[
        0
    ]


class Game:
    """A linear game over nearest neighbours on a task, ready for the compiled kernels."""

    def __init__(
        self,
        task: Task,
        *,
        soft: bool = False,
        ties: str = "average",
        posterior: np.ndarray | None = None,
        blocks: np.ndarray | None = None,
    ):
        from easeml.lifecycle.labeling.sorting import SAME

        if ties not in ("average", "index"):
            raise InvalidInput(
                f"There is no rule {ties!r}.", where="ties", remedy="Use 'average' or 'index'."
            )
        self.task = replace(
            task, X_valid=np.ascontiguousarray(task.X_valid)
        )  # one memory layout, one compilation
        self.soft = soft
        self.posterior = np.zeros((0, 0)) if posterior is None else posterior
        self.same = SAME if ties == "average" else -1.0
        self.table = (rank_tables.soft if soft else rank_tables.hard)(len(task.X), task.k)
        self.sums = np.cumsum(self.table)
        self.blocks = in_blocks(task.X) if blocks is None else blocks

    def ranked_for(self, error: float) -> int:
        """Return how many rows must be ranked for ``error``: g(ranked) - g(n) bounds it."""
        if error <= 0:
            return len(self.task.X)
        falls = self.table[1:] - self.table[-1] <= error
        falls[: self.task.k - 1] = False
        return int(falls.argmax()) + 1 if falls.any() else len(self.task.X)

    def exact(
        self, progress: Progress | None = None, *, squares: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean value of each row, and the mean square over validation rows.

        The second is empty where it was not asked for.
        """
        from easeml.lifecycle.compiled import in_parts, parts_of
        from easeml.lifecycle.labeling.kernels import add_exact

        task = self.task
        n = len(self.task.X)
        parts = parts_of(-(-len(task.X_valid) // 4))
        constants = self._constants()
        totals = np.zeros((parts, n))
        second = np.zeros((parts if squares else 0, n))
        for some in self._portions(parts, progress):
            in_parts(
                add_exact, parts, self.blocks, n, task.X_valid[some], task.y_valid[some],
                constants[some], task.y, self.posterior, self.table, self.sums, self.same,
                totals, second,
            )  # fmt: skip
        t = len(task.X_valid)
        return totals.sum(axis=0) / t, second.sum(axis=0) / t if squares else np.zeros(0)

    def truncated(self, ranked: int, progress: Progress | None = None) -> np.ndarray:
        """Return the mean value of each row; at least ``ranked`` are ranked each time."""
        from easeml.lifecycle.compiled import in_parts, parts_of
        from easeml.lifecycle.labeling.kernels_truncated import add_truncated

        task = self.task
        n = len(self.task.X)
        parts = parts_of(-(-len(task.X_valid) // 4))
        counts = np.bincount(task.y, minlength=len(task.classes)).astype(float)
        totals = np.zeros((parts, n))
        far = np.zeros((parts, len(counts), 2))
        for some in self._portions(parts, progress):
            in_parts(
                add_truncated, parts, self.blocks, n, task.X_valid[some], task.y_valid[some],
                task.y, counts, self.table, self.sums, self.same, ranked, totals, far,
            )  # fmt: skip
        return self.merged(totals, far, np.arange(len(task.X_valid)))

    def merged(self, totals: np.ndarray, far: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Return mean values over ``points`` from what the truncated kernels added up."""
        beyond = far.sum(axis=0)
        by_label = beyond[:, 0].sum() - beyond[:, 0] + beyond[:, 1]
        return (totals.sum(axis=0) + by_label[self.task.y]) / len(points) + self._constants()[
            points
        ].mean()

    def _constants(self) -> np.ndarray:
        """Return, for each validation row, what every row's value has beside its rank's."""
        task = self.task
        n = len(self.task.X)
        if not self.soft:
            return np.zeros(len(task.X_valid))
        matches = (
            self.posterior.sum(axis=0)
            if len(self.posterior)
            else np.bincount(task.y, minlength=len(task.classes))
        )
        by_class = [
            rank_tables.soft_constant(n, task.k, float(count), len(task.classes))
            for count in matches
        ]
        return np.array(by_class)[task.y_valid]

    def _portions(self, parts: int, progress: Progress | None) -> Iterator[slice]:
        """Give slices of the validation rows, and report after each."""
        tell = listener(progress)
        t = len(self.task.X_valid)
        step = max(4 * parts, int(_PAIRS_A_CALL / len(self.task.X)) // (4 * parts) * 4 * parts)
        for start in range(0, t, step):
            yield slice(start, min(start + step, t))
            tell(min(start + step, t) / t)


def in_blocks(X: np.ndarray) -> np.ndarray:
    """Return the rows of ``X`` in blocks (n_blocks, d, BLOCK), columns first, zeros last."""
    from easeml.lifecycle.labeling.sorting import BLOCK

    n, d = X.shape
    blocks = np.zeros((-(-n // BLOCK), d, BLOCK))
    whole = n // BLOCK
    blocks[:whole] = X[: whole * BLOCK].reshape(whole, BLOCK, d).transpose(0, 2, 1)
    if n % BLOCK:
        blocks[whole, :, : n % BLOCK] = X[whole * BLOCK :].T
    return blocks
