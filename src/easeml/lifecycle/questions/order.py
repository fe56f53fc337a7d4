"""What each open question should bring, once others are answered: updated, not looked for anew.

What is kept of a table is the surrogate that learned from its rows, and of the rows that are asked
about their numbers. An answer is a row that the surrogate forgets as it was and learns as it is
(two rank-one updates), so what comes out depends on what was answered, not in which order, and is
what fitting again on the answered rows would say. Scales of columns, the penalty, and chances that
others than the surrogate told stay those of the last look at all rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from easeml.lifecycle.questions.encoding import Encoding, Targets
from easeml.lifecycle.questions.surrogate import Surrogate

LABEL, CHECK, CELL = "label", "check-label", "repair-cell"
DOUBTED, FAR, FAR_TEST = "doubted-judge", "far-answer", "far-test-answer"
"""Sources of questions about rows that judge models: models that did not learn from a validation
row expect another answer; the answer of a validation row, or of a test row, lies far from all
others."""
Key = tuple[str, int, str]
"""Kind, row and column of a question."""


@dataclass(frozen=True)
class Item:
    """A question. ``options``: what may be right, with chances, the likeliest first.

    ``given``: the value as it is, None for none. ``factor``: how many times the gain that is told
    comes, as experience with its kind has it.
    """

    kind: str
    row: int
    column: str
    given: Any = None
    options: tuple[tuple[Any, float], ...] = ()
    factor: float = 1.0

    @property
    def key(self) -> Key:
        """What tells it from others."""
        return self.kind, self.row, self.column


@dataclass(frozen=True)
class Answer:
    """What somebody answered to a question, as text."""

    kind: str
    row: int
    column: str
    value: str

    @property
    def key(self) -> Key:
        """Of the question."""
        return self.kind, self.row, self.column


@dataclass(frozen=True)
class Learned:
    """The rows that are asked about: their ``ids``, numbers ``X`` (n, D) and targets ``Y`` (n, K).

    ``taught`` (n,): did the surrogate learn from the row? Targets of rows without a label are 0.
    """

    ids: tuple[int, ...]
    X: np.ndarray
    Y: np.ndarray
    taught: np.ndarray

    @property
    def places(self) -> dict[int, int]:
        """Where each row is, by its id."""
        return dict(zip(self.ids, range(len(self.ids)), strict=True))


@dataclass(frozen=True)
class Order:
    """Questions, and what is kept to tell what each should bring.

    ``answered``: further questions whose answers came before, and which the rows do not have yet.
    ``told_chances``: do the options of labels tell how likely each class is? Else the surrogate
    does.
    """

    model: Surrogate
    encoding: Encoding
    targets: Targets
    rows: Learned
    items: tuple[Item, ...]
    answered: tuple[Key, ...] = ()
    told_chances: bool = False

    def after(self, answers: Iterable[Answer]) -> Order:
        """Return the order once questions are answered; answers to others change nothing."""
        known = {item.key for item in self.items}.union(self.answered)
        place_of = self.rows.places
        model = self.model
        X, Y, taught = self.rows.X.copy(), self.rows.Y.copy(), self.rows.taught.copy()
        taken = set[Key]()
        for answer in answers:
            if answer.key not in known:
                continue
            place = place_of[answer.row]
            if taught[place]:
                model = model.without_row(X[place], Y[place])
            if answer.kind == CELL:
                X[place] = self.encoding.with_cell(X[place], answer.column, answer.value)
            else:
                Y[place] = self.targets.of([answer.value])[0]
            model = model.with_row(X[place], Y[place])
            taught[place] = True
            taken.add(answer.key)
        rows = replace(self.rows, X=X, Y=Y, taught=taught)
        left = tuple(item for item in self.items if item.key not in taken)
        return replace(self, model=model, rows=rows, items=left)

    def gains(self) -> dict[Key, float]:
        """Return what each question should bring, as experience with its kind has it."""
        told = self._labels() | self._checks() | self._cells()
        return {item.key: item.factor * told[item.key] for item in self.items}

    def _labels(self) -> dict[Key, float]:
        """Return what labels bring, each once those before it are there."""
        items = self._of_kind(LABEL)
        X = self.rows.X[self._places(items)]
        variances = self._variances(X, items)
        chosen = self.model.of_answers_in_turn(X, variances, len(items))
        return {items[place].key: gain for place, gain in chosen}

    def _variances(self, X: np.ndarray, items: Sequence[Item]) -> np.ndarray:
        """Return the expected squared distance (n,) of labels from what is predicted."""
        if not self.targets.classes:
            return np.full(len(items), self.model.error)
        if not self.told_chances:
            return 1.0 - (self.model.chances(X) ** 2).sum(axis=1)
        squares = [sum(chance**2 for _, chance in item.options) for item in items]
        return 1.0 - np.array(squares)

    def _checks(self) -> dict[Key, float]:
        items = self._of_kind(CHECK)
        places = self._places(items)
        suggested = self.targets.of([item.options[0][0] for item in items])
        wrong = np.array([item.options[0][1] for item in items])
        apart = suggested - self.rows.Y[places]
        distances = wrong * (apart**2).sum(axis=1)
        gains = self.model.of_corrections(self.rows.X[places], distances)
        return {item.key: float(gain) for item, gain in zip(items, gains, strict=True)}

    def _cells(self) -> dict[Key, float]:
        items = self._of_kind(CELL)
        told = dict.fromkeys((item.key for item in items), 0.0)
        keys, places, others, weights = [], [], [], []
        for item, place in zip(items, self._places(items), strict=True):
            for value, weight in item.options:
                if value == item.given:
                    continue
                keys.append(item.key)
                places.append(place)
                others.append(self.encoding.with_cell(self.rows.X[place], item.column, value))
                weights.append(weight)
        if not keys:
            return told
        X, Y = self.rows.X[places], self.rows.Y[places]
        gains = np.array(weights) * self.model.of_cells(X, Y, np.array(others))
        for key, gain in zip(keys, gains, strict=True):
            told[key] += float(gain)
        return told

    def _of_kind(self, kind: str) -> list[Item]:
        return [item for item in self.items if item.kind == kind]

    def _places(self, items: Sequence[Item]) -> np.ndarray:
        place_of = self.rows.places
        return np.array([place_of[item.row] for item in items], dtype=np.int64)
