"""scikit-learn's estimators as models."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .contract import Context, Data
from .files import load_estimator, load_json, save_estimator, save_json
from .weights import Weights, mean_and_deviation

ESTIMATOR, _TARGET = "estimator.skops", "target.json"
_FIRST_STEPS = 10  # of an estimator that goes on in parts


@dataclass(frozen=True, slots=True)
class TrainedEstimator:
    """A fitted estimator.

    Numbers were learnt as (y - centre) / scale; both are one each, or one an element.
    """

    estimator: Any
    centre: Any = 0.0
    scale: Any = 1.0
    notes: tuple[str, ...] = ()

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return class probabilities or values."""
        from sklearn import config_context

        with config_context(assume_finite=True, skip_parameter_validation=True):
            if hasattr(self.estimator, "predict_proba"):
                return self.estimator.predict_proba(X)
            return self.estimator.predict(X) * self.scale + self.centre

    def save(self, folder: Path) -> None:
        """Write the estimator."""
        save_estimator(folder / ESTIMATOR, self.estimator)
        save_json(
            folder / _TARGET, [np.asarray(self.centre).tolist(), np.asarray(self.scale).tolist()]
        )


class SklearnModel(ABC):
    """A model made of one estimator. ``standardise``: a number target is brought to mean 0 and
    deviation 1 first, as the elements of a tensor always are: else those of a large scale alone
    would be learnt. ``steps``: the parameter that counts the steps of an estimator that can go on
    where it ended (``warm_start``), such as its trees; it ends early where the context has
    enough. ``weights``: the arguments of its ``fit`` that take weights of rows."""

    trusted: ClassVar[tuple[str, ...]] = ()
    standardise: ClassVar[bool] = False
    steps: ClassVar[str] = ""
    weights: ClassVar[tuple[str, ...]] = ("sample_weight",)
    trained: ClassVar[type[TrainedEstimator]] = TrainedEstimator

    @abstractmethod
    def estimator(self, data: Data, config: Mapping[str, Any], context: Context) -> Any:
        """Return the estimator to fit."""

    def fit(self, data: Data, config: Mapping[str, Any], context: Context) -> TrainedEstimator:
        """Fit the estimator; that it stopped before it converged is no error, its quality will
        tell.
        """
        import warnings

        centre, scale = (
            target_scale(data, context.weights)
            if self.standardise or data.y.ndim > 1
            else (0.0, 1.0)
        )
        y = data.y if data.classes else (data.y - centre) / scale
        estimator = self.estimator(data, config, context)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            notes = self._fitted(estimator, data.X, y, context)
        if hasattr(estimator, "n_jobs"):
            estimator.n_jobs = 1
        return self.trained(estimator, centre, scale, notes)

    def _fitted(self, estimator: Any, X: Any, y: Any, context: Context) -> tuple[str, ...]:
        """Fit, in parts that double where there are steps; return what there is to say of it."""
        given = {}
        if context.weights is not None:
            given = dict.fromkeys(self.weights, context.weights)
        if not self.steps:
            estimator.fit(X, y, **given)
            return ()
        most = getattr(estimator, self.steps)
        estimator.set_params(warm_start=True)
        done = 0
        while done < most:
            done = min(most, max(_FIRST_STEPS, 2 * done))
            estimator.set_params(**{self.steps: done})
            estimator.fit(X, y, **given)
            if done < most and context.enough():
                return ended_early(done, most)
        return ()

    def load(self, folder: Path) -> TrainedEstimator:
        """Read what was saved."""
        return self.loaded(folder, self.trusted)

    def loaded(self, folder: Path, trusted: Sequence[str]) -> TrainedEstimator:
        """Read what was saved, made of types that skops trusts and of ``trusted``."""
        centre, scale = map(np.asarray, load_json(folder / _TARGET))
        return self.trained(load_estimator(folder / ESTIMATOR, trusted), centre, scale)


def ended_early(done: int, most: int) -> tuple[str, ...]:
    """Return the note of a fit that ended after ``done`` of ``most`` steps."""
    return (f"It was ended early, with {done} of {most} steps.",)


def steps_of(steps: int, share: float) -> int:
    """Return how many of its steps a model keeps that is to have a share of them; at least one."""
    return max(1, round(share * steps))


def target_scale(data: Data, weights: Weights = None) -> tuple[Any, Any]:
    """Return mean and standard deviation of a number, or of each element of a tensor; 0 and 1 for a
    category.
    """
    if data.classes:
        return 0.0, 1.0
    largest = np.abs(data.y).max(axis=0)
    unit = np.where(largest > 0, largest, 1.0)  # so that neither sums nor squares overflow
    shares = data.y / unit
    mean, deviation = mean_and_deviation(shares, weights)
    return mean * unit, np.where(deviation > 0, deviation * unit, 1.0)


def both_classes(positive: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the probabilities (rows, 2) of two classes from those of the second."""
    probabilities = np.empty((len(positive), 2))
    probabilities[:, 0] = 1 - positive
    probabilities[:, 1] = positive
    return probabilities


def class_weight(config: Mapping[str, Any]) -> str | None:
    """Return the weighting of classes as scikit-learn names it."""
    return None if config["class_weight"] == "none" else config["class_weight"]
