"""Published policies: their formulas, and the terms that all policies keep."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from easeml.errors import InvalidInput
from easeml.search import (
    Arm,
    Budget,
    Observation,
    Posterior,
    Prior,
    SearchState,
    Terms,
    add_arms,
    add_job,
    policy_named,
    renew_job,
    set_budget,
    set_now,
    set_terms,
    started,
)
from easeml.search.convergence import settled
from easeml.search.policies.gittins import gittins_index
from easeml.search.policies.gp_ucb import exploration, upper_bounds

ARMS = [Arm(f"m{k}", f"m{k}", cost) for k, cost in enumerate((1.0, 2.0, 4.0))]
PRIOR = Prior(np.array([0.5, 0.6, 0.7]), 0.04 * np.eye(3) + 0.01, 1e-4)


def jobs(*tenants, **terms):
    state = SearchState()
    for tenant in tenants:
        state = add_job(state, f"job of {tenant}", tenant, ARMS, PRIOR, **terms)
    return state


def run(policy, state, job, arm, quality):
    state = started(state, job, arm)
    return policy.observe(state, Observation(job, arm, quality, state.job(job).arms[arm].cost))


def test_exploration_is_that_of_the_theory():
    assert exploration(10, 100, 7, 2.5, 0.1) == pytest.approx(67.999304862788, abs=1e-9)


def test_gp_ucb_discounts_only_the_bonus():
    state = jobs("ann", "bob")
    beta = exploration(2, 3, 1, 4.0)
    bounds = PRIOR.mean + np.sqrt(beta / np.array([1.0, 2.0, 4.0]) * 0.05)
    np.testing.assert_allclose(upper_bounds(state, state.job("job of ann")), bounds)
    assert policy_named("gp-ucb-round-robin").decide(state, 1)[0].arm == np.argmax(bounds)


def test_greedy_serves_the_largest_gap_among_those_above_the_average():
    policy, state = policy_named("greedy"), jobs("ann", "bob", "cid")
    for tenant, quality in (("ann", 0.9), ("bob", 0.2), ("cid", 0.9)):
        state = run(policy, state, f"job of {tenant}", 0, quality)
    assert policy.decide(state, 1)[0].job == "job of bob"


def test_hybrid_takes_turns_once_nothing_changes():
    arms = [Arm(f"m{k}", f"m{k}", 1.0) for k in range(40)]
    prior = Prior(np.full(40, 0.5), 0.04 * np.eye(40), 1e-4)
    policy, state = policy_named("hybrid"), SearchState()
    for tenant in ("ann", "bob"):
        state = add_job(state, tenant, tenant, arms, prior)
    served = []
    for _ in range(60):
        decision = policy.decide(state, 1)[0]
        served.append(decision.job)
        state = run(
            policy, state, decision.job, decision.arm, 0.9 if decision.job == "ann" else 0.1
        )
    assert state.memory["hybrid"].frozen
    assert served[-6:] in (["ann", "bob"] * 3, ["bob", "ann"] * 3)


def test_the_gittins_index_solves_its_equation():
    index = gittins_index(Posterior.of(PRIOR), np.array([1.0, 2.0, 4.0]), np.arange(3), 0.01)
    for mean, cost, found in zip(PRIOR.mean, (1.0, 2.0, 4.0), index, strict=True):
        density = norm(mean, math.sqrt(0.05))
        inner, _ = quad(lambda a, d=density, f=found: (a - f) * d.pdf(a), found, 1)
        assert inner + (1 - found) * density.sf(1) == pytest.approx(0.01 * cost, abs=1e-7)


def test_max_min_fair_serves_who_used_least():
    policy, state = policy_named("max-min-fair"), jobs("ann", "bob")
    state = policy.observe(state, Observation("job of ann", 0, 0.5, 10.0))
    assert [d.job for d in policy.decide(state, 2)] == ["job of bob", "job of bob"]


def test_popularity_orders_networks():
    arms = [Arm(name, name, 1.0) for name in ("NIN", "SqueezeNet", "mine", "AlexNet", "VGG-16")]
    state = add_job(SearchState(), "x", "ann", arms, Prior(np.full(5, 0.5), 0.01 * np.eye(5), 1e-4))
    for name, order in (("most-cited", [3, 4, 0, 1, 2]), ("most-recent", [1, 4, 0, 3, 2])):
        assert [decision.arm for decision in policy_named(name).decide(state, 5)] == order


@pytest.mark.parametrize("name", ["default", "round-robin", "gp-ucb-round-robin"])
def test_quotas_budgets_and_deadlines_are_kept(name):
    policy = policy_named(name)
    limited = set_terms(jobs("ann", "bob"), "ann", Terms(devices=1))
    assert sum(d.job == "job of ann" for d in policy.decide(limited, 6)) == 1
    assert len(policy.decide(jobs("ann", budget=Budget(tasks=2)), 5)) == 2
    assert len(policy.decide(jobs("ann", budget=Budget(seconds=0.5)), 5)) == 1
    assert policy.decide(jobs("ann", budget=Budget(cost=0)), 5) == []
    late = set_now(jobs("ann", deadline=10.0), 7.5)
    assert sorted(d.arm for d in policy.decide(late, 5)) == [0, 1]
    assert policy.decide(set_now(late, 10.0), 5) == []


def test_priority_wins_turns_and_gains():
    state = set_terms(jobs("ann", "bob"), "bob", Terms(priority=3.0))
    assert policy_named("default").decide(state, 1)[0].job == "job of bob"
    arms = [Arm(f"m{k}", f"m{k}", 1.0) for k in range(40)]
    state = SearchState()
    for tenant, priority in (("ann", 1.0), ("bob", 3.0)):
        state = add_job(
            state, tenant, tenant, arms, Prior(np.full(40, 0.5), 0.04 * np.eye(40), 1e-4)
        )
        state = set_terms(state, tenant, Terms(priority=priority))
    served = [decision.job for decision in policy_named("round-robin").decide(state, 40)]
    assert 27 <= served.count("bob") <= 33


def test_jobs_rest_and_wake():
    state = jobs("ann")
    assert not settled(state, "job of ann", 1.0).job("job of ann").resting
    state = settled(
        policy_named().observe(state, Observation("job of ann", 0, 0.99, 1.0)), "job of ann", 0.05
    )
    assert state.job("job of ann").resting
    assert policy_named().decide(state, 3) == []
    larger = Prior(np.append(PRIOR.mean, 0.9), 0.04 * np.eye(4) + 0.01, 1e-4)
    grown = add_arms(state, "job of ann", [Arm("new", "new", 1.0)], larger)
    for awake in (
        grown,
        renew_job(state, "job of ann", PRIOR),
        set_budget(state, "job of ann", Budget(tasks=9)),
    ):
        assert policy_named().decide(awake, 1)
    assert grown.job("job of ann").best == 0.99
    assert renew_job(state, "job of ann", PRIOR).job("job of ann").best is None


@pytest.mark.parametrize("wrong", [{"tasks": -1}, {"seconds": float("nan")}])
def test_wrong_budgets_are_refused(wrong):
    with pytest.raises(InvalidInput):
        Budget(**wrong)


@pytest.mark.parametrize("wrong", [{"priority": 0.0}, {"priority": float("inf")}, {"devices": -1}])
def test_wrong_terms_are_refused(wrong):
    with pytest.raises(InvalidInput):
        Terms(**wrong)
