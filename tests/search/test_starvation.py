"""Who waits longer than a policy promises."""

import pytest

from easeml.search import (
    Arm,
    SearchState,
    Terms,
    add_job,
    default_prior,
    policy_named,
    set_now,
    set_terms,
    started,
)
from easeml.search.starvation import Wait, starving, waits

ARMS = [Arm(f"m{number}", f"m{number}", 1.0) for number in range(60)]


def with_job(state: SearchState, tenant: str) -> SearchState:
    return add_job(state, tenant, tenant, ARMS, default_prior(ARMS))


def served(state: SearchState, tenant: str, times: int) -> SearchState:
    for arm in state.job(tenant).startable[:times].tolist():
        state = started(state, tenant, arm)
    return state


def found_after(
    decisions: int, seconds: float, policy: str = "default", priority: float = 1.0
) -> list[str]:
    """Serve only tenant a, while b waits from the fortieth decision on."""
    state = served(with_job(SearchState(), "a"), "a", 40)
    state = set_now(with_job(state, "b"), 1000.0)
    if priority != 1:
        state = set_terms(state, "b", Terms(priority=priority))
    known = waits({}, state)
    assert known["b"] == Wait(40, 1000.0, None)
    state = served(set_now(state, 1000.0 + seconds), "a", decisions)
    return starving(waits(known, state), state, policy_named(policy))


def test_a_newcomer_has_not_waited_since_before_it_came() -> None:
    assert found_after(0, 1000.0) == []
    assert found_after(18, 1000.0) == []


@pytest.mark.parametrize("policy", ["default", "ei-rate"])
def test_who_is_passed_over_too_often_starves(policy: str) -> None:
    assert found_after(19, 60.0, policy) == ["b"]
    assert found_after(19, 59.0, policy) == []


def test_the_bound_is_that_of_the_policy_and_of_the_priority() -> None:
    assert found_after(3, 60.0, "round-robin") == ["b"]
    assert found_after(2, 60.0, "round-robin") == []
    assert found_after(12, 60.0, "default", priority=2.0) == []
    assert found_after(14, 60.0, "default", priority=2.0) == ["b"]


def test_a_wait_ends_when_a_tenant_is_served() -> None:
    state = with_job(with_job(SearchState(), "a"), "b")
    known = waits({}, state)
    state = served(set_now(state, 5.0), "b", 1)
    assert waits(known, state)["b"] == Wait(1, 5.0, 1)
    assert waits(known, state)["a"] == Wait(0, 0.0, None)
