"""What breaks a limit is predicted from like arms, tried late, and never the best."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.errors import InvalidInput
from easeml.search import Arm, SearchState, add_job, default_prior, observed, remaining
from easeml.search.decision_log import Change, Seen, applied, told_arms
from easeml.search.feasible import UNLIKELY, chances
from easeml.search.policies import policy_named
from easeml.search.state import Observation, set_chances

ARMS = [Arm(f"slow-{n}", "slow", 1.0, (n / 4,)) for n in range(5)] + [
    Arm(f"quick-{n}", "quick", 1.0, (n / 4,)) for n in range(5)
]


def searched() -> SearchState:
    return add_job(SearchState(), "job", "tenant", ARMS, default_prior(ARMS))


def test_what_was_measured_decides_and_the_unknown_may_keep_any_limit() -> None:
    found = chances(ARMS, {0: {"latency": 0.5}, 5: {"latency": 0.01}}, {"latency": 0.1})
    assert found[0] == 0
    assert found[5] == 1
    assert found[1] < 0.5 < found[6]
    assert chances(ARMS, {}, {"latency": 0.1}) == [1.0] * 10
    assert chances(ARMS, {0: {"size": 9.0}}, {"latency": 0.1}) == [1.0] * 10


def test_the_nearer_the_surer() -> None:
    found = chances(ARMS, {0: {"latency": 1.0}}, {"latency": 0.5})
    assert found[1] < found[2] < found[3] < found[4]
    assert found[1] < 0.2


@given(
    taken=st.lists(st.floats(1e-4, 1e3), min_size=10, max_size=10),
    limit=st.floats(1e-4, 1e3),
    known=st.sets(st.integers(0, 9)),
)
def test_chances_are_probabilities_and_never_rise_as_limits_fall(
    taken: list[float], limit: float, known: set[int]
) -> None:
    measured = {arm: {"latency": taken[arm]} for arm in known}
    found = chances(ARMS, measured, {"latency": limit})
    tighter = chances(ARMS, measured, {"latency": limit / 2})
    assert all(0 <= one <= 1 for one in found)
    assert all(less <= more + 1e-12 for less, more in zip(tighter, found, strict=True))
    for arm in known:
        assert found[arm] == (1.0 if taken[arm] <= limit else 0.0)


def test_a_search_turns_to_what_keeps_the_limit_and_its_best_is_among_that() -> None:
    state = searched()
    state = observed(state, Observation("job", 0, 0.9, 1.0))
    state = observed(state, Observation("job", 5, 0.5, 1.0))
    assert state.job("job").best == 0.9
    likely = [0.0, *[0.001] * 4, 1.0, *[0.9] * 4]
    state = set_chances(state, "job", likely, best=0.5)
    job = state.job("job")
    assert job.best == 0.5
    plain = job.believed.improvement(0.5)
    np.testing.assert_allclose(job.improvement, plain * np.array(likely))
    choice = policy_named("gain-per-cost").decide(state, 1)[0]
    assert choice.arm > 5


def test_a_search_rests_though_what_breaks_the_limit_may_be_better() -> None:
    state = searched()
    for arm in range(5, 10):
        state = observed(state, Observation("job", arm, 0.5, 1.0))
    assert remaining(state, "job").expected > 0
    unlikely = [UNLIKELY / 2] * 5 + [1.0] * 5
    rests = set_chances(state, "job", unlikely, best=0.5)
    assert remaining(rests, "job").expected == 0
    assert rests.job("job").startable.size == 5  # they may be tried where nothing else is left


def test_the_log_replays_it_and_added_arms_keep_the_rules() -> None:
    seen = Seen()
    arms = told_arms(ARMS)
    budget = {"tasks": None, "seconds": None, "cost": None}
    told = {"job": "j", "tenant": "t", "arms": arms, "budget": budget, "deadline": None, "since": 0}
    seen = applied(seen, Change("add_job", told))
    change = Change("set_chances", {"job": "j", "chances": [0.25] * 10, "best": None})
    seen = applied(seen, change)
    seen = applied(seen, Change("add_arms", {"job": "j", "arms": arms[:1], "since": None}))
    assert seen.state.job("j").all_chances.tolist() == [0.25] * 10 + [1.0]


@pytest.mark.parametrize("wrong", [[1.5], [-0.1], [math.nan], [1.0] * 11])
def test_what_is_no_probability_is_refused(wrong: list[float]) -> None:
    with pytest.raises(InvalidInput):
        set_chances(searched(), "job", wrong, None)
