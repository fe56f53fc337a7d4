"""From which chance on a label is said, where rows may have several: as the objective wants it.

All labels have the common threshold that is best; of an objective that is a mean over labels each
has the one that is best for it (Y. Yang, A study of thresholding strategies for text
categorization, SIGIR 2001, section 2: "SCut"), if enough rows have the label: else it would follow
their noise. Rows that the model has not learned from tell. Each row is judged by thresholds that
other rows told, so that nothing is flattered.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .added import objective_for
from .contract import Predictions
from .labels import LabelChoice
from .target import as_numbers
from .weights import Weights, counts_of

_FOLDS = 5
_SEED = 20180801
_MOST_TRIED = 60  # thresholds
_MOST_ROWS = 5_000  # tell a threshold well
_LEAST_ROWS = 20  # that have a label, for a threshold of its own
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
    chances = said.labels.chances
    choice = said.labels.choice
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
    measure: Any, answers: _Numbers, chances: _Numbers, counts: _Numbers, choice: LabelChoice
) -> LabelChoice:
    """Return the choice with the thresholds that are best on these rows."""
    every = 1 + len(answers) // _MOST_ROWS
    answers, chances, counts = answers[::every], chances[::every], counts[::every]
    if not len(answers):
        return choice
    tried = _tried(chances)
    found = []
    of_labels = []
    by_label = getattr(measure, "scores_of_labels", None)
    for threshold in tried.tolist():
        said = choice.with_thresholds([threshold] * len(choice.names)).chosen(chances)
        found.append(measure.quality(answers, said, counts))
        if by_label is not None:
            of_labels.append(by_label(answers, said, counts))
    best = np.full(len(choice.names), tried[int(np.argmax(found))])
    if of_labels:
        own = tried[np.argmax(of_labels, axis=0)]
        best = np.where(answers.sum(axis=0) >= _LEAST_ROWS, own, best)
    return choice.with_thresholds(best.tolist())


def _tried(chances: _Numbers) -> _Numbers:
    """Return thresholds that tell chances (rows, k) apart, and the even one."""
    places = np.linspace(0, 1, _MOST_TRIED)
    some = np.unique(np.quantile(chances, places, method="nearest"))
    return np.append(some[some > 0], 0.5)
