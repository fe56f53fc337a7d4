"""One world for tables in doubt: relations to what CPClean works on, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from easeml.errors import InvalidInput
from easeml.lifecycle.cleaning.detect import as_text
from easeml.lifecycle.cleaning.detectors import mark_missing
from easeml.lifecycle.cleaning.doubtful_columns import DoubtfulColumn
from easeml.lifecycle.cleaning.frames import Frame
from easeml.lifecycle.cleaning.incomplete import Incomplete
from easeml.lifecycle.cleaning.repairs import row_options
from easeml.lifecycle.cleaning.rough_matrix import RoughColumns
from easeml.lifecycle.cleaning.tables import TableCandidates
from easeml.lifecycle.labels import is_missing
from easeml.relation import Candidate, Relation, RowCandidates, Source
from easeml.relation.blocks import Blocks

MOST_OF_A_ROW = 25
"""Candidates that a row has at most; see ``cleaning.repairs.row_options``."""

Worlds = list[tuple[dict[str, Any], float]]
"""What the cells in doubt of a row could be together, each with its probability."""


def table_candidates(relation: Relation, most: int = MOST_OF_A_ROW) -> TableCandidates:
    """As ``coded_table``, without the columns."""
    return coded_table(relation, most)[0]


def coded_table(
    relation: Relation, most: int = MOST_OF_A_ROW
) -> tuple[TableCandidates, list[DoubtfulColumn]]:
    """Return the train rows with their candidates, and the validation rows, for CPClean.

    With them come the columns, which say what a vector's parts stand for.

    Rows whose label is missing are left out; an uncertain label is taken as it is likeliest, and so
    are validation rows. Of more combinations of a row's cells than ``most``, a choice that holds
    every candidate stands for all.

    Raises:
        InvalidInput: without a target, or without rows of train or validation.
    """
    target = target_of(relation)
    train = _rows_in(relation, "train")
    valid = _rows_in(relation, "validation")
    frame: Frame = train.to_frame()
    frame = frame[frame[target].notna().to_numpy()]
    points: Frame = valid.to_frame()
    names = [name for name in train.columns if name != target]
    columns = _doubtful_columns(frame[names], points[names])
    worlds = worlds_of_rows(train, frame.index, names, most)
    candidates, weights, options = [], [], []
    for row in range(len(frame)):
        found = worlds.get(row, [({}, 1.0)])
        ways, shares = zip(*found, strict=True)
        candidates.append(vectors_of(columns, row, found))
        weights.append(shares)
        options.append(ways)
    positions = train.row_ids.get_indexer(frame.index)
    labels = frame[target].astype(str).tolist()
    answers = points[target]
    found_candidates = TableCandidates(
        rows=Incomplete.of(candidates, labels, weights),
        row_ids=positions,
        options=tuple(options),
        X_valid=np.concatenate([column.points for column in columns], axis=1),
        y_valid=None if answers.isna().any() else answers.astype(str).to_numpy(dtype=str),
        fixed=0,
        notes=tuple(column.note for column in columns if column.note),
    )
    return found_candidates, columns


def _doubtful_columns(frame: Frame, points: Frame) -> list[DoubtfulColumn]:
    """Return the inputs of train rows as columns of vectors; ``points``: validation rows."""
    text = as_text(frame)
    shown = as_text(points)
    missing = mark_missing(text)
    rough = RoughColumns(text, missing)
    columns = []
    for name in map(str, frame.columns):
        others = rough.without(name)
        column = DoubtfulColumn(
            name, text[name], missing[name], {}, shown[name], others=others, seed=0
        )
        columns.append(column)
    return columns


def relation_of(candidates: TableCandidates, train: pd.DataFrame, target: str) -> Relation:
    """Return a dirty table with the candidates that CPClean works on.

    ``train``: the table of which ``candidates_of`` made them, as text; cells of a row vary together
    as they do there. Raises InvalidInput.
    """
    relation = Relation.from_frame(train.astype(object).map(_text_or_none), target=target)
    told = []
    for row, options in enumerate(candidates.options):
        if not options[0]:
            continue
        ways = []
        for world, weight in zip(options, candidates.rows.weights_of(row), strict=True):
            cells = {name: _text_or_none(value) for name, value in world.items()}
            ways.append(Candidate(cells, float(weight)))
        row_id = relation.row_ids[candidates.row_ids[row]]
        told.append(RowCandidates(row_id, ways, Source("candidates_of", "1")))
    return relation.with_all(told)


def target_of(relation: Relation) -> str:
    """Return the column of labels. Raises InvalidInput where there is none."""
    if relation.target is None:
        raise InvalidInput("The relation has no target.", remedy="Name one in from_frame.")
    return relation.target


def _rows_in(relation: Relation, role: str) -> Relation:
    found = relation.in_role(role)
    if len(found) == 0:
        raise InvalidInput(f"There are no {role} rows.", remedy="Use split(), or give roles.")
    return found


def worlds_of_rows(
    relation: Relation, index: pd.Index, names: Sequence[str], most: int
) -> dict[int, Worlds]:
    """Return, by position in ``index``, what the cells in doubt of each row could be.

    Blocks of a row are combined as if they were cells.
    """
    blocks = relation.content.blocks
    values = _cells_by_place(blocks, names)
    positions = index.get_indexer(relation.row_ids)
    parts: dict[int, dict[str, list[tuple[Any, float]]]] = {}
    for number in range(len(blocks)):
        row = int(positions[blocks.row[number]])
        places = range(int(blocks.first[number]), int(blocks.first[number + 1]))
        says_something = any(place in values for place in places)
        if row < 0 or not says_something:
            continue
        ways = [(values.get(place, {}), float(blocks.weight[place])) for place in places]
        parts.setdefault(row, {})[str(number)] = ways
    return {row: _worlds(of_blocks, most) for row, of_blocks in parts.items()}


def _cells_by_place(blocks: Blocks, names: Sequence[str]) -> dict[int, dict[str, Any]]:
    """Return what each candidate, by its place, says of some columns."""
    found: dict[int, dict[str, Any]] = {}
    for name in names:
        cells = blocks.cells.get(name)
        if cells is None:
            continue
        for place, value in zip(cells.place.tolist(), cells.values.to_pylist(), strict=True):
            found.setdefault(place, {})[name] = value
    return found


def _worlds(of_blocks: dict[str, list[tuple[Any, float]]], most: int) -> Worlds:
    """Return what the cells of a row could be together, from what each of its blocks could be."""
    found: Worlds = []
    for picked, weight in row_options(of_blocks, most):
        together: dict[str, Any] = {}
        for cells in picked.values():
            together |= cells
        found.append((together, weight))
    return found


def vectors_of(columns: Sequence[DoubtfulColumn], row: int, worlds: Worlds) -> np.ndarray:
    """Return (M, D) a row as a vector in each of its worlds."""
    vectors = []
    for world, _ in worlds:
        parts = [_code(column, row, world.get(column.name)) for column in columns]
        vectors.append(np.concatenate(parts))
    return np.stack(vectors)


def _code(column: DoubtfulColumn, row: int, value: Any) -> np.ndarray:
    """Return a row's part of a vector with a value in its cell; None: the value that it has."""
    if value is None:
        return column.codes[row]
    return column.encode(value if column.is_number else str(value))


def _text_or_none(value: Any) -> str | None:
    if is_missing(value):
        return None
    return f"{value:.10g}" if isinstance(value, float) else str(value)
