"""A prediction as columns of a table: the one place from which commands and pages write them."""

from collections.abc import Collection, Sequence
from typing import Any

from easeml.contract.applications import Prediction

COLUMN = "prediction"


def as_columns(prediction: Prediction, taken: Collection[str] = ()) -> dict[str, list[Any]]:
    """Return what was predicted, a cell a row, by the name of its column.

    ``prediction``; for categories a ``probability_CLASS`` each; for numbers ``lower`` and
    ``upper`` where the model has an interval. A name that is ``taken`` gets an underscore more.
    """
    columns: dict[str, list[Any]] = {COLUMN: list(prediction.predictions)}
    for name in _classes(prediction.probabilities):
        columns[f"probability_{name}"] = [of[name] for of in prediction.probabilities or []]
    if prediction.lower is not None and prediction.upper is not None:
        columns["lower"] = list(prediction.lower)
        columns["upper"] = list(prediction.upper)
    return {_free_name(name, taken): cells for name, cells in columns.items()}


def _classes(probabilities: Sequence[dict[str, float]] | None) -> list[str]:
    return list(probabilities[0]) if probabilities else []


def _free_name(name: str, taken: Collection[str]) -> str:
    while name in taken:
        name = f"{name}_"
    return name
