"""Support vector machines."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.modules import Context, Data
from easeml.modules.estimators import class_weight, target_scale
from easeml.modules.files import load_estimator, load_json, save_estimator, save_json
from easeml.modules.weights import Weights, of_rows

_MOST_ROWS = 10_000  # time grows with the square of the rows
_HELD_OUT = 0.2
_FILES = "estimator.skops", "trained.json"


@dataclass(frozen=True, slots=True)
class TrainedSVM:
    """A fitted machine. Category target: probabilities are softmax(``sharpness`` * decision), after
    C. Guo and others, On calibration of modern neural networks, ICML 2017, section 4.2 (temperature
    scaling)."""

    estimator: Any
    centre: float
    scale: float
    sharpness: float
    notes: tuple[str, ...] = ()

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return class probabilities or values."""
        from sklearn import config_context

        with config_context(assume_finite=True, skip_parameter_validation=True):
            if self.sharpness:
                return _softmax(self.sharpness * _decisions(self.estimator, X))
            return self.estimator.predict(X) * self.scale + self.centre

    def save(self, folder: Path) -> None:
        """Write the machine."""
        save_estimator(folder / _FILES[0], self.estimator)
        save_json(folder / _FILES[1], [self.centre, self.scale, self.sharpness])


class SVM:
    """A support vector machine with a Gaussian kernel.

    Beyond 10,000 rows it learns from a random part of them.
    """

    def fit(self, data: Data, config: Mapping[str, Any], context: Context) -> TrainedSVM:
        """Fit the machine; probabilities are calibrated on a fifth of the rows, which a first
        machine did not see.
        """
        order = np.random.default_rng(context.seed).permutation(len(data.X))
        if data.classes:  # a row of every class first, so that no machine misses one
            _, first = np.unique(data.y[order], return_index=True)
            order = np.concatenate([order[first], np.delete(order, first)])
        notes = ()
        if len(order) > _MOST_ROWS:
            notes = (f"The SVM learnt from {_MOST_ROWS} of {len(order)} training rows.",)
        order = order[:_MOST_ROWS]
        X, y, weights = data.X[order], data.y[order], of_rows(context.weights, order)
        centre, scale = map(float, target_scale(data, context.weights))
        if not data.classes:
            machine = _machine(config, False).fit(X, (y - centre) / scale, weights)
            return TrainedSVM(machine, centre, scale, 0.0, notes)
        kept = max(data.classes, int(len(y) * (1 - _HELD_OUT)))
        learnt, others = np.split(np.arange(len(y)), [kept])
        first = _machine(config, True).fit(X[learnt], y[learnt], of_rows(weights, learnt))
        sharpness = _sharpness(first, X[others], y[others], of_rows(weights, others))
        machine = _machine(config, True).fit(X, y, weights)
        return TrainedSVM(machine, centre, scale, sharpness, notes)

    def load(self, folder: Path) -> TrainedSVM:
        """Read what was saved."""
        centre, scale, sharpness = load_json(folder / _FILES[1])
        return TrainedSVM(load_estimator(folder / _FILES[0], ()), centre, scale, sharpness)


def _machine(config: Mapping[str, Any], classify: bool) -> Any:
    from sklearn.svm import SVC, SVR

    shared = {"C": config["C"], "gamma": "scale", "cache_size": 500}
    return (
        SVC(**shared, class_weight=class_weight(config))
        if classify
        else SVR(**shared, epsilon=config["epsilon"])
    )


def _decisions(machine: Any, X: NDArray[np.float64]) -> NDArray[np.float64]:
    decisions = machine.decision_function(X)
    if decisions.ndim == 1:
        return np.column_stack([-decisions, decisions]) / 2
    return decisions


def _sharpness(
    machine: Any, X: NDArray[np.float64], y: NDArray[np.intp], weights: Weights
) -> float:
    """Return what minimises the log loss of rows the machine has not seen; 1 without such rows."""
    from scipy.optimize import minimize_scalar

    if len(y) == 0:
        return 1.0
    decisions = _decisions(machine, X)

    def loss(logarithm: float) -> float:
        right = _softmax(np.exp(logarithm) * decisions)[np.arange(len(y)), y]
        return float(-np.average(np.log(np.maximum(right, 1e-15)), weights=weights))

    found: Any = minimize_scalar(loss, bounds=(-3.0, 3.0), method="bounded")
    return float(np.exp(found.x))


def _softmax(values: NDArray[np.float64]) -> NDArray[np.float64]:
    raised = np.exp(values - values.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)
