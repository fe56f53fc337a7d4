"""How a model does on rows that it has not learned from: counts, curves and the worst rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.lifecycle.held_out import Unseen
from easeml.lifecycle.labels import class_names
from easeml.sampling_error import wilson

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

_MOST_LABELS = 12  # of a confusion matrix; other classes are one
_MOST_CURVES = 6
_CURVE_POINTS = 100
_BINS = 10
_LEAST_IN_BIN = 5
_MOST_RESIDUALS = 500
_WORST = 10
_SHOWN_COLUMNS, _SHOWN_LENGTH = 500, 60
_OTHER = "all others"


@dataclass(frozen=True, slots=True)
class RocCurve:
    """A class against the rest: shares, in [0, 1], of the others taken for it and of its own found.

    ``area``: under the curve.
    """

    label: str
    false_positives: list[float]
    true_positives: list[float]
    area: float


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Predictions of like confidence: its mean, and the share of ``rows`` that is right.

    ``low`` and ``high``: 95 % interval of that share.
    """

    confidence: float
    right: float
    low: float
    high: float
    rows: int


@dataclass(frozen=True, slots=True)
class Residual:
    """A row's number, and what was predicted for it."""

    actual: float
    predicted: float


@dataclass(frozen=True, slots=True)
class WorstExample:
    """A row on which the model did badly.

    ``row``: its name in the index of the inputs. ``score``: the chance that the model gave the
    actual class, the absolute error, or F1 of the row's labels. ``values``: its inputs, as short
    texts.
    """

    row: int
    actual: str
    predicted: str
    score: float
    values: dict[str, str]


@dataclass(frozen=True, slots=True)
class LabelFound:
    """How a label is found: ``rows`` have it, ``said`` were given it.

    ``precision``, ``recall`` and ``f1`` in [0, 1]; None where nothing tells, as of a label that no
    row has or is given.
    """

    label: str
    rows: int
    said: int
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How a model does on ``rows`` rows with a known answer. What does not fit its target is empty.

    ``confusion[actual][predicted]`` counts rows of ``labels``: of many classes those with the
    most mistakes, the rest as one. ``worst``: the worst row comes first. ``by_label``: of rows that
    may have several labels.
    """

    rows: int
    labels: list[str] = field(default_factory=list)
    confusion: list[list[int]] = field(default_factory=list)
    roc: list[RocCurve] = field(default_factory=list)
    calibration: list[CalibrationBin] = field(default_factory=list)
    residuals: list[Residual] = field(default_factory=list)
    worst: list[WorstExample] = field(default_factory=list)
    by_label: list[LabelFound] = field(default_factory=list)


def evaluate(
    inputs: pd.DataFrame, answers: pd.Series, said: Unseen, worst: int = _WORST
) -> Evaluation:
    """Compare what a model says of n rows with their answers; rows without an answer are left out.

    Args:
        inputs: a row each, named by the index.
        answers: (n,) classes, numbers, or arrays of numbers that all have one shape; of rows that
            may have several labels, arrays of 1 or 0 a label.
        said: what the model says of each row.
        worst: how many of the worst rows are told.
    """
    if said.classes is not None:
        return _of_classes(inputs, answers, said, worst)
    if said.labels:
        return _of_labels(inputs, answers, said, worst)
    return _of_numbers(inputs, answers, said, worst)


def right_rows(answers: pd.Series, said: Unseen) -> NDArray[np.bool_]:
    """Return for each row with a known class whether the predicted one is right."""
    actual = _codes(answers, said)
    predicted = _codes(said.values, said)
    known = (actual >= 0) & (predicted >= 0)
    return actual[known] == predicted[known]


def row_errors(answers: pd.Series, said: Unseen) -> NDArray[np.float64]:
    """Return the absolute error of each row (n,); of tensors, the mean over the known elements.

    Errors of several numbers a row are in their standard deviations.
    NaN where the answer or the prediction is missing.
    """
    predicted = np.asarray(said.values, dtype=np.float64)
    errors = np.abs(_numbers(answers, predicted) - predicted)
    if said.scales is not None:
        errors = errors / said.scales
    if errors.ndim == 1:
        return errors
    errors = errors.reshape(len(errors), -1)
    known = np.isfinite(errors)
    total = np.where(known, errors, 0.0).sum(axis=1)
    return np.where(known.any(axis=1), total / np.maximum(known.sum(axis=1), 1), np.nan)


def _numbers(answers: pd.Series, predicted: NDArray) -> NDArray[np.float64]:
    """Return answers in the shape of the predictions."""
    if predicted.ndim == 1:
        return answers.to_numpy(dtype=np.float64)
    return np.stack([np.asarray(cell, dtype=np.float64) for cell in answers])


def _of_numbers(inputs: pd.DataFrame, answers: pd.Series, said: Unseen, worst: int) -> Evaluation:
    """Residuals are those of elements, where answers are tensors."""
    predicted = np.asarray(said.values, dtype=np.float64)
    actual = _numbers(answers, predicted)
    errors = row_errors(answers, said)
    known = np.flatnonzero(np.isfinite(errors))
    pairs = np.column_stack([actual.reshape(-1), predicted.reshape(-1)])
    pairs = _spread(pairs[np.isfinite(pairs).all(axis=1)], _MOST_RESIDUALS)
    examples = []
    for at in known[np.argsort(-errors[known], kind="stable")[:worst]]:
        texts = _text(actual[at]), _text(predicted[at])
        examples.append(_example(inputs, at, *texts, float(errors[at])))
    residuals = [Residual(one, other) for one, other in pairs.tolist()]
    return Evaluation(rows=len(known), residuals=residuals, worst=examples)


def _of_classes(inputs: pd.DataFrame, answers: pd.Series, said: Unseen, worst: int) -> Evaluation:
    assert said.classes is not None
    names = list(map(str, said.classes))
    actual = _codes(answers, said)
    predicted = _codes(said.values, said)
    known = np.flatnonzero((actual >= 0) & (predicted >= 0))
    labels, confusion = _confusion(names, actual[known], predicted[known])
    wrong = known[actual[known] != predicted[known]]
    roc, calibration = [], []
    of_actual = np.zeros(len(actual))
    if said.chances is not None:
        chances = np.asarray(said.chances, dtype=np.float64)
        of_actual = chances[np.arange(len(actual)), np.maximum(actual, 0)]
        roc = _roc(names, actual[known], chances[known])
        right = actual[known] == predicted[known]
        calibration = _calibration(right, chances[known, predicted[known]])
    examples = []
    for at in wrong[np.argsort(of_actual[wrong], kind="stable")[:worst]]:
        classes = names[actual[at]], names[predicted[at]]
        examples.append(_example(inputs, at, *classes, float(of_actual[at])))
    return Evaluation(
        rows=len(known),
        labels=labels,
        confusion=confusion,
        roc=roc,
        calibration=calibration,
        worst=examples,
    )


def row_f1(answers: pd.Series, said: Unseen) -> NDArray[np.float64]:
    """Return F1 of the labels of each row (n,); 1 of a row without any, for which none is said."""
    actual, predicted = _numbers(answers, said.values), said.values
    there = actual.sum(axis=1) + predicted.sum(axis=1)
    right = 2 * (actual * predicted).sum(axis=1)
    return np.where(there > 0, right / np.maximum(there, 1), 1.0)


def _of_labels(inputs: pd.DataFrame, answers: pd.Series, said: Unseen, worst: int) -> Evaluation:
    actual = _numbers(answers, said.values)
    scores = row_f1(answers, said)
    examples = []
    wrong = np.flatnonzero(scores < 1)
    for at in wrong[np.argsort(scores[wrong], kind="stable")[:worst]]:
        labels = _named(actual[at], said.labels), _named(said.values[at], said.labels)
        examples.append(_example(inputs, at, *labels, float(scores[at])))
    found = []
    for place, label in enumerate(said.labels):
        found.append(_label_found(label, actual[:, place], said.values[:, place]))
    return Evaluation(rows=len(actual), worst=examples, by_label=found)


def _named(row: NDArray[np.float64], labels: Sequence[str]) -> str:
    """Return the labels that a row has, as one text."""
    named = np.array(labels, dtype=object)[row > 0].tolist()
    return ", ".join(named) or "no label"


def _label_found(label: str, actual: NDArray, predicted: NDArray) -> LabelFound:
    right = float((actual * predicted).sum())
    rows, said = int(actual.sum()), int(predicted.sum())
    return LabelFound(
        label=label,
        rows=rows,
        said=said,
        precision=_share_of(right, said),
        recall=_share_of(right, rows),
        f1=_share_of(2 * right, rows + said),
    )


def _share_of(part: float, whole: int) -> float | None:
    """Return a part of a whole; None of nothing."""
    return part / whole if whole else None


def _codes(labels: Any, said: Unseen) -> NDArray[np.intp]:
    """Return the place of each label among the model's classes; -1 where it is none of them."""
    assert said.classes is not None
    places = {name: place for place, name in enumerate(class_names(said.classes))}
    return np.array([places.get(name, -1) for name in class_names(labels)], dtype=np.intp)


def _spread(rows: NDArray, most: int) -> NDArray:
    """Return at most so many of the rows, evenly spread over all."""
    if not len(rows):
        return rows
    return rows[np.linspace(0, len(rows) - 1, min(len(rows), most)).astype(int)]


def _confusion(
    names: Sequence[str], actual: NDArray[np.intp], predicted: NDArray[np.intp]
) -> tuple[list[str], list[list[int]]]:
    """Return the labels that are shown and the counts.

    Of many classes those of the most mistakes are shown, and of these the most frequent; the others
    are one.
    """
    both = np.concatenate([actual, predicted])
    is_wrong = np.tile(actual != predicted, 2)
    present = np.bincount(both, minlength=len(names))
    mistakes = np.bincount(both[is_wrong], minlength=len(names))
    frequency = np.bincount(actual, minlength=len(names))
    order = np.lexsort((-frequency, -mistakes))
    shown = order[present[order] > 0]
    if len(shown) > _MOST_LABELS:
        shown = shown[: _MOST_LABELS - 1]
    shown.sort()
    place = np.full(len(names), len(shown))
    place[shown] = np.arange(len(shown))
    labels = [names[int(code)] for code in shown]
    if np.count_nonzero(present) > len(shown):
        labels.append(_OTHER)
    counts = np.zeros((len(labels), len(labels)), dtype=int)
    np.add.at(counts, (place[actual], place[predicted]), 1)
    return labels, counts.tolist()


def _roc(
    names: Sequence[str], actual: NDArray[np.intp], chances: NDArray[np.float64]
) -> list[RocCurve]:
    """Return a curve for each of the most frequent classes against the rest.

    Of two classes, the second's is the only one.
    """
    from sklearn.metrics import auc, roc_curve

    counts = np.bincount(actual, minlength=len(names))
    order = np.argsort(-counts, kind="stable")
    usable = order[(counts[order] > 0) & (counts[order] < len(actual))]
    if len(names) == 2:
        usable = usable[usable == 1]
    curves = []
    for code in map(int, sorted(usable[:_MOST_CURVES])):
        false, true, _ = roc_curve(actual == code, chances[:, code])
        shown = np.unique(_spread(np.arange(len(false)), _CURVE_POINTS))
        curves.append(
            RocCurve(
                label=names[code],
                false_positives=np.round(false[shown], 5).tolist(),
                true_positives=np.round(true[shown], 5).tolist(),
                area=float(auc(false, true)),
            )
        )
    return curves


def _calibration(right: NDArray[np.bool_], confidence: NDArray[np.float64]) -> list[CalibrationBin]:
    """Return bins of about equally many rows, by the chance of the predicted class.

    Rows of equal confidence share a bin.
    """
    count = min(_BINS, len(right) // _LEAST_IN_BIN)
    if count == 0:
        return []
    edges = np.unique(np.quantile(confidence, np.linspace(0, 1, count + 1)[1:-1]))
    place = np.searchsorted(edges, confidence, side="left")
    bins = []
    for one in np.unique(place):
        rows = int((place == one).sum())
        share = float(right[place == one].mean())
        mean = float(confidence[place == one].mean())
        bins.append(CalibrationBin(mean, share, *wilson(share, rows), rows))
    return bins


def _example(
    inputs: pd.DataFrame, at: Any, actual: str, predicted: str, score: float
) -> WorstExample:
    row = inputs.iloc[int(at)]
    values = {str(name): _text(row[name]) for name in inputs.columns[:_SHOWN_COLUMNS]}
    return WorstExample(int(inputs.index[int(at)]), actual, predicted, score, values)


def without_midnight(text: str) -> str:
    """Return a text; that of a day, which is kept as its first second, without the time."""
    return text.removesuffix(" 00:00:00")


def _text(value: Any) -> str:
    import pandas as pd

    from easeml.data import cell_text

    if isinstance(value, bytes | dict | np.ndarray):
        return cell_text(value)
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return ""
    text = f"{value:.6g}" if isinstance(value, float) else without_midnight(str(value))
    return text if len(text) <= _SHOWN_LENGTH else text[: _SHOWN_LENGTH - 1] + "…"
