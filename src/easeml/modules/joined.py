"""Predictions of several parts of the rows as those of all."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .contract import Predictions


def joined(parts: Sequence[Predictions]) -> Predictions:
    """Return predictions of rows, part after part, as one.

    There are probabilities where each part has some.
    """
    first = parts[0]
    if len(parts) == 1:
        return first
    values = np.concatenate([part.values for part in parts])
    known = [part.outputs for part in parts if part.outputs is not None]
    if len(known) < len(parts):
        return Predictions(values, None, first.classes, first.class_weights)
    together = first.with_outputs(np.concatenate(known))
    return replace(together, values=values, widths=None)
