"""Train rows that are made of others, as candidates beside them.

A made row is nearly its origin: it keeps its label, with all doubts of it, and says of which row it
was made (``Content.origins``). It only trains: whoever judges models, or advises about rows, leaves
made rows out (``Relation.observed``), and ``split`` lets them go where their origins go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from easeml.data import ALL_ROLES
from easeml.errors import InvalidInput
from easeml.lifecycle.augmentation.arrays import other_picture, other_series
from easeml.lifecycle.augmentation.mixed import Mixing, mixing
from easeml.lifecycle.augmentation.texts import with_other_words
from easeml.lifecycle.augmentation.ways import WAYS, way_of
from easeml.relation import Content, Relation
from easeml.relation.blocks import Blocks, concatenated
from easeml.relation.exchange import likeliest_table
from easeml.relation.operations import repeated, speaking
from easeml.relation.updates import stacked

BALANCE = "balance"
"""As many copies as make all classes as large as the largest."""
_TRAIN = ALL_ROLES.index("train")


def augment(
    relation: Relation,
    copies: int | str = 1,
    ways: Sequence[str] | None = None,
    synonyms: Mapping[str, Sequence[str]] | None = None,
    seed: int = 0,
) -> Relation:
    """Return the relation with more train rows, below the others.

    Cells become, by the kind of their column: numbers and categories those between a row and a near
    one of the same class (``mixed``); texts, with a few other words (``texts``); series and
    pictures, a little moved (``arrays``). Names, dates and cells that are missing stay.

    Args:
        relation: with roles. Rows of other roles stay as they are.
        copies: of each train row with a label; or "balance".
        ways: of ``WAYS``; by default all but "flip".
        synonyms: words that may stand for a word in small letters, by that word.
        seed: of all draws.

    Raises:
        InvalidInput: where there are no roles or no labelled train rows, where there is no such way
            or none that suits a column, or where classes to balance are numbers.
    """
    taken = _ways(ways)
    content = relation.content
    table, rows, origins = _origins(content, copies, np.random.default_rng(seed))
    columns = _columns(table, relation.target, taken)
    if not columns:
        raise InvalidInput(
            "No column suits a way to make rows.",
            where="ways",
            remedy=f"Take others of {', '.join(WAYS)}, or keep more columns.",
        )
    if not len(origins):
        return relation
    rng = np.random.default_rng([seed, 1])
    made = table.take(pa.array(origins))
    made = _with_mixed(made, table, relation.target, columns, origins, rng)
    changes = _changes("flip" in taken, synonyms or {}, rng)
    for name, way in columns.items():
        if way in changes:
            cells = _changed(made.column(name), changes[way])
            made = _replaced(made, name, cells)
    return relation.like(_below(content, made, rows[origins]))


def _ways(ways: Sequence[str] | None) -> frozenset[str]:
    """Return the ways to take. Raises InvalidInput for one that there is not."""
    if ways is None:
        return frozenset(WAYS) - {"flip"}
    for way in ways:
        if way not in WAYS:
            raise InvalidInput(
                f"{way!r} is no way to make rows.",
                where="ways",
                remedy=f"Use {', '.join(WAYS)}.",
            )
    return frozenset({*ways, "pictures"} if "flip" in ways else ways)


def _origins(
    content: Content, copies: int | str, rng: np.random.Generator
) -> tuple[pa.Table, np.ndarray, np.ndarray]:
    """Return the labelled train rows as they are likeliest, their positions, and origins.

    ``origins``: of each row to make, the place among these of the row that it is made of.
    """
    if content.roles is None:
        raise InvalidInput(
            "The rows have no roles.",
            where="roles",
            remedy="Use split() first: rows that are made of others may only train.",
        )
    table, rows = likeliest_table(content)
    is_origin = (content.roles[rows] == _TRAIN) & ~content.is_made[rows]
    if content.target is not None:
        labels = table.column(content.target)
        is_origin &= labels.is_valid().to_numpy(zero_copy_only=False)
    if not is_origin.any():
        raise InvalidInput("No train row has a label.", where="roles")
    table = table.filter(pa.array(is_origin))
    return table, rows[is_origin], _drawn(table, content.target, copies, rng)


def _drawn(
    table: pa.Table, target: str | None, copies: int | str, rng: np.random.Generator
) -> np.ndarray:
    """Return the place of the origin of each row to make. Raises InvalidInput."""
    if copies == BALANCE:
        return _balancing(table, target, rng)
    if not isinstance(copies, int) or copies < 1:
        raise InvalidInput(
            f"{copies!r} copies cannot be made.",
            where="copies",
            remedy=f'Name a number from 1 on, or "{BALANCE}".',
        )
    return np.repeat(np.arange(table.num_rows), copies)


def _balancing(table: pa.Table, target: str | None, rng: np.random.Generator) -> np.ndarray:
    if target is None or pa.types.is_floating(table.schema.field(target).type):
        raise InvalidInput("There are no classes to balance.", where="copies")
    groups = np.unique(table.column(target).to_pylist(), return_inverse=True)[1]
    sizes = np.bincount(groups)
    drawn = []
    for group, size in enumerate(sizes):
        members = rng.permutation(np.flatnonzero(groups == group))
        drawn.append(np.resize(members, sizes.max() - size))
    return np.sort(np.concatenate(drawn))


def _columns(table: pa.Table, target: str | None, taken: frozenset[str]) -> dict[str, str]:
    """Return the way that each column to change takes."""
    found = {}
    for name in table.column_names:
        way = way_of(table.column(name))
        if name != target and way in taken:
            found[name] = way
    return found


def _with_mixed(
    made: pa.Table,
    table: pa.Table,
    target: str | None,
    columns: Mapping[str, str],
    origins: np.ndarray,
    rng: np.random.Generator,
) -> pa.Table:
    """Return rows whose numbers and categories are mixed with those of neighbours."""
    mixed = [name for name, way in columns.items() if way == "mix"]
    if not mixed:
        return made
    inputs = table.select(mixed).to_pandas()
    answers = pd.Series("", index=inputs.index)
    if target is not None:
        answers = table.column(target).to_pandas()
    if target is not None and pd.api.types.is_float_dtype(answers):
        mixed.append(target)
    how: Mixing = mixing(inputs, answers, origins, rng)
    for name in mixed:
        made = _replaced(made, name, how.of(table.column(name), rng))
    return made


def _changes(
    flips: bool, words: Mapping[str, Sequence[str]], rng: np.random.Generator
) -> dict[str, Callable[[Any], Any]]:
    """Return what each way that looks at one cell makes of it."""
    return {
        "words": lambda cell: with_other_words(cell, words, rng),
        "series": lambda cell: other_series(np.asarray(cell, float), rng).tolist(),
        "pictures": lambda cell: other_picture(np.asarray(cell, float), rng, flips=flips).tolist(),
    }


def _changed(column: pa.ChunkedArray, change: Callable[[Any], Any]) -> pa.Array:
    """Return the cells of a column, each changed; those that are missing stay so."""
    cells = [None if cell is None else change(cell) for cell in column.to_pylist()]
    return pa.array(cells).cast(column.type, safe=False)


def _replaced(table: pa.Table, name: str, cells: pa.Array) -> pa.Table:
    place = table.column_names.index(name)
    return table.set_column(place, table.schema.field(place), cells)


def _below(content: Content, made: pa.Table, rows: np.ndarray) -> Content:
    """Return a content with made rows below the others; ``rows`` (n,): positions of their origins.

    Whether a made row is there, and which label it has, is decided with its origin: it has the same
    variable.
    """
    kept = [] if content.target is None else [content.target]
    labels = repeated(speaking(content.blocks.restricted(kept)), rows)
    labels = replace(labels, row=labels.row + content.table.num_rows)
    origins = np.full(len(rows), None, object)
    origins[:] = content.row_ids[rows].tolist()
    more = Content(
        table=made,
        row_ids=_new_ids(content.row_ids, rows),
        roles=np.full(len(rows), _TRAIN, np.int8),
        target=content.target,
        blocks=Blocks.none(),
        sources=(),
        origins=origins,
    )
    both = stacked(content, more)
    return replace(both, blocks=concatenated([both.blocks, labels])) if len(labels) else both


def _new_ids(ids: pd.Index, rows: np.ndarray) -> pd.Index:
    """Return ids that no row has: the next numbers, or the origin's name with a number.

    Raises InvalidInput where ids are neither numbers nor texts.
    """
    if pd.api.types.is_integer_dtype(ids):
        start = int(np.asarray(ids).max()) + 1
        return pd.Index(range(start, start + len(rows)), name=ids.name)
    taken = set(ids)
    made: list[str] = []
    for name in ids[rows]:
        if not isinstance(name, str):
            raise InvalidInput(
                f"{name!r} names a row.",
                where="row ids",
                remedy="Name rows by whole numbers or texts: frame.reset_index().",
            )
        number = 1
        while f"{name}~{number}" in taken:
            number += 1
        taken.add(f"{name}~{number}")
        made.append(f"{name}~{number}")
    return pd.Index(made, name=ids.name)
