"""Texts of a relation as numbers, learned from its train rows.

Pieces of three and four letters are counted, weighed by how rare they are, and reduced to a few
numbers that tell most of them apart (latent semantic analysis; Deerwester et al., JASIS 41, 1990).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from easeml.data import ALL_ROLES
from easeml.data.types.arrow import arrow_compute
from easeml.errors import InvalidInput
from easeml.lifecycle.augmentation.ways import way_of
from easeml.relation import Content, Relation
from easeml.relation.content import plain_values
from easeml.relation.exchange import likeliest_table
from easeml.relation.operations import selected, with_column

DIMENSIONS = 30
_TRAIN = ALL_ROLES.index("train")
_TEXTS = ("string", "large_string")


@dataclass(frozen=True)
class _Coordinate:
    """A formula (``relation.expressions``): one number of each text, none where there is no text.

    ``of_texts``: the numbers (texts, dimensions) of texts.
    """

    column: str
    place: int
    of_texts: Callable[[tuple[str, ...]], np.ndarray]

    @property
    def columns(self) -> Sequence[str]:
        """The column of texts."""
        return (self.column,)

    def evaluate(self, columns: Any, rows: int) -> pa.Array:
        """Return the number of each cell."""
        cells = columns[self.column]
        different = cells.unique().drop_null()
        numbers = self.of_texts(tuple(different.to_pylist()))[:, self.place]
        places = arrow_compute().index_in(cells, value_set=different, skip_nulls=True)
        return pa.array(numbers, pa.float64()).take(places)


def embed(
    relation: Relation,
    columns: Sequence[str] | None = None,
    dimensions: int = DIMENSIONS,
    keep: bool = False,
    seed: int = 0,
) -> Relation:
    """Return the relation with numbers in the place of texts.

    They are learned from the texts of observed train rows, as these are likeliest, and hold for
    all rows and for every candidate. A missing text has missing numbers.

    Args:
        relation: with roles.
        columns: of texts; by default all of different texts with three words and more on average.
        dimensions: numbers a text, which are called ``COLUMN_1``, ``COLUMN_2`` and so on. Few
            texts have fewer.
        keep: whether the texts stay beside their numbers.
        seed: of the reduction.

    Raises:
        InvalidInput: where rows have no roles, a column is not there, holds no texts or nothing to
            learn from, or a name of a new column is taken.
    """
    content = relation.content
    if content.roles is None:
        raise InvalidInput(
            "The rows have no roles.",
            where="roles",
            remedy="Use split() first: texts are learned from train rows.",
        )
    if dimensions < 1:
        raise InvalidInput(f"{dimensions} numbers say nothing of a text.", where="dimensions")
    names = _text_columns(content, relation.target, columns)
    table, rows = likeliest_table(content)
    is_learned = (content.roles[rows] == _TRAIN) & ~content.is_made[rows]
    learned = table.filter(pa.array(is_learned))
    found = content
    for name in names:
        texts = plain_values(learned.column(name)).drop_null().to_pylist()
        found = _with_numbers(found, name, _fitted(name, texts, dimensions, seed))
    if not keep:
        found = selected(found, [name for name in found.table.column_names if name not in names])
    return relation.like(found)


def _text_columns(content: Content, target: str | None, columns: Sequence[str] | None) -> list[str]:
    """Return the columns to embed. Raises InvalidInput."""
    if columns is not None:
        for name in columns:
            _check_holds_texts(content, name, target)
        return list(columns)
    inputs = filter(lambda name: name != target, content.table.column_names)
    found = [name for name in inputs if way_of(content.table.column(name)) == "words"]
    if not found:
        raise InvalidInput(
            "No column holds texts of several words.",
            where="columns",
            remedy="Name the columns of texts, or leave this step out.",
        )
    return found


def _check_holds_texts(content: Content, name: str, target: str | None) -> None:
    kind = content.type_of(name)
    if name == target:
        raise InvalidInput(
            "It is the target.", where=f"column {name!r}", remedy="Name inputs alone."
        )
    if str(kind) not in _TEXTS:
        raise InvalidInput(
            f"holds {kind}, no texts.",
            where=f"column {name!r}",
            remedy="Name columns of texts; numbers need no embedding.",
        )


def _fitted(
    name: str, texts: Sequence[str], dimensions: int, seed: int
) -> Callable[[tuple[str, ...]], np.ndarray]:
    """Return what gives the numbers (texts, dimensions) of texts. Raises InvalidInput."""
    from skrub import StringEncoder

    encoder = StringEncoder(n_components=dimensions, random_state=seed)
    try:
        encoder.fit(_series(name, texts))
    except ValueError as error:
        raise InvalidInput(
            "The train rows hold no text to learn from.",
            where=f"column {name!r}",
            remedy="Leave the column out, or give more train rows with texts.",
        ) from error

    @lru_cache(maxsize=1)  # each of the numbers asks for the same texts
    def of_texts(asked: tuple[str, ...]) -> np.ndarray:
        if not asked:
            return np.zeros((0, dimensions))
        return np.asarray(encoder.transform(_series(name, asked)), dtype=np.float64)

    return of_texts


def _series(name: str, texts: Sequence[str]) -> pd.Series:
    return pd.Series(list(texts), name=name, dtype="object")


def _with_numbers(
    content: Content, name: str, of_texts: Callable[[tuple[str, ...]], np.ndarray]
) -> Content:
    """Return the content with a column for each of the numbers of a column of texts."""
    width = of_texts(("",)).shape[1]
    made = [f"{name}_{place}" for place in range(1, width + 1)]
    taken = set(made).intersection(content.table.column_names)
    if taken:
        raise InvalidInput(
            f"There is a column {min(taken)!r} already.",
            where=f"column {name!r}",
            remedy="Give it another name before.",
        )
    for place, column in enumerate(made):
        content = with_column(content, column, _Coordinate(name, place, of_texts))
    return content
