"""A labelling queue that stays: rows change, and values follow without a new forest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.lifecycle.labeling import rank_tables
from easeml.lifecycle.labeling.inputs import check_count, check_task
from easeml.lifecycle.labeling.knn import in_blocks
from easeml.lifecycle.labeling.pool import check_pool, forest_of, guessed, values_in
from easeml.lifecycle.labeling.queue import (
    Queue,
    choose,
    entropy_of,
    queue_of,
    rank_share,
    typical_distance,
)

if TYPE_CHECKING:
    from sklearn.ensemble import RandomForestClassifier


class MovingQueue:
    """The queue of ``next_to_label``, whose rows can change one by one.

    Values are those that ``value_pool`` gives for the rows as they are now, but for rounding. The
    forest that guesses labels, and the distance that makes a row news, stay those of the start.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        pool: Any,
        X_valid: Any,
        y_valid: Any,
        k: int = 5,
        *,
        seed: int = 0,
        forest: RandomForestClassifier | None = None,
    ):
        """Arguments as for ``next_to_label``, which says what is raised.

        ``forest``: guesses labels, of the classes of ``y``; None: it is fitted.
        """
        task = check_task(X, y, X_valid, y_valid, k)
        self._task = replace(task, X=task.X.copy(), X_valid=task.X_valid.copy())
        self._pool = check_pool(task, pool).copy()
        self._forest = forest_of(self._task, seed) if forest is None else forest
        self._chances = guessed(self._forest, self._pool)
        columns = self._by_class(self._chances)
        self._totals = values_in(self._task, self._pool, columns) * len(self._task.X_valid)
        self._scale = typical_distance(self._pool, k)
        self._table = rank_tables.hard(len(self._task.X) + 1, k)
        self._rows = in_blocks(self._task.X)
        self._candidates = in_blocks(self._pool)

    @property
    def labelled(self) -> np.ndarray:
        """The labelled rows (n, d) as they are now."""
        return self._task.X

    @property
    def values(self) -> np.ndarray:
        """(p,) what each row of the pool is expected to add; see ``value_pool``."""
        return self._totals / len(self._task.X_valid)

    def renewed(self, X: Any, y: Any, pool: Any, X_valid: Any, y_valid: Any) -> MovingQueue | None:
        """Return the queue of other rows, with the forest of this one.

        Any number of rows may be others, and their labels. It takes one pass over all pairs, which
        is what some ten rows that move take. None where the labelled rows have other classes.
        """
        known = set(self._task.classes[self._learned])
        has_same = known == set(y) and set(self._task.classes) == known.union(y_valid)
        if not has_same:
            return None
        return MovingQueue(X, y, pool, X_valid, y_valid, self._task.k, forest=self._forest)

    def queue(self, n: int = 50) -> Queue:
        """Return up to ``n`` rows of the pool to label next, as ``next_to_label`` chooses them."""
        check_count(n, "n")
        values = self.values
        base = (rank_share(values) + rank_share(entropy_of(self._chances))) / 2
        chosen = choose(self._pool, base, n, 1.0, self._scale)
        return queue_of(chosen, values, self._chances, self._task.classes[self._learned])

    def move_labelled(self, row: int, place: np.ndarray) -> None:
        """Take in that a labelled row is at ``place`` (d,)."""
        from easeml.lifecycle.labeling.kernels_moves import add_moved_row

        task = self._task
        add_moved_row(
            self._rows, task.y, self._candidates, self._by_class(self._chances), task.X_valid,
            task.y_valid, row, place, task.y[row], self._table, self._totals,
        )  # fmt: skip
        task.X[row] = place
        _put(self._rows, row, place)

    def move_unlabelled(self, row: int, place: np.ndarray) -> None:
        """Take in that a row of the pool is at ``place`` (d,); its label is guessed anew."""
        from easeml.lifecycle.labeling.kernels_moves import moved_candidate

        task = self._task
        chances = guessed(self._forest, place[None, :])
        self._totals[row] += moved_candidate(
            self._rows, task.y, task.X_valid, task.y_valid, self._pool[row], place,
            self._by_class(self._chances[row : row + 1])[0], self._by_class(chances)[0], self._table,
        )  # fmt: skip
        self._chances[row] = chances[0]
        self._pool[row] = place
        _put(self._candidates, row, place)

    def move_validation(self, row: int, place: np.ndarray) -> None:
        """Take in that a validation row is at ``place`` (d,)."""
        columns = self._by_class(self._chances)
        wanted = self._task.y_valid[row : row + 1]
        before = replace(self._task, X_valid=self._task.X_valid[row : row + 1], y_valid=wanted)
        after = replace(self._task, X_valid=place[None, :], y_valid=wanted)
        self._totals -= values_in(before, self._pool, columns)
        self._totals += values_in(after, self._pool, columns)
        self._task.X_valid[row] = place

    @property
    def _learned(self) -> np.ndarray:
        """The codes of the classes that labelled rows have."""
        return np.unique(self._task.y)

    def _by_class(self, chances: np.ndarray) -> np.ndarray:
        """Return chances (rows, all classes) of those of the classes that were learned."""
        columns = np.zeros((len(chances), len(self._task.classes)))
        columns[:, self._learned] = chances
        return columns


def _put(blocks: np.ndarray, row: int, place: np.ndarray) -> None:
    """Write a row's columns into blocks of rows."""
    block, within = divmod(row, blocks.shape[2])
    blocks[block, :, within] = place
