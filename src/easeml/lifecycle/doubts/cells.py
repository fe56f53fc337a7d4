"""Candidates for suspicious cells: what is found wrong, and what it could be instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from easeml.errors import InvalidInput
from easeml.lifecycle.cleaning.detect import METHODS, SuspectCell, as_text, detect_errors
from easeml.lifecycle.cleaning.detectors import mark_missing
from easeml.lifecycle.cleaning.doubtful_columns import DoubtfulColumn, finite_number
from easeml.lifecycle.cleaning.frames import Column, Frame
from easeml.lifecycle.cleaning.repairs import Options
from easeml.lifecycle.cleaning.rough_matrix import RoughColumns
from easeml.lifecycle.cleaning.rules import Rule, parse_rules
from easeml.relation import Relation, RowCandidates, Source, cell_candidates

CELL_METHODS = tuple(method for method in METHODS if method not in ("duplicate", "label"))
"""Ways to find suspicious cells."""
_NAMES = 0.5  # of more different texts than this share of rows, none is likelier than the others
_SLIGHT = 1e-9  # weights below are left out


def clean(
    relation: Relation,
    *,
    rules: str = "",
    methods: Sequence[str] = CELL_METHODS,
    most: int = 10,
    seed: int = 0,
) -> Relation:
    """Return the relation with candidates for cells that are missing or look wrong.

    Cells are found by ``cleaning.detect_errors``, and repaired by the statistics, neighbours and
    trees of ``cleaning.repairs``, each weighted by how often it is best on cells of the same column
    that it was not shown; where a dependency, a spelling or a format says what the value should be,
    by that. A cell that is only suspected keeps its value as a candidate. The target, cells that
    have candidates already, and names (texts that are mostly different) are left alone.

    Args:
        relation: rows of any role; none may be without doubt for the others to learn from.
        rules: dependencies that are known to hold (``cleaning.parse_rules``), beside those found.
        methods: how to look for suspicious cells.
        most: candidates that a cell has at most. Where likelier ones leave no room for others, the
            source of those that stay says how many of how many were kept.
        seed: of the models that propose repairs.

    Raises:
        InvalidInput: where methods, rules or ``most`` are not possible.
    """
    if most < 1:
        raise InvalidInput(f"most is {most}; a cell has at least one candidate.")
    if relation.content.is_made.any():
        raise InvalidInput(
            "Some rows were made of others.", remedy="Use clean() before augment(), not after it."
        )
    names = [name for name in relation.columns if name != relation.target]
    frame: Frame = relation.to_arrow().select(names).to_pandas()
    if frame.empty:
        return relation
    text: Frame = as_text(frame)
    known: list[Rule] = parse_rules(rules)
    report = detect_errors(text, rules=known, methods=methods, seed=seed)
    suspects = report.suspects()
    # Rows that do not exist in the likeliest world are not looked at.
    row_ids = relation.to_frame().index
    told_before = _doubtful_cells(relation)
    missing = mark_missing(text)
    rough = RoughColumns(text, missing)
    told: list[RowCandidates] = []
    for name, cells in suspects.items():
        if _is_name(text[name], missing[name]):
            continue
        column = DoubtfulColumn(
            name,
            text[name],
            missing[name],
            cells,
            text[name],
            others=rough.without(name),
            seed=seed,
        )
        fit = _Fitting(frame[name], text[name], relation.content.type_of(name))
        for row, options in column.options.items():
            if (row_ids[row], name) not in told_before:
                told += _told(row_ids[row], cells[row], fit.fitted(options), most, seed)
    return relation.with_all(told)


def _doubtful_cells(relation: Relation) -> set[tuple[Any, str]]:
    """Return row id and column of the cells that have candidates."""
    blocks = relation.content.blocks
    found = set()
    for name, cells in blocks.cells.items():
        rows = np.unique(blocks.row[blocks.block[cells.place]])
        found.update(product(relation.row_ids[rows], [name]))
    return found


def _is_name(text: Column, missing: Column) -> bool:
    """Tell whether a column's values are texts of which hardly any comes twice."""
    values = text[~missing]
    numbers: Column = pd.to_numeric(values, errors="coerce")
    if numbers.notna().mean() >= 0.8:
        return False
    return values.nunique() > _NAMES * len(values)


def _told(
    row_id: Any, cell: SuspectCell, weights: Mapping[Any, float], most: int, seed: int
) -> list[RowCandidates]:
    """Return the candidates of a cell, at most so many; none where no value fits its column."""
    ranked = sorted(weights.items(), key=lambda pair: -pair[1])
    kept = {value: weight for value, weight in ranked[:most] if weight > _SLIGHT}
    if not kept:
        return []
    tool = f"clean: {cell.method}"
    if len(ranked) > most:
        tool += f", {most} of {len(ranked)} values"
    total = sum(kept.values())
    shares = {value: weight / total for value, weight in kept.items()}
    return [cell_candidates(row_id, cell.column, shares, Source(tool, "1", seed))]


class _Fitting:
    """Values as the cleaning tools write them, to values of a column's own type."""

    def __init__(self, column: Column, text: Column, kind: pa.DataType):
        self._kind = kind
        self._known: dict[str, Any] = {}
        for written, value in zip(text, column, strict=True):
            self._known.setdefault(written, value)

    def fitted(self, options: Options) -> dict[Any, float]:
        """Return weights by value; values that the column cannot have are left out."""
        weights: dict[Any, float] = {}
        for option, weight in options:
            value = self._value(option)
            if value is not None:
                weights[value] = weights.get(value, 0.0) + weight
        return weights

    def _value(self, option: Any) -> Any:
        if pa.types.is_integer(self._kind):
            return _number(option, whole=True)
        if pa.types.is_floating(self._kind):
            return _number(option, whole=False)
        written = f"{option:.10g}" if isinstance(option, float) else str(option)
        if pa.types.is_string(self._kind) or pa.types.is_large_string(self._kind):
            return written
        return self._known.get(written)


def _number(option: Any, *, whole: bool) -> float | int | None:
    number = finite_number(option)
    if number is None or not whole:
        return number
    return round(number)
