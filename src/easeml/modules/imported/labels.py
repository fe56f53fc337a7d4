"""The classes of a model that was trained elsewhere, as those of an application."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.modules.target import Target

_LEAST_AGREEMENT = 0.75  # of a graph's labels and its largest probabilities


def agreeing(
    guesses: Sequence[list[Any]], labels: Any, probabilities: Any, where: str
) -> list[Any]:
    """Return the classes, of some guesses, in whose order the largest probability is of the label.

    ``labels``: one a row; None where there are none. ``probabilities``: (rows, classes). Raises
    ``InvalidInput`` where that is so of no guess.
    """
    unknown = InvalidInput(
        "It is not said which classes the probabilities are of.",
        where=where,
        remedy="Export the graph with an output of labels, as skl2onnx does.",
    )
    if labels is None:
        raise unknown
    likeliest = probabilities.argmax(axis=1)
    told = np.array(list(map(plain, labels)))
    for classes in guesses:
        if len(classes) != probabilities.shape[1]:
            continue
        names = np.array(list(map(plain, classes)))
        agreed = np.mean(names[likeliest] == told)
        if agreed >= _LEAST_AGREEMENT:
            return classes
    raise unknown


def plain(label: Any) -> str:
    """Return a label as it is compared: a whole number without its point, no spaces around it."""
    is_number = isinstance(label, float | np.floating)
    if is_number and float(label).is_integer():
        label = int(label)
    return str(label).strip()


def matched(classes: list[Any] | None, target: Target) -> tuple[list[int] | None, Target]:
    """Return the places of a model's classes in the order of the application's, and the target
    with those that the model knows.

    ``classes``: of the model in its order; None of one that gives numbers, as the places are then.
    Raises ``InvalidInput`` where it is not a model of this target.
    """
    if target.classes is None:
        if classes is None:
            return None, target
        raise InvalidInput("The model gives classes; the target is a number.", where=target.column)
    if classes is None:
        raise InvalidInput(
            "The model gives numbers; the target has classes.",
            where=target.column,
            remedy="Import a classifier.",
        )
    places = {}
    for place, label in enumerate(classes):
        places[plain(label)] = place
    known = list(map(plain, target.classes.tolist()))
    seen = []
    order = []
    for code, label in enumerate(known):
        if label in places:
            seen.append(code)
            order.append(places[label])
    strangers = len(places) - len(seen)
    if strangers or len(seen) < 2:
        raise InvalidInput(
            f"The classes of the model are {', '.join(list(places)[:5])}; those of the application "
            f"are {', '.join(known[:5])}.",
            where=target.column,
            remedy="Fit it with the labels of the data.",
        )
    return order, replace(target, seen=np.asarray(seen, dtype=np.intp))
