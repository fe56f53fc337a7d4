"""How many flagged labels are wrong is told by labels that somebody trusts, and only by these."""

from functools import partial

import numpy as np
import pytest

from easeml.lifecycle.labeling import by_checks, by_trusted, find_mislabelled


def table(seed: int, share: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return inputs, labels that these do not decide, of which a share is wrong, and the right ones."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 3))
    right = (rng.random(200) < 1 / (1 + np.exp(-4 * X[:, 0]))).astype(int)
    wrong = rng.random(200) < share
    return X, np.where(wrong, 1 - right, right), right


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_nothing_is_said_of_the_precision_before_labels_are_checked(share: float) -> None:
    X, labels, right = table(0, share)
    found = find_mislabelled(X, labels, confidence=0.1)
    assert found.flagged.any()
    assert np.isnan(found.precision)
    assert (found.precision_low, found.precision_high) == (0.0, 1.0)
    assert "cannot tell how many" in found.advice
    assert "%" not in found.advice

    drawn = found.rows[found.check > 0]
    checked = {int(row): right[row] for row in drawn}
    again = find_mislabelled(X, labels, confidence=0.1, checked=checked)
    reached = np.mean(labels != right, where=np.isin(np.arange(200), again.rows[again.flagged]))
    assert again.rows.tolist() == found.rows.tolist()
    assert again.checked == len(drawn)
    assert again.precision_low <= reached <= again.precision_high
    assert again.assumes is None
    if len(drawn) == again.flagged.sum():
        assert "All were checked: " in again.advice
    else:
        assert f"by the {len(drawn)} that were checked" in again.advice


def test_checks_count_up_to_the_first_that_was_left_out() -> None:
    X, labels, right = table(1, 0.2)
    find = partial(find_mislabelled, X[:80], labels[:80], confidence=0.1, folds=2)
    found = find()
    order = found.rows[np.argsort(np.where(found.check > 0, found.check, 999), kind="stable")]
    first, second, third = order[:3].tolist()
    of_own_choice = {int(row): right[row] for row in found.rows[found.check == 0]}
    assert find(checked=of_own_choice).checked == 0
    two = {first: right[first], third: right[third]}
    assert find(checked=two).checked == 1
    three = two | {second: right[second]}
    assert find(checked=three).checked == 3


@pytest.mark.parametrize(("flagged", "wrong"), [(60, 0), (60, 20), (60, 60), (300, 100)])
def test_intervals_of_checked_labels_hold(flagged: int, wrong: int) -> None:
    rng = np.random.default_rng(wrong)
    is_wrong = np.arange(flagged) < wrong
    held = {}
    for checked in range(1, 21):
        for found in range(checked + 1):
            told = by_checks(found, checked, flagged)
            held[checked, found] = told.low <= wrong / flagged <= told.high
            if wrong >= found and flagged - wrong >= checked - found:
                assert told.low <= told.value <= told.high
    missed = 0
    for _ in range(400):
        found = rng.permutation(is_wrong)[:20].cumsum()
        # Whoever looks after each answer may stop where the interval pleases.
        missed += not all(held[count, int(found[count - 1])] for count in range(1, 21))
    assert missed <= 20
    all_checked = by_checks(wrong, flagged, flagged)
    assert all_checked.low == all_checked.high == wrong / flagged


@pytest.mark.parametrize("rate", [0.0, 0.02, 0.1])
@pytest.mark.parametrize(
    ("trusted", "wrong", "recall"), [(30, 40, 0.9), (300, 40, 0.9), (400, 160, 0.4)]
)
def test_intervals_by_trusted_rows_hold(
    rate: float, trusted: int, wrong: int, recall: float
) -> None:
    rng = np.random.default_rng(trusted)
    missed = flattering = 0
    for _ in range(200):
        found = int(rng.binomial(wrong, recall))  # of the wrong labels among 400
        false = int(rng.binomial(400 - wrong, rate))
        told = by_trusted(int(rng.binomial(trusted, rate)), trusted, found + false, 400)
        reached = found / (found + false)
        missed += not told.low <= reached <= told.high
        flattering += told.low > reached
    assert missed <= 16
    assert flattering <= 10


def test_more_alarms_than_flagged_rows_say_that_none_is_wrong() -> None:
    told = by_trusted(50, 100, 3, 400)
    assert (told.low, told.value, told.high) == (0.0, 0.0, 0.0)
    assert not by_trusted(0, 0, 3, 400).is_measured
    assert not by_checks(0, 0, 3).is_measured
