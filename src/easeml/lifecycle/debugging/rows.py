"""The rows whose predictions are compared with what is true, and those that a model learned from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.cleaning.frames import Column, Frame
from easeml.lifecycle.evaluation import row_errors
from easeml.lifecycle.held_out import Predicted, Unseen
from easeml.lifecycle.labels import class_names

_MISTAKES = 0.2  # share of validation rows that are mistakes, where answers are numbers
_STRATA = 5


@dataclass(frozen=True, slots=True)
class Judged:
    """n rows whose answers are known. ``wrong`` (n,): is the model wrong about it?

    ``sureness`` (n,): what tells how hard a row is to the model: the chance that it gave its class,
    or the number that it said. ``name``: validation or production.
    """

    name: str
    inputs: Frame
    answers: Column
    wrong: np.ndarray
    sureness: np.ndarray

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self.inputs)

    def at_most(self, rows: int, seed: int) -> Judged:
        """Return so many of these rows, drawn at random, in their order; all where no more are there."""
        if len(self) <= rows:
            return self
        drawn = np.sort(np.random.default_rng(seed).choice(len(self), rows, replace=False))
        inputs, answers = self.inputs.iloc[drawn], self.answers.iloc[drawn]
        return Judged(self.name, inputs, answers, self.wrong[drawn], self.sureness[drawn])


@dataclass(frozen=True, slots=True)
class Case:
    """All that is known of a model: what it learned from, and where it was right or wrong.

    ``train``: rows with answers. ``production``: rows whose truth came; None: none did.
    ``predict``: the model, of a frame of inputs; None: it cannot be asked. ``tolerance``: the error
    up to which a number counts as right. ``pool``: inputs of rows without an answer, which people
    may be asked for; None: it is not known which there are.
    """

    train: Predicted | None
    validation: Judged
    production: Judged | None
    predict: Callable[[Frame], Any] | None
    tolerance: float | None
    pool: Frame | None = None

    @property
    def is_of_classes(self) -> bool:
        """Is the answer a class, rather than a number?"""
        return self.tolerance is None

    def at_most(self, rows: int, seed: int) -> Case:
        """Return this with so many validation rows and rows of production, drawn at random."""
        production = self.production and self.production.at_most(rows, seed)
        return replace(self, validation=self.validation.at_most(rows, seed), production=production)


def case_of(
    inputs: Frame,
    answers: Column,
    said: Unseen,
    *,
    train: Predicted | None = None,
    pool: Frame | None = None,
    newer: Predicted | None = None,
    predict: Callable[[Frame], Any] | None = None,
    tolerance: float | None = None,
) -> Case:
    """Return the case of a model, by what it says of validation rows, and of newer ones.

    Where answers are numbers and no tolerance is given, a fifth of the validation rows are
    mistakes: those that it is furthest from.

    Raises:
        InvalidInput: where no validation row can be judged.
    """
    tolerance = _tolerance(answers, said, tolerance)
    validation = _judged("validation", inputs, answers, said, tolerance)
    if not len(validation):
        remedy = "Give rows whose answers are known, and are of the kind that the model predicts."
        raise InvalidInput("No row can be judged.", where="answers", remedy=remedy)
    production = None
    if newer is not None:
        by_model = newer.by["model"]
        production = _judged("production", newer.inputs, newer.answers, by_model, tolerance)
    production = production or None  # of no rows
    return Case(train, validation, production, predict, tolerance, pool)


def _tolerance(answers: Column, said: Unseen, given: float | None) -> float | None:
    """Return from which error on a number is mistaken; None where answers are classes."""
    if said.classes is not None:
        return None
    if np.asarray(said.values).ndim > 1:
        raise InvalidInput(
            "The answers are tensors.", where="answers", remedy="Ask about a model of one number."
        )
    if given is not None:
        return given
    errors = row_errors(answers, said)
    errors = errors[np.isfinite(errors)]
    if not len(errors):
        return 0.0
    return float(np.quantile(errors, 1 - _MISTAKES))


def is_wrong(answers: Column, said: Any, tolerance: float | None) -> np.ndarray:
    """Tell of each row (n,) whether the prediction is a mistake. ``said``: has ``values``."""
    if tolerance is None:
        return class_names(answers) != class_names(said.values)
    values = np.asarray(said.values, dtype=float)
    return np.abs(answers.to_numpy(dtype=float) - values) > tolerance


def strata_of(asked: Judged, reference: Judged) -> np.ndarray:
    """Return a stratum for each row (n,): rows that are about equally hard to the model.

    The parts have equally many rows of the reference.
    """
    shares = np.linspace(0, 1, _STRATA + 1)[1:-1]
    edges = np.unique(np.quantile(reference.sureness, shares))
    return np.searchsorted(edges, asked.sureness, side="right")


def _judged(
    name: str, inputs: Frame, answers: Column, said: Unseen, tolerance: float | None
) -> Judged:
    known = answers.notna().to_numpy(copy=True)
    if tolerance is not None:
        known &= np.isfinite(row_errors(answers, said))
        sureness = np.asarray(said.values, dtype=float)
    elif said.chances is not None:
        sureness = np.asarray(said.chances, dtype=float).max(axis=1)
    else:
        sureness = np.zeros(len(answers))
    wrong = is_wrong(answers, said, tolerance)
    return Judged(name, inputs[known], answers[known], wrong[known], sureness[known])
