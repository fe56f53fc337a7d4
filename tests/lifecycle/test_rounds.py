"""Roll-outs by balanced accuracy: rounds in which each class comes, against all that could be true."""

import itertools
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.lifecycle.rollout import (
    GOES_ON,
    LIVE,
    TAKEN_BACK,
    Evidence,
    Plan,
    is_selective,
    share_now,
    verdict,
    why,
)
from easeml.lifecycle.rounds import Row, told, waits

CLASSES = ("a", "b")
SHADOW = Plan(tolerance=0.1)
SHARES = Plan(shares=(0.25, 0.5), tolerance=0.1)
RIGHT = {1: (True, False), -1: (False, True), 0: (True, True)}


def row(of: str, gain: int, share: float = 0.0, *, by_new: bool = False) -> Row:
    """Return a row on which the new model is so much better."""
    new, old = RIGHT[gain]
    return Row(of, new, old, share, by_new)


def wealth(evidence: Evidence, which: str) -> list[float]:
    """Return what each bet on a side is worth."""
    return [math.exp(nats) for nats in getattr(evidence, which)]


@pytest.mark.parametrize("of", ["ab", "aab", "aaab", "bbba"])
@pytest.mark.parametrize("turn", [-0.3, 0.0, 0.3])
@pytest.mark.parametrize(("which", "difference"), [("fine", -0.1), ("worse", 0.0)])
@pytest.mark.parametrize("share", [0.0, 0.25])
def test_no_bet_wins_money_in_the_mean_on_its_boundary(
    of: str, turn: float, which: str, difference: float, share: float
) -> None:
    """One class gets better by ``turn``, the other worse by it, however many rows each has."""
    means = None
    for gains in itertools.product((-1, 0, 1), repeat=len(of)):
        for turns in itertools.product((False, True), repeat=len(of)):
            rows = []
            chance = 1.0
            for name, gain, by_new in zip(of, gains, turns, strict=True):
                mean = difference + (turn if name == "a" else -turn)
                chance *= {1: 0.25 + mean / 2, -1: 0.25 - mean / 2, 0: 0.5}[gain]
                chance *= share if by_new else 1 - share
                rows.append(row(name, gain, share, by_new=by_new))
            evidence = told(SHADOW, Evidence(), rows, CLASSES)
            parts = [chance * worth for worth in wealth(evidence, which)]
            means = parts if means is None else list(map(sum, zip(means, parts, strict=True)))
    assert means is not None
    assert max(means) <= 1 + 1e-12


ROWS = st.lists(
    st.builds(
        row,
        st.sampled_from(CLASSES),
        st.sampled_from([-1, 0, 1]),
        st.sampled_from([0.25, 0.5]),
        by_new=st.booleans(),
    ),
    max_size=30,
)


@given(ROWS, st.integers(0, 30))
def test_rows_may_come_at_once_or_in_pieces(rows: list[Row], cut: int) -> None:
    at_once = told(SHARES, Evidence(), rows, CLASSES)
    first = told(SHARES, Evidence(), rows[:cut], CLASSES)
    assert told(SHARES, first, rows[cut:], CLASSES) == at_once


@given(ROWS)
def test_each_row_counts_or_waits(rows: list[Row]) -> None:
    evidence = told(SHARES, Evidence(), rows, CLASSES)
    waiting = sum(sum(map(sum, counts.values())) for counts in evidence.waiting.values())
    assert evidence.requests + waiting == len(rows)


def test_the_means_are_balanced_accuracies() -> None:
    rows = [row("a", 0)] * 8 + [row("a", -1), row("a", 1), row("b", 1)]
    evidence = told(SHADOW, Evidence(), rows, CLASSES)
    assert evidence.before / evidence.requests == pytest.approx((0.9 + 0) / 2)
    assert evidence.gained / evidence.requests == pytest.approx((0 + 1) / 2)
    assert (evidence.better, evidence.worse_off, evidence.alike) == (2, 1, 8)


def test_what_waits_is_told() -> None:
    evidence = told(SHADOW, Evidence(), [row("1", 0)] * 3, ["1", "2"])
    assert evidence.requests == 0
    assert waits(evidence, ["1.0", "2.0"]) == (
        "3 more count as soon as each class has come; none of these yet: 2.0."
    )
    both = told(SHARES, Evidence(), [row("1", 0, 0.25), row("2", 0, 0.5)], ["1", "2"])
    assert waits(both, ["1", "2"]) == "2 more count as soon as each class has come again."


def life(seed: int, plan: Plan, gains: dict[str, float], rare: float, length: int = 3000) -> str:
    """Return how a roll-out ends where the rare class comes first, and is seldom then.

    ``gains``: of each class, how much more often the new model is right.
    """
    draws = random.Random(seed)
    evidence = Evidence()
    for number in range(length):
        chance = 0.9 if number < length / 10 else rare
        of = "b" if draws.random() < chance else "a"
        gain = 0
        if draws.random() < 0.3:
            gain = 1 if draws.random() < 0.5 + gains[of] / 0.6 else -1
        share = share_now(plan, evidence)
        by_new = draws.random() < share
        evidence = told(plan, evidence, [row(of, gain, share, by_new=by_new)], CLASSES)
        answer = verdict(plan, evidence)
        if answer != GOES_ON:
            return answer
    return GOES_ON


@pytest.mark.parametrize("plan", [SHADOW, SHARES])
def test_lives_end_as_promised_where_classes_come_one_after_the_other(plan: Plan) -> None:
    worse = {"a": 0.05, "b": -0.25}  # balanced: worse by the tolerance; on most rows better
    ends = [life(seed, plan, worse, 0.1) for seed in range(30)]
    assert ends.count(LIVE) <= 4
    alike = {"a": 0.2, "b": -0.2}
    ends = [life(seed, plan, alike, 0.5) for seed in range(30)]
    assert ends.count(TAKEN_BACK) <= 4
    assert ends.count(LIVE) >= 26


@pytest.mark.parametrize("plan", [SHADOW, SHARES])
def test_wrong_answers_alone_are_held_where_each_class_counts_alike(plan: Plan) -> None:
    share = plan.shares[0] if plan.shares else 0.0
    wrong = [Row(of, new=True, old=False, share=share) for of in "ab"] * 60
    evidence = told(plan, Evidence(), wrong, CLASSES)
    assert is_selective(plan, evidence, 0.8)
    assert verdict(plan, evidence, 0.8) == GOES_ON
    assert "Report the truth of right answers as well" in why(plan, evidence, 0.8)
