"""Shapley values from approximate neighbours, with the error measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.labeling.inputs import Task, check_count, check_task
from easeml.lifecycle.labeling.knn import Game
from easeml.lifecycle.result import Progress, listener

_SAMPLE = 32  # validation rows on which the error is measured
_FITTED = 20_000  # rows from which cells are learned


@dataclass(frozen=True)
class Approximation:
    """Approximate values (n,). On a sample of validation rows, compared with the exact values:
    ``error``, the largest difference of any row's mean value, and ``recall``, the share of the
    nearest rows that were found."""

    values: np.ndarray
    error: float
    recall: float


def approximate_knn_shapley(
    X: Any,
    y: Any,
    X_valid: Any,
    y_valid: Any,
    k: int = 5,
    *,
    error: float = 0.01,
    probes: int = 16,
    metric: str = "euclidean",
    seed: int = 0,
    progress: Progress | None = None,
) -> Approximation:
    """Return ``knn_shapley`` truncated at ``error``.

    Neighbours are looked for only in cells near the validation row.

    Rows are partitioned into cells by k-means (an inverted file: Jegou, Douze and Schmid, PAMI
    2011); a validation row looks into its ``probes`` nearest cells. Sublinear in n for each
    validation row, but for learning the cells, which pays for itself with many validation rows and
    few columns.

    Args: error: Truncation as in ``knn_shapley``, in (0, 1); missed neighbours come on top, see
        ``Approximation``. probes: Cells that are searched, at least 1; more find more neighbours.
        seed: Seed of k-means and of the sample on which the error is measured.

    The other arguments are those of ``knn_shapley``.

    Raises:
        InvalidInput: if the inputs do not fit each other, are empty or not finite.
    """
    task = check_task(X, y, X_valid, y_valid, k, metric)
    if not 0 < error < 1:
        raise InvalidInput(
            f"Expected a number above 0 and below 1, found {error!r}.", where="error"
        )
    game = Game(task)
    ranked = game.ranked_for(error)
    tell = listener(progress)
    cells = _Cells(task, ranked, check_count(probes, "probes"), seed)
    tell(0.3)
    values, _ = cells.values(game, ranked, np.arange(len(task.X_valid)))
    tell(0.8)
    sample = np.random.default_rng(seed).permutation(len(task.X_valid))[:_SAMPLE]
    approximate, found = cells.values(game, ranked, sample)
    part = Game(
        Task(task.X, task.y, task.X_valid[sample], task.y_valid[sample], task.classes, task.k),
        blocks=game.blocks,
    )
    difference = float(np.abs(part.exact()[0] - approximate).max())
    recall = _recall(task, sample, found, ranked)
    tell(1.0)
    return Approximation(values, difference, recall)


class _Cells:
    """A partition of the training rows."""

    def __init__(self, task: Task, ranked: int, probes: int, seed: int):
        from sklearn.cluster import KMeans

        n = len(task.X)
        count = int(np.clip(n // ranked, 1, 2 * np.sqrt(n)))
        generator = np.random.default_rng(seed)
        fitted = task.X[generator.permutation(n)[:_FITTED]]
        clusters = KMeans(count, init="random", max_iter=5, tol=0.1, random_state=seed).fit(fitted)
        cell = clusters.predict(task.X)
        self.ids = np.argsort(cell, kind="stable").astype(np.int32)
        self.rows = task.X[self.ids]
        self.start = np.searchsorted(cell[self.ids], np.arange(count + 1))
        self.probes = np.argsort(clusters.transform(task.X_valid), axis=1)[:, :probes]

    def values(self, game: Game, ranked: int, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean values over the validation rows ``points``, and the rows found for each."""
        from easeml.lifecycle.compiled import in_parts, parts_of
        from easeml.lifecycle.labeling.kernels_truncated import add_from_cells

        task = game.task
        n = len(game.task.X)
        parts = parts_of(len(points))
        counts = np.bincount(task.y, minlength=len(task.classes)).astype(float)
        totals = np.zeros((parts, n))
        far = np.zeros((parts, len(counts), 2))
        found = np.empty((len(points), ranked), np.int32)
        in_parts(
            add_from_cells, parts, self.rows, self.ids, self.start, self.probes[points],
            task.X_valid[points], task.y_valid[points], task.y, counts, game.table, game.sums,
            ranked, totals, far, found,
        )  # fmt: skip
        return game.merged(totals, far, points), found


def _recall(task: Task, points: np.ndarray, found: np.ndarray, ranked: int) -> float:
    """Return the share of the ``ranked`` nearest rows that were found."""
    from scipy.spatial.distance import cdist

    hits = 0
    for point, rows in zip(points, found, strict=True):
        distances = cdist(task.X_valid[point : point + 1], task.X, "sqeuclidean")[0]
        bound = np.partition(distances, ranked - 1)[ranked - 1]
        hits += int((distances[rows[rows >= 0]] <= bound * (1 + 1e-12)).sum())
    return hits / (ranked * len(points))
