"""XGBoost: gradient boosting with second derivatives and penalties on what leaves say.

T. Chen, C. Guestrin: XGBoost: a scalable tree boosting system (KDD 2016).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.errors import Damaged
from easeml.modules import Context, Data
from easeml.modules.estimators import both_classes, ended_early, steps_of

_FILE = "booster.ubj"


@dataclass(frozen=True, slots=True)
class TrainedXGBoost:
    """An XGBoost booster; ``classes`` is 0 for a number."""

    booster: Any
    classes: int
    notes: tuple[str, ...] = ()

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return class probabilities or values."""
        predicted = np.asarray(self.booster.inplace_predict(X), dtype=np.float64)
        return both_classes(predicted) if self.classes == 2 else predicted

    def save(self, folder: Path) -> None:
        """Write XGBoost's own binary format."""
        self.booster.save_model(folder / _FILE)

    def shortened(self, share: float) -> "TrainedXGBoost":
        """Return the same with a share of its rounds, the first ones."""
        kept = steps_of(self.booster.num_boosted_rounds(), share)
        return TrainedXGBoost(self.booster[:kept], self.classes)


class XGBoost:
    """XGBoost's gradient boosting."""

    def fit(self, data: Data, config: Mapping[str, Any], context: Context) -> TrainedXGBoost:
        """Grow the trees, reporting each round."""
        import xgboost  # pyright: ignore[reportMissingImports]

        rounds = config["trees"]
        params = {
            **_objective(data.classes),
            "learning_rate": config["learning_rate"],
            "max_depth": config["depth"],
            "min_child_weight": config["leaf_weight"],
            "lambda": config["l2"],
            "subsample": config["row_share"],
            "colsample_bytree": config["feature_share"],
            "tree_method": "hist",
            "nthread": context.threads,
            "seed": context.seed,
            "verbosity": 0,
        }
        if data.monotonic:
            params["monotone_constraints"] = data.monotonic
        table = xgboost.QuantileDMatrix(
            data.X, data.y, weight=context.weights, nthread=context.threads
        )
        booster = xgboost.train(
            params, table, num_boost_round=rounds, callbacks=[_reporter(context)]
        )
        booster.set_param({"nthread": 1})
        grown = booster.num_boosted_rounds()
        notes = ended_early(grown, rounds) if grown < rounds else ()
        return TrainedXGBoost(booster, data.classes, notes)

    def load(self, folder: Path) -> TrainedXGBoost:
        """Read what was saved. Raises ``Damaged``."""
        import xgboost  # pyright: ignore[reportMissingImports]

        booster = xgboost.Booster({"nthread": 1})
        try:
            booster.load_model(folder / _FILE)
        except xgboost.core.XGBoostError as error:
            reason = str(error).strip().splitlines()[0]
            raise Damaged(
                f"The booster cannot be read: {reason}",
                where=str(folder / _FILE),
            ) from error
        learner = json.loads(booster.save_config())["learner"]
        objective = learner["objective"]["name"]
        if objective == "reg:squarederror":
            return TrainedXGBoost(booster, 0)
        classes = int(learner["learner_model_param"]["num_class"])
        return TrainedXGBoost(booster, max(2, classes))


def _objective(classes: int) -> dict[str, Any]:
    if classes == 0:
        return {"objective": "reg:squarederror"}
    if classes == 2:
        return {"objective": "binary:logistic"}
    return {"objective": "multi:softprob", "num_class": classes}


def _reporter(context: Context) -> Any:
    from xgboost.callback import TrainingCallback  # pyright: ignore[reportMissingImports]

    class Reporter(TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            """Return whether to end."""
            context.report(epoch + 1, None)
            return context.enough()

    return Reporter()
