"""Policies: the conformance suite, and what each promises of its own."""

import json

import numpy as np
import pytest

from easeml.errors import InvalidInput
from easeml.search import (
    Arm,
    Observation,
    Posterior,
    Prior,
    SearchState,
    add_job,
    default_prior,
    expected_improvement,
    installed_policies,
    observed,
    policy_named,
    started,
)
from easeml.search.policies import Decision, conformance

ARMS = [
    Arm("base", "baseline", 0.1),
    Arm("log", "logistic", 0.5),
    Arm("svm", "svm", 1.0),
    Arm("gbm", "lightgbm", 3.0),
]


def two_tenants():
    state = add_job(SearchState(), "x", "ann", ARMS, default_prior(ARMS))
    return add_job(state, "y", "bob", ARMS, default_prior(ARMS))


@pytest.mark.parametrize("name", sorted(installed_policies().by_name))
def test_conformance(name):
    conformance.check(policy_named(name))


class Broken:
    """A policy with one fault."""

    def __init__(self, decide):
        self.name, self.decide = "cheapest-first", decide
        self.observe = policy_named("cheapest-first").observe


def too_many(state, free):
    return policy_named("cheapest-first").decide(state, free + 1 if free else 0)


def never_bob(state, free):
    jobs = [job for tenant, jobs in state.waiting.items() if tenant != "tenant-1" for job in jobs]
    return (
        [Decision(jobs[0].name, int(jobs[0].startable[0]), "cheapest-first", dict)]
        if jobs and free
        else []
    )


def changing(state, free):
    for job in state.jobs.values():
        object.__setattr__(job, "best", 0.123)
    return policy_named("cheapest-first").decide(state, free)


@pytest.mark.parametrize("fault", [too_many, never_bob, changing])
def test_conformance_finds_faults(fault):
    with pytest.raises(AssertionError):
        conformance.check(Broken(fault))


TURNS = "ei-per-cost-round-robin"


def test_turns_start_every_job_with_its_cheapest_sensible_arm():
    decisions = policy_named(TURNS).decide(two_tenants(), 2)
    assert [(d.job, d.arm) for d in decisions] == [("x", 1), ("y", 1)]
    assert "sensible" in decisions[0].explanation["rule"]


def test_a_second_job_gets_its_first_model_before_the_first_is_refined():
    policy, state = policy_named(TURNS), two_tenants()
    state = policy.observe(state, Observation("x", 1, 0.6, 1.0))
    state = policy.observe(state, Observation("y", 1, 0.6, 1.0))
    state = add_job(state, "x2", "ann", ARMS, default_prior(ARMS))
    assert [d.job for d in policy.decide(state, 2)] == ["x2", "y"]


def test_a_failed_first_run_is_followed_by_the_next_cheapest():
    policy = policy_named(TURNS)
    state = policy.observe(two_tenants(), Observation("x", 1, None, 1.0))
    assert [(d.job, d.arm) for d in policy.decide(state, 2)] == [("y", 1), ("x", 2)]


@pytest.mark.parametrize("seed", range(5))
def test_default_equals_brute_force(seed):
    generator = np.random.default_rng(seed)
    root = generator.normal(size=(8, 8)) * 0.1
    prior = Prior(generator.random(8) * 0.3 + 0.5, root @ root.T, 1e-4)
    arms = [Arm(f"a{i}", "m", float(generator.random() + 0.1)) for i in range(8)]
    policy = policy_named()
    state = add_job(SearchState(), "x", "ann", arms, prior)
    state = policy.observe(state, Observation("x", 2, 0.7, 1.0))
    state = started(state, "x", 5)
    belief = Posterior.of(prior).observe(2, 0.7)
    best = max(0.7, belief.mean[5])
    belief = belief.observe(5, float(belief.mean[5]))
    rate = expected_improvement(belief.mean, belief.variance, best) / np.array(
        [arm.cost for arm in arms]
    )
    rate[[2, 5]] = -1
    decision = policy.decide(state, 1)[0]
    assert decision.arm == np.argmax(rate)
    top = decision.explanation["top"]
    assert [entry["arm"] for entry in top] == np.argsort(-rate)[:5].tolist()
    assert top[0]["score"] == pytest.approx(rate.max())
    assert top[0]["sd"] == pytest.approx(np.sqrt(belief.variance[decision.arm]))


def test_the_default_gives_everybody_a_first_model_before_anybody_a_better_one():
    dear = [Arm("svm", "svm", 5000.0), Arm("gbm", "lightgbm", 9000.0)]
    state = add_job(two_tenants(), "z", "cid", dear, default_prior(dear))
    policy = policy_named()
    state = policy.observe(
        policy.observe(state, Observation("x", 0, 0.5, 1.0)), Observation("y", 0, 0.5, 1.0)
    )
    decision = policy.decide(state, 1)[0]
    assert (decision.job, decision.arm) == ("z", 0)
    assert "without any run" in decision.explanation["rule"]


def test_a_newcomers_first_turn_is_no_long_wait():
    state = SearchState(two_tenants().jobs, {"ann": 99}, step=100)
    decision = policy_named().decide(state, 1)[0]
    assert decision.job == "y"
    assert "new and was never served" in decision.explanation["rule"]
    served_once = SearchState(two_tenants().jobs, {"ann": 99, "bob": 1}, step=100)
    assert "waited longest" in policy_named().decide(served_once, 1)[0].explanation["rule"]


@pytest.mark.parametrize(("overhead", "chosen"), [(0.0, 0), (0.05, 0), (0.2, 1), (2.0, 1)])
def test_a_cheap_run_that_gains_less_is_not_worth_what_any_run_costs(overhead: float, chosen: int):
    arms = [Arm("small", "small", 0.1), Arm("large", "large", 0.3)]
    prior = Prior(np.array([0.1, 0.2]), np.diag([1e-9, 1e-9]), noise=1e-12)
    state = add_job(SearchState(), "x", "ann", arms, prior, overhead=overhead)
    (decision,) = policy_named().decide(state, 1)
    assert decision.arm == chosen


def test_devices_do_not_all_choose_near_identical_arms():
    block = np.kron(np.eye(2), np.full((2, 2), 0.04)) + 1e-6 * np.eye(4)
    state = add_job(
        SearchState(), "x", "ann", ARMS, Prior(np.array([0.7, 0.7, 0.6, 0.6]), block, 1e-4)
    )
    chosen = [d.arm for d in policy_named().decide(state, 2)]
    assert sorted(arm // 2 for arm in chosen) == [0, 1]


def test_cheapest_first_and_random():
    state = two_tenants()
    assert [(d.job, d.arm) for d in policy_named("cheapest-first").decide(state, 4)] == [
        ("x", 0),
        ("y", 0),
        ("x", 1),
        ("y", 1),
    ]
    counts = np.zeros(4)
    for step in range(400):
        shifted = SearchState(state.jobs, state.turns, step)
        counts[policy_named("random").decide(shifted, 1)[0].arm] += 1
    assert counts.min() > 60


def test_the_explanation_replays_the_choice():
    state = two_tenants()
    for policy in installed_policies().by_name.values():
        for decision in policy.decide(state, 3):
            json.dumps(decision.explanation)
            top = decision.explanation["top"]
            first = max(top, key=lambda entry: (entry["score"], -entry["cost"]))
            assert (first["job"], first["arm"]) == (decision.job, decision.arm)
            assert decision.explanation["turn"]["tenants_waiting"] == 2


def test_unknown_policies_are_refused():
    with pytest.raises(InvalidInput, match="no policy 'best'"):
        policy_named("best")


def test_a_job_whose_results_have_piled_up_leaves_devices_to_one_that_may_gain_much():
    many = [Arm(f"m{number}", "mlp", 1.0) for number in range(30)]
    few = [*ARMS[:3], Arm("gbm", "lightgbm", 60.0)]
    state = add_job(SearchState(), "piled", "ann", many, default_prior(many))
    qualities = np.random.default_rng(3).uniform(0.2, 0.35, 20)
    for arm, quality in enumerate(qualities.tolist()):
        state = observed(state, Observation("piled", arm, quality, 1.0))
    state = add_job(state, "young", "bob", few, default_prior(few))
    for arm, quality in enumerate([0.6, 0.75, 0.76]):
        state = observed(state, Observation("young", arm, quality, 1.0))

    assert policy_named("ei-rate").decide(state, 1)[0].job == "piled"
    decision = policy_named("default").decide(state, 1)[0]
    assert decision.job == "young"
    top = decision.explain()["top"][0]
    assert top["score"] == pytest.approx(top["gain"] / top["cost"])
