"""The competitor that looks for patterns first: what it finds becomes features of boosted trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.special import softmax

from easeml.lifecycle.feasibility import adaptive_kernel, learners
from easeml.lifecycle.feasibility.adaptive_kernel import AdaptiveKernel
from easeml.lifecycle.feasibility.arms import (
    BLEND,
    DIRECT,
    KERNEL,
    RULES,
    Reading,
    Target,
    fitted,
    loss,
    predict,
)
from easeml.lifecycle.feasibility.cuts import Cut
from easeml.lifecycle.feasibility.folds import Fold
from easeml.lifecycle.feasibility.patterns import MANY_CLASSES, Patterns, find, shares
from easeml.lifecycle.feasibility.standard import normal_scores

SMALLEST = 1e-3  # shares are kept this far from 0 and 1 before their logarithm is taken


class PatternArm:
    """Four ways: a learner of all features and the patterns found, the patterns alone, and more.

    The others are a kernel of the same features, which starts from what the learner gained by each,
    and the mean of both. All learn from all training rows of a fold. The race never drops it: a
    pattern of several columns shows only once there are rows enough.
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
        seed: int,
    ):
        """``make`` takes a number of rows and returns a fresh learner of scikit-learn's methods."""
        self.name = name
        self._make = make
        self._matrix = matrix
        self._even = normal_scores(matrix)
        self._seed = seed
        self._patterns = patterns
        self._folds = folds
        self._target = target
        self._cuts: list[list[Cut]] = []
        self._most_rows = max(len(fold.train) for fold in folds)

    @property
    def found_alone(self) -> Cut | None:
        """The column whose values are found in every fold of the last reading, mostly alone.

        A second pattern that no more than half of the folds see may be chance.
        """
        if not self._cuts or not self._cuts[0]:
            return None
        first = self._cuts[0][0]
        is_first = all(cuts and cuts[0] is first for cuts in self._cuts)
        if not is_first or not self._patterns.is_whole(first):
            return None
        is_alone = np.array(list(map(len, self._cuts))) == 1
        if is_alone.mean() > 0.5:
            return first
        return None

    def read(self, count: int) -> Reading:
        self._cuts = []
        predicted = []
        for fold in self._folds:
            predicted.append(self._predict(fold.train[:count], fold.test))
        actual = np.concatenate([self._target.values[fold.test] for fold in self._folds])
        both = np.concatenate(predicted, axis=1)
        classes = self._target.classes
        guesses = both.argmax(axis=2) if classes else both[:, :, 0]
        doubts = 1 - both.max(axis=2) if classes else np.full(guesses.shape, np.nan)
        losses = np.stack([loss(guess, actual, classes) for guess in guesses])
        ways = (DIRECT, RULES, KERNEL, BLEND) if self._has_kernel(count) else (DIRECT, RULES)
        return Reading(count, ways, losses, doubts, guesses)

    def _has_kernel(self, count: int) -> bool:
        is_narrow = self._matrix.shape[1] <= adaptive_kernel.MOST_COLUMNS
        return is_narrow and count <= adaptive_kernel.MOST_ROWS

    def _predict(self, train: np.ndarray, test: np.ndarray) -> np.ndarray:
        """Return shares of the classes or numbers, (ways, tested rows, C or 1).

        The first are the learner's, the second what the patterns say alone, then the kernel's.
        """
        target = self._target
        classes = self._target.classes
        cuts = find(self._patterns, target.values, train)
        self._cuts.append(cuts)
        known, asked = [], []
        for cut in cuts:
            own, other = shares(cut, target.values, classes, train, test)
            known.append(own)
            asked.append(other)
        features = np.hstack([self._matrix[train], *known])
        learner = fitted_on(self._make(len(train)), features, target.values[train], classes)
        found = predict(learner, np.hstack([self._matrix[test], *asked]), classes)
        alone = self._by_rules(known, asked, train, len(test))
        if not self._has_kernel(len(train)):
            return np.stack([found, alone])
        # coarse cells of numbers would hide from the kernel what it sees better itself
        encoded = [place for place, cut in enumerate(cuts) if self._patterns.is_whole(cut)]
        own, other = [known[place] for place in encoded], [asked[place] for place in encoded]
        if len(encoded) < len(cuts):
            features = np.hstack([self._matrix[train], *own])
            learner = fitted_on(self._make(len(train)), features, target.values[train], classes)
        start = learners.importance(learner, features.shape[1])
        most = adaptive_kernel.features_for(len(train), self._most_rows)
        kernel = AdaptiveKernel(classes, self._seed, most)
        kernel.fit(np.hstack([self._even[train], *own]), target.values[train], start)
        by_kernel = kernel.predict(np.hstack([self._even[test], *other]))
        return np.stack([found, alone, by_kernel, (found + by_kernel) / 2])

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
