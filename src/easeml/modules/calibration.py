"""Temperature scaling: probabilities that say how often a class is right.

Most models are too sure of what they say, and means of several models not sure enough. One number,
the temperature T, mends most of both: each probability is raised to the power 1 / T, and those of a
row are divided by their sum. The order of the classes in a row stays. T is what makes the answers of
rows likeliest that the model has not seen (C. Guo et al., On calibration of modern neural networks,
ICML 2017, section 4.2).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .contract import Predictions
from .labels import at_temperature, both_ways
from .target import as_numbers, encode_labels
from .temperature import LEAST, softened, temperature_of
from .weights import Weights, counts_of


def floored(said: Predictions) -> Predictions:
    """Return what a classifier said, with no probability of 0 but of classes that it never learned.

    Those have 0 in all rows. Numbers, and labels without probabilities, stay as they are.
    """
    if said.probabilities is None or said.classes is None:
        return said
    is_learned = said.probabilities.any(axis=0)
    probabilities = np.where(is_learned, np.maximum(said.probabilities, LEAST), 0.0)
    return Predictions.of_probabilities(probabilities, said.classes, said.class_weights)


def calibrated(
    actual: Any, said: Predictions, weights: Weights = None
) -> tuple[float, Predictions]:
    """Return the temperature of a model, and what it says at it.

    ``actual``: the labels of rows that the model has not seen; ``said``: what it said of them;
    ``weights``: how much each counts. That one number was fitted to the rows flatters the log loss
    on them by about half a nat in all. 1 and ``said`` for numbers, and labels without
    probabilities.
    """
    if said.labels is not None:
        return _of_labels(as_numbers(actual), said, weights)
    if said.probabilities is None or said.classes is None:
        return 1.0, said
    codes = encode_labels(actual, said.classes)
    found = temperature_of(codes, said.probabilities, counts_of(weights, len(codes)))
    return found, at(said, found)


def _of_labels(
    answers: NDArray[np.float64], said: Predictions, weights: Weights
) -> tuple[float, Predictions]:
    """Return one temperature for the chances of all labels, each against that of not having it."""
    assert said.labels is not None
    pairs = both_ways(said.labels.chances)
    counts = np.repeat(counts_of(weights, len(answers)), answers.shape[1])
    found = temperature_of(answers.reshape(-1).astype(np.intp), pairs, counts)
    return found, at(said, found)


def at(said: Predictions, temperature: float) -> Predictions:
    """Return what was said at a temperature; numbers, and labels alone, stay as they are."""
    if said.labels is not None:
        chances = at_temperature(said.labels.chances, temperature)
        return Predictions.of_labels(chances, said.labels.choice)
    if said.probabilities is None or said.classes is None:
        return said
    probabilities = softened(said.probabilities, temperature)
    return Predictions.of_probabilities(probabilities, said.classes, said.class_weights)
