"""Intervals hold where rows come in groups, such as ten rows of each of twenty people."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from easeml.modules import Predictions, interval, measured

DRAWS = 100
Drawn = tuple[NDArray[np.intp], NDArray[np.generic], Predictions]
Draw = Callable[[int, int, np.random.Generator], Drawn]


def people(count: int, rows: int, random: np.random.Generator) -> Drawn:
    """Labels of people for whom the model is right in .8 of the rows on average (beta, 4 and 1)."""
    person = np.repeat(np.arange(count), rows)
    right = random.random(len(person)) < random.beta(4, 1, count)[person]
    true = random.random(len(person)) < 0.5
    chance = np.where(right == true, 0.9, 0.1)
    said = np.where(chance > 0.5, "b", "a")
    outputs = np.c_[1 - chance, chance]
    return person, np.where(true, "b", "a"), Predictions(said, outputs, np.array(["a", "b"]))


def machines(count: int, rows: int, random: np.random.Generator) -> Drawn:
    """Numbers of machines, each of which is said to be too large or too small by as much."""
    machine = np.repeat(np.arange(count), rows)
    level = random.normal(0, 2, count)[machine]
    off = random.normal(0, 1.5, count)[machine]
    return machine, level + off + random.normal(size=len(machine)), Predictions(level, None, None)


@pytest.mark.parametrize(
    ("draw", "objective", "truth"),
    [
        (people, "accuracy", 0.8),
        (people, "log-loss", -0.8 * np.log(0.9) - 0.2 * np.log(0.1)),
        (machines, "r2", 4 / 7.25),  # of 4 + 2.25 + 1
        (machines, "rmse", 3.25**0.5),
    ],
)
def test_intervals_of_groups_hold(draw: Draw, objective: str, truth: float) -> None:
    held = np.zeros(2)
    for seed in range(DRAWS):
        group, actual, said = draw(12, 10, np.random.default_rng(seed))
        alone = measured(objective, actual, said, resamples=20)
        found = measured(objective, actual, said, resamples=20, groups=group)
        for place, one in enumerate((alone, found)):
            assert one.low is not None
            assert one.high is not None
            held[place] += one.low <= truth <= one.high
    assert held[1] / DRAWS >= 0.86, held  # 5 % stated, of 100 draws
    assert held[0] / DRAWS <= 0.88, held  # as if each row were drawn by itself


def test_rows_that_are_groups_of_their_own_are_told_as_before() -> None:
    _, actual, said = people(300, 1, np.random.default_rng(3))
    alone = interval("accuracy", actual, said)
    found = interval("accuracy", actual, said, groups=np.arange(300))
    assert found == pytest.approx(alone, abs=0.01)


def test_one_group_tells_nothing_of_others() -> None:
    group, actual, said = machines(1, 40, np.random.default_rng(1))
    assert interval("r2", actual, said, groups=group) == interval("r2", actual, said)


def test_ends_stay_within_what_can_be() -> None:
    group, actual, said = people(2, 30, np.random.default_rng(4))
    for objective in ("accuracy", "roc-auc", "f1-macro", "brier"):
        found = measured(objective, actual, said, groups=group)
        quality, low, high = interval(objective, actual, said, groups=group)
        assert found.low is not None
        assert 0 <= found.low <= found.value
        assert -1 <= low <= quality <= high <= 1
    group, numbers, said = machines(2, 30, np.random.default_rng(4))
    assert interval("r2", numbers, said, groups=group)[1] == -1
    found = measured("r2", numbers, said, groups=group)
    assert found.low is not None
    assert found.low < -1  # nothing limits how far below the mean a model may be


def test_rows_without_an_answer_and_weights_are_as_before() -> None:
    group, actual, said = people(20, 10, np.random.default_rng(5))
    known = actual.astype(object)
    known[::3] = None
    kept = np.flatnonzero(np.arange(200) % 3)
    some = interval("accuracy", actual[kept], said.of_rows(kept), groups=group[kept])
    assert interval("accuracy", known, said, groups=group) == some
    twice = interval("accuracy", actual, said, np.full(200, 2.0), groups=group)
    assert twice == pytest.approx(interval("accuracy", actual, said, groups=group))


def test_many_rows_of_many_groups_are_looked_at_in_part() -> None:
    group, actual, said = people(6000, 10, np.random.default_rng(6))
    _, low, high = interval("accuracy", actual, said, groups=group)
    expected = 2 * 1.96 * (0.16 / 60_000 + 0.9 * 0.16 / 6 / 6000) ** 0.5
    assert high - low == pytest.approx(expected, rel=0.35)
