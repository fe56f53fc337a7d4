"""What MLflow's scoring server takes and answers, as a translation of its JSON to rows.

https://mlflow.org/docs/latest/ml/deployment/deploy-model-locally ("Inference Server
Specification").
"""

from collections.abc import Mapping, Sequence
from typing import Any

from easeml.errors import InvalidInput
from easeml.protocols.columns import rows_of_columns
from easeml.protocols.json_body import read_json

FORMATS = ("dataframe_split", "dataframe_records", "instances", "inputs")


def rows_of(body: bytes, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of a request; ``columns``: of the data, for rows that name none.

    Raises ``InvalidInput`` where the body has not exactly one of ``FORMATS``.
    """
    form, rows = _given_form(read_json(body))
    if form == "dataframe_split":
        return _split(rows)
    if isinstance(rows, dict):
        return _by_column(rows, form)
    if not isinstance(rows, list):
        raise InvalidInput("These are no rows.", where=form)
    return _rows(rows, columns, form)


def _given_form(told: Any) -> tuple[str, Any]:
    """Return which of ``FORMATS`` a body has, and what it holds."""
    given = set(told).intersection(FORMATS) if isinstance(told, dict) else set()
    if len(given) != 1:
        remedy = f"Give exactly one of {', '.join(FORMATS)}."
        raise InvalidInput("The body has no rows that can be told.", where="body", remedy=remedy)
    form = given.pop()
    return form, told[form]


def answer_of(prediction: Mapping[str, Any]) -> dict[str, Any]:
    """Return the predictions as MLflow's server gives them."""
    return {"predictions": prediction["predictions"]}


def _split(told: Any) -> list[dict[str, Any]]:
    """Return the rows of a frame in pandas' form "split"."""
    where = "dataframe_split"
    match told:
        case {"columns": list(names), "data": list(rows)}:
            return _rows(rows, names, where)
    raise InvalidInput("A frame has columns and data.", where=where)


def _rows(rows: list[Any], columns: Sequence[str], where: str) -> list[dict[str, Any]]:
    return [_row(row, columns, f"{where}, row {number}") for number, row in enumerate(rows)]


def _by_column(told: Mapping[str, Any], form: str) -> list[dict[str, Any]]:
    """Return the rows of columns by name."""
    columns = {name: list(map(_scalar, _listed(values))) for name, values in told.items()}
    lengths = dict(zip(columns, map(len, columns.values()), strict=True))
    if len(set(lengths.values())) != 1:
        raise InvalidInput(f"The columns have different lengths: {lengths}.", where=form)
    return rows_of_columns(columns)


def _row(row: Any, columns: Sequence[str], where: str) -> dict[str, Any]:
    """Return one row by the names of its columns."""
    if isinstance(row, dict):
        return {name: _scalar(value) for name, value in row.items()}
    values = _listed(row)
    if len(values) != len(columns):
        said = f"It has {len(values)} values; there are {len(columns)} columns."
        raise InvalidInput(said, where=where, remedy=f"The columns are: {', '.join(columns)}.")
    return dict(zip(columns, values, strict=True))


def _listed(told: Any) -> list[Any]:
    """Return what is no list in one."""
    return told if isinstance(told, list) else [told]


def _scalar(value: Any) -> Any:
    """Return a value; TensorFlow's clients put each into a list of its own."""
    match value:
        case [inner] if not isinstance(inner, list):
            return inner
    return value
