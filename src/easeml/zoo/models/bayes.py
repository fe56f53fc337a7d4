"""Naive Bayes."""

from collections.abc import Mapping
from typing import Any

from easeml.modules import Context, Data
from easeml.modules.estimators import SklearnModel


class NaiveBayes(SklearnModel):
    """Gaussian naive Bayes."""

    def estimator(self, data: Data, config: Mapping[str, Any], context: Context) -> Any:
        """Return the estimator to fit: the shares of the classes, where no feature varies."""
        from sklearn.dummy import DummyClassifier
        from sklearn.naive_bayes import GaussianNB

        if not data.X.var(axis=0).any():
            return DummyClassifier(strategy="prior")
        return GaussianNB(var_smoothing=config["smoothing"])
