"""Linear models."""

from collections.abc import Mapping
from typing import Any

from easeml.modules import Context, Data
from easeml.modules.estimators import SklearnModel, class_weight


class Logistic(SklearnModel):
    """Logistic regression with a squared penalty."""

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
