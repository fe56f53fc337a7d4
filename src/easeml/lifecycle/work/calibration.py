"""What answers brought beside what they should have brought, kind by kind.

Each answer is reckoned alone when it is asked for. Together answers can bring more, where faults
are alike and push predictions one way, or less, where they say the same. What came is known once
they are there: the stand-in learns again without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import pandas as pd

from easeml.lifecycle.cleaning.frames import Column, Frame
from easeml.lifecycle.questions import CELL, CHECK, LABEL, Surrogate
from easeml.lifecycle.work.proposals import Proposal
from easeml.lifecycle.work.stand_in import Rows, StandIn

_WEIGHT = 10  # answers that "as told" counts as
_TIMES = 20.0  # a kind brings at most so many times what was told, or one part of so many


@dataclass(frozen=True)
class Answered:
    """A question that was answered.

    ``given``: the value before, None for none. ``told``: the gain that was reckoned for it.
    """

    kind: str
    row: Any
    column: str
    given: Any
    told: float


@dataclass(frozen=True)
class Experience:
    """What ``answers`` of a kind were to bring together, and what came."""

    answers: int
    told: float
    came: float

    @property
    def factor(self) -> float:
        """How many times the gain that is told comes, near 1 after few answers."""
        if not self.answers or self.told <= 0:
            return 1.0
        ratio = min(_TIMES, max(1 / _TIMES, self.came / self.told))
        return (self.answers * ratio + _WEIGHT) / (self.answers + _WEIGHT)


def experience(
    rows: Rows,
    answered: Sequence[Answered],
    seed: int = 0,
    stand_in: StandIn | None = None,
) -> dict[str, Experience]:
    """Return what the answers so far brought, by kind.

    ``rows``: as they are with the answers; ``stand_in``: of these and the seed, where there is one
    already. What came is the squared distance between what the stand-in says of the rows that count
    with and without the answers of a kind.
    """
    learnt_from = [one for one in answered if one.row in rows.train.index]
    if stand_in is None and learnt_from and len(rows.train) > 1:
        stand_in = StandIn(rows, seed)
    found = {}
    for kind in (LABEL, CHECK, CELL):
        some = [one for one in learnt_from if one.kind == kind]
        came = _came(stand_in, rows, some)
        found[kind] = Experience(len(some), sum(map(attrgetter("told"), some)), came)
    return found


def calibrated(proposals: Iterable[Proposal], known: Mapping[str, Experience]) -> list[Proposal]:
    """Return proposals with the gains that experience with their kinds makes of what is told."""
    return [replace(one, gain=one.told * known[one.kind].factor) for one in proposals]


def _came(stand_in: StandIn | None, rows: Rows, answered: Sequence[Answered]) -> float:
    """Return how far answers of a kind moved the predictions on the rows that count, squared."""
    if stand_in is None or not answered:
        return 0.0
    train, answers = _before(rows, answered)
    if len(train) < 2:
        return 0.0
    before = Surrogate.fitted(stand_in.encoded(train), stand_in.targets(answers), stand_in.counted)
    return stand_in.model.moved_from(before)


def _before(rows: Rows, answered: Sequence[Answered]) -> tuple[Frame, Column]:
    """Return the rows and their answers as they were before questions of a kind were answered."""
    kind = answered[0].kind
    if kind == LABEL:
        stays = ~rows.train.index.isin([one.row for one in answered])
        return rows.train.loc[stays], rows.answers[stays]
    if kind == CELL:
        return _with_cells(rows.train, answered), rows.answers
    answers = rows.answers.copy()
    for one in answered:
        answers.loc[one.row] = one.given
    return rows.train, answers


def _with_cells(train: Frame, answered: Sequence[Answered]) -> Frame:
    made = train.copy()
    for one in answered:
        column = made[one.column]
        if isinstance(column.dtype, pd.CategoricalDtype) and one.given not in column.cat.categories:
            made.loc[one.row, one.column] = None
        else:
            made.loc[one.row, one.column] = one.given
    return made
