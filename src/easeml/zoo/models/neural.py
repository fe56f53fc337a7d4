"""Neural networks."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from easeml.modules import Context, Data
from easeml.modules.estimators import SklearnModel

_STOP_EARLY_FROM = 1000  # rows; below, a tenth of them is too few to stop by
_CLASS_ROWS = 10


class MLP(SklearnModel):
    """A multi-layer perceptron with rectified units, trained by Adam."""

    trusted = ("sklearn.neural_network._stochastic_optimizers.AdamOptimizer",)
    standardise = True

    def estimator(self, data: Data, config: Mapping[str, Any], context: Context) -> Any:
        """Return the estimator to fit; many rows stop it early by a tenth of them, if every class
        has enough.
        """
        from sklearn.neural_network import MLPClassifier, MLPRegressor

        enough = not data.classes or (
            np.bincount(data.y).min() >= _CLASS_ROWS and len(data.y) >= 10 * data.classes
        )
        kind = MLPClassifier if data.classes else MLPRegressor
        return kind(
            hidden_layer_sizes=(config["units"],) * config["layers"],
            alpha=config["alpha"],
            learning_rate_init=config["learning_rate"],
            early_stopping=bool(enough and len(data.y) >= _STOP_EARLY_FROM),
            max_iter=100,
            random_state=context.seed,
        )
