"""What always guessing alike reaches: the line that every model has to beat."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .contract import Predictions, weighted
from .labels import LabelChoice
from .target import answers_of
from .weights import Weights, of_rows

MEAN, COMMONEST, SHARES = "the mean", "the commonest class", "the shares of the classes"
PLAIN = "what a plain forecast says"
CHEAPEST = "the class that costs least"
LABELS = "the commonest labels"


def always_the_same(
    learnt: Any,
    rows: int,
    classes: NDArray[Any] | None,
    class_weights: NDArray[np.float64] | None = None,
    weights: Weights = None,
    choice: LabelChoice | None = None,
) -> Predictions:
    """Return the predictions of a model that gives each of ``rows`` rows the same answer.

    ``learnt``: the answers of the train rows, also as ``Answers``. Of a number, or each element of a
    tensor, it says the mean; of a category the commonest of ``classes``, with their shares as
    probabilities. By a table of costs (``class_weights`` of ``Predictions``) it says the class that
    costs least. ``weights``: by which the train rows count. ``choice``: of labels of which a row
    may have several; it says the commonest ones, as many as a row has on average.
    """
    answers = answers_of(learnt, classes)
    known = answers.values[answers.are_known]
    counted = of_rows(weights, answers.are_known)
    if classes is None:
        mean = np.average(known, axis=0, weights=counted)
        if choice is not None:
            return _commonest_labels(mean, rows, choice)
        return Predictions(np.broadcast_to(mean, (rows, *np.shape(mean))), None, None)
    counts = np.bincount(known, counted, minlength=len(classes))
    shares = np.tile(counts / counts.sum(), (rows, 1))
    by_cost = class_weights is not None and class_weights.ndim == 2
    costs = class_weights if by_cost else None
    said = weighted(counts[np.newaxis] / counts.sum(), costs).argmax()
    labels = np.repeat(np.asarray(classes)[[said]], rows)
    return Predictions(labels, shares, classes, costs)


def guessed(
    predictions: Predictions, learnt: Any, weights: Weights, needs_probabilities: bool
) -> tuple[Predictions, str]:
    """Return what needs no model to say of the rows of ``predictions``, and its name in words.

    Of a forecast it is a plain one, such as the value of a season before; else always the same,
    with ``learnt`` and ``weights`` as of ``always_the_same``.
    """
    if predictions.plain is not None:
        return replace(predictions, values=predictions.plain), PLAIN
    same = always_the_same(
        learnt,
        len(predictions.values),
        predictions.classes,
        predictions.class_weights,
        weights,
        predictions.labels and predictions.labels.choice,
    )
    name = _name_of_guess(same, needs_probabilities)
    return replace(same, scales=predictions.scales), name


def _commonest_labels(shares: NDArray[np.float64], rows: int, choice: LabelChoice) -> Predictions:
    """Return the labels of the largest shares (k,), as many as a row has on average."""
    each = max(1, round(float(shares.sum())))
    said = np.zeros(len(shares))
    said[np.argsort(-shares, kind="stable")[:each]] = 1.0
    same = Predictions.of_labels(np.tile(shares, (rows, 1)), choice)
    return same.with_values(np.tile(said, (rows, 1)))


def _name_of_guess(same: Predictions, needs_probabilities: bool) -> str:
    """Return in words what is always guessed: ``same`` is what ``always_the_same`` gave."""
    if same.labels is not None:
        return LABELS
    if same.classes is None:
        return MEAN
    if needs_probabilities:
        return SHARES
    if same.class_weights is not None:
        return CHEAPEST
    return COMMONEST
