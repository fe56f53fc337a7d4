"""What people should be asked about the rows that judge models, those of validation and of test.

A wrong answer of such a row teaches nothing wrong to a model that it judges. It misleads the choice
among models, and what is said of their quality. Of two models it moves the difference of measured
squared errors by twice the product of how far the answer is off and how far the models are apart
there, over the n rows. By wrong answers at rows that nothing else binds, the difference is off by
the root of the sum of such squares; a choice among models loses about that much. So what a
correction should bring has the unit of all questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from easeml.data import far_distances
from easeml.lifecycle.cleaning.frames import Column, Frame
from easeml.lifecycle.held_out import Unseen
from easeml.lifecycle.labeling import judge_answers
from easeml.lifecycle.questions import CHECK, DOUBTED, FAR, FAR_TEST
from easeml.lifecycle.work.proposals import LEAST_SUSPICION, MOST_ITEMS, Proposal
from easeml.lifecycle.work.stand_in import StandIn

_FAR_IS_WRONG = 0.5  # how likely an answer is wrong that lies far from all others


@dataclass(frozen=True)
class Judging:
    """Rows that judge models: input columns of validation rows by row id, with their answers.

    ``test_answers``: of test rows, by row id; empty where nobody may be asked about them.
    """

    validation: Frame
    answers: Column
    test_answers: Column


def judging_checks(
    stand_in: StandIn,
    judging: Judging,
    said: Unseen | None,
    known: frozenset[tuple[Any, str]] = frozenset(),
    most: int = MOST_ITEMS,
) -> list[Proposal]:
    """Return answers of validation and test rows that people should look at, the best first.

    Of validation rows those that look wrong to models that did not learn from them; of numbers also
    those that lie far from all others, of validation and of test rows. That no model has a part in:
    what is asked of test rows flatters none.

    No answer is proposed, nor is said how likely the one that stands is: whoever reads what a model
    says tends to say the same, and that would flatter the model.

    Args:
        stand_in: of the train rows.
        judging: the rows.
        said: what the model that serves, as it was judged, says of the validation rows; None: only
            what the stand-in says is known.
        known: rows and columns that people have answered.
        most: items.
    """
    if not len(judging.answers):
        return []
    answers = judging.answers
    guess = stand_in.guessed(stand_in.encoded(judging.validation))
    views = [guess] if said is None else [guess, said]
    suspicion = np.mean([_wrong(answers, one) for one in views], axis=0)
    given = stand_in.targets(answers)
    middle = np.mean([_targets(stand_in, one) for one in views], axis=0)
    off = ((middle - given) ** 2).sum(axis=1)
    apart = _apart(stand_in, views, len(answers))

    far, far_test = _far(stand_in, answers, judging.test_answers)
    suspicion = np.maximum(suspicion, far)
    given_test = stand_in.targets(judging.test_answers)
    off_test = ((middle.mean(axis=0) - given_test) ** 2).sum(axis=1)

    # A test row counts as if it were one of validation.
    wrong = np.concatenate([suspicion, far_test])
    off = np.concatenate([off, off_test])
    apart = np.concatenate([apart, np.full(len(far_test), apart.mean())])
    squares = 4.0 * wrong * off * apart / len(answers) ** 2
    width = np.sqrt(squares.sum())  # by which a difference of two models is off
    gains = squares / max(2.0 * width, np.finfo(float).tiny)
    sources = np.concatenate([np.where(far > 0, FAR, DOUBTED), np.full(len(far_test), FAR_TEST)])
    both = pd.concat([answers, judging.test_answers])
    asked = [(row, stand_in.column) not in known for row in both.index]
    doubted = np.flatnonzero((wrong >= LEAST_SUSPICION) & (gains > 0) & asked)
    chosen = doubted[np.argsort(-gains[doubted], kind="stable")][:most]
    found = []
    for place in chosen.tolist():
        gain = float(gains[place])
        item = Proposal(
            kind=CHECK,
            row=both.index[place],
            column=stand_in.column,
            told=gain,
            given=both.iloc[place],
            options=(),
            source=str(sources[place]),
            gain=gain,
        )
        found.append(item)
    return found


def _wrong(answers: Column, said: Unseen) -> np.ndarray:
    """Return how likely each answer is wrong; 0 where that cannot be told."""
    return np.nan_to_num(judge_answers(answers, said).wrong)


def _targets(stand_in: StandIn, said: Unseen) -> np.ndarray:
    """Return what is said as targets (n, K)."""
    return stand_in.targets(pd.Series(said.values))


def _apart(stand_in: StandIn, views: Sequence[Unseen], rows: int) -> np.ndarray:
    """Return how far models are apart (n,), squared; of one alone its error stands for it."""
    if len(views) < 2:
        return np.full(rows, stand_in.model.error)
    one, other = (stand_in.as_expected(said) for said in views)
    return ((one - other) ** 2).sum(axis=1)


def _far(stand_in: StandIn, answers: Column, test: Column) -> tuple[np.ndarray, np.ndarray]:
    """Return how likely answers are wrong that lie far from all others, of both kinds of rows."""
    if stand_in.classes:
        return np.zeros(len(answers)), np.zeros(len(test))
    numbers = np.concatenate([stand_in.answers, answers, test]).astype(float)
    wrong = _FAR_IS_WRONG * (far_distances(numbers) > 1.0)
    first, second = len(stand_in.answers), len(stand_in.answers) + len(answers)
    return wrong[first:second], wrong[second:]
