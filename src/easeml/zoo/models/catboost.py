"""CatBoost: gradient boosting of symmetric trees, all splits of a level alike.

L. Prokhorenkova, G. Gusev, A. Vorobev, A. Dorogush, A. Gulin: CatBoost: unbiased boosting with
categorical features (NeurIPS 2018). Categories come as codes, as to all models of trees here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.errors import Damaged
from easeml.modules import Context, Data
from easeml.modules.estimators import ended_early, steps_of

_FILE = "model.cbm"


@dataclass(frozen=True, slots=True)
class TrainedCatBoost:
    """A CatBoost model; ``classes`` is 0 for a number."""

    model: Any
    classes: int
    notes: tuple[str, ...] = ()

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return class probabilities or values."""
        kind = "Probability" if self.classes else "RawFormulaVal"
        return np.asarray(self.model.predict(X, prediction_type=kind, thread_count=1))

    def save(self, folder: Path) -> None:
        """Write CatBoost's own binary format."""
        self.model.save_model(str(folder / _FILE))

    def shortened(self, share: float) -> "TrainedCatBoost":
        """Return the same with a share of its trees, the first ones."""
        shorter = self.model.copy()
        shorter.shrink(ntree_end=steps_of(shorter.tree_count_, share))
        return TrainedCatBoost(shorter, self.classes)


class _Progress:
    """Reports each tree, and ends the fit where there is enough.

    CatBoost lets no exception through: what ``report`` raises is kept in ``raised``.
    """

    def __init__(self, context: Context, trees: int) -> None:
        self.context = context
        self.trees = trees
        self.grown = 0
        self.raised: BaseException | None = None

    def after_iteration(self, info: Any) -> bool:
        """Return whether to go on."""
        self.grown = info.iteration
        try:
            self.context.report(self.grown, None)
        except BaseException as error:
            self.raised = error
            return False
        return not self.context.enough()


class CatBoost:
    """CatBoost's gradient boosting."""

    def fit(self, data: Data, config: Mapping[str, Any], context: Context) -> TrainedCatBoost:
        """Grow the trees, reporting each."""
        import catboost  # pyright: ignore[reportMissingImports]

        trees = config["trees"]
        progress = _Progress(context, trees)
        held = {"monotone_constraints": list(data.monotonic)} if data.monotonic else {}
        model = catboost.CatBoost(
            {
                **held,
                "loss_function": _loss(data.classes),
                "iterations": trees,
                "learning_rate": config["learning_rate"],
                "depth": config["depth"],
                "l2_leaf_reg": config["l2"],
                "rsm": config["feature_share"],
                "random_strength": config["random_strength"],
                "random_seed": context.seed,
                "thread_count": context.threads,
                "allow_writing_files": False,
                "verbose": False,
            }
        )
        model.fit(_varying(data.X), data.y, sample_weight=context.weights, callbacks=[progress])
        if progress.raised is not None:
            raise progress.raised
        notes = ended_early(progress.grown, trees) if progress.grown < trees else ()
        return TrainedCatBoost(model, data.classes, notes)

    def load(self, folder: Path) -> TrainedCatBoost:
        """Read what was saved. Raises ``Damaged``."""
        import catboost  # pyright: ignore[reportMissingImports]

        model = catboost.CatBoost()
        try:
            model.load_model(str(folder / _FILE))
        except catboost.CatBoostError as error:
            raise Damaged(
                f"The model cannot be read: {error}",
                where=str(folder / _FILE),
            ) from error
        classes = model.classes_
        return TrainedCatBoost(model, 0 if classes is None else len(classes))


def _varying(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return features of which one varies: CatBoost refuses others, though the mean can be learnt."""
    is_constant = np.array_equal(X, np.broadcast_to(X[0], X.shape), equal_nan=True)
    if not is_constant:
        return X
    changed = X.copy()
    changed[0, 0] = 1.0 if np.isnan(X[0, 0]) else X[0, 0] + 1.0
    return changed


def _loss(classes: int) -> str:
    if classes == 0:
        return "RMSE"
    return "Logloss" if classes == 2 else "MultiClass"
