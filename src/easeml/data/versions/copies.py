"""Copies of rows get one role: a test row that was learned by heart tells nothing of new ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from easeml.data.types.cells import CELLS
from easeml.data.types.table_schemas import kinds_of
from easeml.schema import Schema

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

_MOST = 5  # equal rows that are copies in a table of any size
_LARGEST_SHARE = 0.01  # of all rows; more equal ones come from few possible values


def compared_columns(schema_in: Schema, schema_out: Schema) -> list[str]:
    """Return the columns in which copies are equal: inputs and target.

    There are none where a column holds pictures, tensors or graphs, which are not compared.
    """
    kinds = {**kinds_of(schema_in), **kinds_of(schema_out)}
    return [] if set(kinds.values()) & set(CELLS) else list(kinds)


def content_keys(frame: pd.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Return a number a row; rows that are equal in all ``columns`` have the same."""
    from pandas.util import hash_pandas_object

    found = hash_pandas_object(frame[list(columns)], index=False)  # pyright: ignore[reportCallIssue]
    return found.to_numpy()


def first_copies(keys: np.ndarray) -> np.ndarray:
    """Return for each row the place of the first of its copies, which may be itself.

    Of many equal rows each stands for itself: where few values are possible, such rows come again
    in production as well.
    """
    import numpy as np

    _, first, group, sizes = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    most = max(_MOST, _LARGEST_SHARE * len(keys))
    are_copies = sizes[group] <= most
    return np.where(are_copies, first[group], np.arange(len(keys)))


def roles_of_copies(
    keys: np.ndarray, roles: np.ndarray, there: Mapping[str, np.ndarray]
) -> np.ndarray:
    """Return the roles of rows that join others; a copy takes the role of what it is a copy of.

    ``keys`` and ``roles`` of the new rows; ``there``: by role, the keys of the rows there are.
    """
    import numpy as np

    roles = roles[first_copies(keys)]
    rows = len(keys) + sum(map(len, there.values()))
    most = max(_MOST, _LARGEST_SHARE * rows)
    for role, old in there.items():
        known, sizes = np.unique(old, return_counts=True)
        roles[np.isin(keys, known[sizes <= most])] = role
    return roles
