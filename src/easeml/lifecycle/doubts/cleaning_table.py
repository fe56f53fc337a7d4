"""A cleaning plan that stays: doubts are settled row by row, and the plan follows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from easeml.lifecycle.cleaning.plan import CleaningPlan, named_plan, plan_of
from easeml.lifecycle.cleaning.session import CleaningSession
from easeml.lifecycle.doubts.conversions import (
    MOST_OF_A_ROW,
    coded_table,
    target_of,
    vectors_of,
    worlds_of_rows,
)
from easeml.relation import Relation
from easeml.relation.operations import take_rows


class CleaningTable:
    """The train rows of a relation with their candidates, and what validation rows say of them."""

    def __init__(self, relation: Relation, k: int = 3):
        """Score all validation rows; see ``table_candidates`` for what is raised."""
        self._relation = relation
        self._k = k
        self._target = target_of(relation)
        self._candidates, self._columns = coded_table(relation)
        candidates = self._candidates
        self._session = CleaningSession(candidates.rows, candidates.X_valid, k)
        train = relation.in_role("train").row_ids
        self._row_of = pd.Index(train[candidates.row_ids])
        self._codes = np.concatenate([column.codes for column in self._columns], axis=1)
        self._spread = self._codes.std(axis=0)

    def plan(self, n: int = 50) -> CleaningPlan:
        """Return the next ``n`` rows to clean, numbered among the train rows."""
        plan = plan_of(self._session, self._candidates.y_valid, n=n)
        return named_plan(plan, self._candidates)

    def settle(self, relation: Relation, positions: list[int]) -> bool:
        """Take in that train rows at some positions have no doubts any more, or less of them.

        False, and nothing changes, where anything but a cell that was in doubt is another one.
        """
        found = []
        for position in positions:
            vector = self._settled(relation, position)
            if vector is None:
                return False
            found.append(vector)
        for row, vector in found:
            self._session.clean(row, value=vector)
            self._codes[row] = vector
        self._relation = relation
        return True

    @property
    def stretch(self) -> float:
        """By which share distances would differ if columns were scaled anew, at most."""
        spread = self._codes.std(axis=0)
        is_number = np.repeat(
            [column.is_number for column in self._columns],
            [column.codes.shape[1] for column in self._columns],
        )
        there = is_number & (spread > 0) & (self._spread > 0)
        return float(np.abs(self._spread[there] / spread[there] - 1).max(initial=0.0))

    def _settled(self, relation: Relation, position: int) -> tuple[int, np.ndarray] | None:
        """Return a row's number here and its only vector; None where it has several, or is new."""
        rows = np.array([position])
        before = Relation(take_rows(self._relation.content, rows))
        after = Relation(take_rows(relation.content, rows))
        if not _same_certain_cells(before, after):
            return None
        row = int(self._row_of.get_indexer(after.row_ids)[0])
        if row < 0 or row not in set(self._session.dirty.tolist()) - set(self._session.cleaned):
            return None
        doubted = set(before.content.blocks.cells)
        told = set(after.content.blocks.cells)
        if self._target in doubted | told or not doubted <= told:
            return None
        names = [name for name in after.columns if name != self._target]
        worlds = worlds_of_rows(after, after.row_ids, names, MOST_OF_A_ROW).get(0, [({}, 1.0)])
        if len(worlds) > 1:
            return None
        return row, vectors_of(self._columns, row, worlds)[0]


def _same_certain_cells(before: Relation, after: Relation) -> bool:
    """Tell whether one row's cells, as they were given, are the same."""
    left: list[dict[str, Any]] = before.content.table.to_pylist()
    right: list[dict[str, Any]] = after.content.table.to_pylist()
    return left == right
