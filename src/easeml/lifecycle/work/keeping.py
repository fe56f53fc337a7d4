"""What is kept of a table, so that the order of its questions can follow what people answer."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from easeml.lifecycle.cleaning.frames import Column
from easeml.lifecycle.questions import Item, Learned, Order
from easeml.lifecycle.work.calibration import Experience
from easeml.lifecycle.work.proposals import Proposal
from easeml.lifecycle.work.stand_in import Rows, StandIn

WIDEST = 500
"""Numbers of a row beyond which nothing is kept: an answer would take too long to take in."""
_MISSING = (type(None), type(pd.NA), type(pd.NaT))  # what a missing cell may be, beside NaN


def kept_order(
    stand_in: StandIn,
    rows: Rows,
    proposals: Sequence[Proposal],
    known: Mapping[str, Experience],
    waiting: Collection[tuple[str, int, str]] = (),
    *,
    told_chances: bool = False,
) -> Order | None:
    """Return the order of proposals; None where rows are too many numbers.

    Args:
        stand_in: of the rows.
        rows: of the application.
        proposals: what is asked.
        known: experience with each kind.
        waiting: kind, row and column of what people answered that the rows do not have yet.
        told_chances: are the chances of labels those of a model, rather than of the stand-in?
    """
    if stand_in.encoding.width > WIDEST:
        return None
    items = []
    for one in proposals:
        options = tuple((_plain(value), float(chance)) for value, chance in one.options)
        factor = known[one.kind].factor
        item = Item(one.kind, int(one.row), one.column, _plain(one.given), options, factor)
        items.append(item)
    answered = tuple(key for key in waiting if _is_there(rows, key))
    asked = sorted({row for _, row, _ in [*(item.key for item in items), *answered]})
    return Order(
        model=stand_in.model,
        encoding=stand_in.encoding,
        targets=stand_in.as_targets,
        rows=_learned(stand_in, rows, asked),
        items=tuple(items),
        answered=answered,
        told_chances=told_chances,
    )


def _is_there(rows: Rows, key: tuple[str, int, str]) -> bool:
    """Are the row and the column of an answer among those of the rows?"""
    _, row, column = key
    is_column = column in rows.train or column == rows.answers.name
    return is_column and (row in rows.train.index or row in rows.pool.index)


def _learned(stand_in: StandIn, rows: Rows, asked: Sequence[int]) -> Learned:
    """Return the rows that are asked about, as the stand-in sees them."""
    both = pd.concat([rows.train, rows.pool]).loc[list(asked)]
    answers = rows.answers.reindex(both.index)
    return Learned(
        ids=tuple(asked),
        X=stand_in.encoded(both),
        Y=_targets(stand_in, answers),
        taught=both.index.isin(stand_in.taught),
    )


def _targets(stand_in: StandIn, answers: Column) -> np.ndarray:
    """Return the targets (n, K) of rows, 0 of those without a label."""
    targets = stand_in.targets(answers)
    targets[answers.isna().to_numpy()] = 0.0
    return targets


def _plain(value: Any) -> Any:
    """Return a value of a cell as JSON has it: a number, a text, or None where it is missing."""
    if isinstance(value, _MISSING):
        return None
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        return str(value)
    number = float(value)
    return number if math.isfinite(number) else None
