"""Predictions of several parts of the rows as those of all."""

from collections.abc import Sequence

import numpy as np

from .contract import Predictions


def joined(parts: Sequence[Predictions]) -> Predictions:
    """Return predictions of rows, part after part, as one.

    There are probabilities where each part has some.
    """
    first = parts[0]
    if len(parts) == 1:
        return first
    if first.labels is not None:
        chances = np.concatenate([part.labels.chances for part in parts if part.labels])
        together = Predictions.of_labels(chances, first.labels.choice)
        return together.with_values(np.concatenate([part.values for part in parts]))
    values = np.concatenate([part.values for part in parts])
    known = [part.probabilities for part in parts if part.probabilities is not None]
    probabilities = None
    if len(known) == len(parts):
        probabilities = np.concatenate(known)
    weights = first.class_weights
    return Predictions(values, probabilities, first.classes, weights, scales=first.scales)
