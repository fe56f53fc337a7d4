"""CODA's rule (Kay et al., "Consensus-driven active model selection", ICCV 2025), for hard labels.

Written from the paper and checked against its authors' program (github.com/justinkay/coda,
``coda/coda.py`` and the defaults of ``main.py``): the prior, its constants, the class shares, the
expected information and the weight of a label are theirs. Two things differ: the integral has 64
points instead of 256, and a label that no model gives its example counts for nothing here, there
against all models.
"""

from __future__ import annotations

import numpy as np

from easeml.lifecycle.picking.pool import Pool
from easeml.lifecycle.picking.rules import Counting

GRID = (np.arange(64) + 0.5) / 64
PRIOR, CONSENSUS, STEP = 2.0, 0.1, 0.01
"""``multiplier``, 1 - ``alpha`` and ``learning_rate`` of the authors' program."""

HYPOTHETICAL = 1.0
"""Weight of a label while its information is foretold, larger than that with which it then counts,
as published.
"""


class Coda(Counting):
    """A Dirichlet a model and true class over what it predicts, started from the consensus; ask by
    information.

    The class that most models predict stands for the truth in the prior. A model is the best with
    the probability that its accuracy within a class, a Beta, exceeds those of all others, averaged
    over the classes; the label expected to lower the entropy of that most is asked for. O(k C^2 + n
    C) memory.
    """

    def __init__(self, pool: Pool):
        """Build the prior."""
        super().__init__(pool)
        k, classes = pool.models, len(pool.classes)
        consensus = np.eye(classes)[_most_voted(pool.codes, classes)]
        confusion = np.stack(
            [consensus.T @ np.eye(classes)[pool.codes[:, model]] for model in range(k)]
        )
        confusion /= np.maximum(confusion.sum(axis=2, keepdims=True), 1e-6)
        spread = np.full((classes, classes), 1 / max(classes - 1, 1))
        np.fill_diagonal(spread, 1.0)
        self._mass = PRIOR * (spread + CONSENSUS * confusion)
        self._weights = sum(
            (self._mass[model][:, pool.codes[:, model]].T for model in range(k)), np.zeros(())
        )
        self._patterns, self._pattern = np.unique(pool.codes, axis=0, return_inverse=True)
        self._example = np.zeros(len(self._patterns), dtype=int)
        self._example[self._pattern.ravel()] = np.arange(pool.examples)
        nobody = np.zeros((1, k))
        self._best = np.concatenate(
            [self._best_if(nobody, label, weight=0.0) for label in range(classes)]
        )

    def tell(self, row: int, slot: int) -> None:
        """Count the label, with the paper's small weight."""
        super().tell(row, slot)
        if slot < self.pool.width[row]:
            votes = self.pool.codes[row]
            label = int(votes[self.pool.slots[row] == slot][0])
            self._mass[np.arange(self.pool.models), label, votes] += STEP
            self._weights[:, label] += STEP * (self.pool.codes == votes).sum(axis=1)
            self._best[label] = self._best_if(np.zeros((1, self.pool.models)), label, weight=0.0)[0]

    def standing(self) -> np.ndarray:
        """Return the probability of each model to be the best."""
        return self._class_shares().mean(axis=0) @ self._best

    def scores(self, is_open: np.ndarray) -> np.ndarray:
        """Return minus the expected entropy of who is best; of examples that are predicted alike,
        computed once.
        """
        found = np.full(self.pool.examples, -np.inf)
        rows = np.flatnonzero(is_open & self.pool.contested)
        patterns, place = np.unique(self._pattern.ravel()[rows], return_inverse=True)
        codes, shares = self._patterns[patterns], self._class_shares()
        marginal, chances = shares.mean(axis=0), shares[self._example[patterns]]
        now = marginal @ self._best
        expected = np.zeros(len(patterns))
        for label in range(len(self.pool.classes)):
            best = self._best_if((codes == label).astype(float), label)
            after = np.maximum(now + marginal[label] * (best - self._best[label]), 1e-12)
            expected -= chances[:, label] * (after * np.log(after)).sum(axis=1)
        found[rows] = -expected[place]
        return found

    def _class_shares(self) -> np.ndarray:
        """Return how likely each class is for each example, (n, C): the Dirichlets' masses on what
        is predicted.
        """
        return self._weights / self._weights.sum(axis=1, keepdims=True)

    def _best_if(self, right: np.ndarray, label: int, weight: float = HYPOTHETICAL) -> np.ndarray:
        """Return the chance of each model to be best in a class after one more label of it, shape
        (rows, k).
        """
        diagonal = self._mass[:, label, label]
        rest = self._mass[:, label].sum(axis=1) - diagonal
        density = [_beta(diagonal, rest + weight), _beta(diagonal + weight, rest)]
        below = [np.log(np.maximum(np.cumsum(d, axis=1) - d / 2, 1e-30)) for d in density]
        all_below = right @ (below[1] - below[0]) + below[0].sum(axis=0)
        odds = [np.log(np.maximum(d, 1e-30)) - b for d, b in zip(density, below, strict=True)]
        top = np.exp(all_below)
        chance = np.where(right, top @ np.exp(odds[1]).T, top @ np.exp(odds[0]).T)
        return chance / np.maximum(chance.sum(axis=1, keepdims=True), 1e-300)


def _most_voted(codes: np.ndarray, classes: int) -> np.ndarray:
    """Return the class that most models predict for each example, the first of several."""
    votes = np.zeros((len(codes), classes))
    for column in codes.T:
        votes[np.arange(len(codes)), column] += 1
    return votes.argmax(axis=1)


def _beta(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the Beta densities on the grid, shape (models, points), each summing to 1."""
    logs = (a[:, None] - 1) * np.log(GRID) + (b[:, None] - 1) * np.log1p(-GRID)
    density = np.exp(logs - logs.max(axis=1, keepdims=True))
    return density / density.sum(axis=1, keepdims=True)
