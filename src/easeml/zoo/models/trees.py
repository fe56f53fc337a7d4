"""Decision trees and forests. Missing values are split on as such."""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.modules import Context, Data
from easeml.modules.estimators import SklearnModel, TrainedEstimator, class_weight, steps_of

_TREE = ("sklearn.tree._tree.Tree",)


@dataclass(frozen=True, slots=True)
class TrainedTrees(TrainedEstimator):
    """Trees asked directly: scikit-learn's own loop costs milliseconds a call, whatever the number
    of rows.
    """

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean of what the trees hold in the leaves of the rows."""
        single = np.ascontiguousarray(X, dtype=np.float32)
        trees = getattr(self.estimator, "estimators_", [self.estimator])
        total = trees[0].tree_.predict(single)
        for tree in trees[1:]:
            total = total + tree.tree_.predict(single)
        mean = (total / len(trees)).reshape(len(X), -1)
        if hasattr(self.estimator, "classes_"):
            return mean
        return (mean if mean.shape[1] > 1 else mean[:, 0]) * self.scale + self.centre


class TrainedForest(TrainedTrees):
    """Trees that were grown independently: fewer of them are a forest as well."""

    def shortened(self, share: float) -> "TrainedForest":
        """Return the same with a share of its trees."""
        shorter = copy(self.estimator)
        kept = steps_of(len(shorter.estimators_), share)
        shorter.estimators_ = shorter.estimators_[:kept]
        shorter.n_estimators = kept
        return TrainedForest(shorter, self.centre, self.scale)


class Tree(SklearnModel):
    """One decision tree."""

    trusted = _TREE
    trained = TrainedTrees

    def estimator(self, data: Data, config: Mapping[str, Any], context: Context) -> Any:
        """Return the estimator to fit."""
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        shared = {
            "max_depth": config["depth"],
            "min_samples_leaf": config["leaf_rows"],
            "random_state": context.seed,
        }
        if data.classes:
            return DecisionTreeClassifier(**shared, class_weight=class_weight(config))
        return DecisionTreeRegressor(**shared)


class _Forest(SklearnModel):
    trusted = _TREE
    steps = "n_estimators"
    trained = TrainedForest
    classifier: str
    regressor: str

    def estimator(self, data: Data, config: Mapping[str, Any], context: Context) -> Any:
        """Return the estimator to fit."""
        from sklearn import ensemble

        shared = {
            "n_estimators": config["trees"],
            "max_features": config["features"],
            "min_samples_leaf": config["leaf_rows"],
            "n_jobs": context.threads,
            "random_state": context.seed,
        }
        if data.classes:
            return getattr(ensemble, self.classifier)(**shared, class_weight=class_weight(config))
        return getattr(ensemble, self.regressor)(**shared)


class RandomForest(_Forest):
    """The mean of trees grown on resampled rows, each split among some features."""

    classifier, regressor = "RandomForestClassifier", "RandomForestRegressor"


class ExtraTrees(_Forest):
    """The mean of trees whose splits are the best of random ones."""

    classifier, regressor = "ExtraTreesClassifier", "ExtraTreesRegressor"
