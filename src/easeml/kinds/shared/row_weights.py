"""How much the rows of a version count, as models and objectives take it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from easeml.data import Declared, VersionTables
    from easeml.modules.weights import Weights


def weights_of(version: VersionTables | Declared, ids: Any) -> Weights:
    """Return the weights of rows (rows,) by their ids; None where all rows count once."""
    from easeml.modules.weights import by_id

    return by_id(version.weights, ids)


def that_are_ignored(version: VersionTables | Declared) -> list[str]:
    """Return the sentence of what counts rows, whatever they weigh; none where they have no weights."""
    if version.weights is None:
        return []
    return [f"Each row counts once here, whatever its weight in column '{version.weights.name}'."]
