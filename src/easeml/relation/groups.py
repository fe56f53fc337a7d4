"""Answers a group: one distribution for each value of a column, which may be uncertain itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from easeml.relation import aggregates
from easeml.relation.content import Content, plain_values
from easeml.relation.distributions import Distribution
from easeml.relation.expressions import Equals
from easeml.relation.operations import filtered, take_rows


class Groups:
    """The rows of a relation by the value of a column; those without a value belong to no group.

    A row that may have one of several values belongs to each of their groups with its probability.
    Each answer is exact on its own; the groups of one world are not independent.
    """

    def __init__(self, content: Content, by: str):
        """Use ``Relation.group_by``."""
        content.type_of(by)
        self._content = content
        self._by = by

    def count(self) -> dict[Any, Distribution]:
        """Return how the number of rows of each group is distributed."""
        return self._each(aggregates.count_of)

    def sum(self, column: str) -> dict[Any, Distribution]:
        """Return how the sum of a column is distributed in each group."""
        return self._each(lambda content: aggregates.sum_of(content, column))

    def average(self, column: str) -> dict[Any, Distribution]:
        """Return how the mean of a column is distributed in each group."""
        return self._each(lambda content: aggregates.average_of(content, column))

    def min(self, column: str) -> dict[Any, Distribution]:
        """Return how the smallest value of a column is distributed in each group."""
        return self._each(lambda content: aggregates.minimum_of(content, column))

    def max(self, column: str) -> dict[Any, Distribution]:
        """Return how the largest value of a column is distributed in each group."""
        return self._each(lambda content: aggregates.maximum_of(content, column))

    def _each(self, answer: Callable[[Content], Distribution]) -> dict[Any, Distribution]:
        return {value: answer(rows) for value, rows in self._contents()}

    def _contents(self) -> list[tuple[Any, Content]]:
        """Return each group's value and its rows, some of them optional, in order of the values."""
        content = self._content
        by = self._by
        known = plain_values(content.table.column(by))
        covering = content.blocks.take(np.flatnonzero(content.blocks.covering(by)))
        cells = covering.cells.get(by)
        told, told_rows = known[:0], np.zeros(0, np.int64)
        if cells is not None:
            told = cells.values.cast(known.type)
            told_rows = covering.row[covering.block[cells.place]]
        known_rows = np.setdiff1d(np.arange(len(known)), told_rows)
        rows = np.concatenate([known_rows, told_rows])
        possible = pa.concat_arrays([known.take(pa.array(known_rows)), told])
        encoded = possible.dictionary_encode(null_encoding="encode")
        codes = encoded.indices.to_numpy(zero_copy_only=False)
        values = encoded.dictionary.to_pylist()
        order = np.argsort(codes, kind="stable")
        ends = np.searchsorted(codes[order], np.arange(len(values) + 1))
        found = []
        for code, value in enumerate(values):
            if value is not None:
                members = np.unique(rows[order[ends[code] : ends[code + 1]]])
                found.append((value, filtered(take_rows(content, members), Equals(by, value))))
        return sorted(found, key=lambda pair: pair[0])
