"""A trained model under another objective: the probabilities stay, the label that is said may not.

What a model learns does not depend on the objective; which label it says does, for some
(``decision``). So the same model for another objective is the same files with another manifest.
"""

from pathlib import Path
from typing import Any

import numpy as np

from . import manifest
from .contract import Predictions
from .target import CHOSEN_FOR, Target
from .thresholds import decided_by


def decided_again(predictions: Predictions, target: Target) -> Predictions:
    """Return predictions with the labels that ``target`` chooses.

    Numbers, and labels without probabilities, stay as they are.
    """
    predictions = decided_by(predictions, target.choice)
    if predictions.classes is None or predictions.probabilities is None:
        return predictions
    return Predictions.of_probabilities(
        predictions.probabilities, predictions.classes, target.class_weights
    )


def is_decided_alike(one: Predictions, other: Predictions) -> bool:
    """Tell whether two predictions of a model choose labels in the same way."""
    if one.labels is not None:
        assert other.labels is not None  # both are of one model
        return one.labels.choice == other.labels.choice
    if one.class_weights is None or other.class_weights is None:
        return one.class_weights is other.class_weights
    return np.array_equal(one.class_weights, other.class_weights)


def rewrite(folder: Path, target: Target, **facts: Any) -> None:
    """Let the single model in a folder choose labels as ``target`` does.

    ``facts`` take the place of those of that name in its manifest. The sample of its manifest is of
    probabilities, which stay. Raises ``Damaged`` as ``manifest.read``.
    """
    document = {**manifest.read(folder), **facts}
    told = dict(document["target"])
    told.pop("class_weights", None)
    if target.choice is not None:
        told["choice"] = target.choice.to_json()
    if target.class_weights is not None:
        told["class_weights"] = target.class_weights.tolist()
    document["target"] = told
    document["notes"] = notes_again(document["notes"], target)
    manifest.write(folder, document)


def notes_again(notes: list[str], target: Target) -> list[str]:
    """Return notes on a model with what ``target`` says of the choice of labels."""
    kept = [note for note in notes if not note.startswith(CHOSEN_FOR)]
    return [*(note for note in target.notes if note.startswith(CHOSEN_FOR)), *kept]
