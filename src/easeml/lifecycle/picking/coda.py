"""CODA's rule (Kay et al., "Consensus-driven active model selection", ICCV 2025), for hard labels.

Written from the paper and checked against its authors' program (github.com/justinkay/coda,
``coda/coda.py`` and the defaults of ``main.py``): the prior, its constants, the class shares, the
expected information and the weight of a label are theirs. Two things differ: the integral has 64
points instead of 256, and a label that no model gives its example counts for nothing here, there
against all models.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

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


@dataclass(frozen=True, eq=False)
class Patterns:
    """Examples that all models predict alike share a pattern.

    The patterns, (p, k); that of each example, (n,); and one example of each, (p,).
    """

    codes: np.ndarray
    of_example: np.ndarray
    example: np.ndarray

    @classmethod
    def of(cls, pool: Pool) -> Patterns:
        """Return the patterns of a pool."""
        codes, inverse = np.unique(pool.codes, axis=0, return_inverse=True)
        example = np.zeros(len(codes), dtype=int)
        example[inverse.ravel()] = np.arange(pool.examples)
        return cls(codes, inverse.ravel(), example)


@dataclass(frozen=True, eq=False)
class Coda(Counting):
    """A Dirichlet a model and true class over what it predicts, started from the consensus.

    It asks by information.

    The class that most models predict stands for the truth in the prior. A model is the best with
    the probability that its accuracy within a class, a Beta, exceeds those of all others, averaged
    over the classes; the label expected to lower the entropy of that most is asked for. O(k C^2 + n
    C) memory.
    """

    confusion: np.ndarray
    weights: np.ndarray
    best: np.ndarray
    patterns: Patterns

    @classmethod
    def of(cls, pool: Pool, order: np.ndarray | None = None) -> Coda:
        """Return the rule with its prior; ``order`` is not used."""
        del order
        confusion = _prior(pool)
        nobody = np.zeros((1, pool.models))
        classes = range(len(pool.classes))
        best = [_best_if(confusion[:, label], label, nobody, weight=0.0) for label in classes]
        return cls(
            pool=pool,
            order=np.zeros(pool.examples),
            right=np.zeros(pool.models),
            confusion=confusion,
            weights=_masses(pool, confusion),
            best=np.concatenate(best),
            patterns=Patterns.of(pool),
        )

    def tell(self, row: int, slot: int, chance: float = 0.0) -> Coda:
        """Count the label, with the paper's small weight."""
        counted = super().tell(row, slot, chance)
        if slot >= self.pool.width[row]:
            return counted
        votes = self.pool.codes[row]
        label = int(votes[self.pool.slots[row] == slot][0])
        confusion, weights, best = self.confusion.copy(), self.weights.copy(), self.best.copy()
        confusion[np.arange(self.pool.models), label, votes] += STEP
        weights[:, label] += STEP * (self.pool.codes == votes).sum(axis=1)
        nobody = np.zeros((1, self.pool.models))
        best[label] = _best_if(confusion[:, label], label, nobody, weight=0.0)[0]
        return replace(counted, confusion=confusion, weights=weights, best=best)

    def standing(self) -> np.ndarray:
        """Return the probability of each model to be the best."""
        return self._class_shares().mean(axis=0) @ self.best

    def scores(self, is_open: np.ndarray) -> np.ndarray:
        """Return minus the expected entropy of who is best.

        Of examples that are predicted alike it is computed once.
        """
        found = np.full(self.pool.examples, -np.inf)
        rows = np.flatnonzero(is_open & self.pool.contested)
        patterns, place = np.unique(self.patterns.of_example[rows], return_inverse=True)
        codes, shares = self.patterns.codes[patterns], self._class_shares()
        marginal = shares.mean(axis=0)
        chances = shares[self.patterns.example[patterns]]
        now = marginal @ self.best
        expected = np.zeros(len(patterns))
        for label in range(len(self.pool.classes)):
            right = (codes == label).astype(float)
            best = _best_if(self.confusion[:, label], label, right)
            after = np.maximum(now + marginal[label] * (best - self.best[label]), 1e-12)
            expected -= chances[:, label] * (after * np.log(after)).sum(axis=1)
        found[rows] = -expected[place]
        return found

    def _class_shares(self) -> np.ndarray:
        """Return how likely each class is for each example, (n, C).

        These are the Dirichlets' masses on what is predicted.
        """
        return self.weights / self.weights.sum(axis=1, keepdims=True)


def _prior(pool: Pool) -> np.ndarray:
    """Return the Dirichlets before any label, (k, true class, predicted class)."""
    classes = len(pool.classes)
    unit = np.eye(classes)
    consensus = unit[_most_voted(pool.codes, classes)]
    confusion = np.stack([consensus.T @ unit[column] for column in pool.codes.T])
    confusion /= np.maximum(confusion.sum(axis=2, keepdims=True), 1e-6)
    spread = np.full((classes, classes), 1 / max(classes - 1, 1))
    np.fill_diagonal(spread, 1.0)
    return PRIOR * (spread + CONSENSUS * confusion)


def _masses(pool: Pool, confusion: np.ndarray) -> np.ndarray:
    """Return the summed mass of what is predicted, by example and true class, (n, C)."""
    masses = np.zeros((pool.examples, confusion.shape[1]))
    for model in range(pool.models):
        masses += confusion[model][:, pool.codes[:, model]].T
    return masses


def _best_if(
    dirichlets: np.ndarray, label: int, right: np.ndarray, weight: float = HYPOTHETICAL
) -> np.ndarray:
    """Return the chance of each model to be best in a class after one more label of it, (rows, k).

    ``dirichlets``: of the class, (k, C). ``right``: which models the label proves right, (rows, k).
    """
    diagonal = dirichlets[:, label]
    rest = dirichlets.sum(axis=1) - diagonal
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
