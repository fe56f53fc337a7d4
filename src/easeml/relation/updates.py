"""Rows that take the place of others: what tells one version of a table from the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa

from easeml.errors import InvalidInput, NotFound
from easeml.relation.blocks import Blocks, concatenated
from easeml.relation.operations import repeated, take_rows

if TYPE_CHECKING:
    from easeml.relation.content import Content


def updated(content: Content, changed: Content | None, gone: Sequence[Any]) -> Content:
    """Return the rows without those that are gone, and with those that changed or are new.

    Rows are the same where their ids are, and come in the order of these. A row that changed brings
    its cells, doubts and role. Raises NotFound for an id of ``gone`` that is not there, InvalidInput
    where the columns differ, or only one side has roles.
    """
    absent = [row_id for row_id in gone if row_id not in content.row_ids]
    if absent:
        raise NotFound("There is no such row.", where=f"row {absent[0]!r}", remedy="Leave it out.")
    left_out = content.row_ids.isin(list(gone))
    if changed is None:
        return take_rows(content, np.flatnonzero(~left_out))
    _check_alike(content, changed)
    left_out |= content.row_ids.isin(changed.row_ids)
    return _in_order_of_ids(_stacked(take_rows(content, np.flatnonzero(~left_out)), changed))


def difference(before: Content, after: Content) -> tuple[Content | None, list[Any]]:
    """Return the rows that changed or are new, None where none is, and the ids that are gone.

    Of two contents without doubts; ``updated(before, *difference(before, after))`` has the rows of
    ``after``. Raises InvalidInput as ``updated`` does.
    """
    _check_alike(before, after)
    gone = [row_id for row_id in before.row_ids if row_id not in after.row_ids]
    place = before.row_ids.get_indexer(after.row_ids)
    is_new = place < 0
    old = before.table.take(pa.array(np.maximum(place, 0))).to_pandas()
    new = after.table.to_pandas()
    is_other = np.zeros(len(new), bool)
    for name in new.columns:
        left, right = old[name].astype(object), new[name].astype(object)
        both_missing = left.isna() & right.isna()
        is_other |= ~((left == right) | both_missing).to_numpy(dtype=bool)
    if before.roles is not None and after.roles is not None:
        is_other |= before.roles[np.maximum(place, 0)] != after.roles
    rows = np.flatnonzero(is_new | is_other)
    return (take_rows(after, rows) if len(rows) else None), gone


def _check_alike(content: Content, changed: Content) -> None:
    """Raise InvalidInput where rows of one cannot stand among those of the other."""
    ours, theirs = content.table.column_names, changed.table.column_names
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


def _stacked(content: Content, more: Content) -> Content:
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
    )


def _both(blocks: Blocks, more: Blocks) -> Blocks:
    if not len(blocks):
        return more
    return concatenated([blocks, more]) if len(more) else blocks


def _in_order_of_ids(content: Content) -> Content:
    order = np.argsort(np.asarray(content.row_ids), kind="stable")
    return replace(
        content,
        table=content.table.take(pa.array(order)),
        row_ids=pd.Index(content.row_ids[order]),
        roles=None if content.roles is None else content.roles[order],
        blocks=repeated(content.blocks, order),
    )
