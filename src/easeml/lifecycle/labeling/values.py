"""Values of training rows with their standard errors, as a result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.lifecycle.labeling.inputs import check_task
from easeml.lifecycle.labeling.knn import Game, knn_shapley
from easeml.lifecycle.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from easeml.figures import Figure
    from easeml.lifecycle.result import Progress


@dataclass(frozen=True)
class Values(Result):
    """The value of each training row.

    Values sum to ``worth``, what all rows add to the empty training set.

    ``standard_errors`` are those of the mean over validation rows, NaN where they were not computed
    (values truncated at ``error``, or a single validation row).
    """

    labels: np.ndarray
    values: np.ndarray
    standard_errors: np.ndarray
    k: int
    soft: bool
    error: float

    @property
    def worth(self) -> float:
        """What all rows together are worth beyond no rows."""
        return float(self.values.sum())

    @property
    def advice(self) -> str:
        n = len(self.values)
        below = int((self.values < 0).sum())
        sure = int((self.values < -2 * self.standard_errors).sum())
        certain = (
            f", {sure:,} of them by more than two standard errors"
            if np.isfinite(self.standard_errors).any()
            else ""
        )
        harmful = f"{below:,} of {n:,} rows {'has' if below == 1 else 'have'} a negative value"
        found = f"{harmful}{certain}; together all are worth {self.worth:.3f}."
        if not below:
            return (
                f"{found} No row harms the validation predictions: labelling more is the next step."
            )
        return f"{found} Look at the rows at the top of the table first: are their labels right?"

    def to_frame(self) -> pd.DataFrame:
        """Return one row a training row, the least valuable first."""
        import pandas as pd

        order = np.argsort(self.values, kind="stable")
        columns = {"row": order, "label": self.labels[order], "value": self.values[order]}
        return pd.DataFrame({**columns, "standard_error": self.standard_errors[order]})

    def figure(self) -> Figure:
        """Return the sorted values with a band of two standard errors."""
        from easeml.figures.labeling import values

        return values(self.to_json())


def value_rows(
    X: Any,
    y: Any,
    X_valid: Any,
    y_valid: Any,
    k: int = 5,
    *,
    soft: bool = False,
    error: float = 0.0,
    metric: str = "euclidean",
    progress: Progress | None = None,
) -> Values:
    """Return ``knn_shapley`` of each training row with its standard error; arguments as there."""
    labels = np.asarray(y)
    if error:
        values = knn_shapley(
            X, y, X_valid, y_valid, k, soft=soft, error=error, metric=metric, progress=progress
        )
        return Values(labels, values, np.full(len(values), np.nan), k, soft, float(error))
    game = Game(check_task(X, y, X_valid, y_valid, k, metric), soft=soft)
    values, squares = game.exact(progress, squares=True)
    return Values(
        labels, values, standard_errors(values, squares, len(game.task.X_valid)), k, soft, 0.0
    )


def standard_errors(mean: np.ndarray, mean_square: np.ndarray, t: int) -> np.ndarray:
    """Return standard errors of means over ``t`` draws; NaN for a single one."""
    if t < 2:
        return np.full(len(mean), np.nan)
    return np.sqrt(np.maximum(mean_square - mean**2, 0.0) / (t - 1))
