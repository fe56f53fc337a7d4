"""The immutable state of all searches."""

import numpy as np
import pytest

from easeml.errors import InvalidInput, NotFound
from easeml.search import (
    Arm,
    Observation,
    SearchState,
    add_job,
    default_prior,
    learned_prior,
    observed,
    released,
    remove_job,
    set_active,
    set_costs,
    set_prior,
    set_resting,
    started,
)

ARMS = [Arm("a", "logistic", 0.0), Arm("b", "svm", 2.0), Arm("c", "lightgbm", 3.0)]


def fresh(*names):
    state = SearchState()
    for name in names:
        state = add_job(state, name, f"tenant of {name}", ARMS, default_prior(ARMS))
    return state


def test_a_run_goes_from_startable_to_running_to_ended():
    state = fresh("x")
    begun = started(state, "x", 1)
    assert begun.job("x").startable.tolist() == [0, 2]
    assert released(begun, "x", 1).job("x").startable.tolist() == [0, 1, 2]
    done = observed(begun, Observation("x", 1, 0.8, 2.5))
    assert (done.job("x").best, done.job("x").spent, done.job("x").running) == (0.8, 2.5, ())
    failed = observed(started(done, "x", 0), Observation("x", 0, None, 1.0))
    assert failed.job("x").startable.tolist() == [2]
    assert failed.job("x").best == 0.8
    np.testing.assert_array_equal(failed.job("x").posterior.mean, done.job("x").posterior.mean)
    assert state.job("x").startable.tolist() == [0, 1, 2]


def test_jobs_at_rest_start_nothing_and_come_back():
    state = set_active(fresh("x"), "x", False)
    assert not state.job("x").startable.size
    assert not state.waiting
    assert set_active(state, "x", True).job("x").startable.size == 3


def test_another_prior_forgets_nothing_that_was_observed_and_wakes_nobody():
    state = set_resting(observed(fresh("x"), Observation("x", 0, 0.5, 1.0)), "x", True)
    prior = learned_prior(ARMS, [("other", "logistic", (), 0.5), ("other", "svm", (), 0.9)])
    found = set_prior(state, "x", prior).job("x")
    at_once = observed(
        add_job(SearchState(), "x", "t", ARMS, prior), Observation("x", 0, 0.5, 1.0)
    ).job("x")
    np.testing.assert_allclose(found.posterior.mean, at_once.posterior.mean)
    assert (found.best, found.resting, found.finished) == (0.5, True, {0})


def test_other_costs_change_what_is_cheap_and_nothing_that_is_believed():
    before = fresh("a")
    after = set_costs(before, "a", [(0, 7.0), (1, 0.0)])
    assert after.job("a").costs[:2].tolist() == [7.0, 0.01]
    assert after.job("a").arms[0].cost == 7.0
    assert after.job("a").posterior is before.job("a").posterior
    assert before.job("a").costs[0] != 7.0
    with pytest.raises(InvalidInput, match="arm 99"):
        set_costs(before, "a", [(99, 1.0)])


def test_other_jobs_are_shared_not_copied():
    state = fresh("x", "y")
    assert observed(state, Observation("x", 0, 0.5, 1.0)).job("y") is state.job("y")


def test_a_removed_job_leaves_the_turn_of_its_tenant():
    state = remove_job(started(fresh("x", "y"), "x", 0), "x")
    assert list(state.jobs) == ["y"]
    assert dict(state.turns) == {"tenant of x": 1}


def test_runs_that_were_never_started_count_as_turns():
    assert dict(observed(fresh("x"), Observation("x", 0, 0.5, 1.0)).turns) == {"tenant of x": 1}


def test_zero_costs_get_a_floor():
    assert fresh("x").job("x").costs.tolist() == [0.01, 2.0, 3.0]


def test_wrong_use_is_refused_with_the_place():
    state = fresh("x")
    with pytest.raises(InvalidInput, match="job 'x'"):
        add_job(state, "x", "t", ARMS, default_prior(ARMS))
    with pytest.raises(InvalidInput, match="2 arms"):
        add_job(state, "y", "t", ARMS[:2], default_prior(ARMS))
    with pytest.raises(InvalidInput, match="arm 3"):
        started(state, "x", 3)
    with pytest.raises(NotFound, match="job 'z'"):
        released(state, "z", 0)
    with pytest.raises(InvalidInput, match="not finite"):
        observed(state, Observation("x", 0, float("nan"), 1.0))
    with pytest.raises(InvalidInput, match="'bad'"):
        Arm("bad", "m", float("inf"))


def test_expected_gains_fall_with_the_results_of_a_job_and_of_a_model_as_records_become_rare():
    linear = [Arm(f"logistic-{number}", "logistic", 1.0) for number in range(20)]
    arms = [*linear, Arm("svm", "svm", 1.0)]
    state = add_job(SearchState(), "x", "t", arms, default_prior(arms))
    for arm in range(16):
        job = state.job("x")
        share = 1.0 if arm < 4 else (4 / (arm + 1)) ** 2
        np.testing.assert_allclose(job.gains[:20], share**2 * job.improvement[:20])
        assert job.gains[20] == pytest.approx(share * job.improvement[20])
        state = observed(state, Observation("x", arm, 0.7, 1.0))
    failed = observed(state, Observation("x", 16, None, 1.0)).job("x")
    assert failed.gains[20] == pytest.approx(failed.improvement[20] * (4 / 17) ** 2)


def test_qualities_that_lie_evenly_below_their_highest_bring_as_little_as_is_said():
    draws = np.random.default_rng(0).random((200_000, 12))
    best = np.maximum.accumulate(draws, axis=1)
    brought = np.diff(best, axis=1).mean(axis=0)
    results = np.arange(1, 12)
    np.testing.assert_allclose(brought, 1 / ((results + 1) * (results + 2)), rtol=0.05)
