"""Reading pictures, tensors and graphs from a table: one object a row."""

from collections.abc import Mapping, Sequence
from typing import Any

from easeml.data import kinds_of
from easeml.errors import InvalidInput
from easeml.schema import Schema


def cells_of(data: Any, column: str) -> Sequence[Any]:
    """Return the cells of a column. Raises ``InvalidInput`` where it is not there."""
    try:
        return list(data[column])
    except KeyError:
        remedy = "Give every column of the application's input schema."
        raise InvalidInput(
            "The column is not there.",
            where=column,
            remedy=remedy,
        ) from None


def kinds(schema_in: Mapping[str, Any]) -> dict[str, str]:
    """Return the columns of an input schema and their types."""
    return kinds_of(Schema.from_json(dict(schema_in)))


def dim_of(schema_in: Mapping[str, Any], column: str) -> list[int | str]:
    """Return the dimensions of a tensor or picture column."""
    return next(
        node["dim"]
        for name, node in schema_in["nodes"].items()
        if node.get("column", name) == column
    )
