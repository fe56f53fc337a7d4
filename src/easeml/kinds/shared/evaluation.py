"""How predictions of validation rows differ from what is known of them: counts, curves and the
worst rows.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.contract.evaluation import CalibrationBin, Evaluation, Residual, RocCurve, WorstExample

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from easeml.modules import Predictions

_MOST_LABELS = 12  # of a confusion matrix; less frequent classes are one
_MOST_CURVES = 6
_CURVE_POINTS = 100
_BINS = 10
_LEAST_IN_BIN = 5
_MOST_RESIDUALS = 500
_WORST = 10
_SHOWN_COLUMNS, _SHOWN_LENGTH = 500, 60
_OTHER = "all others"
_Z = 1.959963984540054  # 97.5 % quantile of the normal distribution


def evaluate(frame: "pd.DataFrame", target: str, predictions: "Predictions") -> Evaluation:
    """Compare ``predictions``, a row each, with column ``target`` of ``frame``, which has column
    ``_row``, too.

    Rows without an actual value are left out.
    """
    from easeml.modules.target import encode_labels

    if predictions.classes is None and frame[target].dtype == object:
        return _of_tensors(frame, target, np.asarray(predictions.values, dtype=np.float64))
    if predictions.classes is None:
        actual = frame[target].to_numpy(dtype=np.float64)
        return _of_numbers(frame, target, actual, np.asarray(predictions.values, dtype=np.float64))
    actual = encode_labels(frame[target], predictions.classes)
    predicted = encode_labels(predictions.values, predictions.classes)
    return _of_classes(frame, target, actual, predicted, predictions)


def _of_numbers(
    frame: "pd.DataFrame", target: str, actual: "NDArray", predicted: "NDArray"
) -> Evaluation:
    known = np.flatnonzero(np.isfinite(actual) & np.isfinite(predicted))
    shown = (
        known[np.linspace(0, len(known) - 1, min(len(known), _MOST_RESIDUALS)).astype(int)]
        if len(known)
        else known
    )
    error = np.abs(actual - predicted)
    worst = known[np.argsort(-error[known], kind="stable")[:_WORST]]
    return Evaluation(
        rows=len(known),
        residuals=[
            Residual(actual=float(actual[at]), predicted=float(predicted[at])) for at in shown
        ],
        worst=[
            _example(
                frame, target, at, f"{actual[at]:.6g}", f"{predicted[at]:.6g}", float(error[at])
            )
            for at in worst
        ],
    )


def _of_tensors(frame: "pd.DataFrame", target: str, predicted: "NDArray") -> Evaluation:
    """Residuals are those of elements; a row's error is the mean over its elements."""
    actual = np.stack([np.asarray(cell, dtype=np.float64) for cell in frame[target]])
    error = np.nanmean(np.abs(actual - predicted).reshape(len(actual), -1), axis=1)
    pairs = np.column_stack([actual.reshape(-1), predicted.reshape(-1)])
    pairs = pairs[np.isfinite(pairs).all(axis=1)]
    shown = pairs[np.linspace(0, len(pairs) - 1, min(len(pairs), _MOST_RESIDUALS)).astype(int)]
    worst = np.argsort(-error, kind="stable")[:_WORST]
    return Evaluation(
        rows=len(actual),
        residuals=[Residual(actual=one, predicted=other) for one, other in shown.tolist()],
        worst=[
            _example(frame, target, at, _text(actual[at]), _text(predicted[at]), float(error[at]))
            for at in worst.tolist()
        ],
    )


def _of_classes(
    frame: "pd.DataFrame",
    target: str,
    actual: "NDArray",
    predicted: "NDArray",
    predictions: "Predictions",
) -> Evaluation:
    assert predictions.classes is not None
    names = [str(name) for name in predictions.classes]
    known = np.flatnonzero((actual >= 0) & (predicted >= 0))
    labels, confusion = _confusion(names, actual[known], predicted[known])
    found = Evaluation(rows=len(known), labels=labels, confusion=confusion)
    if predictions.probabilities is None:
        wrong = known[actual[known] != predicted[known]][:_WORST]
        found.worst = [
            _example(frame, target, at, names[actual[at]], names[predicted[at]], 0.0)
            for at in wrong
        ]
        return found
    chances = np.asarray(predictions.probabilities, dtype=np.float64)
    found.roc = _roc(names, actual[known], chances[known])
    found.calibration = _calibration(
        actual[known] == predicted[known], chances[known, predicted[known]]
    )
    of_actual = chances[np.arange(len(actual)), np.maximum(actual, 0)]
    wrong = known[actual[known] != predicted[known]]
    worst = wrong[np.argsort(of_actual[wrong], kind="stable")[:_WORST]]
    found.worst = [
        _example(frame, target, at, names[actual[at]], names[predicted[at]], float(of_actual[at]))
        for at in worst
    ]
    return found


def _confusion(
    names: Sequence[str], actual: "NDArray[np.intp]", predicted: "NDArray[np.intp]"
) -> tuple[list[str], list[list[int]]]:
    """Return the labels that are shown and the counts; the less frequent classes are one."""
    present = np.bincount(np.concatenate([actual, predicted]), minlength=len(names))
    order = np.argsort(-np.bincount(actual, minlength=len(names)), kind="stable")
    shown = [int(code) for code in order if present[code]]
    if len(shown) > _MOST_LABELS:
        shown = shown[: _MOST_LABELS - 1]
    shown.sort()
    place = np.full(len(names), len(shown))
    place[shown] = np.arange(len(shown))
    labels = [names[code] for code in shown]
    if np.count_nonzero(present) > len(shown):
        labels.append(_OTHER)
    counts = np.zeros((len(labels), len(labels)), dtype=int)
    np.add.at(counts, (place[actual], place[predicted]), 1)
    return labels, counts.tolist()


def _roc(
    names: Sequence[str], actual: "NDArray[np.intp]", chances: "NDArray[np.float64]"
) -> list[RocCurve]:
    """Return a curve for each of the most frequent classes against the rest; for two classes the
    second's alone.
    """
    from sklearn.metrics import auc, roc_curve

    counts = np.bincount(actual, minlength=len(names))
    usable = [
        int(code) for code in np.argsort(-counts, kind="stable") if 0 < counts[code] < len(actual)
    ]
    if len(names) == 2:
        usable = [code for code in usable if code == 1]
    curves = []
    for code in sorted(usable[:_MOST_CURVES]):
        false, true, _ = roc_curve(actual == code, chances[:, code])
        shown = np.unique(
            np.linspace(0, len(false) - 1, min(len(false), _CURVE_POINTS)).astype(int)
        )
        curves.append(
            RocCurve(
                label=names[code],
                false_positives=np.round(false[shown], 5).tolist(),
                true_positives=np.round(true[shown], 5).tolist(),
                area=float(auc(false, true)),
            )
        )
    return curves


def _calibration(
    right: "NDArray[np.bool_]", confidence: "NDArray[np.float64]"
) -> list[CalibrationBin]:
    """Return bins of about equally many rows, by the probability of the predicted class; equal ones
    share a bin.
    """
    count = min(_BINS, len(right) // _LEAST_IN_BIN)
    if count == 0:
        return []
    edges = np.unique(np.quantile(confidence, np.linspace(0, 1, count + 1)[1:-1]))
    place = np.searchsorted(edges, confidence, side="left")
    return [_bin(right[place == one], confidence[place == one]) for one in np.unique(place)]


def _bin(right: "NDArray[np.bool_]", confidence: "NDArray[np.float64]") -> CalibrationBin:
    """Return one bin with Wilson's score interval (E. B. Wilson, JASA 22, 1927)."""
    rows, share = len(right), float(right.mean())
    scale = 1 + _Z**2 / rows
    centre = (share + _Z**2 / (2 * rows)) / scale
    half = _Z * np.sqrt(share * (1 - share) / rows + _Z**2 / (4 * rows**2)) / scale
    low, high = max(0.0, float(centre - half)), min(1.0, float(centre + half))
    return CalibrationBin(
        confidence=float(confidence.mean()), right=share, low=low, high=high, rows=rows
    )


def _example(
    frame: "pd.DataFrame", target: str, at: Any, actual: str, predicted: str, score: float
) -> WorstExample:
    inputs = [name for name in frame.columns if name not in ("_row", target)][:_SHOWN_COLUMNS]
    row = frame.iloc[int(at)]
    values = {str(name): _text(row[name]) for name in inputs}
    return WorstExample(
        row=int(row["_row"]), actual=actual, predicted=predicted, score=score, values=values
    )


def _text(value: Any) -> str:
    import numpy as np
    import pandas as pd

    from easeml.data import cell_text

    if isinstance(value, bytes | dict | np.ndarray):
        return cell_text(value)
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return ""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _SHOWN_LENGTH else text[: _SHOWN_LENGTH - 1] + "…"
