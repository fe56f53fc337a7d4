"""Any class of scikit-learn's kind as a model, with nothing written but its name and parameters."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from easeml.errors import InvalidInput

from .contract import Context, Data
from .estimators import ESTIMATOR, SklearnModel, TrainedEstimator

_NUMERICAL = {"numpy", "scipy", "sklearn"}  # what fitted estimators are made of
_PLAIN = {"collections.OrderedDict"}  # and what they may hold besides
_QUIET = {"lightgbm": {"verbosity": -1}}  # it prints a line for each tree
_NO_PROBABILITIES = "This class gives no probabilities: its prediction counts as certain."


class NamedEstimator(SklearnModel):
    """An estimator by its class, which is given seed and threads under scikit-learn's names.

    Numbers are standardised for it, and where no feature varies the baseline stands in: many a
    class fails there.
    """

    standardise = True

    def __init__(self, kind: type, parameters: Mapping[str, Any]):
        """``parameters`` do not vary."""
        self._kind = kind
        self._parameters = parameters

    def estimator(self, data: Data, config: Mapping[str, Any], context: Context) -> Any:
        """Return the estimator to fit.

        Raises ``InvalidInput`` for a parameter that the class does not have.
        """
        if not data.X.var(axis=0).any():
            from sklearn.dummy import DummyClassifier, DummyRegressor

            return DummyClassifier(strategy="prior") if data.classes else DummyRegressor()

        known = parameters_of(self._kind)
        usual: dict[str, Any] = {}
        if "random_state" in known:
            usual["random_state"] = context.seed
        if "n_jobs" in known:
            usual["n_jobs"] = context.threads
        usual |= _QUIET.get(_package(self._kind), {})
        return self._kind(**{**usual, **self._parameters, **config})

    def fit(self, data: Data, config: Mapping[str, Any], context: Context) -> TrainedEstimator:
        """Fit the estimator."""
        trained = super().fit(data, config, context)
        if not data.classes or hasattr(trained.estimator, "predict_proba"):
            return trained
        return TrainedLabels(trained.estimator, notes=(_NO_PROBABILITIES,))

    def load(self, folder: Path) -> TrainedEstimator:
        """Read what was saved: of types of the class's own package, and of those it is built on."""
        from skops.io import get_untrusted_types

        packages = _NUMERICAL | {_package(self._kind)}
        held = get_untrusted_types(file=folder / ESTIMATOR)
        trusted = [name for name in held if name in _PLAIN or name.partition(".")[0] in packages]
        loaded = self.loaded(folder, trusted)
        is_classifier = hasattr(loaded.estimator, "classes_")
        if is_classifier and not hasattr(loaded.estimator, "predict_proba"):
            return TrainedLabels(loaded.estimator)
        return loaded


@dataclass(frozen=True, slots=True)
class TrainedLabels(TrainedEstimator):
    """A classifier that knows labels only."""

    def predict(self, X: Any) -> Any:
        """Return 1 for the class that is predicted, 0 for the others."""
        return np.equal.outer(self.estimator.predict(X), self.estimator.classes_).astype(float)


def parameters_of(kind: type) -> set[str]:
    """Return the names of the parameters that an estimator class takes.

    Raises ``InvalidInput`` where it is none.
    """
    for method in ("fit", "predict", "get_params"):
        if not callable(getattr(kind, method, None)):
            raise InvalidInput(
                f"{kind.__qualname__} is not an estimator.",
                where="runtime.entry",
                remedy="Name a class with fit, predict and get_params, "
                "or one of easeml's contract of modules.",
            )

    names: set[str] = set()
    for one in kind.__mro__:
        if "__init__" in vars(one):
            names.update(_named(one))
    return names - {"self"}


def _package(kind: type) -> str:
    return kind.__module__.partition(".")[0]


def _named(kind: type) -> list[str]:
    parameters = inspect.signature(kind.__init__).parameters.values()
    return [one.name for one in parameters if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)]
