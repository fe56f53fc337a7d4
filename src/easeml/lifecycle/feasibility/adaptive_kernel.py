"""A kernel that learns which directions of the inputs matter: what decides in a few of many columns.

Recursive feature machines (Radhakrishnan, Beaglehole, Pandit and Belkin, Science, 2024): a kernel
machine is fitted, the mean outer product of its gradients says along which directions it changes,
and the next kernel measures distances along these. Random features (Rahimi and Recht, 2007) stand
for the kernel, so that everything is a small ridge regression. Their number grows with the rows:
with as many for any number of rows, errors would stay where they cannot bend, and the end of their
curve would be no bound of what other models reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

A_ROW = 0.25  # random features
MOST_FEATURES = 400  # of the last size of the training set; of smaller ones in proportion
FEWEST_FEATURES = 20
STEPS = 5
KEPT = 3  # last steps, whose mean answers: each draws features of its own
TAILS = 4.0  # degrees of freedom: widths vary, so that edges and slopes are both met
WIDTH = 1.7  # frequencies a unit of spread: with inputs of unit variance, in directions of sum 1
PENALTIES = np.geomspace(5e-4, 1.5, 6)  # shares of the rows
MOST_COLUMNS = 150  # above, gradients cost more than they tell
MOST_ROWS = 10_000


@dataclass(frozen=True)
class _Step:
    """One kernel: frequencies (columns, features), phases, coefficients (features, answers)."""

    frequencies: np.ndarray
    phases: np.ndarray
    coefficients: np.ndarray

    def at(self, matrix: np.ndarray) -> np.ndarray:
        """Return what is added to the mean, (rows, answers)."""
        return np.cos(matrix @ self.frequencies + self.phases) @ self.coefficients


class AdaptiveKernel:
    """Ridge regression on random features of a kernel that is learned; of shares or of numbers."""

    def __init__(self, classes: int, seed: int, features: int):
        """``classes``: their number, 0 for a target of numbers. ``features``: see ``features_for``."""
        self._classes = classes
        self._seed = seed
        self._features = features

    def fit(self, matrix: np.ndarray, values: np.ndarray, importance: np.ndarray) -> Self:
        """Learn from rows of about unit variance.

        ``importance``: (columns,) how much each is thought to matter, 0 or more: where it starts.
        """
        answers = np.eye(self._classes)[values] if self._classes else values[:, None].astype(float)
        if self._classes == 2:
            answers = answers[:, 1:]  # the other share is what is left
        matrix = matrix.astype(np.float32)
        self._mean = answers.mean(axis=0)
        left = answers - self._mean
        rng = np.random.default_rng(self._seed)
        weights = importance + 1e-9
        directions = np.diag(np.sqrt(weights / weights.sum()))
        steps = []
        for _ in range(STEPS):
            step, moment = _fit_once(matrix, left, directions, self._features, rng)
            steps.append(step)
            directions = _root(moment)
        self._steps = steps[-KEPT:]
        return self

    def predict(self, matrix: np.ndarray) -> np.ndarray:
        """Return shares of the classes (rows, C), each at least 0, or numbers (rows, 1)."""
        matrix = matrix.astype(np.float32)
        found = self._mean + np.mean([step.at(matrix) for step in self._steps], axis=0)
        if not self._classes:
            return found
        if self._classes == 2:
            found = np.hstack([1 - found, found])
        shares = np.clip(found, 1e-6, None)
        return shares / shares.sum(axis=1, keepdims=True)


def features_for(count: int, rows: int) -> int:
    """Return how many random features ``count`` training rows get, of ``rows`` at the last size."""
    return max(FEWEST_FEATURES, int(count * min(A_ROW, MOST_FEATURES / rows)))


def _fit_once(
    matrix: np.ndarray,
    left: np.ndarray,
    directions: np.ndarray,
    count: int,
    rng: np.random.Generator,
) -> tuple[_Step, np.ndarray]:
    """Return a kernel along ``directions`` and the mean outer product of its gradients.

    ``count``: how many random features it has.
    """
    columns = matrix.shape[1]
    widths = WIDTH * np.sqrt(TAILS / rng.chisquare(TAILS, count))
    frequencies = (directions @ rng.standard_normal((columns, count)) * widths).astype(np.float32)
    phases = rng.uniform(0, 2 * np.pi, count).astype(np.float32)
    angles = matrix @ frequencies + phases
    coefficients = _ridge(np.cos(angles), left).astype(np.float32)
    waves = np.sin(angles)
    moment = np.zeros((columns, columns))
    for answer in coefficients.T:
        gradients = (waves * answer) @ frequencies.T
        moment += gradients.T @ gradients
    return _Step(frequencies, phases, coefficients), moment


def _ridge(features: np.ndarray, left: np.ndarray) -> np.ndarray:
    """Return coefficients (features, answers), by the penalty of the least leave-one-out error."""
    values, vectors = np.linalg.eigh((features.T @ features).astype(float))
    turned = features @ vectors.astype(np.float32)
    squares = turned**2
    products = turned.T @ left
    least = np.inf
    best = np.zeros_like(products)
    for penalty in PENALTIES * len(features):
        shrunk = 1 / (np.clip(values, 0, None) + penalty)
        own = np.clip(squares @ shrunk, 0, 0.99)
        weights = products * shrunk[:, None]
        error = float((((left - turned @ weights) / (1 - own)[:, None]) ** 2).mean())
        if error < least:
            least = error
            best = weights
    return vectors @ best


def _root(moment: np.ndarray) -> np.ndarray:
    """Return a matrix whose square is ``moment``, scaled to a trace of 1."""
    values, vectors = np.linalg.eigh(moment / max(float(np.trace(moment)), 1e-300))
    return vectors * np.sqrt(np.clip(values, 0, None))
