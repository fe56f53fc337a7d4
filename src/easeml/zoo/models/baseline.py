"""What a model has to beat."""

from collections.abc import Mapping
from typing import Any

from easeml.modules import Context, Data
from easeml.modules.estimators import SklearnModel


class Baseline(SklearnModel):
    """The shares of the classes, or the mean or median, whatever the features say."""

    def estimator(self, data: Data, config: Mapping[str, Any], context: Context) -> Any:
        """Return the estimator to fit."""
        from sklearn.dummy import DummyClassifier, DummyRegressor

        return (
            DummyClassifier(strategy="prior")
            if data.classes
            else DummyRegressor(strategy=config["constant"])
        )
