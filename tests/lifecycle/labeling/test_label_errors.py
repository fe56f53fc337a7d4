"""How likely a label is wrong, beside worlds in which that is known."""

import numpy as np
import pytest

from easeml.errors import InvalidInput
from easeml.lifecycle.labeling import chances_of_votes, judge_classes, judge_numbers

NOISE = 0.1


def noisy_world(rows: int, seed: int, classes: int = 2) -> tuple:
    """Chances of labels of which a tenth is wrong, these labels, which are wrong, and the
    probability of that by Bayes' rule.
    """
    rng = np.random.default_rng(seed)
    true = rng.dirichlet([0.6 / classes] * classes, rows)  # some rows have but one class
    right = np.array([rng.choice(classes, p=row) for row in true])
    wrong = rng.random(rows) < NOISE
    labels = np.where(wrong, (right + rng.integers(1, classes, rows)) % classes, right)
    flip = NOISE / (classes - 1)
    chances = true * (1 - NOISE) + (1 - true) * flip
    own = true[np.arange(rows), labels]
    by_bayes = flip * (1 - own) / (flip * (1 - own) + (1 - NOISE) * own)
    return chances, labels, wrong, by_bayes


@pytest.mark.parametrize("classes", [2, 5])
def test_the_probability_of_a_wrong_label_is_that_of_bayes_rule(classes: int):
    chances, labels, wrong, by_bayes = noisy_world(5000, classes, classes)
    found = judge_classes(chances, labels)
    assert np.abs(found.wrong - by_bayes).mean() < 0.06
    assert found.expected_wrong == pytest.approx(wrong.sum(), rel=0.35)
    assert found.supposed_precision == pytest.approx(wrong[found.flagged].mean(), abs=0.12)


def test_a_number_is_judged_by_how_far_it_may_be_off():
    random = np.random.default_rng(0)
    widths = np.repeat([1.0, 100.0, np.inf], 200)
    errors = np.where(np.isinf(widths), 0, widths) * random.normal(size=600)
    errors[[0, 200]] = 90.0
    errors[400:] = 10_000.0
    found = judge_numbers(np.zeros(600), errors, widths)
    assert np.flatnonzero(found.flagged).tolist() == [0]


def test_where_classes_overlap_more_is_found_than_by_odds_of_five():
    chances, labels, wrong, _ = noisy_world(5000, 7)
    own = chances[np.arange(5000), labels]
    by_odds = chances.max(axis=1) >= 5 * own
    found = judge_classes(chances, labels).flagged
    assert wrong[found].sum() > 1.15 * wrong[by_odds].sum()
    assert wrong[found].mean() > 0.5


def test_a_class_of_which_more_labels_are_wrong_is_flagged_more():
    rng = np.random.default_rng(5)
    right = rng.integers(0, 3, 3000)
    sure = rng.uniform(0.55, 1.0, 3000)
    true = np.tile(((1 - sure) / 2)[:, None], 3)
    true[np.arange(3000), right] = sure
    right = np.array([rng.choice(3, p=row) for row in true])
    wrong = (right == 0) & (rng.random(3000) < 0.3)  # all of these are called 1
    labels = np.where(wrong, 1, right)
    chances = true.copy()
    chances[:, 1] += 0.3 * true[:, 0]
    chances[:, 0] *= 0.7
    flagged = judge_classes(chances, labels).flagged
    assert wrong[flagged].mean() > 0.5  # by one share for all classes: .01
    assert flagged[wrong].mean() > 0.75


def test_clean_labels_that_are_certain_are_not_flagged():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 300)
    chances = np.full((300, 3), 0.01)
    chances[np.arange(300), codes] = 0.98
    found = judge_classes(chances, codes)
    assert not found.flagged.any() and np.isnan(found.supposed_precision)
    assert found.expected_wrong < 3


def test_a_class_that_cannot_be_learned_is_not_judged():
    chances, labels, _, _ = noisy_world(300, 1)
    chances, labels = np.column_stack([chances, np.zeros(300)]), labels.copy()
    labels[:4] = 2
    found = judge_classes(chances, labels)
    assert np.isnan(found.wrong[:4]).all() and not found.flagged[:4].any()
    assert np.isfinite(found.wrong[4:]).all()


def test_votes_become_chances_by_how_often_they_are_right():
    votes, codes = np.array([0, 1, 2, 0]), np.array([0, 1, 2, 1])
    chances = chances_of_votes(votes, codes, 3)
    assert chances.sum(axis=1) == pytest.approx(np.ones(4))
    assert chances[np.arange(4), votes] == pytest.approx(np.full(4, 4 / 6))


@pytest.mark.parametrize("tails", [2.5, 30.0])
def test_wrong_numbers_are_told_from_heavy_tails(tails: float):
    rng = np.random.default_rng(3)
    predicted = rng.uniform(0, 100, 2000)
    values = predicted + rng.standard_t(tails, 2000)
    wrong = rng.random(2000) < 0.05
    values[wrong] = rng.uniform(0, 100, int(wrong.sum()))
    found = judge_numbers(predicted, values)
    assert wrong[found.flagged].mean() > 0.85
    assert (found.flagged & wrong).sum() > 0.6 * wrong.sum()
    assert found.expected_wrong == pytest.approx(wrong.sum(), rel=0.3)
    order = np.argsort(np.abs(values - predicted))
    assert (np.diff(found.wrong[order]) >= 0).all(), "the worse the prediction, the more suspicious"


def test_right_numbers_are_seldom_flagged():
    rng = np.random.default_rng(4)
    predicted = rng.normal(size=2000)
    for errors in (rng.normal(size=2000), rng.standard_t(3, 2000), np.zeros(2000)):
        assert judge_numbers(predicted, predicted + errors).flagged.mean() < 0.01


def test_wrong_arguments_are_refused():
    chances, labels, _, _ = noisy_world(50, 2)
    for confidence in (0.0, 1.0, float("nan")):
        with pytest.raises(InvalidInput):
            judge_classes(chances, labels, confidence=confidence)
    with pytest.raises(InvalidInput):
        judge_classes(chances, labels[:-1])
    with pytest.raises(InvalidInput):
        judge_classes(chances[:, 0], labels)
    with pytest.raises(InvalidInput):
        judge_numbers(labels.astype(float), labels[:-1].astype(float))


LAWS = {
    "normal": lambda random, rows: random.normal(size=rows),
    "uniform": lambda random, rows: random.uniform(-1, 1, rows),
    "whole numbers": lambda random, rows: np.round(3 * random.normal(size=rows)),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("rows", [20, 40, 80])
def test_few_right_numbers_are_not_called_wrong(law: str, rows: int) -> None:
    """Of 20 to 80 right numbers a fifth to a half looked wrong, of uniform errors nine in ten."""
    shares = []
    for seed in range(40):
        errors = LAWS[law](np.random.default_rng(seed), rows)
        shares.append(judge_numbers(np.zeros(rows), errors).flagged.mean())
    assert np.mean(shares) < 0.05


@pytest.mark.parametrize("rows", [20, 40, 80])
def test_a_slip_of_a_digit_stands_out_of_few_numbers(rows: int) -> None:
    found = []
    for seed in range(40):
        errors = np.random.default_rng(seed).normal(size=rows)
        errors[3] = 20.0
        found.append(judge_numbers(np.zeros(rows), errors).flagged[3])
    assert np.mean(found) > 0.95


@pytest.mark.parametrize("classes", [2, 4])
def test_labels_that_the_inputs_do_not_tell_are_not_called_wrong(classes: int) -> None:
    """Half of all labels looked wrong where models knew nothing."""
    shares = []
    for seed in range(20):
        random = np.random.default_rng(seed)
        chances = random.dirichlet(np.full(classes, 5.0), 100)
        shares.append(judge_classes(chances, random.integers(0, classes, 100)).flagged.mean())
    assert np.mean(shares) < 0.05
