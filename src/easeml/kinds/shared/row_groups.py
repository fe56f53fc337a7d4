"""Which rows of a version are of one group, as intervals take it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from easeml.data import VersionTables


def groups_of(version: VersionTables, ids: Any) -> NDArray[np.intp] | None:
    """Return the groups of rows (rows,) by their ids; None where each row was drawn by itself."""
    if version.groups is None:
        return None
    return version.groups.loc[ids].to_numpy()
