"""Why a model is wrong in a slice: its mistakes are divided among causes, each with its evidence.

More mistakes than elsewhere are explained one cause after the other, and each mistake by one only:
first by broken cells, then by too few rows to learn from, by what became different, by wrong
answers; what is left is hard: no cause was found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from easeml.lifecycle.cleaning.frames import Column, Frame
from easeml.lifecycle.debugging.cells import BrokenCells, broken_cells, needed_columns
from easeml.lifecycle.debugging.conditions import Slice
from easeml.lifecycle.debugging.learned import Opinion, opinion_on
from easeml.lifecycle.debugging.rows import Case, Judged, is_wrong
from easeml.lifecycle.debugging.shares import difference, interval

Kind = Literal["cells", "few", "drift", "labels", "hard"]

TITLES: dict[Kind, str] = {
    "cells": "broken cells",
    "few": "too few rows like these",
    "drift": "it changed",
    "labels": "wrong answers, or hard to tell",
    "hard": "hard by nature",
}
_LEAST_BEFORE = 10  # validation rows of a slice that tell how it was before
_FEW = 0.5  # of the training rows that a slice should have
_VERY_FEW = 15  # training rows
_SURE = 0.01
_MOST_ROWS = 4000  # of which other models say something
_SHUFFLED = 1000


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause, and the mistakes more than elsewhere that it explains, with a 95 % interval.

    ``columns``: whose cells are broken.
    """

    kind: Kind
    mistakes: float
    low: float
    high: float
    evidence: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Here:
    """A slice of the judged rows: ``inside`` (n,), its mistakes, and the share of them elsewhere."""

    slice: Slice
    judged: Judged
    inside: np.ndarray
    elsewhere: float

    def __str__(self) -> str:
        """Return the slice as people say it."""
        if self.slice.conditions or self.inside.all():
            return str(self.slice)
        return "all other rows"

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return int(self.inside.sum())

    @property
    def mistakes(self) -> int:
        """How many of them are mistakes."""
        return int((self.judged.wrong & self.inside).sum())

    @property
    def excess(self) -> float:
        """Mistakes that would not be there if it were as elsewhere."""
        return max(0.0, self.mistakes - self.rows * self.elsewhere)


class Known:
    """What is found out once about a case, and used for each of its slices."""

    def __init__(self, case: Case, seed: int) -> None:
        """Keep the rows from before production: training and validation rows."""
        self.case = case
        self.seed = seed
        self.home, self.home_answers = _home(case)
        self._opinion: Opinion | None = None
        self._has_opinion = False
        self._needed: dict[str, float] | None = None

    @property
    def opinion(self) -> Opinion | None:
        """What held-out models say of the rows from before production; asked once."""
        if not self._has_opinion:
            classes = self.case.is_of_classes
            self._opinion = opinion_on(
                self.home, self.home_answers, of_classes=classes, seed=self.seed
            )
            self._has_opinion = True
        return self._opinion

    def needs(self, column: str) -> bool:
        """Does the model err more where a column is shuffled? Yes, where it cannot be asked."""
        case = self.case
        if case.predict is None:
            return True
        if self._needed is None:
            inputs = case.validation.inputs.iloc[:_SHUFFLED]
            answers = case.validation.answers.iloc[:_SHUFFLED]

            def wrong(said: object) -> np.ndarray:
                return is_wrong(answers, said, case.tolerance)

            names = list(map(str, inputs.columns))
            self._needed = needed_columns(case.predict, inputs, wrong, names, self.seed)
        return column in self._needed


def causes_of(here: Here, known: Known) -> list[Cause]:
    """Return the causes of the mistakes of a slice, the one that explains most first."""
    left = here.excess
    found: list[Cause] = []
    clean = here.inside.copy()
    cells = _of_cells(here, known)
    if cells is not None:
        cause, broken = cells
        found.append(cause)
        clean &= ~broken
        left -= cause.mistakes
    for explain in (_of_few_rows, _of_drift, _of_labels):
        cause = explain(here, known, clean, left)
        if cause is not None:
            found.append(cause)
            left -= cause.mistakes
    found.append(_hard(here, max(0.0, left), found))
    return sorted(found, key=lambda one: -one.mistakes)


def broken_in(here: Here, known: Known) -> list[BrokenCells]:
    """Return the columns that look broken in a slice and that the model needs.

    Rows of production are compared with those from before, in the same slice; validation rows with
    those outside of it.
    """
    is_new = here.judged.name == "production"
    home_inside = here.slice.holds(known.home)
    others = known.home if is_new else known.home[~home_inside]
    rows = here.judged.inputs[here.inside]
    if not len(others) or not len(rows):
        return []
    found = broken_cells(rows, others, known.home, here.slice, same_place=is_new)
    return [one for one in found if known.needs(one.column)]


def _of_cells(here: Here, known: Known) -> tuple[Cause, np.ndarray] | None:
    columns = broken_in(here, known)
    if not columns:
        return None
    places = np.flatnonzero(here.inside)
    broken = np.zeros(len(here.inside), dtype=bool)
    for one in columns:
        broken[places[one.where]] = True
    count = int(broken.sum())
    mistakes = int((broken & here.judged.wrong).sum())
    explained = mistakes - count * here.elsewhere
    if explained <= 0:
        return None
    low, high = interval(mistakes, count)
    first = columns[0]
    evidence = (
        f"{int(first.where.sum())} of {here.rows} cells of {first.column} are {first.found}, "
        f"{first.usual:.0%} in the rows compared with; the model needs the column"
    )
    names = tuple(one.column for one in columns)
    return _cause("cells", explained, (low, high), count, here, evidence, names), broken


def _of_few_rows(here: Here, known: Known, clean: np.ndarray, left: float) -> Cause | None:
    from scipy.stats import binom

    train = known.case.train
    rows = int(clean.sum())
    if train is None or not rows or left <= 0 or not here.slice.conditions:
        return None
    had = int(here.slice.holds(train.inputs).sum())
    share = rows / max(1, len(here.judged) - here.rows + rows)
    expected = share * len(train.inputs)
    p_value = float(binom.cdf(had, len(train.inputs), share))
    is_less = had < _FEW * expected and p_value <= _SURE
    if not is_less and had >= _VERY_FEW:
        return None
    wanted = max(expected, float(_VERY_FEW), 1.0)
    lacking = 1 - min(1.0, had / wanted)
    evidence = (
        f"{had} of {len(train.inputs):,} training rows are like these; "
        f"as many as here would be {expected:.0f}"
    )
    low, high = interval(int((clean & here.judged.wrong).sum()), rows)
    return _cause("few", left * lacking, (low, high), rows, here, evidence)


def _of_drift(here: Here, known: Known, clean: np.ndarray, left: float) -> Cause | None:
    if here.judged.name != "production" or left <= 0 or not clean.any():
        return None
    before = known.case.validation
    inside = here.slice.holds(before.inputs)
    if inside.sum() < _LEAST_BEFORE:
        return None
    then = int((before.wrong & inside).sum()), int(inside.sum())
    now = int((here.judged.wrong & clean).sum()), int(clean.sum())
    gap, low, high = difference(now, then)
    if low <= 0:
        return None
    evidence = (
        f"wrong about {now[0] / now[1]:.0%} of these rows now, "
        f"and about {then[0] / then[1]:.0%} of {then[1]} like them before"
    )
    most = min(left, gap * now[1])
    return Cause("drift", most, min(most, low * now[1]), max(most, high * now[1]), evidence)


def _of_labels(here: Here, known: Known, clean: np.ndarray, left: float) -> Cause | None:
    """Wrong answers, if the columns decide what is right: where they do not, it looks the same.

    So it may explain nothing; only who checks some of the answers can tell.
    """
    opinion = known.opinion
    if opinion is None or left <= 0:
        return None
    inside = here.slice.holds(known.home)
    if inside.sum() < _LEAST_BEFORE:
        return None
    share, low, high = opinion.wrong_share(inside)
    usual = 0.0 if inside.all() else opinion.wrong_share(~inside)[0]
    rows = int(clean.sum())
    explained = min(left, (share - usual) * rows)
    if explained <= 0 or low <= usual:
        return None
    evidence = (
        f"about {share:.0%} of the answers here contradict what other models are surest of, "
        f"elsewhere {usual:.0%}"
    )
    most = max(explained, (high - usual) * rows)
    return Cause("labels", explained, 0.0, most, evidence)


def _hard(here: Here, left: float, found: list[Cause]) -> Cause:
    low = max(0.0, here.excess - sum(cause.high for cause in found))
    high = max(left, here.excess - sum(cause.low for cause in found))
    evidence = "no cause was found; these rows may be hard to tell with the columns that there are"
    return Cause("hard", left, min(left, low), high, evidence)


def _cause(
    kind: Kind,
    explained: float,
    share: tuple[float, float],
    rows: int,
    here: Here,
    evidence: str,
    columns: tuple[str, ...] = (),
) -> Cause:
    """Return a cause that explains the mistakes of some rows; ``share`` is the interval of theirs."""
    most = min(explained, here.excess)
    low, high = (rows * (end - here.elsewhere) for end in share)
    return Cause(kind, most, min(most, max(0.0, low)), max(most, high), evidence, columns)


def _home(case: Case) -> tuple[Frame, Column]:
    """Return training and validation rows, the first ones where they are many."""
    validation = case.validation
    if case.train is None:
        return validation.inputs, validation.answers
    train = case.train
    if len(train.inputs) > _MOST_ROWS:
        places = np.linspace(0, len(train.inputs) - 1, _MOST_ROWS).astype(int)
        inputs, answers = train.inputs.iloc[places], train.answers.iloc[places]
    else:
        inputs = train.inputs
        answers = train.answers
    known = answers.notna().to_numpy()
    both: Frame = pd.concat([inputs[known], validation.inputs])
    told: list[Column] = [answers[known], validation.answers]
    return both, pd.concat(told)
