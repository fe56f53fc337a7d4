"""What competes in the race: neighbours in one representation each, over growing training sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from easeml.lifecycle.feasibility.folds import Fold
from easeml.lifecycle.feasibility.learners import Leaves, Shares, teach_classes
from easeml.lifecycle.feasibility.neighbours import NearestRows

NEIGHBOURS = (1, 3, 5, 9, 17, 33)
DIRECT = 0  # in place of a number of neighbours: the learner's own predictions
RULES = -1  # likewise: what the patterns that were found say by themselves
KERNEL = -2  # likewise: a kernel that learns which directions matter
BLEND = -3  # likewise: the mean of that kernel's shares and the learner's


@dataclass(frozen=True)
class Target:
    """What is predicted: class numbers 0..C-1, or (``classes`` = 0) numbers of unit variance.

    (rows,)
    """

    values: np.ndarray
    classes: int


@dataclass(frozen=True)
class Reading:
    """What an arm knows after ``count`` training rows a fold. Arrays are (ways, evaluated rows).

    ``ways`` are numbers of neighbours, or DIRECT to BLEND. ``losses``: 0 or 1, or squared errors.
    ``floors``: what the neighbours' own labels say of the loss (1 - largest share; their variance),
    NaN for DIRECT. ``guesses`` are the predictions.
    """

    count: int
    ways: tuple[int, ...]
    losses: np.ndarray
    floors: np.ndarray
    guesses: np.ndarray

    def losses_of(self, way: int) -> np.ndarray:
        """Return the losses (evaluated rows,) of one of the ``ways``."""
        return self.losses[self.ways.index(way)]


class Arm(Protocol):
    """A competitor.

    ``read`` takes the first ``count`` rows of every fold, growing from call to call. ``lasting``:
    whether it stays to the end, however it fares.
    """

    name: str
    lasting: bool

    def read(self, count: int) -> Reading: ...


class NeighbourArm:
    """Neighbours in a representation that never sees labels: nothing is computed twice."""

    lasting = False

    def __init__(
        self,
        name: str,
        embed: Callable[[np.ndarray], np.ndarray],
        folds: Sequence[Fold],
        target: Target,
    ):
        """``embed`` turns positions of rows into a matrix (rows, dimensions)."""
        self.name = name
        self._embed = embed
        self._folds = folds
        self._target = target
        self._stores: list[NearestRows] = []
        self._centre: np.ndarray | float = 0.0
        self._scale = 1.0
        self._count = 0

    def read(self, count: int) -> Reading:
        if not self._stores:
            self._open()
        parts = []
        for fold, store in zip(self._folds, self._stores, strict=True):
            new = fold.train[self._count : count]
            if len(new):
                store.add(self._shift(self._embed(new)))
            labels = self._target.values[fold.train[store.nearest()]]
            parts.append(vote(labels, self._target.values[fold.test], self._target.classes))
        self._count = count
        return join(count, parts)

    def _open(self) -> None:
        queries = [self._embed(fold.test) for fold in self._folds]
        # centred and of about unit size, so that float32 neither cancels nor overflows
        self._centre = queries[0].mean(axis=0)
        self._scale = float(np.abs(queries[0] - self._centre).max()) or 1.0
        self._stores = [NearestRows(self._shift(matrix), max(NEIGHBOURS)) for matrix in queries]

    def _shift(self, matrix: np.ndarray) -> np.ndarray:
        return (matrix - self._centre) / self._scale


class _LearnedArm:
    """An arm whose learner is fitted anew at every stage."""

    lasting = False

    def __init__(
        self,
        name: str,
        make: Callable[[int], Any],
        matrix: np.ndarray,
        folds: Sequence[Fold],
        target: Target,
    ):
        """``make`` takes a number of rows and returns a fresh learner with scikit-learn's methods."""
        self.name = name
        self._make = make
        self._matrix = matrix
        self._folds = folds
        self._target = target


class ScoreArm(_LearnedArm):
    """A learner's own predictions, and neighbours among its scores, learned anew at every stage.

    Two learners see half the rows each and score the other half, so that no neighbour's score was
    learned from that neighbour's label; evaluated rows, which neither saw, get the mean of both.
    """

    def read(self, count: int) -> Reading:
        return join(count, [self._read_fold(fold.train[:count], fold.test) for fold in self._folds])

    def _read_fold(self, train: np.ndarray, test: np.ndarray) -> list[np.ndarray]:
        classes = self._target.classes
        values = self._target.values
        halves = train[0::2], train[1::2]
        scores = np.empty((len(train), max(1, classes)))
        tested = np.zeros((len(test), scores.shape[1]))
        for own, other in ((0, 1), (1, 0)):
            learner = fitted(self._make(len(halves[own])), self._matrix, self._target, halves[own])
            scores[other::2] = predict(learner, self._matrix[halves[other]], classes)
            tested += predict(learner, self._matrix[test], classes) / 2
        actual = values[test]
        neighbours = train[nearest(root(scores), root(tested))]
        losses, floors, guesses = vote(values[neighbours], actual, classes)
        guess = tested.argmax(axis=1) if classes else tested[:, 0]
        return [
            np.vstack([loss(guess, actual, classes), losses]),
            np.vstack([np.full(len(test), np.nan), floors]),
            np.vstack([guess, guesses]),
        ]


class LeafArm(_LearnedArm):
    """Neighbours by the leaves that rows fall into.

    Trees with ``apply`` learn the leaves from one half of the training rows; the other half votes.
    """

    def read(self, count: int) -> Reading:
        parts = []
        for fold in self._folds:
            learned, voters = fold.train[: count // 2], fold.train[count // 2 : count]
            trees = fitted(self._make(len(learned)), self._matrix, self._target, learned)
            codes = leaf_codes(
                trees.apply(self._matrix[voters]), trees.apply(self._matrix[fold.test])
            )
            labels = self._target.values[voters[nearest(*codes)]]
            parts.append(vote(labels, self._target.values[fold.test], self._target.classes))
        return join(count, parts)


def fitted(learner: Any, matrix: np.ndarray, target: Target, rows: np.ndarray) -> Any:
    """Return the learner after learning ``rows``.

    Where they hold one class, or fewer than two rows a class, return what always predicts alike.
    """
    values = target.values[rows]
    gives_shares = target.classes and not isinstance(learner, Leaves)
    if gives_shares and not teach_classes(values):
        learner = Shares()
    return learner.fit(matrix[rows], values)


def predict(learner: Any, matrix: np.ndarray, classes: int) -> np.ndarray:
    """Return class shares in columns 0..classes-1, or one column of numbers.

    Classes that the learner never saw get 0.
    """
    if not classes:
        return np.asarray(learner.predict(matrix), dtype=float).reshape(-1, 1)
    shares = np.zeros((len(matrix), classes))
    shares[:, learner.classes_] = learner.predict_proba(matrix)
    return shares


def root(scores: np.ndarray) -> np.ndarray:
    """Return shares as square roots: their distances are Hellinger's.

    Single columns stay as they are.
    """
    return scores if scores.shape[1] == 1 else np.sqrt(scores)


def nearest(known: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Return (queries, k) positions of the nearest known rows, nearest first."""
    centre = known.mean(axis=0)
    store = NearestRows(queries - centre, max(NEIGHBOURS))
    store.add(known - centre)
    return store.nearest()


def leaf_codes(
    known: np.ndarray, queries: np.ndarray, dimensions: int = 96
) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors whose squared distances stand for the number of trees that part two rows.

    A random vector a leaf, summed over trees: a projection of the one-hot leaves in the manner of
    Johnson and Lindenstrauss (1984). ``known`` and ``queries``: (rows, trees) leaf numbers.
    """
    rng = np.random.default_rng(0)
    leaves = int(max(known.max(), queries.max())) + 1
    sums = [np.zeros((len(rows), dimensions), dtype=np.float32) for rows in (known, queries)]
    for tree in range(known.shape[1]):
        vectors = rng.standard_normal((leaves, dimensions), dtype=np.float32)
        sums[0] += vectors[known[:, tree]]
        sums[1] += vectors[queries[:, tree]]
    return sums[0], sums[1]


def vote(labels: np.ndarray, actual: np.ndarray, classes: int) -> list[np.ndarray]:
    """Return losses, floors and guesses, each (ways, rows).

    ``labels``: (rows, k) of the nearest rows, nearest first. The ways are all NEIGHBOURS up to k.

    Ties of the vote go to the class whose votes are nearer.
    """
    ways = [k for k in NEIGHBOURS if k <= labels.shape[1]]
    guesses, floors = _ballots(labels, ways, classes) if classes else _means(labels, ways)
    return [loss(guesses, actual, classes), floors, guesses]


def _means(labels: np.ndarray, ways: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the means and the variances, each (ways, rows), of the nearest numbers."""
    means, variances = np.empty((2, len(ways), len(labels)))
    sums = labels.cumsum(axis=1)
    squares = (labels**2).cumsum(axis=1)
    for row, k in enumerate(ways):
        means[row] = sums[:, k - 1] / k
        variances[row] = np.maximum(0, squares[:, k - 1] / k - means[row] ** 2)
    return means, variances


def _ballots(
    labels: np.ndarray, ways: Sequence[int], classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the class with the most votes and the share of the others, each (ways, rows)."""
    winners, others = np.empty((2, len(ways), len(labels)))
    rows = np.arange(len(labels))
    last = labels.shape[1]
    votes = np.zeros((len(labels), classes))
    for rank in range(max(ways)):
        surplus = (last - rank) / (4 * last**2)  # of the nearer: it only parts ties
        votes[rows, labels[:, rank]] += 1 + surplus
        k = rank + 1
        if k in ways:
            row = ways.index(k)
            winners[row] = votes.argmax(axis=1)
            others[row] = 1 - np.floor(votes.max(axis=1)) / k
    return winners, others


def loss(guess: np.ndarray, actual: np.ndarray, classes: int) -> np.ndarray:
    """Return 0 or 1 for classes, squared errors for numbers."""
    return (guess != actual).astype(float) if classes else (guess - actual) ** 2


def join(count: int, parts: Sequence[Sequence[np.ndarray]]) -> Reading:
    """Put the folds' arrays side by side; the ways that all folds have."""
    ways = min(len(losses) for losses, _, _ in parts)
    arrays = []
    for folds in zip(*parts, strict=True):
        arrays.append(np.concatenate([fold[:ways] for fold in folds], axis=1))
    losses, floors, guesses = arrays
    is_direct = bool(np.isnan(floors[0]).all())
    names = (DIRECT, *NEIGHBOURS) if is_direct else NEIGHBOURS
    return Reading(count, names[:ways], losses, floors, guesses)
