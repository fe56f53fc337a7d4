"""The simulator: what happens on its clock, what losses are, and the comparison that scripts read."""

import itertools
import json

import numpy as np
import pytest

from easeml.errors import InvalidInput
from easeml.search import (
    Budget,
    CostBelief,
    Posterior,
    Prior,
    Terms,
    Work,
    installed_policies,
    policy_named,
)
from easeml.search.simulator import (
    Run,
    Scenario,
    Setting,
    Trace,
    Workload,
    belief,
    clairvoyant,
    compare,
    curve,
    draw,
    past_costs,
    simulate,
    split,
    synthetic,
)
from easeml.search.table_priors import angular_prior, empirical_prior

QUALITY = np.array([[0.5, 0.9, np.nan], [0.8, 0.6, 0.7]])
COST = np.array([[1.0, 3.0, 1.0], [2.0, 1.0, 1.0]])
SMALL = Workload(QUALITY, COST, ("ann", "bob"), ("a", "b", "c"))
PRIOR = Prior(np.full(3, 0.6), 0.02 * np.eye(3) + 0.01, 1e-4)


def many(tenants=40, models=16, seed=0):
    generator = np.random.default_rng(seed)
    level, scale = generator.normal(0.7, 0.1, tenants), generator.lognormal(-3, 0.5, tenants)
    quality = np.clip(
        level[:, None] + scale[:, None] * generator.normal(size=(tenants, models)), 0, 1
    )
    names = tuple(f"t{i}" for i in range(tenants)), tuple(f"m{k}" for k in range(models))
    return Workload(quality, generator.uniform(0.1, 1, quality.shape), *names)


def pairs(trace):
    return [(run.tenant, run.model) for run in trace.runs]


@pytest.mark.parametrize("name", sorted(installed_policies().by_name))
def test_every_policy_runs_everything_once_on_any_number_of_devices(name):
    for speeds in ((1.0,), (2.0, 1.0, 0.5)):
        trace = simulate(SMALL, policy_named(name), PRIOR, Scenario(speeds=speeds))
        assert sorted(pairs(trace)) == [(i, k) for i in range(2) for k in range(3)]
        assert trace.idle == 0
        for device, speed in enumerate(speeds):
            own = [run for run in trace.runs if run.device == device]
            for run, after in itertools.pairwise(own):
                assert after.start >= run.end
            assert all(
                run.end - run.start == pytest.approx(COST[run.tenant, run.model] / speed)
                for run in own
            )


@pytest.mark.parametrize("devices", [1, 3])
def test_stopping_when_all_is_found_changes_no_figure(devices):
    work = many(tenants=5)
    prior, speeds = angular_prior(many(seed=1).quality), (1.0,) * devices
    whole, until = (
        curve(simulate(work, policy_named(), prior, Scenario(speeds=speeds, until_best=best)), work)
        for best in (False, True)
    )
    assert len(until.share) < len(whole.share)
    assert until.area == pytest.approx(whole.area)
    for level in (0.05, 0.01, 0.001, 0.0):
        assert until.share_to(level) == pytest.approx(whole.share_to(level))
        assert until.time_to(level) == whole.time_to(level)
    shares = np.linspace(0, 1, 50)
    np.testing.assert_array_equal(until.at(shares), whole.at(shares))


def test_the_same_seed_gives_the_same_trace_and_explanations_are_kept():
    scenario = Scenario(failing=0.5)
    traces = [
        simulate(SMALL, policy_named(), PRIOR, scenario, seed=s, explain=True) for s in (1, 1, 2)
    ]
    assert traces[0] == traces[1] != traces[2]
    assert all(json.dumps(run.explanation) for run in traces[0].runs)


def test_tenants_come_and_go():
    trace = simulate(
        SMALL, policy_named("fifo"), PRIOR, Scenario(arrivals={0: 2.5}, departures={1: 2.5})
    )
    assert pairs(trace) == [(1, 0), (1, 1), (0, 0), (0, 1), (0, 2)]
    assert next(run.start for run in trace.runs if run.tenant == 0) == 3.0  # runs under way end


def test_budgets_quotas_rest_and_the_end_of_time():
    least = simulate(SMALL, policy_named(), PRIOR, Scenario(budgets={0: Budget(tasks=1)}))
    assert sum(run.tenant == 0 for run in least.runs) == 1
    quota = simulate(
        SMALL, policy_named(), PRIOR, Scenario(speeds=(1.0, 1.0), terms={0: Terms(devices=1)})
    )
    own = [run for run in quota.runs if run.tenant == 0]
    assert all(after.start >= run.end for run, after in itertools.pairwise(own))
    assert len(simulate(SMALL, policy_named(), PRIOR, Scenario(tolerance=1.0)).runs) < 6
    assert all(
        run.end <= 2 for run in simulate(SMALL, policy_named(), PRIOR, Scenario(until=2.0)).runs
    )


def test_losses_by_hand():
    runs = (Run(0, 0, 0, 0.0, 1.0, 0.5), Run(1, 0, 1, 0.0, 2.0, 0.8), Run(0, 1, 0, 1.0, 4.0, 0.9))
    told = curve(Trace(runs, 0.0), SMALL)
    np.testing.assert_allclose(told.share, np.array([0, 2, 4, 6]) / 9)
    np.testing.assert_allclose(told.loss, [[0.9, 0.8], [0.4, 0.8], [0.4, 0.0], [0.0, 0.0]])
    assert told.area == pytest.approx((0.85 * 2 + 0.6 * 2 + 0.2 * 2) / 9)
    assert (told.share_to(0.3), told.time_to(0.0), told.share_to(-1)) == (
        pytest.approx(4 / 9),
        4.0,
        1.0,
    )


@pytest.mark.parametrize("name", ["default", "ei-rate", "hybrid", "cheapest-first"])
def test_nobody_beats_the_clairvoyant(name):
    work = many().of(np.arange(6))
    known = empirical_prior(many().quality[6:])
    assert clairvoyant(work).area < curve(simulate(work, policy_named(name), known), work).area


def test_tenants_under_test_are_no_part_of_the_past():
    past, work = split(many(), 10, np.random.default_rng(0))
    assert past.shape == (30, 16)
    assert not {row.tobytes() for row in past} & {row.tobytes() for row in work.quality}
    with pytest.raises(InvalidInput, match="41 tenants"):
        split(many(), 41, np.random.default_rng(0))


def test_the_comparison_is_paired_and_complete():
    told = compare(many(), ["default", "ei-rate", "random"], Setting(tenants=4, seeds=3)).to_json()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    for policy in ("default", "ei-rate", "random"):
        found = told["policies"][policy]
        lengths = {
            len(found[key])
            for key in ("cost_share", "mean_loss", "interval", "worst_loss", "clairvoyant")
        }
        assert len(lengths) == 1
        assert found["mean_loss"][0] == pytest.approx(told["clairvoyant"]["mean_loss"][0])
        assert found["mean_loss"][-1] == pytest.approx(0, abs=1e-12)
        assert (np.diff(found["mean_loss"]) <= 1e-12).all()
        assert all(
            low <= mean <= high
            for mean, (low, high) in zip(found["mean_loss"], found["interval"], strict=True)
        )
    assert told["policies"]["default"]["area"] < told["policies"]["random"]["area"]


def test_histories():
    given, _ = draw(many(), Setting(tenants=4), 0)
    none, _ = draw(many(), Setting(tenants=4, history="none"), 0)
    mixed, _ = draw(many(), Setting(tenants=4, history="misleading"), 0)
    assert none.shape == (0, 16)
    np.testing.assert_allclose(np.sort(mixed, axis=1), np.sort(given, axis=1))
    assert belief(none, [f"m{k}" for k in range(16)], own=True).mean.shape == (16,)
    holes = given.copy()
    holes[:, 3] = np.nan
    assert np.isfinite(belief(holes, [f"m{k}" for k in range(16)], own=True).mean).all()


def test_the_angular_prior_finds_scales_and_levels():
    work = many(300, 20, seed=1)
    prior = angular_prior(work.quality)
    belief_of_scale = np.average(np.log(prior.scales.factors), weights=prior.scales.weights)
    assert belief_of_scale == pytest.approx(-3, abs=0.25)
    assert Posterior.of(prior).mean == pytest.approx(np.full(20, 0.7), abs=0.05)
    few = angular_prior(work.quality[:10])
    assert few.scales.factors.size == 1


def test_a_hundred_tenants_of_synthetic_work():
    work = synthetic(0.5, 1.0, np.random.default_rng(0), tenants=12, models=10)
    assert work.quality.shape == (12, 10)
    assert (
        len(
            simulate(work, policy_named(), empirical_prior(work.quality), Scenario((1.0,) * 5)).runs
        )
        == 120
    )


@pytest.mark.parametrize(
    ("quality", "cost"),
    [
        (np.array([[1.5, 0.5]]), np.ones((1, 2))),
        (np.array([[np.nan, np.nan]]), np.ones((1, 2))),
        (np.array([[0.5, 0.5]]), np.array([[0.0, 1.0]])),
        (np.array([[0.5]]), np.ones((1, 2))),
    ],
)
def test_malformed_workloads_are_refused(quality, cost):
    with pytest.raises(InvalidInput):
        Workload(quality, cost, ("t",), ("a", "b"))


@pytest.mark.parametrize(
    "wrong", [{"tenants": 0}, {"seeds": 0}, {"costs": "free"}, {"history": "rumours"}]
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(InvalidInput):
        Setting(**wrong)


def test_wrong_scenarios_are_refused():
    with pytest.raises(InvalidInput):
        Scenario(speeds=())
    with pytest.raises(InvalidInput):
        Scenario(failing=1.0)


def _twice(costs):
    """Two searches for which the second model costs as told, the others 1."""
    cost = np.ones((2, 3))
    cost[:, 1] = costs
    return Workload(np.full((2, 3), 0.5), cost, ("ann", "bob"), ("a", "b", "c"))


def test_learned_costs_are_those_of_the_past_until_runs_tell_others():
    past = [(Work(model, job=f"p{job}"), 1.0) for model in "ac" for job in range(8)]
    past += [(Work("b", job=f"p{job}"), 0.05) for job in range(8)]
    cheapest = policy_named("cheapest-first")
    dear = _twice(30.0)
    knowing = simulate(dear, cheapest, PRIOR)
    assert [model for _, model in pairs(knowing)][-2:] == [1, 1]
    misled = simulate(dear, cheapest, PRIOR, costs=CostBelief.of(past))
    first, *later = pairs(misled)
    assert first == (0, 1)
    assert later[0][1] != 1, "one run told both that it is dear"
    assert later[-1] == (1, 1)


def test_policies_that_ask_no_cost_do_the_same_when_costs_are_learned():
    workload = many(tenants=20)
    areas = {}
    for costs in ("learned", "measured"):
        setting = Setting(tenants=4, seeds=2, costs=costs)
        told = compare(workload, ["random", "default"], setting).to_json()
        assert told["costs"] == costs
        areas[costs] = {name: found["area"] for name, found in told["policies"].items()}
    assert areas["learned"]["random"] == areas["measured"]["random"]
    assert areas["learned"]["clairvoyant"] == areas["measured"]["clairvoyant"]
    assert areas["learned"]["default"] != areas["measured"]["default"]


@pytest.mark.parametrize("history", ["given", "none", "misleading"])
def test_what_the_past_teaches_of_costs_is_what_it_was(history):
    workload = many(tenants=30, models=4)
    dear = workload.cost * np.array([1.0, 1.0, 20.0, 1.0])
    workload = Workload(workload.quality, dear, workload.tenants, workload.models)
    believed = past_costs(workload, Setting(tenants=5, costs="learned", history=history), seed=3)
    seconds = believed.predict([Work(model) for model in workload.models]).seconds
    if history == "none":
        assert np.ptp(seconds) == 0
    else:
        assert np.sort(seconds)[-1] > 8 * np.sort(seconds)[-2]
    if history == "given":
        assert np.argmax(seconds) == 2
