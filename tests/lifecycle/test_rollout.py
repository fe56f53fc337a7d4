"""The bets of a roll-out: right by hand on small cases, and safe however the truth comes."""

import itertools
import math
import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.errors import InvalidInput
from easeml.lifecycle.ci.betting import Bets, ladder_of_bets, log_wealth
from easeml.lifecycle.rollout import (
    GOES_ON,
    LIVE,
    MOST_FAILURES,
    TAKEN_BACK,
    Evidence,
    Outcome,
    Plan,
    chance_if_worse,
    failed,
    promise,
    quality_of_class,
    quality_of_number,
    requests_to_come,
    share_now,
    told,
    verdict,
    weight,
    why,
)

SHADOW = Plan()
SHARES = Plan(shares=(0.1, 0.25, 0.5))
Tells = Callable[[bool, bool], float]  # served right, models differ -> chance that truth comes

ALL: Tells = lambda right, differ: 1.0  # noqa: E731
COMPLAINTS: Tells = lambda right, differ: 0.0 if right else 1.0  # noqa: E731
MOSTLY_WRONG: Tells = lambda right, differ: 0.2 if right else 1.0  # noqa: E731
DIFFERENCES: Tells = lambda right, differ: float(differ)  # noqa: E731


def life(
    seed: int, plan: Plan, both: float, only_new: float, only_old: float, tells: Tells, length: int
) -> str:
    """Return how a roll-out ends on requests drawn with these chances of who is right."""
    draws = random.Random(seed)
    evidence = Evidence()
    for _ in range(length):
        share = share_now(plan, evidence)
        by_new = draws.random() < share
        place = draws.random()
        new = place < both + only_new
        old = place < both or both + only_new <= place < both + only_new + only_old
        if draws.random() >= tells(new if by_new else old, new != old):
            continue
        evidence = told(
            plan, evidence, [Outcome(float(new) - float(old), float(old), share, by_new)]
        )
        if verdict(plan, evidence) != GOES_ON:
            break
    return verdict(plan, evidence)


@given(
    st.lists(st.sampled_from([-1.0, -0.25, 0.0, 0.5, 1.0]), max_size=30),
    st.sampled_from([0.01, 0.02, 0.1]),
)
def test_the_wealth_of_a_shadow_is_that_of_the_bets_of_continuous_integration(
    values: list[float], tolerance: float
):
    plan = Plan(tolerance=tolerance)
    evidence = told(plan, Evidence(), [Outcome(value) for value in values])
    bets: Bets = ladder_of_bets(1 / 64, 1.0)
    expected = log_wealth(np.array(values), -tolerance, bets).max(initial=0.0)
    assert evidence.peak == pytest.approx(max(0.0, expected))
    assert evidence.requests == len(values)


def test_a_bet_gains_nothing_on_average_where_the_new_model_is_worse_than_tolerated():
    """All histories of eight requests, each with its chance: the expected wealth never rises."""
    plan = Plan(shares=(0.25, 0.5), tolerance=0.1)
    for tells in (ALL, COMPLAINTS, MOSTLY_WRONG, DIFFERENCES):
        assert expected_wealth(plan, tells, steps=4) <= 1 + 1e-12


def expected_wealth(plan: Plan, tells: Tells, steps: int) -> float:
    """Return what the first bet is worth on average, exactly, by all that can happen.

    The new model is worse by the tolerance: right on .7, the old one on .8.
    """
    chances = {(True, True): 0.6, (True, False): 0.1, (False, True): 0.2, (False, False): 0.1}
    bets = ladder_of_bets(1 / 64, 1.0)

    def after(evidence: Evidence, left: int) -> float:
        if not left:
            if not evidence.fine:
                return 1.0
            return float(np.exp(np.array(evidence.fine)) @ bets.weights)
        share = share_now(plan, evidence)
        total = 0.0
        for (new, old), by_new in itertools.product(chances, (True, False)):
            chance = chances[new, old] * (share if by_new else 1 - share)
            comes = tells(new if by_new else old, new != old)
            if comes < 1:
                total += chance * (1 - comes) * after(evidence, left - 1)
            if comes > 0:
                outcome = Outcome(float(new) - float(old), float(old), share, by_new)
                total += chance * comes * after(told(plan, evidence, [outcome]), left - 1)
        return total

    return after(Evidence(), steps)


@pytest.mark.parametrize("tells", [ALL, COMPLAINTS, MOSTLY_WRONG, DIFFERENCES])
@pytest.mark.parametrize("plan", [SHARES, Plan(shares=(0.9,)), Plan(shares=(0.5,))])
def test_a_worse_model_hardly_ever_serves_however_the_truth_comes(plan: Plan, tells: Tells):
    ends = [life(seed, plan, 0.7, 0.05, 0.07, tells, 1500) for seed in range(40)]
    assert ends.count(LIVE) <= 5  # 2 are expected at most; 6 or more have a chance of 1.4 %


@pytest.mark.parametrize("tells", [ALL, COMPLAINTS, MOSTLY_WRONG, DIFFERENCES])
def test_a_model_that_is_as_good_is_hardly_ever_taken_back(tells: Tells):
    ends = [life(seed, SHARES, 0.7, 0.06, 0.06, tells, 1500) for seed in range(40)]
    assert ends.count(TAKEN_BACK) <= 5


def test_a_better_model_serves_and_a_bad_one_is_taken_back():
    better = [life(seed, SHADOW, 0.7, 0.1, 0.04, ALL, 3000) for seed in range(20)]
    worse = [life(seed, SHARES, 0.7, 0.02, 0.15, ALL, 3000) for seed in range(20)]
    assert better.count(LIVE) == 20
    assert worse.count(TAKEN_BACK) == 20


def test_complaints_alone_would_let_a_worse_model_serve_if_all_counted_alike():
    """What the weights are for: without them, whoever answers less seems better."""
    draws = random.Random(0)
    plain = []
    fair = []
    for _ in range(4000):
        by_new = draws.random() < 0.1
        place = draws.random()
        new, old = place < 0.75, place < 0.7 or 0.75 <= place < 0.85  # the old one is better
        if new if by_new else old:
            continue  # nobody complains
        gain = float(new) - float(old)
        plain.append(gain)
        fair.append(weight(Outcome(gain, 1.0, 0.1, by_new)) * gain)
    assert sum(plain) > 0
    assert sum(fair) < 0


@given(st.floats(0.01, 0.99))
def test_both_sides_weigh_alike_on_average(share: float):
    new, old = weight(Outcome(0, 1.0, share, by_new=True)), weight(Outcome(0, 1.0, share))
    assert share * new == pytest.approx((1 - share) * old)
    assert max(new, old) == pytest.approx(1)


def test_the_share_rises_with_the_evidence_and_never_falls():
    evidence, seen = Evidence(), []
    for gain in [1.0] * 4 + [-0.2] * 3 + [1.0] * 20:
        evidence = told(SHARES, evidence, [Outcome(gain, 1.0, share_now(SHARES, evidence), True)])
        seen.append(share_now(SHARES, evidence))
    assert seen == sorted(seen)
    assert set(seen) == {0.1, 0.25, 0.5}
    assert verdict(SHARES, evidence) == LIVE
    assert chance_if_worse(evidence) <= 0.05
    assert "not worse by more than 0.02" in why(SHARES, evidence)


def test_requests_that_the_new_model_fails_on_take_it_back():
    evidence = failed(Evidence(), MOST_FAILURES - 1)
    assert verdict(SHARES, evidence) == GOES_ON
    evidence = failed(evidence, 1)
    assert verdict(SHARES, evidence) == TAKEN_BACK
    assert "failed on 3 requests" in why(SHARES, evidence)


def test_nothing_is_counted_before_the_first_truth():
    assert why(SHARES, Evidence()) == "No reported truth tells them apart yet."


def test_how_many_are_to_come_is_told_as_soon_as_it_can_be():
    assert requests_to_come(SHADOW, Evidence()) is None
    half = told(SHADOW, Evidence(), [Outcome(1.0)] * 3)
    to_come = requests_to_come(SHADOW, half)
    assert to_come is not None
    assert verdict(SHADOW, told(SHADOW, half, [Outcome(1.0)] * to_come)) == LIVE


def test_classes_compare_by_their_names_and_numbers_by_their_errors():
    rights = [quality_of_class(said, true) for said, true in ((1, 1.0), ("no", "yes"), (None, "a"))]
    assert rights == [1.0, 0.0, 0.0]
    near = [quality_of_number(said, 1.0, 4.0) for said in (1.0, 3.0, -9.0, None)]
    assert near == [1.0, 0.5, 0.0, 0.0]


def test_a_shadow_that_is_judged_by_complaints_alone_does_not_serve():
    """The model that serves is wrong on each row that people tell of; the shadow must look better."""
    evidence = told(SHADOW, Evidence(), [Outcome(1.0, 0.0), Outcome(0.0, 0.0)] * 100)
    assert verdict(SHADOW, evidence) == LIVE
    assert verdict(SHADOW, evidence, expected=0.8) == GOES_ON
    assert "mostly for wrong answers" in why(SHADOW, evidence, 0.8)
    assert verdict(SHARES, evidence, expected=0.8) == LIVE  # shares are fair to complaints
    fair = told(SHADOW, Evidence(), [Outcome(0.2, 0.8)] * 200)
    assert verdict(SHADOW, fair, expected=0.8) == LIVE


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        ({"shares": (0.5, 0.1)}, "shares"),
        ({"shares": (0.5, 1.0)}, "shares"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"reliability": 1.0}, "reliability"),
    ],
)
def test_what_is_no_plan_is_refused(wrong: dict[str, object], where: str):
    with pytest.raises(InvalidInput) as refused:
        Plan(**wrong)  # pyright: ignore[reportArgumentType]
    assert refused.value.where == where


def test_a_promise_says_its_numbers():
    assert "10%, 25%, 50%" in promise(SHARES)
    assert "probability of at most 0.05" in promise(SHADOW)
    assert math.isclose(SHADOW.nats, -math.log(0.05))
    with pytest.raises(InvalidInput, match="between -1 and 1"):
        told(SHADOW, Evidence(), [Outcome(1.5)])
