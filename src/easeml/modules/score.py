"""Scoring predictions with an objective, with an interval.

Qualities are scaled so that 1 is best. Rows whose actual value is missing are left out.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.errors import InvalidInput
from easeml.sampling_error import between_draws, of_errors, rows_of_share, wilson

from .added import objective_for
from .baseline import guessed
from .contract import Objective, Predictions, weighted
from .grouped_rows import as_of_groups
from .intervals import of_areas, of_confusions, of_losses, of_mean_of_classes, of_skill
from .objective_programs import ProcessObjective
from .target import Answers, answers_of, encode_labels
from .weights import Weights, counts_of

Groups = NDArray[np.intp] | None
SPREADS = "standard deviations"
_SEED = 20180801
_LEAST_QUALITY = -1.0
_MOST_RESAMPLES, _LEAST_RESAMPLES, _DRAWS = 1000, 100, 4_000_000
_ROWS_RESAMPLED, _RAREST_RESAMPLED = 20_000, 500  # rows in all, and of the rarest class
_LEAST_OF_PROGRAM, _ROWS_OF_PROGRAM = 20, 200_000  # it reads all of them as a table


def score(objective: str, actual: Any, predictions: Predictions, weights: Weights = None) -> float:
    """Return the quality of predictions, 1 best, at least -1.

    ``actual``: labels or numbers, a row each (Series or array), or ``answers_to_score`` of them.
    ``weights`` (rows,): by which rows count, for an objective that says ``weights = true``. Raises
    ``NotFound`` for an unknown objective, ``InvalidInput`` where no row can be scored, labels are
    not of the predicted classes, or probabilities are needed.
    """
    measure = objective_for(objective, predictions.classes)
    return measure.quality(*_prepare(measure, objective, actual, predictions, weights))


def scorer(
    objective: str,
    actual: Any,
    classes: NDArray[Any] | None,
    class_weights: NDArray[np.float64] | None = None,
    weights: Weights = None,
) -> Callable[[NDArray[np.float64]], float]:
    """Return what gives the quality of probabilities, or of numbers, for the same rows each time.

    ``classes``: of the probabilities, in their order; None for numbers. ``class_weights``: as of
    ``Predictions``. ``weights``: as of ``score``. Rows without an actual value are left out. It is
    ``score``, for many predictions of the same rows.
    """
    measure = objective_for(objective, classes)
    counted = None if measure.needs_probabilities else class_weights
    answers = answers_of(actual, classes)
    good = answers.are_known
    told = answers.values[good]
    given = _given(weights, good)
    if counted is None:
        return lambda outputs: measure.quality(told, outputs[good], *given)
    return lambda outputs: measure.quality(told, weighted(outputs[good], counted), *given)


def value(objective: str, actual: Any, predictions: Predictions, weights: Weights = None) -> float:
    """Return the measure in its own unit, such as an error in the unit of the target.

    Arguments as for ``score``.
    """
    measure = objective_for(objective, predictions.classes)
    return measure.value(*_prepare(measure, objective, actual, predictions, weights))


def interval(
    objective: str,
    actual: Any,
    predictions: Predictions,
    weights: Weights = None,
    *,
    resamples: int = _MOST_RESAMPLES,
    groups: Groups = None,
) -> tuple[float, float, float]:
    """Return ``(quality, low, high)``, a 95 % interval. Arguments and errors as for ``score``.

    Accuracy: Wilson's score interval (E. B. Wilson, JASA 22, 1927). Balanced accuracy: Wilson's of
    each class, put together as G. Y. Zou and A. Donner do (Statistics in Medicine 27, 2008), which
    holds for a class of few rows as well. All other measures of labels, such as F1, areas under
    curves, and means of losses of probabilities likewise: ``intervals.of_confusions``, ``of_areas``
    and ``of_losses``; the calibration error: ``of_gaps``; the value of a mean of errors of numbers:
    ``sampling_error.of_errors``; what compares such errors with those of a constant, as R2 does: ``of_skill``. All
    others: the percentile bootstrap over rows (B. Efron and R. Tibshirani, An Introduction to the
    Bootstrap, 1993, section 13.3) with a fixed seed; widened where needed so that it holds the
    quality itself.

    With ``weights`` a row is one draw, whatever it counts: resampled rows keep their weights, and
    score intervals are those of (sum w)^2 / sum w^2 rows (L. Kish, Survey Sampling, 1965, section
    11.2C; for Wilson's: E. Korn and B. Graubard, Survey Methodology 24, 1998), of shares of fewer
    where rows that count much differ from most (``rows_of_share``).
    ``resamples``: at most so many; fewer are faster and rougher.
    ``groups`` (rows,): numbers of groups whose rows are not drawn one by one: the ends are as far
    off as ``grouped_rows.as_of_groups`` says. Objectives that are programs know of none.
    """
    measure = objective_for(objective, predictions.classes)
    prepared = _prepare(measure, objective, actual, predictions, weights)
    together = _of_scored(groups, actual, predictions)
    if isinstance(measure, ProcessObjective):
        known, predicted, *_ = prepared
        found = _of_program(measure, known, predicted, resamples)
        quality, *ends = list(map(measure.quality_of, found))
        return quality, min(ends), max(ends)
    quality_of = getattr(measure, "quality_of", None)
    if quality_of is None:
        return _with_interval(objective, measure, measure.quality, prepared, resamples, together)
    classes = prepared[1].shape[1]
    found = _with_interval(objective, measure, measure.value, prepared, resamples, together)
    quality, *ends = [max(_LEAST_QUALITY, quality_of(one, classes)) for one in found]
    return quality, min(ends), max(ends)


@dataclass(frozen=True, slots=True)
class Measured:
    """A measure in its own unit with its 95 % interval, such as an error of 5,012 (4,800 to 5,230).

    ``lower_is_better``: it is an error. ``in_unit_of_target``: its unit is that of the target.
    ``baseline``: what always guessing ``guess`` (such as the commonest class) reaches on the same
    rows; None where it was not asked for. ``objective``: what was measured; ``unit``: of the value,
    the name of the target or that of the objective; empty where it has none.
    """

    value: float
    low: float | None
    high: float | None
    lower_is_better: bool
    in_unit_of_target: bool
    baseline: float | None = None
    guess: str = ""
    objective: str = ""
    unit: str = ""


def measured(
    objective: str,
    actual: Any,
    predictions: Predictions,
    weights: Weights = None,
    *,
    resamples: int = _MOST_RESAMPLES,
    groups: Groups = None,
    learnt: Any = None,
    learnt_weights: Weights = None,
    target: str = "",
) -> Measured:
    """Return the measure of an objective in its own unit. Arguments and errors as ``interval``.

    ``resamples`` 0: without an interval, as are measures of one row, which tells of no other.
    ``groups``: as of ``interval``.
    ``learnt``: the answers of the train rows, for the baseline, and ``learnt_weights`` of these.
    ``target``: its name, for the unit.
    """
    measure = objective_for(objective, predictions.classes)
    in_unit_of_target = getattr(measure, "in_unit_of_target", False) and predictions.scales is None
    prepared = _prepare(measure, objective, actual, predictions, weights)
    known, predicted, *_ = prepared
    if resamples and len(known) > 1 and isinstance(measure, ProcessObjective):
        found, low, high = _of_program(measure, known, predicted, resamples)
    elif resamples and len(known) > 1:
        together = _of_scored(groups, actual, predictions)
        ends = _with_interval(objective, measure, measure.value, prepared, resamples, together)
        found, low, high = ends
    else:
        found, low, high = measure.value(*prepared), None, None
    baseline, guess = None, ""
    if learnt is not None:
        same, guess = guessed(predictions, learnt, learnt_weights, measure.needs_probabilities)
        baseline = measure.value(*_prepare(measure, objective, actual, same, weights))
    return Measured(
        found,
        low,
        high,
        lower_is_better=getattr(measure, "lower_is_better", False),
        in_unit_of_target=in_unit_of_target,
        baseline=baseline,
        guess=guess,
        objective=objective,
        unit=_unit(measure, target, predictions),
    )


def _unit(measure: Objective, target: str, predictions: Predictions) -> str:
    """Return the unit of a value: of several numbers a row their spreads; empty of none."""
    if not getattr(measure, "in_unit_of_target", False):
        return getattr(measure, "unit", "")
    return target if predictions.scales is None else SPREADS


def _with_interval(
    objective: str,
    of: Objective,
    measure: Callable[..., float],
    prepared: Sequence[NDArray[Any]],
    resamples: int,
    groups: Groups,
) -> tuple[float, float, float]:
    """Return what ``measure`` finds on all rows, with the interval that ``interval`` describes.

    ``of``: whose measure it is. ``prepared``: of each row the actual and the predicted value, and its
    weight where there are such. ``groups``: of these rows.
    """
    found = _of_single_rows(objective, of, measure, prepared, resamples)
    return found if groups is None else as_of_groups(of, measure, found, prepared, groups)


def _of_single_rows(
    objective: str,
    of: Objective,
    measure: Callable[..., float],
    prepared: Sequence[NDArray[Any]],
    resamples: int,
) -> tuple[float, float, float]:
    """Return the value with its interval, each row drawn by itself."""
    value = measure(*prepared)
    rows = len(prepared[0])
    if getattr(of, "counts_labels", False):
        return value, *_ends_of_labels(objective, measure, value, prepared)
    ends = getattr(of, "ends", None)
    if ends is not None:
        return _holding(value, *ends(*prepared))
    count = max(_LEAST_RESAMPLES, min(resamples, _DRAWS // rows))
    losses = getattr(of, "losses", None)
    if losses is not None:
        random = np.random.default_rng(_SEED)
        return _holding(value, *of_losses(losses, prepared, count, random))
    of_numbers = _ends_of_numbers(of, measure, prepared, count)
    if of_numbers is not None:
        return _holding(value, *of_numbers)
    areas = getattr(of, "areas", None)
    if areas is not None:
        draws = _resamples(rows, count, _enough_to_resample(prepared[0]))
        return value, *of_areas(areas, prepared, draws)
    resampled = []
    for chosen in _resamples(rows, count, rows):
        resampled.append(measure(*[of_rows[chosen] for of_rows in prepared]))
    return _holding(value, *between_draws(resampled))


def _ends_of_labels(
    objective: str, measure: Callable[..., float], value: float, prepared: Sequence[NDArray[Any]]
) -> tuple[float, float]:
    """Return the interval of a measure of how many rows of each class are taken for each."""
    if objective == "balanced-accuracy":
        return of_mean_of_classes(*prepared)
    if objective != "accuracy":
        return of_confusions(measure, value, *prepared)
    known, predicted, *weights = prepared
    counts = counts_of(weights[0] if weights else None, len(known))
    return wilson(value, rows_of_share(predicted.argmax(axis=1) == known, counts))


def _ends_of_numbers(
    of: Any, measure: Callable[..., float], prepared: Sequence[NDArray[Any]], draws: int
) -> tuple[float, float] | None:
    """Return the interval of errors of numbers, or of what compares them with those of a constant.

    None of other measures.
    """
    known, predicted, *weights = prepared
    counts = weights[0] if weights else None
    random = np.random.default_rng(_SEED)
    if hasattr(of, "value_of_mean") and measure == of.value:
        losses = of.losses_of_rows(known, predicted)
        low, high = of_errors(losses, counts_of(counts, len(losses)), draws, random)
        return of.value_of_mean(low), of.value_of_mean(high)
    if not hasattr(of, "losses_of_constant"):
        return None
    losses = of.losses_of_rows(known, predicted)
    of_constant = of.losses_of_constant(known, counts)
    low, high = of_skill(losses, of_constant, counts, draws, random, of.skill)
    if measure == of.value:
        return low, high
    return max(_LEAST_QUALITY, low), max(_LEAST_QUALITY, high)


def _of_program(
    measure: ProcessObjective, known: NDArray[Any], predicted: NDArray[np.float64], resamples: int
) -> tuple[float, float, float]:
    """Return the value with its interval as ``_with_interval``, in one call of the objective."""
    most = max(_LEAST_OF_PROGRAM, _ROWS_OF_PROGRAM // len(known))
    draws = list(_resamples(len(known), min(resamples, most), len(known)))
    names = list(map(bytes, draws))
    once = dict(zip(names, draws, strict=True))  # of two rows there are four
    value, *found = measure.values_of_resamples(known, predicted, list(once.values()))
    measures = dict(zip(once, found, strict=True))
    resampled = list(map(measures.__getitem__, names))
    return _holding(value, *between_draws(resampled))


def _enough_to_resample(known: NDArray[np.intp]) -> int:
    """Return of how many rows areas are resampled, at most all: some hundreds of the rarest class.

    All rows of a large table would take longer than many models do.
    """
    fewest = np.unique(known, return_counts=True)[1].min()
    enough = max(_ROWS_RESAMPLED, math.ceil(_RAREST_RESAMPLED * len(known) / fewest))
    return min(len(known), enough)


def _resamples(rows: int, draws: int, size: int) -> Iterator[NDArray[np.intp]]:
    """Give the places of the ``size`` rows of each resample."""
    random = np.random.default_rng(_SEED)
    for _ in range(draws):
        yield random.integers(rows, size=size)


def _holding(value: float, low: float, high: float) -> tuple[float, float, float]:
    """Return the value with the ends of its interval, widened to hold the value itself."""
    return value, min(value, low), max(value, high)


def _prepare(
    measure: Objective, name: str, actual: Any, predictions: Predictions, weights: Weights
) -> tuple[NDArray[Any], ...]:
    """Return what an objective takes of the rows that can be scored: actual and predicted values, and
    weights where there are such.
    """
    known, predicted, good = _aligned(measure, name, actual, predictions)
    scored = np.flatnonzero(good)
    _refuse_none(scored)
    return known[scored], predicted[scored], *_given(weights, scored)


def _given(weights: Weights, rows: Any) -> tuple[NDArray[np.float64], ...]:
    """Return the further argument of an objective: none, where rows count alike."""
    return () if weights is None else (weights[rows],)


def _of_scored(groups: Groups, actual: Any, predictions: Predictions) -> Groups:
    """Return the groups of the rows that can be scored."""
    if groups is None:
        return None
    return groups[answers_to_score(actual, predictions.classes).are_known]


def _refuse_none(scored: NDArray[np.intp]) -> None:
    if not len(scored):
        raise InvalidInput(
            "No row has an actual value.",
            where="actual",
            remedy="Give rows with labels.",
        )


def _aligned(
    measure: Objective, name: str, actual: Any, predictions: Predictions
) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.bool_]]:
    """Return the actual and the predicted values of all rows, and which can be scored."""
    answers = answers_to_score(actual, predictions.classes)
    if len(answers) != len(predictions.values):
        raise InvalidInput(
            f"{len(answers)} actual values, but {len(predictions.values)} predictions.",
            where="actual",
        )
    outputs = _outputs(measure, name, predictions)
    if predictions.scales is not None:
        return answers.values / predictions.scales, outputs / predictions.scales, answers.are_known
    return answers.values, outputs, answers.are_known


def answers_to_score(actual: Any, classes: NDArray[Any] | None) -> Answers:
    """Return actual values as answers, for ``score`` and ``measured`` by several objectives.

    ``actual`` and errors as for ``score``; ``classes``: of the predictions.
    """
    answers = answers_of(actual, classes)
    if answers is not actual and classes is not None:
        _check_labels(actual, answers.values, classes)
    return answers


def _check_labels(actual: Any, codes: NDArray[np.intp], classes: NDArray[Any]) -> None:
    import pandas as pd

    strange = np.flatnonzero((codes < 0) & ~pd.isna(pd.Series(actual)).to_numpy())
    if len(strange):
        label = pd.Series(actual).iloc[strange[0]]
        remedy = f"Labels: {', '.join(map(str, classes[:20]))}."
        raise InvalidInput(
            f"{label!r} is not a label.",
            where=f"actual, row {strange[0]}",
            remedy=remedy,
        )


def _outputs(measure: Objective, name: str, predictions: Predictions) -> NDArray[np.float64]:
    """Return numbers, or probabilities, weighted as the labels were chosen where these are what
    counts.
    """
    if predictions.classes is None:
        return np.asarray(predictions.values, dtype=np.float64)
    needed = measure.needs_probabilities
    if predictions.probabilities is not None:
        found = predictions.probabilities if needed else predictions.class_scores
        return np.asarray(found, dtype=np.float64)
    if needed:
        raise InvalidInput(
            f"{name} needs class probabilities.",
            where="predictions",
        )
    return np.eye(len(predictions.classes))[encode_labels(predictions.values, predictions.classes)]
