"""Rows that take the place of others: what tells one version of a table from the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import filterfalse
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from easeml.errors import InvalidInput, NotFound
from easeml.relation.blocks import Blocks, concatenated
from easeml.relation.content import plain_values
from easeml.relation.operations import repeated, take_rows

if TYPE_CHECKING:
    from easeml.relation.content import Content


def updated(content: Content, changed: Content | None, gone: Sequence[Any]) -> Content:
    """Return the rows without those that are gone, and with those that changed or are new.

    Rows are the same where their ids are, and come in the order of these. A row that changed brings
    its cells, doubts and role. Raises NotFound for an id of ``gone`` that is not there,
    InvalidInput where the columns differ, or only one side has roles.
    """
    absent = list(filterfalse(content.row_ids.__contains__, gone))
    if absent:
        raise NotFound("There is no such row.", where=f"row {absent[0]!r}", remedy="Leave it out.")
    left_out = content.row_ids.isin(list(gone))
    if changed is None:
        return take_rows(content, np.flatnonzero(~left_out))
    _check_alike(content, changed)
    left_out |= content.row_ids.isin(changed.row_ids)
    stays = take_rows(content, np.flatnonzero(~left_out))
    return _in_order_of_ids(stacked(stays, changed))


def difference(before: Content, after: Content) -> tuple[Content | None, list[Any]]:
    """Return the rows that changed or are new, None where none is, and the ids that are gone.

    Of two contents without doubts; ``updated(before, *difference(before, after))`` has the rows of
    ``after``. Raises InvalidInput as ``updated`` does.
    """
    _check_alike(before, after)
    gone = list(filterfalse(after.row_ids.__contains__, before.row_ids))
    place = before.row_ids.get_indexer(after.row_ids)
    is_new = place < 0
    place_or_first = np.maximum(place, 0)  # rows that are new are compared with any
    is_other = _has_other_cells(before.table.take(pa.array(place_or_first)), after.table)
    if before.roles is not None and after.roles is not None:
        is_other |= before.roles[place_or_first] != after.roles
    rows = np.flatnonzero(is_new | is_other)
    if len(rows) == 0:
        return None, gone
    return take_rows(after, rows), gone


def other_columns(before: Content, after: Content) -> list[str]:
    """Return the columns in which a row that both have differs, in the order of ``after``."""
    place = before.row_ids.get_indexer(after.row_ids)
    is_there = place >= 0
    old = before.table.take(pa.array(place[is_there])).to_pandas()
    new = after.table.filter(pa.array(is_there)).to_pandas()
    return list(filter(lambda name: _is_other(old[name], new[name]).any(), new.columns))


def _has_other_cells(before: pa.Table, after: pa.Table) -> np.ndarray:
    """Tell for each row of two tables whether a cell of it differs; missing cells are the same."""
    old = before.to_pandas()
    new = after.to_pandas()
    is_other = np.zeros(len(new), bool)
    for name in new.columns:
        is_other |= _is_other(old[name], new[name])
    return is_other


def _is_other(old: Any, new: Any) -> np.ndarray:
    """Tell for each row whether the cells of two columns differ; missing cells are the same."""
    left = old.astype(object)
    right = new.astype(object)
    both_missing = left.isna() & right.isna()
    return ~((left == right) | both_missing).to_numpy(dtype=bool)


def _check_alike(content: Content, changed: Content) -> None:
    """Raise InvalidInput where rows of one cannot stand among those of the other."""
    ours = content.table.column_names
    theirs = changed.table.column_names
    if set(ours) != set(theirs):
        strange = sorted(set(ours) ^ set(theirs))
        raise InvalidInput(
            "Only one of the tables has this column.",
            where=f"column {strange[0]!r}",
            remedy="Select the same columns of both.",
        )
    if (content.roles is None) != (changed.roles is None):
        raise InvalidInput(
            "Only one of the tables has roles.", where="roles", remedy="Give roles to both."
        )


def stacked(content: Content, more: Content) -> Content:
    """Return the rows of both, the second below the first."""
    rows = content.table.num_rows
    table = more.table.select(content.table.column_names).cast(content.table.schema)
    blocks = more.blocks
    # Variables and sources of the second get numbers that the first does not use.
    shift = int(content.blocks.variable.max(initial=-1)) + 1
    moved = replace(
        blocks,
        row=blocks.row + rows,
        variable=blocks.variable + shift,
        source=np.where(blocks.source < 0, blocks.source, blocks.source + len(content.sources)),
    )
    roles = None
    if content.roles is not None and more.roles is not None:
        roles = np.concatenate([content.roles, more.roles])
    return replace(
        content,
        table=pa.concat_tables([content.table, table]).unify_dictionaries(),
        row_ids=content.row_ids.append(more.row_ids),
        roles=roles,
        blocks=_both(content.blocks, moved),
        sources=(*content.sources, *more.sources),
        origins=_both_origins(content, more),
    )


def _both_origins(content: Content, more: Content) -> np.ndarray | None:
    """Return the origins of the rows of both; None where none was made."""
    both = np.concatenate([content.origin_of_each, more.origin_of_each])
    return None if pd.isna(both).all() else both


def _both(blocks: Blocks, more: Blocks) -> Blocks:
    if not len(blocks):
        return more
    if not len(more):
        return blocks
    return concatenated([blocks, more])


def _in_order_of_ids(content: Content) -> Content:
    order = np.argsort(np.asarray(content.row_ids), kind="stable")
    return replace(
        content,
        table=content.table.take(pa.array(order)),
        row_ids=pd.Index(content.row_ids[order]),
        roles=content.roles_at(order),
        blocks=repeated(content.blocks, order),
        origins=content.origins_at(order),
    )


def changed_rows(before: Content, after: Content) -> np.ndarray | None:
    """Return the positions of the rows whose cells, doubts or roles differ, ascending.

    None where more than that differs: rows, columns, their types or the target.
    """
    if not _same_frame(before, after):
        return None
    found = _rows_with_other_doubts(before.blocks, after.blocks)
    if before.roles is not None:
        found.update(np.flatnonzero(before.roles != after.roles).tolist())
    for name in before.table.column_names:
        rows = _rows_with_other_cells(before.table.column(name), after.table.column(name))
        if rows is None:
            return None
        found.update(rows)
    return np.array(sorted(found), dtype=np.int64)


def _same_frame(before: Content, after: Content) -> bool:
    """Tell whether two contents differ in cells, doubts and roles at most."""
    has_same_columns = before.table.schema.equals(after.table.schema)
    if before.target != after.target or not has_same_columns:
        return False
    have_roles = (before.roles is None) == (after.roles is None)
    return before.row_ids.equals(after.row_ids) and have_roles


def _rows_with_other_cells(old: pa.ChunkedArray, new: pa.ChunkedArray) -> list[int] | None:
    """Return where two columns differ; None for types that cannot be compared cell by cell."""
    if old is new or old.equals(new):
        return []
    left = plain_values(old)
    right = plain_values(new)
    if pa.types.is_nested(left.type):
        return None
    differs = _computed("not_equal", left, right)
    missing = _computed("xor", left.is_null(), right.is_null())
    differs = _computed("if_else", differs.is_null(), missing, differs)
    if pa.types.is_floating(left.type):
        both = _computed("and", _computed("is_nan", left), _computed("is_nan", right))
        differs = _computed("and_not", differs, both.fill_null(False))
    return np.flatnonzero(differs.to_numpy(zero_copy_only=False)).tolist()


def _computed(function: str, *values: Any) -> Any:
    return pc.call_function(function, list(values))


def _rows_with_other_doubts(old: Blocks, new: Blocks) -> set[int]:
    if old is new:
        return set()
    before = _doubts_by_row(old)
    after = _doubts_by_row(new)
    return {row for row in before.keys() | after.keys() if before.get(row) != after.get(row)}


def _doubts_by_row(blocks: Blocks) -> dict[int, list[Any]]:
    """Return what is said of each row in doubt, as values that can be compared."""
    cells: dict[int, dict[str, Any]] = {}
    for name, of_column in blocks.cells.items():
        values = of_column.values.to_pylist()
        for place, value in zip(of_column.place.tolist(), values, strict=True):
            cells.setdefault(place, {})[name] = value
    weights, present = blocks.weight.tolist(), blocks.present.tolist()
    first = blocks.first.tolist()
    said: dict[int, list[Any]] = {}
    for number, row in enumerate(blocks.row.tolist()):
        ways = []
        for place in range(first[number], first[number + 1]):
            ways.append((weights[place], present[place], cells.get(place)))
        said.setdefault(row, []).append(ways)
    return said
