"""How large the groups of rows are that the condition of a gate names."""

from __future__ import annotations

from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING

from easeml.data import cells_of_rows
from easeml.errors import InvalidInput
from easeml.store import Store
from easeml.store.records import DatasetVersion

if TYPE_CHECKING:
    import pandas as pd

    from easeml.lifecycle.ci import Config

_MOST_SHOWN = 8  # values of a column


def with_sizes(store: Store, version: DatasetVersion, config: Config, rows: list[int]) -> Config:
    """Return the configuration with the share of each group in some test rows, by their ids.

    A group without rows has none.

    Raises:
        InvalidInput: naming the column that the data lacks.
    """
    from easeml.lifecycle.ci import groups_of

    shares = []
    for group in groups_of(config.condition):
        cells = _cells(store, version, group.column)
        members = group.members(cells.loc[cells.index.isin(rows)].to_numpy())
        share = float(members.mean())
        shares.append((str(group), share))
    of_some = filter(itemgetter(1), shares)
    return replace(config, groups=tuple(sorted(of_some)))


def named(store: Store, version: DatasetVersion, config: Config) -> Config:
    """Return the configuration with each group by its name, where one stands for all of a column.

    Raises:
        InvalidInput: where no test row is in a group, or the data lacks its column.
    """
    from easeml.lifecycle.ci import groups_of, of_each_group, values_in

    def values_of(column: str) -> list[str]:
        return values_in(column, _cells(store, version, column).to_frame(column))

    config = replace(config, condition=of_each_group(config.condition, values_of))
    for group in groups_of(config.condition):
        cells = _cells(store, version, group.column)
        if group.members(cells.to_numpy()).any():
            continue
        values = cells.dropna().astype(str).value_counts().index[:_MOST_SHOWN]
        raise InvalidInput(
            f"No test row has {group}.",
            where="condition",
            remedy=f"'{group.column}' has, among others: {', '.join(values)}.",
        )
    return config


def _cells(store: Store, version: DatasetVersion, column: str) -> pd.Series:
    """Return the cells of a column in the test rows, by their ids."""
    from pandas.api.types import is_list_like

    files = store.artefacts.members(version.tenant_id, version.artefact)
    cells = cells_of_rows(files, "test", column)
    if cells.map(is_list_like).any():
        raise InvalidInput(
            f"'{column}' has several values a row, and groups are told by one.",
            where="condition",
            remedy="Name a column of texts, categories or numbers.",
        )
    return cells
