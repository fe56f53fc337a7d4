"""What was seen of the past, as columns beside those of a row."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from easeml.data import ColumnTable
from easeml.modules.forecasting.past import Seen

if TYPE_CHECKING:
    import pandas as pd

_PREFIX = "seen of the past: "  # of the columns' names
_NODE = "seen_of_the_past"  # with which the names of their nodes begin


def with_seen(table: "pd.DataFrame | ColumnTable", seen: Seen) -> "pd.DataFrame | ColumnTable":
    """Return the columns of rows with what was seen of their past."""
    added = {_PREFIX + name: values for name, values in seen.features.items()}
    if isinstance(table, ColumnTable):
        return ColumnTable({**table.columns, **added}, len(table))
    return table.assign(**added)


def of_own_columns(notes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the notes that are not of columns which ``with_seen`` added: nobody knows these."""
    return tuple(note for note in notes if _PREFIX not in note)


def schema_with(schema_in: Mapping[str, Any], seen: Seen, time: str) -> dict[str, Any]:
    """Return an input schema (JSON) with the columns that ``with_seen`` adds, and without the time.

    What comes never has a time that was learned from: models that look at it are led astray.
    """
    nodes = {}
    for name, node in schema_in["nodes"].items():
        if node.get("column", name) != time:
            nodes[name] = node
    for number, name in enumerate(seen.features):
        node = {"singleton": True, "type": "tensor", "dim": [1], "column": _PREFIX + name}
        nodes[f"{_NODE}_{number}"] = node
    return {**schema_in, "nodes": nodes}
