"""Which trained models an ensemble is made of: greedy selection, judged on rows that did not choose.

R. Caruana, A. Niculescu-Mizil, G. Crew, A. Ksikes: Ensemble selection from libraries of models,
ICML 2004, sections 2 and 2.1: models are added with replacement, each time the one that helps most.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .contract import Predictions
from .ensemble import combined
from .score import scorer
from .target import as_numbers
from .weights import Weights, of_rows

_ROUNDS = 20  # how often a model is added, so that weights are multiples of 1/20 or more
_FOLDS = 5
_SCORINGS = 5  # by which the seconds of many are known
_TIE = 1e-3  # what the smooth measure counts beside the objective


@dataclass(frozen=True, slots=True)
class Choice:
    """Weights, one a model, that add up to 1, and how an ensemble that is chosen so predicts.

    ``unseen``: of each row by an ensemble whose weights it did not choose; ``best``: of each row by
    the single model that the same other rows choose. So both can be compared: the best of many on
    all rows would be flattered.
    """

    weights: NDArray[np.float64]
    unseen: Predictions
    best: Predictions


def choose(
    objective: str,
    actual: Any,
    predictions: Sequence[Predictions],
    may_join: Callable[[Sequence[int]], bool] = lambda _: True,
    seed: int = 0,
    row_weights: Weights = None,
) -> Choice:
    """Choose weights for models from what each predicted of the same rows, which none has seen.

    ``actual``: an answer a row. ``may_join``: whether models, by their places, may be members
    together, as where they have to answer in time; one alone always may. ``row_weights``: as
    ``weights`` of ``score``.
    """
    actual = np.asarray(actual)
    predictions = _chosen_alike(predictions)
    weights = _weights(objective, actual, predictions, may_join, row_weights)
    fold = np.random.default_rng(seed).permutation(len(actual)) % _FOLDS
    unseen = np.zeros_like(_outputs(predictions[0]))
    best = np.zeros_like(unseen)
    for number in range(_FOLDS):
        held = fold == number
        others = [one.of_rows(~held) for one in predictions]
        counted = of_rows(row_weights, ~held)
        found = _weights(objective, actual[~held], others, may_join, counted)
        unseen[held] = _outputs(
            combined([one.of_rows(held) for one in predictions], found.tolist())
        )
        place = _best(objective, actual[~held], others, counted)
        best[held] = _outputs(predictions[place].of_rows(held))
    like = predictions[0]
    return Choice(weights, like.with_outputs(unseen), like.with_outputs(best))


def seconds_to_choose(
    objective: str, actual: Any, like: Predictions, row_weights: Weights = None
) -> float:
    """Return about how many processor seconds ``choose`` takes for each model.

    Measured: a model is scored in each round, on all rows and for each fold.
    """
    value_of = _value(objective, np.asarray(actual), like, row_weights)
    outputs = _outputs(like)
    began = time.process_time()
    for _ in range(_SCORINGS):
        value_of((outputs + outputs) / 2)
    return (time.process_time() - began) / _SCORINGS * _ROUNDS * _FOLDS


def _best(
    objective: str,
    actual: NDArray[Any],
    predictions: Sequence[Predictions],
    row_weights: Weights,
) -> int:
    """Return the place of the model that is best alone."""
    value_of = _value(objective, actual, predictions[0], row_weights)
    return int(np.argmax([value_of(_outputs(one)) for one in predictions]))


def _weights(
    objective: str,
    actual: NDArray[Any],
    predictions: Sequence[Predictions],
    may_join: Callable[[Sequence[int]], bool],
    row_weights: Weights,
) -> NDArray[np.float64]:
    """Return the weights that greedy selection finds on these rows."""
    outputs = np.stack(list(map(_outputs, predictions)))
    value_of = _value(objective, actual, predictions[0], row_weights)
    counts = np.zeros(len(predictions), dtype=int)
    total = np.zeros_like(outputs[0])
    best, best_counts = -np.inf, counts
    for size in range(1, _ROUNDS + 1):
        values = np.full(len(predictions), -np.inf)
        for place in range(len(predictions)):
            members = np.union1d(np.flatnonzero(counts), [place])
            if len(members) == 1 or may_join(members.tolist()):
                values[place] = value_of((total + outputs[place]) / size)
        place = int(values.argmax())
        counts = counts.copy()
        counts[place] += 1
        total = total + outputs[place]
        if values[place] > best:
            best, best_counts = float(values[place]), counts
    return best_counts / best_counts.sum()


def _value(
    objective: str, actual: NDArray[Any], like: Predictions, row_weights: Weights
) -> Callable[[NDArray[np.float64]], float]:
    """Return what is made as large as possible. ``like``: predictions of one of the models.

    Many mixtures of classifiers have the same accuracy: the more probable answers decide then.
    """
    scales = like.scales
    if scales is not None:
        scaled = scorer(objective, as_numbers(actual) / scales, None, weights=row_weights)
        return lambda outputs: scaled(outputs / scales)
    quality = scorer(objective, actual, like.classes, like.class_weights, row_weights)
    if like.labels is not None:
        choice = like.labels.choice
        return lambda outputs: quality(choice.chosen(outputs))
    if like.classes is None:
        return quality
    likelihood = scorer("log-loss", actual, like.classes, weights=row_weights)
    return lambda outputs: quality(outputs) + _TIE * likelihood(outputs)


def _outputs(predictions: Predictions) -> NDArray[np.float64]:
    return np.asarray(predictions.outputs, dtype=np.float64)


def _chosen_alike(predictions: Sequence[Predictions]) -> Sequence[Predictions]:
    """Return predictions of several models with labels chosen by the mean of their thresholds.

    Others than those of labels stay as they are.
    """
    said = [one.labels for one in predictions if one.labels is not None]
    if not said:
        return predictions
    mean = np.mean([one.choice.thresholds for one in said], axis=0)
    choice = said[0].choice.with_thresholds(mean.tolist())
    return [Predictions.of_labels(one.chances, choice) for one in said]
