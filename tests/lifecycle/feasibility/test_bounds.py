"""Formulas between neighbours' errors, the Bayes error and label noise."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from easeml.errors import InvalidInput
from easeml.lifecycle.feasibility import lower_bound, with_noise, with_transition, without_noise
from easeml.lifecycle.feasibility.bounds import binomial_interval, mean_interval


@pytest.mark.parametrize(
    ("error", "classes", "bound"),
    [
        (0.1, 2, 0.0527864045),
        (0.3, 10, 0.165153077165),
        (0.5, 2, 0.5),
        (0.95, 10, 0.9),
        (0.0, 5, 0.0),
        (0.02, 100, 0.010051021736),
    ],
)
def test_the_bound_of_cover_and_hart(error: float, classes: int, bound: float):
    assert lower_bound(error, classes) == pytest.approx(bound, abs=1e-9)


@pytest.mark.parametrize(
    ("k", "bound"), [(2, 0.06), (3, 0.076076951546), (5, 0.082917960675), (10, 0.091169631198)]
)
def test_the_bound_of_several_neighbours(k: int, bound: float):
    assert lower_bound(0.12, 2, k) == pytest.approx(bound, abs=1e-9)


def test_two_gaussians_by_integration():
    def posterior(x: float) -> float:
        return norm.pdf(x, 1) / (norm.pdf(x, 1) + norm.pdf(x, -1))

    def density(x: float) -> float:
        return (norm.pdf(x, 1) + norm.pdf(x, -1)) / 2

    bayes = quad(lambda x: min(posterior(x), 1 - posterior(x)) * density(x), -9, 9, points=[0])[0]
    neighbour = quad(lambda x: 2 * posterior(x) * (1 - posterior(x)) * density(x), -9, 9)[0]
    assert bayes == pytest.approx(0.158655253931, abs=1e-6)
    assert neighbour == pytest.approx(0.224799755, abs=1e-6)
    assert lower_bound(neighbour, 2) == pytest.approx(0.129055095, abs=1e-6)


@given(
    st.lists(st.floats(0, 1), min_size=2, max_size=8).filter(lambda weights: sum(weights) > 0.01)
)
def test_the_bound_never_exceeds_the_bayes_error_of_endless_rows(weights: list[float]):
    posterior = np.array(weights) / sum(weights)
    assert lower_bound(1 - float((posterior**2).sum()), len(weights)) <= 1 - posterior.max() + 1e-9


@pytest.mark.parametrize(
    ("error", "classes", "k"), [(-0.1, 2, 1), (1.1, 2, 1), (0.1, 1, 1), (0.1, 3, 3), (0.1, 2, 0)]
)
def test_no_bound_for_what_makes_no_sense(error: float, classes: int, k: int):
    with pytest.raises(InvalidInput):
        lower_bound(error, classes, k)


def test_noise_moves_the_error():
    assert with_noise(0.05, 0.2, 10) == pytest.approx(0.22)


@given(st.floats(0, 0.5), st.floats(0, 0.9), st.integers(2, 50))
def test_noise_can_be_taken_back(error: float, share: float, classes: int):
    assert without_noise(with_noise(error, share, classes), share, classes) == pytest.approx(
        error, abs=1e-9
    )


@given(st.integers(0, 1000), st.floats(0, 0.9))
def test_uniform_transitions_are_uniform_noise(seed: int, share: float):
    posteriors = np.random.default_rng(seed).dirichlet(np.ones(4), 20)
    transition = (1 - share) * np.eye(4) + share / 4
    clean = float(1 - posteriors.max(axis=1).mean())
    assert with_transition(posteriors, transition) == pytest.approx(with_noise(clean, share, 4))


def test_intervals_cover_and_shrink():
    assert binomial_interval(0, 10)[0] == 0
    assert binomial_interval(10, 10)[1] == 1
    low, high = binomial_interval(8, 100)
    assert (low, high) == pytest.approx((0.03517156, 0.15155764), abs=1e-6)
    covered = sum(
        low <= 0.1 <= high
        for low, high in (binomial_interval(w, 50) for w in range(51))
        if low <= 0.1
    )
    assert covered > 0
    chance = sum(
        math.comb(50, w) * 0.1**w * 0.9 ** (50 - w)
        for w in range(51)
        if binomial_interval(w, 50)[0] <= 0.1 <= binomial_interval(w, 50)[1]
    )
    assert chance >= 0.95
    assert mean_interval(np.array([0.0, 1.0, 0.0, 0.0])) == binomial_interval(1, 4)
    low, high = mean_interval(np.linspace(0, 3, 100))
    assert 0 < low < 1.5 < high


def test_a_mean_of_losses_of_which_few_are_large_is_not_told_too_small():
    """Two rows of a hundred lose all: of shares the exact end is .0704, of a normal mean .048."""
    losses = np.zeros(100)
    losses[:2] = 1.0
    losses[2:] = 1e-9  # not zeros and ones alone
    assert mean_interval(losses)[1] > 0.07
