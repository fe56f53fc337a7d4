"""What other models, that have not seen a row, say of it: a second opinion on labels and mistakes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from easeml.lifecycle.cleaning.frames import Column, Frame
from easeml.lifecycle.debugging.shares import interval
from easeml.lifecycle.features import encode
from easeml.lifecycle.held_out import held_out_chances, held_out_numbers
from easeml.lifecycle.labeling import judge_classes, judge_numbers
from easeml.lifecycle.labels import class_names

_SUREST = 1 / 3  # of the rows of a slice
_HARD = 0.5  # of what is hard to tell: how frequent it is among the surest rows, beside all
_FOLDS = 5


@dataclass(frozen=True, slots=True)
class Opinion:
    """What held-out models say of n rows.

    ``values`` (n,): the likeliest answer, a class name or number. ``codes`` (n,) and ``chances``
    (n, C): the classes of the labels and their chances; None where answers are numbers.
    ``answers`` (n,): the answers as they stand, class names or numbers.
    """

    values: np.ndarray
    answers: np.ndarray
    codes: np.ndarray | None = None
    chances: np.ndarray | None = None

    def wrong_answers(self, inside: np.ndarray) -> np.ndarray:
        """Return how likely the answer of each row inside is wrong, judged among these alone."""
        if self.chances is None or self.codes is None:
            found = judge_numbers(self.values.astype(float), self.answers.astype(float)).wrong
            return found[inside]
        wrong = judge_classes(self.chances[inside], self.codes[inside]).wrong
        return np.nan_to_num(wrong)

    def wrong_share(self, inside: np.ndarray) -> tuple[float, float, float]:
        """Return the share of wrong answers among the rows inside, with its 95 % interval.

        Of classes: models disagree with answers that are wrong, and with answers that are hard to
        tell. The latter are rare among the third of the rows that the models are surest of (anchor
        points; Liu and Tao, TPAMI 2016): at most half as frequent, it is taken, as among all rows.
        Of numbers: the share that is expected.
        """
        if self.chances is None or self.codes is None:
            wrong = self.wrong_answers(inside)
            low, high = interval(float(wrong.sum()), len(wrong))
            return float(wrong.mean()), low, high
        chances, codes = self.chances[inside], self.codes[inside]
        differs = chances.argmax(axis=1) != codes
        size = max(1, int(np.ceil(_SUREST * len(codes))))
        surest = np.argsort(-chances.max(axis=1), kind="stable")[:size]
        doubted = int(differs[surest].sum())
        of_all = float(differs.mean())
        ends = (doubted / size, *interval(doubted, size))
        share, low, high = (max(0.0, (one - _HARD * of_all) / (1 - _HARD)) for one in ends)
        return share, low, min(1.0, high)


def opinion_on(inputs: Frame, answers: Column, *, of_classes: bool, seed: int) -> Opinion | None:
    """Return what models say of rows that they have not learned from; None of too few rows.

    Each row is judged by three models that learned from the other folds
    (``easeml.lifecycle.held_out``).
    """
    if len(inputs) < 2 * _FOLDS:
        return None
    (X,) = encode(inputs)
    if not of_classes:
        values = answers.to_numpy(dtype=float)
        return Opinion(held_out_numbers(X, values, folds=_FOLDS, seed=seed), values)
    names = class_names(answers)
    classes, codes = np.unique(names.astype(str), return_inverse=True)
    if len(classes) < 2:
        return None
    chances = held_out_chances(X, codes, len(classes), folds=_FOLDS, seed=seed)
    said: Any = classes[chances.argmax(axis=1)].astype(object)
    return Opinion(said, names, codes.astype(np.int64), chances)
