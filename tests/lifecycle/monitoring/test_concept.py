"""The sequential test of the concept, on streams by other means than the monitor's own."""

import numpy as np
import pytest

from easeml.errors import InvalidInput
from easeml.lifecycle.monitoring import ConceptTest, labels_needed

ALPHA = 0.05


def alarm_at(right: np.ndarray, weights: np.ndarray, least: float, drop: float = 0.1) -> int:
    """Label at which the test first alarms; 0 for never."""
    test = ConceptTest()
    for number in range(len(right)):
        part = slice(number, number + 1)
        test = test.told(right[part], weights[part], least, drop)
        if test.p_value <= ALPHA:
            return number + 1
    return 0


@pytest.mark.parametrize("weighted", [False, True])
def test_false_alarms_stay_rare_however_often_it_is_asked(weighted: bool):
    rng = np.random.default_rng(int(weighted))
    alarms = 0
    for _ in range(200):
        chances = rng.uniform(0.4, 1.0, 400)
        right = (rng.random(400) < chances).astype(float)
        shares = np.full(400, 1 / 400)
        if weighted:  # rows that are in doubt are drawn more often
            doubt = np.sqrt(chances * (1 - chances))
            shares = 0.5 / 400 + 0.5 * doubt / doubt.sum()
        drawn = rng.choice(400, 400, p=shares)
        weights = 1 / (400 * shares[drawn])
        alarms += alarm_at(right[drawn], weights, float(right.mean())) > 0
    assert alarms <= 18  # P(Binomial(200, 0.05) > 18) < 0.01


@pytest.mark.parametrize("before", [0, 100])
def test_a_drop_is_found_within_about_the_labels_that_were_stated(before: int):
    rng = np.random.default_rng(7)
    stated = labels_needed(before, 0.85, 0.1, ALPHA)
    found = []
    for _ in range(60):
        calm = rng.random(before) < 0.85
        worse = rng.random(8 * stated) < 0.75
        right = np.r_[calm, worse].astype(float)
        at = alarm_at(right, np.ones(len(right)), 0.85)
        found.append(at - before if at else 8 * stated)
    assert np.median(found) < 1.2 * stated


def test_greater_drops_need_fewer_labels():
    needed = [labels_needed(0, 0.9, drop, ALPHA) for drop in (0.05, 0.1, 0.3)]
    assert needed == sorted(needed, reverse=True)
    assert labels_needed(500, 0.9, 0.1, ALPHA) > labels_needed(0, 0.9, 0.1, ALPHA)


def test_no_label_changes_nothing_and_the_money_is_never_negative():
    test = ConceptTest()
    assert test.told(np.zeros(0), np.zeros(0), 0.9, 0.1) == test
    for least in (0.0, 0.01, 0.5, 0.999, 1.0):
        for outcome in (0.0, 1.0):
            told = test.told(np.full(50, outcome), np.full(50, 2.0), least, 0.9)
            assert told.stake >= 0 and 0 < told.p_value <= 1


def test_rows_that_were_not_drawn_at_random_are_refused():
    with pytest.raises(InvalidInput, match="at random"):
        ConceptTest().told(np.ones(3), np.full(3, 5.0), 0.9, 0.1)
