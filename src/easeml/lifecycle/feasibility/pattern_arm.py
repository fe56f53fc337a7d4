"""The competitor that looks for patterns first: what it finds becomes features of boosted trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.special import softmax

from easeml.lifecycle.feasibility import learners
from easeml.lifecycle.feasibility.arms import (
    DIRECT,
    RULES,
    Reading,
    Target,
    fitted,
    loss,
    predict,
)
from easeml.lifecycle.feasibility.folds import Fold
from easeml.lifecycle.feasibility.patterns import MANY_CLASSES, Patterns, find, shares

SMALLEST = 1e-3  # shares are kept this far from 0 and 1 before their logarithm is taken


class PatternArm:
    """Two ways: a learner of all features and the patterns found, and the patterns alone.

    Both learn from all training rows of a fold. The race never drops it: a pattern of several
    columns shows only once there are rows enough.
    """

    lasting = True

    def __init__(
        self,
        name: str,
        make: Callable[[int], Any],
        matrix: np.ndarray,
        patterns: Patterns,
        folds: Sequence[Fold],
        target: Target,
    ):
        """``make`` takes a number of rows and returns a fresh learner of scikit-learn's methods."""
        self.name = name
        self._make = make
        self._matrix = matrix
        self._patterns = patterns
        self._folds = folds
        self._target = target

    def read(self, count: int) -> Reading:
        predicted = []
        for fold in self._folds:
            predicted.append(self._predict(fold.train[:count], fold.test))
        actual = np.concatenate([self._target.values[fold.test] for fold in self._folds])
        both = np.concatenate(predicted, axis=1)
        classes = self._target.classes
        guesses = both.argmax(axis=2) if classes else both[:, :, 0]
        doubts = 1 - both.max(axis=2) if classes else np.full(guesses.shape, np.nan)
        losses = np.stack([loss(guess, actual, classes) for guess in guesses])
        return Reading(count, (DIRECT, RULES), losses, doubts, guesses)

    def _predict(self, train: np.ndarray, test: np.ndarray) -> np.ndarray:
        """Return shares of the classes or numbers, (2, tested rows, C or 1).

        The first are the learner's, the second what the patterns say alone.
        """
        target, classes = self._target, self._target.classes
        cuts = find(self._patterns, target.values, train)
        known, asked = [], []
        for cut in cuts:
            own, other = shares(cut, target.values, classes, train, test)
            known.append(own)
            asked.append(other)
        features = np.hstack([self._matrix[train], *known])
        learner = fitted_on(self._make(len(train)), features, target.values[train], classes)
        found = predict(learner, np.hstack([self._matrix[test], *asked]), classes)
        alone = self._by_rules(known, asked, train, len(test))
        return np.stack([found, alone])

    def _by_rules(
        self, known: list[np.ndarray], asked: list[np.ndarray], train: np.ndarray, rows: int
    ) -> np.ndarray:
        """Return what the patterns say by themselves, as shares (rows, C) or numbers (rows, 1)."""
        values, classes = self._target.values[train], self._target.classes
        if not known:
            return constant(values, classes, rows)
        if classes > MANY_CLASSES:
            # too many features for a fit: the evidence of all cuts, as if they were independent
            prior = np.log(np.bincount(values, minlength=classes) + 1.0)
            evidence = np.sum([np.log(part + SMALLEST) for part in asked], axis=0)
            return softmax(evidence - (len(asked) - 1) * prior, axis=1)
        rules = learners.rules() if classes else learners.ridge(len(train))
        rules = fitted_on(rules, scores(np.hstack(known), classes), values, classes)
        return predict(rules, scores(np.hstack(asked), classes), classes)


def fitted_on(learner: Any, features: np.ndarray, values: np.ndarray, classes: int) -> Any:
    """Return the learner after learning these rows; see ``arms.fitted``."""
    return fitted(learner, features, Target(values, classes), np.arange(len(values)))


def scores(found: np.ndarray, classes: int) -> np.ndarray:
    """Return shares as log odds, so that evidence adds up; means of numbers as they are."""
    if not classes:
        return found
    kept = np.clip(found, SMALLEST, 1 - SMALLEST)
    return np.log(kept / (1 - kept))


def constant(values: np.ndarray, classes: int, rows: int) -> np.ndarray:
    """Return the shares of the classes, or the mean, once a row."""
    if not classes:
        return np.full((rows, 1), values.mean())
    return np.tile(np.bincount(values, minlength=classes) / len(values), (rows, 1))
