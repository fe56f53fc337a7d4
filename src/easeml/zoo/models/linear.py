"""Linear models."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.modules import Context, Data
from easeml.modules.estimators import (
    SklearnModel,
    TrainedEstimator,
    both_classes,
    class_weight,
)


@dataclass(frozen=True, slots=True)
class TrainedLogistic(TrainedEstimator):
    """Asked directly: what scikit-learn checks before costs more than the sums."""

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return class probabilities, as ``LogisticRegression.predict_proba`` does."""
        from scipy.special import expit, softmax

        scores = X @ self.estimator.coef_.T + self.estimator.intercept_
        if scores.shape[1] > 1:
            return softmax(scores, axis=1)
        return both_classes(expit(scores[:, 0]))


class Logistic(SklearnModel):
    """Logistic regression with a squared penalty."""

    trained = TrainedLogistic

    def estimator(self, data: Data, config: Mapping[str, Any], context: Context) -> Any:
        """Return the estimator to fit."""
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(
            C=config["C"],
            class_weight=class_weight(config),
            max_iter=300,
        )


class Ridge(SklearnModel):
    """Linear regression with a squared penalty."""

    standardise = True

    def estimator(self, data: Data, config: Mapping[str, Any], context: Context) -> Any:
        """Return the estimator to fit."""
        from sklearn.linear_model import Ridge as Estimator

        return Estimator(alpha=config["alpha"])


class ElasticNetClassifier(SklearnModel):
    """Logistic regression with an absolute and a squared penalty, by stochastic gradients.

    Gradients need features of one scale, whatever the transforms before did. Weights are not
    averaged over the steps: with an absolute penalty scikit-learn's average can have the opposite
    sign of the weights themselves, and then predicts the opposite class.
    """

    weights = ("standardscaler__sample_weight", "sgdclassifier__sample_weight")

    def estimator(self, data: Data, config: Mapping[str, Any], context: Context) -> Any:
        """Return the estimator to fit."""
        from sklearn.linear_model import SGDClassifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        classifier = SGDClassifier(
            loss="log_loss",
            penalty="elasticnet",
            alpha=config["alpha"],
            l1_ratio=config["l1_ratio"],
            max_iter=200,
            n_jobs=context.threads,
            random_state=context.seed,
        )
        return make_pipeline(StandardScaler(), classifier)


class ElasticNetRegressor(SklearnModel):
    """Linear regression with an absolute and a squared penalty."""

    standardise = True

    def estimator(self, data: Data, config: Mapping[str, Any], context: Context) -> Any:
        """Return the estimator to fit."""
        from sklearn.linear_model import ElasticNet

        return ElasticNet(
            alpha=config["alpha"],
            l1_ratio=config["l1_ratio"],
            max_iter=2000,
            random_state=context.seed,
        )
