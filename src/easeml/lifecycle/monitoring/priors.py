"""Quality where classes got more or less common, and rows of a class look as they did: label shift.

Nothing in rows without labels tells that from a shift of inputs, where each input means what it
meant. ``estimators`` estimate the latter; an interval has to hold for either.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from easeml.lifecycle.monitoring.shift import expansion

DRAWS = 200
LEAST = 10  # reference rows of a class of its own; rarer ones are one class together
MOST = 20  # classes of their own
PARTS = 5  # of the values of a number, each with as many reference rows
_FAR = 5.0  # standard errors
_SUM = 100.0  # how much more than other equations it counts that shares add up to 1


@dataclass(frozen=True)
class ByClass:
    """What the model says of reference rows, by their true class.

    ``truth``: a class a row (n,), from 0; ``signs``: what the model says of it (n, m), as numbers
    whose means tell the shares of the classes. ``cuts``: between the parts of a number's values,
    which are its classes; empty where the target is a class.
    """

    truth: np.ndarray
    signs: np.ndarray
    cuts: np.ndarray


def by_class(
    truth: np.ndarray, predicted: np.ndarray, surety: np.ndarray | None, count: int
) -> ByClass:
    """Return the classes of reference rows, and what the model says of each.

    ``truth``, ``predicted``: codes of ``count`` classes (n,); ``surety``: see ``Rows``.
    """
    counts = np.bincount(truth, minlength=count)
    common = np.argsort(-counts, kind="stable")[:MOST]
    common = np.sort(common[counts[common] >= LEAST])
    places = np.full(len(counts), len(common))
    places[common] = np.arange(len(common))
    _, classes = np.unique(places[truth], return_inverse=True)
    return ByClass(classes, signs(predicted, surety, count), np.empty(0))


def by_part(truth: np.ndarray, predicted: np.ndarray) -> ByClass:
    """Return the same of numbers; their classes are parts of the values, of as many rows each."""
    cuts = np.unique(np.quantile(truth, np.arange(1, PARTS) / PARTS))
    _, classes = np.unique(np.searchsorted(cuts, truth), return_inverse=True)
    return ByClass(classes, signs_of_numbers(predicted, cuts), cuts)


def signs(predicted: np.ndarray, surety: np.ndarray | None, count: int) -> np.ndarray:
    """Return what a model says of rows (n, m): each of ``count`` classes or not, probabilities."""
    is_said = predicted[:, None] == np.arange(count)
    if surety is None:
        return is_said.astype(np.float64)
    return np.column_stack([is_said, surety]).astype(np.float64)


def signs_of_numbers(predicted: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Return what a model of numbers says of rows: the number, and which part it is in."""
    parts = np.searchsorted(cuts, predicted)[:, None] == np.arange(len(cuts) + 1)
    return np.column_stack([parts, predicted]).astype(np.float64)


@dataclass(frozen=True)
class Shares:
    """Shares that the classes of a batch may have (200, classes), and the quality of each class."""

    drawn: np.ndarray
    right: np.ndarray

    def interval(self, rows: int, level: float) -> tuple[float, float]:
        """Return the interval of the quality of so many rows."""
        found = np.clip((self.drawn * self.right).sum(axis=1), 0, 1)  # sums may round to above 1
        chance = np.sqrt(found * (1 - found) / rows)
        found = np.clip(found + chance * np.random.default_rng(1).normal(size=DRAWS), 0, 1)
        low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)


def shares(known: ByClass, right: np.ndarray, new: np.ndarray) -> Shares:
    """Return which shares the classes of a batch may have if nothing else has changed.

    They are those with which the reference's rows say, on average, what is said of the batch
    (black-box shift estimation: Lipton, Wang and Smola 2018), by generalised least squares; none
    is negative. The quality of a class is that of the reference. ``right``: 1 where the model was,
    a row of the reference; ``new``: the signs of the batch. It is a parametric bootstrap: means of
    each class and of the batch are drawn 200 times.
    """
    from scipy.optimize import nnls

    rng = np.random.default_rng(0)
    whiten = _whitening(known)
    seen = np.column_stack([known.signs @ whiten, right])
    means = np.stack([_means(rng, rows) for rows in _of_classes(seen, known.truth)], axis=2)
    is_right = np.clip(means[:, -1], 0, 1)
    count = means.shape[2]
    if whiten.shape[1] == 0:  # the model says the same of all rows: nothing tells of shares
        return Shares(rng.dirichlet(np.ones(count), DRAWS), is_right)
    batch = _drawn(rng, new @ whiten, len(new))
    found = np.empty((DRAWS, count))
    total = np.full((1, count), _SUM)
    for place in range(DRAWS):
        equations = np.vstack([means[place, :-1], total])
        found[place], _ = nnls(equations, np.append(batch[place], _SUM))
    return Shares(found / found.sum(axis=1, keepdims=True), is_right)


def explain(known: ByClass, found: Shares, reference: np.ndarray, new: np.ndarray) -> bool:
    """Tell whether other shares of classes may be all that has changed in a batch.

    They are not where the mean of a feature, or of its square, is more than five standard errors
    from what rows of the classes with such shares have. ``reference``, ``new``: features (n, d).
    """
    expand = expansion(reference)
    seen, batch = expand(reference), expand(new)
    counts, means = _class_means(known.truth, seen)
    _, spreads = _class_means(known.truth, (seen - means[known.truth]) ** 2)
    expected = found.drawn @ means
    share = found.drawn.mean(axis=0)[:, None]
    mixed = (share * (spreads + (means - share.T @ means) ** 2)).sum(axis=0)
    variance = expected.var(axis=0) + mixed / len(batch) + (share**2 * spreads / counts).sum(axis=0)
    away = (batch.mean(axis=0) - expected.mean(axis=0)) ** 2
    return bool(np.all(away <= _FAR**2 * variance + 1e-9))


def _whitening(known: ByClass) -> np.ndarray:
    """Return what makes signs independent within classes, and drops what tells nothing (m, r)."""
    _, means = _class_means(known.truth, known.signs)
    centred = known.signs - means[known.truth]
    values, vectors = np.linalg.eigh(centred.T @ centred / len(centred))
    is_told = values > 1e-6 * values.max(initial=0)
    return vectors[:, is_told] / np.sqrt(values[is_told])


def _class_means(truth: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how many rows each class has (classes, 1), and their means (classes, columns)."""
    is_of = truth == np.arange(truth.max() + 1)[:, None]
    counts = is_of.sum(axis=1, keepdims=True)
    return counts, is_of @ rows / counts


def _of_classes(seen: np.ndarray, truth: np.ndarray) -> Iterator[np.ndarray]:
    for code in range(int(truth.max()) + 1):
        yield seen[truth == code]


def _means(rng: np.random.Generator, rows: np.ndarray) -> np.ndarray:
    """Return means of rows of one class, drawn (DRAWS, r + 1).

    Two rows are added that are like the others on average, and of which one is right: so few rows
    that all are right do not say that all are (Agresti and Coull 1998).
    """
    added = np.repeat(rows.mean(axis=0, keepdims=True), 2, axis=0)
    added[:, -1] = 0.0, 1.0
    return _drawn(rng, np.vstack([rows, added]), len(rows))


def _drawn(rng: np.random.Generator, rows: np.ndarray, count: int) -> np.ndarray:
    """Return means of ``count`` rows like these, drawn from a normal law (DRAWS, columns)."""
    mean = rows.mean(axis=0)
    centred = rows - mean
    spread = centred.T @ centred / max(1, len(rows) - 1)
    return rng.multivariate_normal(mean, spread / count, DRAWS, check_valid="ignore", method="eigh")
