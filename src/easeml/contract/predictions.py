"""A prediction as columns of a table: the one place from which commands and pages write them."""

import re
from collections.abc import Collection, Sequence
from typing import Any

from easeml.contract.applications import Prediction

COLUMN = "prediction"
_NUMBER = (  # as people write them in any country: -1.5, -1,5, -1.234,5, -1 234,5, -5 %
    r"([+\-]?[.,]?\d[\d.,']*([eE][+\-]?\d+)?|-\d{1,3}([ \u00a0\u202f]\d{3})+([.,]\d+)?) ?%?"
)
_FORMULA = re.compile(rf"(?!{_NUMBER}\Z)[=+\-@\t\r].")  # a sign alone is a label


def as_columns(prediction: Prediction, taken: Collection[str] = ()) -> dict[str, list[Any]]:
    """Return what was predicted, a cell a row, by the name of its column.

    ``prediction``, which of several labels a row is their text with the separator between, or a
    list, and of several numbers a column each, ``prediction_TARGET``;
    for categories and labels a ``probability_CLASS`` each; for numbers ``lower`` and
    ``upper`` where the model has an interval; ``because_COLUMN``, what each column added, where that
    was asked for. A name that is ``taken`` gets an underscore more.
    """
    columns = _cells(prediction)
    columns |= _probability_columns(prediction.probabilities or [])
    if prediction.lower is not None and prediction.upper is not None:
        columns["lower"] = list(prediction.lower)
        columns["upper"] = list(prediction.upper)
    for row in prediction.attributions:
        for one in row.columns:
            columns.setdefault(f"because_{one.column}", []).append(one.value)
    return {_free_name(name, taken): cells for name, cells in columns.items()}


def _cells(prediction: Prediction) -> dict[str, list[Any]]:
    """Return what was predicted as columns of a table: one, or one for each of several numbers."""
    if prediction.targets:
        columns = map(list, zip(*prediction.predictions, strict=True))
        names = map(f"{COLUMN}_{{}}".format, prediction.targets)
        return dict(zip(names, columns, strict=True))
    if not prediction.separator:
        return {COLUMN: list(prediction.predictions)}
    return {COLUMN: list(map(prediction.separator.join, prediction.predictions))}


def _probability_columns(probabilities: Sequence[dict[str, float]]) -> dict[str, list[float]]:
    """Return a column a class; none where there are no probabilities."""
    columns: dict[str, list[float]] = {}
    first_row = next(iter(probabilities), {})
    for name in first_row:
        columns[f"probability_{name}"] = [shares[name] for shares in probabilities]
    return columns


def without_formula(cell: Any) -> Any:
    """Return a cell of CSV that no spreadsheet runs.

    Text that starts with =, +, -, @, tab or return, and is no number, gets an apostrophe in front.
    """
    if isinstance(cell, str) and _FORMULA.match(cell):
        return f"'{cell}"
    return cell


def _free_name(name: str, taken: Collection[str]) -> str:
    while name in taken:
        name = f"{name}_"
    return name
