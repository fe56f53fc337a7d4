"""Operations that make a relation of a relation: filter, projection, new columns, joins, roles.

All keep what is uncertain. A row of which only some candidates meet a condition becomes one that
may not exist; a computed column varies together with what it was computed from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module

import numpy as np
import pandas as pd
import pyarrow as pa

from easeml.data import ALL_ROLES
from easeml.errors import InvalidInput
from easeml.relation.blocks import Blocks, CandidateCells, concatenated, offsets
from easeml.relation.content import Content, plain_values
from easeml.relation.exchange import role_numbers
from easeml.relation.expressions import Condition, Formula
from easeml.relation.outcomes import one_block_a_row, values_of
from easeml.relation.pandas_types import with_types_of, without_type


def take_rows(content: Content, rows: np.ndarray) -> Content:
    """Return the rows at ascending positions, each at most once."""
    place = np.full(content.table.num_rows, -1, np.int64)
    place[rows] = np.arange(len(rows))
    kept = np.flatnonzero(place[content.blocks.row] >= 0)
    blocks = content.blocks.take(kept, place[content.blocks.row[kept]])
    return replace(
        content,
        table=content.table.take(pa.array(rows)),
        row_ids=content.row_ids[rows],
        roles=content.roles_at(rows),
        blocks=blocks,
        origins=content.origins_at(rows),
    )


def filtered(content: Content, condition: Condition) -> Content:
    """Return the rows that meet a condition, in the worlds where they do. Raises InvalidInput."""
    content = _with_one_block(content, condition.columns)
    keep = condition.holds(_certain(content, condition), content.table.num_rows)
    keep = keep.to_numpy(zero_copy_only=False).copy()
    chosen = _covering(content.blocks, condition.columns)
    blocks = content.blocks.take(chosen)
    columns = {name: values_of(content, blocks, name) for name in condition.columns}
    meets = condition.holds(columns, len(blocks.weight)).to_numpy(zero_copy_only=False)
    blocks = replace(blocks, present=blocks.present & meets)
    keep[blocks.row] = np.logical_or.reduceat(blocks.present, blocks.first[:-1])
    others = np.setdiff1d(np.arange(len(content.blocks)), chosen)
    both = concatenated([distinct(blocks), content.blocks.take(others)])
    return take_rows(replace(content, blocks=both), np.flatnonzero(keep))


def selected(content: Content, columns: Sequence[str]) -> Content:
    """Return some columns. Candidates that then agree become one. Raises InvalidInput."""
    content.check_columns(columns)
    blocks = speaking(content.blocks.restricted(columns))
    blocks = distinct(blocks)
    target = content.target if content.target in columns else None
    return replace(content, table=content.table.select(list(columns)), target=target, blocks=blocks)


def with_column(content: Content, name: str, formula: Formula) -> Content:
    """Return the relation with one more column, or another one in its place. Raises InvalidInput."""
    content = _with_one_block(content, formula.columns)
    chosen = _covering(content.blocks, formula.columns)
    blocks = content.blocks.take(chosen)
    # Rows and candidates are computed together: the type of a column may follow from its values.
    columns = _certain(content, formula)
    if len(chosen):
        for column, cells in columns.items():
            columns[column] = pa.concat_arrays([cells, values_of(content, blocks, column)])
    rows = content.table.num_rows
    computed = formula.evaluate(columns, rows + len(blocks.weight))
    known, values = computed[:rows], computed[rows:]
    place = np.flatnonzero(blocks.present)
    made = CandidateCells(place, values.take(pa.array(place)))
    others = content.blocks.take(np.setdiff1d(np.arange(len(content.blocks)), chosen))
    others = replace(others, cells=_without(others.cells, name))
    blocks = replace(blocks, cells={**_without(blocks.cells, name), name: made})
    both = concatenated([blocks, others]) if len(chosen) else others
    return replace(content, table=_placed(content.table, name, known), blocks=speaking(both))


def with_roles(content: Content, shares: Mapping[str, float], seed: int) -> Content:
    """Give each row a role by its id and a seed, so that it keeps it whatever comes and goes.

    A made row trains where its origin does, and is left out where that one does not.
    ``shares``: of train, validation and test. Rows without a label, where there is a target, belong
    to the pool. Raises InvalidInput.
    """
    if not _are_shares(shares):
        raise InvalidInput(
            f"{dict(shares)} are no shares of roles.",
            remedy=f"Name roles of {', '.join(ALL_ROLES)} with shares that sum to 1.",
        )
    hashes = _hashed(_ids_of_origins(content), f"{seed:016d}"[-16:])
    place = hashes / 2.0**64
    limits = np.cumsum(list(shares.values()))[:-1]
    numbers = role_numbers(list(shares))
    roles = numbers[np.searchsorted(limits, place, side="right")]
    if content.target is not None:
        missing = content.table.column(content.target).is_null()
        unlabelled = plain_values(missing).to_numpy(zero_copy_only=False).copy()
        unlabelled[content.blocks.row[content.blocks.covering(content.target)]] = False
        roles[unlabelled] = ALL_ROLES.index("pool")
    divided = replace(content, roles=roles)
    is_kept = ~content.is_made | (roles == ALL_ROLES.index("train"))
    return divided if is_kept.all() else take_rows(divided, np.flatnonzero(is_kept))


def _ids_of_origins(content: Content) -> pd.Index:
    """Return the ids of rows, of made rows those of their origins."""
    if content.origins is None:
        return content.row_ids
    own = np.asarray(content.row_ids, dtype=object)
    return pd.Index(np.where(content.is_made, content.origin_of_each, own).tolist())


def _are_shares(shares: Mapping[str, float]) -> bool:
    """Tell whether these are shares of roles, which sum to one."""
    if not shares or not shares.keys() <= set(ALL_ROLES):
        return False
    return min(shares.values()) >= 0 and abs(sum(shares.values()) - 1) <= 1e-9


def in_roles(content: Content, names: Sequence[str]) -> Content:
    """Return the rows of some roles. Raises InvalidInput."""
    if content.roles is None:
        raise InvalidInput("The rows have no roles.", remedy="Use split(), or give roles.")
    for name in names:
        if name not in ALL_ROLES:
            raise InvalidInput(f"{name!r} is not a role.", remedy=f"Use {', '.join(ALL_ROLES)}.")
    return take_rows(content, np.flatnonzero(np.isin(content.roles, role_numbers(names))))


def joined(left: Content, right: Content, on: Sequence[str]) -> Content:
    """Return every pair of rows that agree in the columns ``on``, in the order of the left rows.

    A row that meets several has the same true candidate in all of these pairs: their blocks share
    a variable. Row ids are those of the left where each of its rows comes at most once, else
    ``LEFT/RIGHT``. Other columns of the right that are there on the left get the ending ``_right``.

    Raises:
        InvalidInput: where a key is missing, or uncertain.
    """
    for content in (left, right):
        for column in on:
            content.type_of(column)
            if content.blocks.covering(column).any():
                raise InvalidInput(
                    "A key of a join has candidates.",
                    where=f"column {column!r}",
                    remedy="Decide these cells first, such as by with_candidates(..., {value: 1.0}).",
                )
    lefts, rights = _pairs(left, right, on)
    table = left.table.take(pa.array(lefts))
    renamed = {}
    for column in right.table.column_names:
        if column not in on:
            renamed[column] = f"{column}_right" if column in left.table.column_names else column
    for column, name in renamed.items():
        table = table.append_column(name, right.table.column(column).take(pa.array(rights)))
    begin = int(left.blocks.variable.max(initial=-1)) + 1
    other = repeated(right.blocks.restricted(list(renamed)), rights)
    other = replace(
        other,
        variable=other.variable + begin,
        source=np.where(other.source >= 0, other.source + len(left.sources), -1).astype(np.int32),
        cells={renamed[name]: cells for name, cells in other.cells.items()},
    )
    return Content(
        table=with_types_of(table, right.table, renamed),
        row_ids=_pair_ids(left.row_ids[lefts], right.row_ids[rights]),
        roles=left.roles_at(lefts),
        target=left.target,
        blocks=concatenated([repeated(left.blocks, lefts), other]),
        sources=(*left.sources, *right.sources),
        origins=left.origins_at(lefts),
    )


def distinct(blocks: Blocks) -> Blocks:
    """Return blocks of which no two candidates are alike; absent rows are alike whatever they say.

    Blocks that take the same candidate as others stay as they are.
    """
    alive = _without_absent_cells(blocks)
    if not alive.independent:
        return alive
    codes = [alive.block, alive.present]
    for cells in alive.cells.values():
        code = np.full(len(alive.weight), -1, np.int64)
        code[cells.place] = _codes(cells.values)
        codes.append(code)
    keys = np.stack(codes, axis=1)
    _, lead, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    if len(lead) == len(alive.weight):
        return alive
    group = group.ravel()
    weight = np.bincount(group, alive.weight)
    order = np.argsort(lead)
    return _kept_candidates(alive, lead[order], weight[order])


def _kept_candidates(blocks: Blocks, numbers: np.ndarray, weight: np.ndarray) -> Blocks:
    """Return blocks with only some candidates, ascending, and their new weights."""
    place = np.full(len(blocks.weight), -1, np.int64)
    place[numbers] = np.arange(len(numbers))
    cells = {}
    for name, column in blocks.cells.items():
        moved = place[column.place]
        kept = np.flatnonzero(moved >= 0)
        cells[name] = CandidateCells(moved[kept], column.values.take(pa.array(kept)))
    return replace(
        blocks,
        first=offsets(np.bincount(blocks.block[numbers], minlength=len(blocks))),
        weight=weight,
        present=blocks.present[numbers],
        source=blocks.source[numbers],
        cells=cells,
    )


def _without_absent_cells(blocks: Blocks) -> Blocks:
    cells = {}
    for name, column in blocks.cells.items():
        kept = np.flatnonzero(blocks.present[column.place])
        if len(kept):
            values = column.values.take(pa.array(kept))
            cells[name] = CandidateCells(column.place[kept], values)
    return replace(blocks, cells=cells)


def _codes(values: pa.Array) -> np.ndarray:
    """Return equal numbers for equal values; values that cannot be compared are all different."""
    try:
        encoded = values.dictionary_encode(null_encoding="encode")
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return np.arange(len(values))
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)


def _with_one_block(content: Content, columns: Sequence[str]) -> Content:
    """Return the content with the blocks of a row that cover the columns multiplied to one."""
    content.check_columns(columns)
    chosen = _covering(content.blocks, columns)
    rows = content.blocks.row[chosen]
    if np.all(rows[1:] != rows[:-1]):
        return content
    product = one_block_a_row(content.blocks.take(chosen))
    others = np.setdiff1d(np.arange(len(content.blocks)), chosen)
    return replace(content, blocks=concatenated([product, content.blocks.take(others)]))


def _covering(blocks: Blocks, columns: Sequence[str]) -> np.ndarray:
    return np.flatnonzero(blocks.covering(*columns))


def speaking(blocks: Blocks) -> Blocks:
    """Leave out the blocks that say nothing any more."""
    speaking = blocks.optional | blocks.covering(*blocks.cells)
    return blocks if speaking.all() else blocks.take(np.flatnonzero(speaking))


def _certain(content: Content, expression: Condition | Formula) -> dict[str, pa.Array]:
    return {name: plain_values(content.table.column(name)) for name in expression.columns}


def _without(cells: Mapping[str, CandidateCells], name: str) -> dict[str, CandidateCells]:
    return {other: column for other, column in cells.items() if other != name}


def _placed(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    table = without_type(table, name)
    if name in table.column_names:
        return table.set_column(table.schema.get_field_index(name), name, values)
    return table.append_column(name, values)


def _hashed(row_ids: pd.Index, key: str) -> np.ndarray:
    """Return (N,) uint64 numbers that depend on an id and the key only."""
    names = row_ids.astype(str).to_series()
    hashing = import_module("pandas.util")  # which type checkers do not see
    return hashing.hash_pandas_object(names, index=False, hash_key=key).to_numpy()


def _pairs(left: Content, right: Content, on: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    keys = list(on)
    lefts = left.table.select(keys).to_pandas().assign(_left=np.arange(left.table.num_rows))
    rights = right.table.select(keys).to_pandas().assign(_right=np.arange(right.table.num_rows))
    pairs = lefts.dropna(subset=keys).merge(rights.dropna(subset=keys), on=keys)
    pairs = pairs.sort_values(["_left", "_right"])
    return pairs["_left"].to_numpy(), pairs["_right"].to_numpy()


def _pair_ids(lefts: pd.Index, rights: pd.Index) -> pd.Index:
    if lefts.is_unique:
        return lefts
    names = [f"{left}/{right}" for left, right in zip(lefts, rights, strict=True)]
    return pd.Index(names)


def repeated(blocks: Blocks, rows: np.ndarray) -> Blocks:
    """Return the blocks of the rows at ``rows`` (n,), in their order and as often as they come."""
    low = np.searchsorted(blocks.row, rows)
    high = np.searchsorted(blocks.row, rows + 1)
    counts = high - low
    first = offsets(counts)
    within = np.arange(first[-1]) - np.repeat(first[:-1], counts)
    numbers = np.repeat(low, counts) + within
    return blocks.take(numbers, np.repeat(np.arange(len(rows)), counts))
