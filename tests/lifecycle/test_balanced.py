"""Gains of a run by balanced accuracy, against all that could be true of it."""

import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.lifecycle.balanced import MOST_ROWS, Answered, outcomes, run_of
from easeml.lifecycle.rollout import Evidence, Plan, told

CLASSES = ("a", "b")
BETS = (1 / 64, 0.25, 1.0)
NAMES = st.sampled_from(CLASSES)


def money(rows: list[Answered], least: int, bet: float) -> float:
    """Return what a bet on "worse" is worth after a run."""
    return math.prod(1 - bet * one.gain for one in outcomes(rows, CLASSES, least))


@given(
    st.lists(st.tuples(NAMES, NAMES, NAMES), min_size=2, max_size=9),
    st.sets(st.integers(0, 8), max_size=3),
    st.integers(1, 3),
    st.sampled_from(BETS),
)
def test_no_choice_of_truths_that_are_kept_back_makes_a_bet_worth_more(
    said: list[tuple[str, str, str]], hidden: set[int], least: int, bet: float
) -> None:
    rows = [Answered(new, old, true) for new, old, true in said]
    seen = [replace(row, true=None) if n in hidden else row for n, row in enumerate(rows)]
    assert money(seen, least, bet) <= money(rows, least, bet) * (1 + 1e-9)


@pytest.mark.parametrize("turn", [-0.3, 0.0, 0.2])
@pytest.mark.parametrize("true", ["ab", "aab", "aaab", "aabbb"])
@pytest.mark.parametrize("bet", BETS)
def test_a_bet_wins_no_money_in_the_mean_where_the_models_are_equally_good(
    turn: float, true: str, bet: float
) -> None:
    """Each row of class a is a gain more often by ``turn`` than a loss, each of class b less."""
    mean = 0.0
    for gains in itertools.product((-1, 0, 1), repeat=len(true)):
        chance = 1.0
        rows = []
        for name, gain in zip(true, gains, strict=True):
            more = turn if name == "a" else -turn
            chance *= {1: 0.2 + more / 2, -1: 0.2 - more / 2, 0: 0.6}[gain]
            other = "b" if name == "a" else "a"
            new, old = {1: (name, other), -1: (other, name), 0: (name, name)}[gain]
            rows.append(Answered(new, old, name))
        mean += chance * money(rows, 1, bet)
    assert mean <= 1 + 1e-12


def test_the_means_are_balanced_accuracies() -> None:
    rows = [Answered("a", "a", "a")] * 6 + [Answered("a", "b", "b")] * 2
    evidence = told(Plan(), Evidence(), outcomes(rows, CLASSES, 1))
    before = evidence.before / evidence.requests
    assert before == pytest.approx(1.0)
    assert before + evidence.gained / evidence.requests == pytest.approx(0.5)


def test_a_row_that_came_too_often_does_not_speak_against_the_new_model() -> None:
    lost = Answered("a", "b", "b", spared=True)
    rows = [Answered("a", "a", "a"), lost, Answered("b", "a", "b", spared=True)]
    assert [one.gain for one in outcomes(rows, CLASSES, 1)] == [0.0, 0.0, 0.5]


def test_runs_are_as_long_as_the_rarest_class_needs() -> None:
    assert run_of(0.5) == (50, 12)
    assert run_of(0.1) == (100, 5)
    assert run_of(0.03) == (300, 4)
    assert run_of(1e-6) == (MOST_ROWS, 1)
