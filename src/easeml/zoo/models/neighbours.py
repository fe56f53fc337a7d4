"""Nearest neighbours."""

from collections.abc import Mapping
from typing import Any

from easeml.modules import Context, Data
from easeml.modules.estimators import SklearnModel


class Neighbours(SklearnModel):
    """The k nearest training rows vote, or are averaged."""

    def estimator(self, data: Data, config: Mapping[str, Any], context: Context) -> Any:
        """Return the estimator to fit; k is at most the number of rows."""
        from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

        kind = KNeighborsClassifier if data.classes else KNeighborsRegressor
        k = min(config["k"], len(data.X))
        # brute force: after one-hot encoding there are too many features for a tree to help
        return kind(
            n_neighbors=k,
            weights=config["weights"],
            p=config["p"],
            algorithm="brute",
            n_jobs=context.threads,
        )
