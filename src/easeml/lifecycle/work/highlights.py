"""Which other cells of a row bear on what is asked about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from easeml.lifecycle.cleaning.frames import Column
from easeml.lifecycle.work.proposals import Proposal, Rows
from easeml.lifecycle.work.stand_in import StandIn

MOST_COLUMNS = 3
_LEVELS = 20  # of a text; all others count as one
_LEAST = 0.1  # of the effect of the first column, that others have to have
_SAMPLE = 200  # values of a column that are looked at
_MOST_WORDS = 4  # of a category, on average
_OTHER = "another value"


def what_matters(rows: Rows, items: Sequence[Proposal]) -> list[list[str]]:
    """Return for each item the columns that bear on its answer, at most three, the first one first.

    A linear stand-in learns the column that is asked about from the others; a column bears on the
    answer as far as the stand-in says something else where its cell is a usual one (occlusion).
    None does in a table with texts of several words: the stand-in does not read them, and marks on
    the other cells would lead past what says most.
    """
    found: list[list[str]] = [[] for _ in items]
    places: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        places.setdefault(item.column, []).append(place)
    for column, some in places.items():
        asked = [items[place].row for place in some]
        for place, names in zip(some, _columns(rows, column, asked), strict=True):
            found[place] = names
    return found


def _columns(rows: Rows, column: str, asked: Sequence[Any]) -> list[list[str]]:
    """Return the columns that bear on one column, for each row that is asked about."""
    names = [name for name in rows.train.columns if name != column]
    answers = rows.answers
    if column in rows.train:
        answers = _as_target(rows.train[column])
    is_known = answers.notna().to_numpy()
    taught, answers = rows.train.loc[is_known, names], answers[is_known]
    is_read = not any(map(_is_prose, map(taught.get, names)))
    if not names or len(answers) < 2 or not is_read:
        return [[] for _ in asked]
    learned = StandIn(Rows(taught, answers, taught.iloc[:0], taught.iloc[:0]), 0)
    frame = pd.concat([rows.train[names], rows.pool[names]]).loc[list(asked)]
    effects = np.zeros((len(frame), len(names)))
    for place, name in enumerate(names):
        usual = _usual(taught[name])
        if usual is None:
            continue
        changed = pd.Series(usual, index=frame.index, dtype=object, name=name)
        moved = learned.moved(frame[name], changed.astype(frame[name].dtype))
        effects[:, place] = (moved**2).sum(axis=1)
    return [_strongest(names, effects[row]) for row in range(len(frame))]


def _is_prose(column: Column) -> bool:
    """Tell whether the first values of a column are texts of several words."""
    known = column.dropna()[:_SAMPLE]
    if known.empty or pd.api.types.is_numeric_dtype(known):
        return False
    words = known.astype(str).str.count(" ") + 1
    return bool(words.mean() > _MOST_WORDS)


def _as_target(column: Column) -> Column:
    """Return a column as something to learn: numbers, or a few classes."""
    if pd.api.types.is_numeric_dtype(column):
        return column.astype(float)
    texts = column.astype(object).where(column.notna(), None)
    usual = texts.value_counts().index[:_LEVELS]
    return texts.where(texts.isin(usual) | texts.isna(), _OTHER).astype("category")


def _usual(column: Column) -> Any:
    known = column.dropna()
    if known.empty:
        return None
    if pd.api.types.is_numeric_dtype(column):
        return float(known.median())
    return known.mode().iloc[0]


def _strongest(names: Sequence[Any], effects: np.ndarray) -> list[str]:
    order = np.argsort(-effects, kind="stable")[:MOST_COLUMNS]
    least = _LEAST * effects.max()
    return [str(names[place]) for place in order.tolist() if effects[place] > max(least, 1e-12)]
