"""From which chance on a label is said, where rows may have several: as the objective wants it.

All labels begin with the common threshold that is best. A label leaves it for one of its own (Y.
Yang, A study of thresholding strategies for text categorization, SIGIR 2001, section 2: "SCut")
where its rows say so beyond chance: that of a label of few rows would follow their noise. Rows
that the model has not learned from tell. What is measured on the same rows is chosen by thresholds
that other rows told, so that they do not flatter it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .added import objective_for
from .contract import Objective, Predictions
from .labels import LabelChoice
from .target import as_numbers
from .weights import Weights, counts_of

_FOLDS = 5
_SEED = 20180801
_MOST_COMMON = 60  # common thresholds that are tried
_MOST_ROWS = 5_000  # tell a threshold well
_BEYOND_CHANCE = 2.0  # standard errors
_Numbers = NDArray[np.float64]


def told_by(
    objective: str, actual: Any, said: Predictions, weights: Weights = None
) -> tuple[LabelChoice | None, Predictions]:
    """Return how labels are chosen best for an objective, and what was said of rows so.

    ``actual``: the answers of rows that the model has not learned from; ``said``: what it said of
    them. Each row is told by thresholds that others have chosen. None, and ``said``, where rows do
    not have several labels.
    """
    if said.labels is None:
        return None, said
    measure = objective_for(objective, None)
    answers = as_numbers(actual)
    chances, choice = said.labels.chances, said.labels.choice
    counts = counts_of(weights, len(answers))
    best = _best(measure, answers, chances, counts, choice)
    fold = np.random.default_rng(_SEED).permutation(len(answers)) % _FOLDS
    values = np.zeros_like(chances)
    for number in range(_FOLDS):
        held = fold == number
        others = _best(measure, answers[~held], chances[~held], counts[~held], choice)
        values[held] = others.chosen(chances[held])
    unseen = Predictions.of_labels(chances, best)
    return best, unseen.with_values(values)


def decided_by(said: Predictions, choice: LabelChoice | None) -> Predictions:
    """Return what was said with the labels that ``choice`` gives; None: as it is."""
    if said.labels is None or choice is None:
        return said
    return Predictions.of_labels(said.labels.chances, choice)


def _best(
    measure: Objective, answers: _Numbers, chances: _Numbers, counts: _Numbers, choice: LabelChoice
) -> LabelChoice:
    """Return the choice with the thresholds that are best on these rows."""
    every = 1 + len(answers) // _MOST_ROWS
    answers, chances, counts = answers[::every], chances[::every], counts[::every]
    if not len(answers):
        return choice
    best = _common(measure, answers, chances, counts, choice)
    scores = getattr(measure, "scores_of_rows", None)
    if scores is None:
        return best
    common = np.asarray(best.thresholds)
    own = common.copy()
    for label in range(len(common)):
        said = best.chosen(chances)
        without, having = said.copy(), said.copy()
        without[:, label], having[:, label] = 0.0, 1.0
        otherwise = choice.filled(without, chances)
        gains = counts * (scores(answers, having) - scores(answers, otherwise))
        own[label] = _own(gains, chances[:, label], common[label])
    return best.with_thresholds(own.tolist())


def _common(
    measure: Objective, answers: _Numbers, chances: _Numbers, counts: _Numbers, choice: LabelChoice
) -> LabelChoice:
    """Return the choice with the one threshold for all labels that is best."""
    places = np.linspace(0, 1, _MOST_COMMON)
    tried = np.unique(np.quantile(chances, places, method="nearest"))
    tried = np.append(tried[tried > 0], 0.5)
    found = []
    for threshold in tried.tolist():
        one = choice.with_thresholds([threshold] * len(choice.names))
        found.append(measure.quality(answers, one.chosen(chances), counts))
    best = tried[int(np.argmax(found))]
    return choice.with_thresholds([float(best)] * len(choice.names))


def _own(gains: _Numbers, chances: _Numbers, common: float) -> float:
    """Return the threshold of a label: ``common``, unless another is better beyond chance.

    ``gains`` (rows,): what saying the label in a row brings; ``chances`` (rows,) of the label.
    """
    order = np.argsort(-chances, kind="stable")
    reached = np.cumsum(gains[order])
    place = int(reached.argmax())
    found = float(chances[order[place]])
    between = _between(chances, found, common)
    change = gains[between]
    is_chance = abs(change.sum()) <= _BEYOND_CHANCE * np.sqrt((change**2).sum())
    if reached[place] <= 0 or is_chance:
        return common
    return found


def _between(chances: _Numbers, one: float, other: float) -> NDArray[np.bool_]:
    """Tell of which rows the label is said by one of two thresholds alone."""
    low, high = min(one, other), max(one, other)
    return (chances >= low) & (chances < high)
