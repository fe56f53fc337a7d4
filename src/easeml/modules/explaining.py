"""Predictions of trained models that say which columns moved them: each row is compared with
training rows that the model keeps for its parity sample.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.modules import Predictions, manifest
from easeml.modules.attributions import MOST_ROWS, Attribution, shapley_values

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from easeml.modules.ensemble import TrainedEnsemble
    from easeml.modules.pipeline import TrainedPipeline

_COLUMNS = range(2, 501)


def why_not(columns: int, predicted: Predictions) -> str:
    """Return why predictions from so many columns are not explained, in a sentence; empty where
    they are.
    """
    if columns not in _COLUMNS:
        most = _COLUMNS[-1]
        return f"Only predictions from 2 to {most} columns are explained; here it is {columns:,}."
    lacks_chances = predicted.classes is not None and predicted.probabilities is None
    if predicted.values.ndim > 1 or lacks_chances:
        return "Predictions that are no single number or probability are not explained."
    return ""


def attributions(
    trained: "TrainedPipeline | TrainedEnsemble",
    frame: "pd.DataFrame",
    predicted: Predictions,
    most_rows: int = MOST_ROWS,
) -> list[dict[str, Any]]:
    """Return for each row of ``frame`` what each column added to its prediction, as JSON values.

    Of a category it is the probability of the predicted class, of a number the number itself.
    ``most_rows``: predicted in all to explain one.
    """
    sample = manifest.sample_of(trained.manifest)
    told = []
    for place in range(len(frame)):
        predicted_class = "" if predicted.probabilities is None else str(predicted.values[place])
        found = _explained(trained.predict, sample, frame.iloc[[place]], predicted_class, most_rows)
        told.append(_told(found, list(frame.columns), predicted_class, len(sample)))
    return told


def _explained(
    predict: "Callable[[pd.DataFrame], Predictions]",
    sample: "pd.DataFrame",
    row: "pd.DataFrame",
    predicted_class: str,
    most_rows: int,
) -> Attribution:
    """Return what the columns of a row add to its prediction; ``predicted_class``: "" of numbers."""
    import pandas as pd

    together = pd.concat([sample[row.columns], row], ignore_index=True)

    def value_of(origins: "NDArray[np.intp]") -> "NDArray[np.float64]":
        mixed = {}
        for (name, column), places in zip(together.items(), origins.T, strict=True):
            mixed[name] = column.array.take(places)
        made = predict(pd.DataFrame(mixed))
        if not predicted_class:
            return np.asarray(made.values, dtype=np.float64)
        assert made.probabilities is not None
        assert made.classes is not None
        which = list(map(str, made.classes)).index(predicted_class)
        return made.probabilities[:, which]

    return shapley_values(
        value_of, background=len(sample), columns=row.shape[1], most_rows=most_rows
    )


def _told(found: Attribution, names: list[str], of: str, background: int) -> dict[str, Any]:
    largest_first = np.argsort(-np.abs(found.values), kind="stable")
    columns = []
    for column in largest_first:
        value, error = float(found.values[column]), float(found.errors[column])
        columns.append({"column": names[column], "value": value, "error": error})
    return {"of": of, "base": found.base, "compared_with": background, "columns": columns}
