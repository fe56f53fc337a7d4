"""A linear stand-in for the models of an application, to tell what an answer would move.

Ridge regression of the answers, classes as indicators, has a closed form, so that what it would say
after an answer is known without fitting again. What an answer is expected to bring is the squared
shift of the predictions on the rows that count, on average over what may be answered. Where beliefs
are calibrated that is the fall of the squared error (of the Brier score for classes): the variance
of a mean that moves by learning is what learning takes off the error. For labels this is the
V-optimal design of Cohn, Ghahramani and Jordan (JAIR 4, 1996).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

_MOST_LEVERAGE = 0.999
_STRENGTHS = np.logspace(0, 4, 9)  # of the penalty, tried by leaving each row out


@dataclass(frozen=True)
class Surrogate:
    """Ridge regression of n rows with D features on K targets, and the rows that count.

    ``inverse`` (D, D): of the penalised second moments. ``weights`` (D, K). ``counted`` (D, D):
    mean of the outer products of the rows that count. ``error``: squared error on rows left out.
    """

    inverse: np.ndarray
    weights: np.ndarray
    counted: np.ndarray
    error: float

    @staticmethod
    def fitted(X: np.ndarray, Y: np.ndarray, counted: np.ndarray) -> Surrogate:
        """Learn from rows (n, D) and targets (n, K); ``counted`` (m, D): the rows that count.

        The penalty is the one whose squared error on rows left out is least.
        """
        values, vectors = np.linalg.eigh(X.T @ X)
        turned = X @ vectors
        moments = turned.T @ Y
        errors = [_left_out_error(turned, Y, moments, values + one) for one in _STRENGTHS]
        best = int(np.argmin(errors))
        inverse = (vectors / (values + _STRENGTHS[best])) @ vectors.T
        metric = counted.T @ counted / max(1, len(counted))
        return Surrogate(inverse, inverse @ X.T @ Y, metric, errors[best])

    def with_row(self, x: np.ndarray, y: np.ndarray) -> Surrogate:
        """Return what learned from one more row (D,) with targets (K,); the penalty stays."""
        step = self.inverse @ x
        scale = 1.0 + float(x @ step)
        return self._moved(step, (y - x @ self.weights) / scale, scale)

    def without_row(self, x: np.ndarray, y: np.ndarray) -> Surrogate:
        """Return what did not learn from a row (D,) with targets (K,) that it did learn from."""
        step = self.inverse @ x
        scale = float(x @ step) - 1.0
        return self._moved(step, (y - x @ self.weights) / scale, scale)

    def _moved(self, step: np.ndarray, gap: np.ndarray, scale: float) -> Surrogate:
        """Return this after an update of rank one (Sherman and Morrison, 1950)."""
        inverse = self.inverse - np.outer(step, step) / scale
        return replace(self, inverse=inverse, weights=self.weights + np.outer(step, gap))

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return what it says (n, K) of rows."""
        return X @ self.weights

    def chances(self, X: np.ndarray) -> np.ndarray:
        """Return what it says of rows as chances (n, K) of classes."""
        said = np.clip(self.predict(X), 0.02, None)
        return said / said.sum(axis=1, keepdims=True)

    def of_answers(self, X: np.ndarray, variances: np.ndarray) -> np.ndarray:
        """Return what labels of rows (n, D) should bring, whose squared error is expected so large.

        ``variances`` (n,): the expected squared distance between the label and what is predicted.
        """
        return self._reach(X) * variances / (1.0 + _paired(X, self.inverse, X)) ** 2

    def of_answers_in_turn(
        self, X: np.ndarray, variances: np.ndarray, most: int
    ) -> list[tuple[int, float]]:
        """Return at most so many rows, each the best once those before are labelled, with gains.

        What a row brings does not depend on what the labels before say, so it is known ahead. A
        step takes O(n D): two rank-one updates (Sherman and Morrison, 1950).
        """
        values, vectors = np.linalg.eigh(self.counted)
        side = vectors * np.sqrt(np.clip(values, 0.0, None))
        inverse = self.inverse
        leverage = _paired(X, inverse, X)
        moved = X @ inverse @ side
        left = np.ones(len(X), bool)
        found = []
        for _ in range(min(most, len(X))):
            gains = (moved**2).sum(axis=1) * variances / (1.0 + leverage) ** 2
            best = int(np.argmax(np.where(left, gains, -np.inf)))
            found.append((best, float(gains[best])))
            left[best] = False
            step = inverse @ X[best]
            along = X @ step
            scale = 1.0 + leverage[best]
            moved -= np.outer(along, step @ side) / scale
            leverage -= along**2 / scale
            inverse = inverse - np.outer(step, step) / scale
        return found

    def of_corrections(self, X: np.ndarray, distances: np.ndarray) -> np.ndarray:
        """Return what corrected labels bring (n,) of rows (n, D) that were learned from.

        ``distances`` (n,): the expected squared distance between the right label and the given one.
        """
        return self._reach(X) * distances

    def of_cells(self, X: np.ndarray, Y: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return what it brings (n,) to learn that each row (n, D) is really another (n, D).

        ``Y`` (n, K): the targets of the rows. Exact: one row leaves and one comes (Woodbury).
        """
        leave, cross, come = (
            _paired(one, self.inverse, two) for one, two in ((X, X), (X, others), (others, others))
        )
        gap_leaving = Y - self.predict(X)
        gap_coming = Y - self.predict(others)
        scale = ((1.0 - leave) * (1.0 + come) + cross**2)[:, None]
        leaving = ((1.0 + come)[:, None] * gap_leaving - cross[:, None] * gap_coming) / scale
        coming = (cross[:, None] * gap_leaving + (1.0 - leave)[:, None] * gap_coming) / scale
        reach = self.inverse @ self.counted @ self.inverse
        return (
            (leaving**2).sum(axis=1) * _paired(X, reach, X)
            - 2 * (leaving * coming).sum(axis=1) * _paired(X, reach, others)
            + (coming**2).sum(axis=1) * _paired(others, reach, others)
        )

    def left_out(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """Return what it would say (n, K) of each row that it learned from, had it not seen it."""
        leverage = np.clip(_paired(X, self.inverse, X), 0.0, _MOST_LEVERAGE)[:, None]
        return (self.predict(X) - leverage * Y) / (1.0 - leverage)

    def moved_from(self, other: Surrogate) -> float:
        """Return the mean squared distance from what another one says of the rows that count."""
        shift = self.weights - other.weights
        return float(np.einsum("dk,de,ek->", shift, self.counted, shift, optimize=True))

    def _reach(self, X: np.ndarray) -> np.ndarray:
        """Return how far a unit of error in each row's label moves the predictions, squared."""
        return _paired(X, self.inverse @ self.counted @ self.inverse, X)


def _paired(rows: np.ndarray, form: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return row' form other (n,) of each pair of rows (n, D)."""
    return ((rows @ form) * others).sum(axis=1)


def _left_out_error(
    turned: np.ndarray, Y: np.ndarray, moments: np.ndarray, spread: np.ndarray
) -> float:
    """Return the mean squared error on rows that were left out (Allen's PRESS)."""
    said = turned @ (moments / spread[:, None])
    leverage = np.minimum((turned**2 / spread).sum(axis=1), _MOST_LEVERAGE)
    error = (Y - said) / (1.0 - leverage)[:, None]
    return float((error**2).sum(axis=1).mean())
