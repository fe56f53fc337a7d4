"""The stand-in of an application's models, with what turns its rows into matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from easeml.lifecycle.cleaning.frames import Column, Frame
from easeml.lifecycle.held_out import Unseen
from easeml.lifecycle.questions import Encoding, Surrogate, Targets
from easeml.lifecycle.work.columns import Columns

TAUGHT = 5_000
"""Train rows that the stand-in learns from."""
_COUNTED = 2_000  # rows whose predictions count
_LEAST_CHANCE = 0.02  # of a class


@dataclass(frozen=True)
class Rows:
    """Frames of input columns whose index has the row ids; ``answers`` of the train rows.

    ``counted``: rows whose predictions count, such as those of validation; their answers are not
    looked at.
    """

    train: Frame
    answers: Column
    pool: Frame
    counted: Frame


class StandIn:
    """The surrogate of an application, with what turns its rows into matrices.

    ``taught``: ids of the rows that it learned from; ``answers``: those of all train rows.
    """

    def __init__(self, rows: Rows, seed: int):
        self.columns = list(rows.train.columns)
        self.column = str(rows.answers.name)
        self.answers = rows.answers
        self.as_targets = _as_targets(rows.answers)
        self.classes = list(self.as_targets.classes)
        taught = some_of(rows.train, TAUGHT, seed)
        self.taught = taught.index
        self._features = Columns(taught)
        self.counted = self.encoded(some_of(rows.counted, _COUNTED, seed))
        answers = self.targets(rows.answers.loc[taught.index])
        self.model = Surrogate.fitted(self.encoded(taught), answers, self.counted)

    def unseen(self, X: np.ndarray, answers: Column) -> Unseen:
        """Return what it says of rows (n, D) that it learned from, had it not seen the row itself."""
        return self._said(self.model.left_out(X, self.targets(answers)))

    def guessed(self, X: np.ndarray) -> Unseen:
        """Return what it says of rows (n, D) that it did not learn from."""
        return self._said(self.model.predict(X))

    def _said(self, said: np.ndarray) -> Unseen:
        if not self.classes:
            scale = self.as_targets
            return Unseen(said[:, 0] * scale.spread + scale.middle)
        names = np.array(self.classes, dtype=object)
        chances = np.clip(said, _LEAST_CHANCE, None)
        chances = chances / chances.sum(axis=1, keepdims=True)
        return Unseen(names[chances.argmax(axis=1)], chances, names)

    def encoded(self, frame: Frame) -> np.ndarray:
        """Return the rows of a frame (n, D)."""
        return self._features.encoded(frame)

    def as_expected(self, said: Unseen) -> np.ndarray:
        """Return what models say as targets (n, K): chances of classes where they say them."""
        if said.chances is None or said.classes is None:
            return self.targets(pd.Series(said.values))
        return in_order(said.chances, said.classes, self.classes)

    def moved(self, column: Column, other: Column) -> np.ndarray:
        """Return how its predictions (n, K) move where the cells of one input are others."""
        shift = self._features.part(other) - self._features.part(column)
        places = self.encoding.places_of(str(column.name))
        return shift @ self.model.weights[places]

    @property
    def encoding(self) -> Encoding:
        """The same for single cells."""
        return self._features.encoding

    def targets(self, answers: Column) -> np.ndarray:
        """Return answers (n, K): indicators of classes, or numbers by their spread."""
        return self.as_targets.of(answers.to_numpy())


def _as_targets(answers: Column) -> Targets:
    if isinstance(answers.dtype, pd.CategoricalDtype):
        return Targets(tuple(map(str, answers.cat.categories)))
    spread = float(answers.std())  # NaN of a single one
    return Targets((), float(answers.mean()), spread if spread > 0 else 1.0)


def in_order(chances: np.ndarray, names: np.ndarray, classes: list[str]) -> np.ndarray:
    """Return chances (n, C) of classes with these names in the order of ``classes``."""
    found = np.zeros((len(chances), len(classes)))
    places = [classes.index(str(name)) for name in names]
    found[:, places] = chances
    return found


def some_of(frame: Frame, most: int, seed: int) -> Frame:
    """Return a sample of the rows where there are more than ``most``."""
    return frame if len(frame) <= most else frame.sample(most, random_state=seed)
