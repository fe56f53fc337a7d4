"""Gradient boosting of trees. Missing values are split on as such."""

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from easeml.errors import Damaged
from easeml.modules import Context, Data
from easeml.modules.estimators import (
    SklearnModel,
    TrainedEstimator,
    both_classes,
    ended_early,
    steps_of,
)

_BOOSTER = "booster.txt"
_OF_NUMBERS = ("regression", "poisson")  # objectives, as LightGBM names them
_LEAST_HESSIAN = 1e-3  # LightGBM's default of a leaf


class TrainedHistogramBoosting(TrainedEstimator):
    """scikit-learn's histogram gradient boosting, fitted."""

    def shortened(self, share: float) -> "TrainedHistogramBoosting":
        """Return the same with a share of its iterations, the first ones."""
        shorter = copy(self.estimator)
        kept = steps_of(len(shorter._predictors), share)
        shorter._predictors = shorter._predictors[:kept]
        return TrainedHistogramBoosting(shorter, self.centre, self.scale)


class HistGradientBoosting(SklearnModel):
    """scikit-learn's histogram gradient boosting."""

    trained = TrainedHistogramBoosting
    trusted = ("sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",)
    steps = "max_iter"

    def estimator(self, data: Data, config: Mapping[str, Any], context: Context) -> Any:
        """Return the estimator to fit."""
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        kind = HistGradientBoostingClassifier if data.classes else HistGradientBoostingRegressor
        return kind(
            learning_rate=config["learning_rate"],
            max_iter=config["trees"],
            max_leaf_nodes=config["leaves"],
            min_samples_leaf=config["leaf_rows"],
            l2_regularization=config["l2"],
            monotonic_cst=list(data.monotonic) or None,
            early_stopping=cast(Any, False),  # its split fails where a class has one row
            random_state=context.seed,
        )


@dataclass(frozen=True, slots=True)
class TrainedBooster:
    """A LightGBM booster."""

    booster: Any
    classes: int
    notes: tuple[str, ...] = ()

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return class probabilities or values."""
        predicted = self.booster.predict(X, num_threads=1)
        return both_classes(predicted) if self.classes == 2 else predicted

    def save(self, folder: Path) -> None:
        """Write LightGBM's text format."""
        self.booster.save_model(folder / _BOOSTER)

    def shortened(self, share: float) -> "TrainedBooster":
        """Return the same with a share of its trees, the first ones."""
        import lightgbm

        kept = steps_of(self.booster.current_iteration(), share)
        text = self.booster.model_to_string(num_iteration=kept)
        return TrainedBooster(lightgbm.Booster(model_str=text), self.classes)


class LightGBM:
    """LightGBM's gradient boosting.

    Numbers are learnt by squares, or by the likelihood of Poisson: then trees add up in the
    logarithm, so that effects multiply. That needs targets of at least 0, else squares are taken.
    """

    def fit(self, data: Data, config: Mapping[str, Any], context: Context) -> TrainedBooster:
        """Grow the trees, reporting each."""
        import lightgbm

        params = {
            "lambda_l2": config["l2"],
            **_objective(data, config, context),
            "learning_rate": config["learning_rate"],
            "num_leaves": config["leaves"],
            "min_data_in_leaf": config["leaf_rows"],
            "bagging_fraction": config["row_share"],
            "bagging_freq": 1,
            "feature_fraction": config["feature_share"],
            "num_threads": context.threads,
            "seed": context.seed,
            "deterministic": True,
            "force_row_wise": True,
            "verbosity": -1,
        }
        if data.monotonic:
            params["monotone_constraints"] = list(data.monotonic)
        bins = {"max_bin": config["bins"], "min_data_in_bin": 1}
        table = lightgbm.Dataset(
            data.X, data.y, weight=context.weights, params={"verbosity": -1, **bins}
        )
        trees = config["trees"]
        booster = lightgbm.train(
            params, table, num_boost_round=trees, callbacks=[_reporter(context, trees)]
        )
        notes = ended_early(booster.best_iteration, trees) if booster.best_iteration > 0 else ()
        return TrainedBooster(booster, data.classes, notes)

    def load(self, folder: Path) -> TrainedBooster:
        """Read what was saved. Raises ``Damaged``."""
        import lightgbm

        try:
            booster = lightgbm.Booster(model_file=folder / _BOOSTER)
        except lightgbm.basic.LightGBMError as error:
            raise Damaged(
                f"The booster cannot be read: {error}",
                where=str(folder / _BOOSTER),
            ) from error
        per_round = booster.num_model_per_iteration()
        objective = booster.dump_model(num_iteration=1)["objective"].partition(" ")[0]
        is_number = objective in _OF_NUMBERS
        return TrainedBooster(booster, 0 if is_number else max(2, per_round))


def _objective(data: Data, config: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Return the parameters that depend on the target."""
    if data.classes > 2:
        return {"objective": "multiclass", "num_class": data.classes}
    if data.classes == 2:
        return {"objective": "binary"}
    if config["loss"] == "squares" or not _can_be_counts(data.y):
        return {"objective": "regression"}

    # Gradients grow with the unit of the target, and so must what they are compared with: then
    # metres and millimetres give the same model.
    unit = float(np.average(data.y, weights=context.weights))
    return {
        "objective": "poisson",
        "lambda_l2": config["l2"] * unit,
        "min_sum_hessian_in_leaf": _LEAST_HESSIAN * unit,
    }


def _can_be_counts(y: NDArray[np.float64]) -> bool:
    """Whether the likelihood of Poisson is there: no target is negative, and not all are zero."""
    single = y.astype(np.float32)  # as LightGBM keeps them: the smallest are zero
    return bool(single.min() >= 0 and single.max() > 0)


def _reporter(context: Context, trees: int) -> Callable[[Any], None]:
    from lightgbm.callback import EarlyStopException

    def report(environment: Any) -> None:
        grown = environment.iteration + 1
        context.report(grown, None)
        if grown < trees and context.enough():
            raise EarlyStopException(environment.iteration, [])

    return report
