"""Actual values that are read once for several objectives."""

import numpy as np
import pytest

from easeml.errors import InvalidInput
from easeml.modules import Predictions, interval, measured, score, target
from easeml.modules.score import answers_to_score
from easeml.modules.target import answers_of

CLASSES = np.array(["bad", "good", "so so"])
LABELS = np.array(["good", "bad", None, "so so", "good", "bad"], dtype=object)
OBJECTIVES = ["accuracy", "balanced-accuracy", "log-loss", "roc-auc", "f1-macro"]


@pytest.fixture
def said() -> Predictions:
    chances = np.random.default_rng(3).dirichlet(np.ones(3), size=len(LABELS))
    return Predictions(CLASSES[chances.argmax(axis=1)], chances, CLASSES)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_answers_give_what_labels_give(said: Predictions, objective: str):
    answers = answers_to_score(LABELS, CLASSES)
    learnt = answers_of(LABELS[::-1], CLASSES)
    assert score(objective, answers, said) == score(objective, LABELS, said)
    assert interval(objective, answers, said) == interval(objective, LABELS, said)
    by_answers = measured(objective, answers, said, learnt=learnt)
    assert by_answers == measured(objective, LABELS, said, learnt=LABELS[::-1])


@pytest.mark.parametrize("objective", ["r2", "rmse"])
def test_answers_give_what_numbers_give(objective: str):
    numbers = np.array([1.0, np.nan, 2.5, -3.0, 8.0])
    guesses = Predictions(np.array([1.5, 2.0, 2.0, -2.0, 7.0]), None, None)
    answers = answers_to_score(numbers, None)
    learnt = answers_of(numbers * 2, None)
    by_answers = measured(objective, answers, guesses, learnt=learnt)
    assert by_answers == measured(objective, numbers, guesses, learnt=numbers * 2)


def test_texts_of_labels_are_compared_once_for_all_objectives(said: Predictions, monkeypatch):
    compared: list[int] = []
    encode = target.encode_labels

    def counted(labels: object, classes: object) -> object:
        compared.append(1)
        return encode(labels, classes)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(target, "encode_labels", counted)
    answers = answers_to_score(LABELS, CLASSES)
    learnt = answers_of(LABELS, CLASSES)
    for objective in OBJECTIVES:
        score(objective, answers, said)
        measured(objective, answers, said, learnt=learnt)
    assert len(compared) == 2


def test_a_label_that_is_no_class_is_named_with_its_row():
    with pytest.raises(InvalidInput) as refused:
        answers_to_score(["good", "great"], CLASSES)
    assert "'great'" in str(refused.value)
    assert refused.value.where == "actual, row 1"


def test_answers_of_other_rows_are_refused(said: Predictions):
    with pytest.raises(InvalidInput):
        score("accuracy", answers_to_score(LABELS[:3], CLASSES), said)
