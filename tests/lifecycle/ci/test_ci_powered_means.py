"""Means with the help of guesses beside the formulas, written out number by number."""

import math
import statistics

import numpy as np
import pytest

from easeml.errors import InvalidInput
from easeml.lifecycle.ci.powered import powered_mean

LEVEL = 0.1


def sample(size: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    values = draw.uniform(0.3, 0.7, size)
    guesses = np.clip(values + draw.normal(0, 0.05, size), 0, 1)
    return values, guesses, np.clip(draw.uniform(0.3, 0.7, 4 * size), 0, 1)


def factor_of(values: list[float], guesses: list[float], pool: int) -> float:
    joint = statistics.covariance(values, guesses)
    spread = statistics.variance(guesses)
    return min(1.0, max(0.0, joint / ((1 + len(values) / pool) * spread)))


def radius_of(values: list[float], spread: float, level: float) -> float:
    nats = math.log(4 / level)
    variance = statistics.variance(values)
    from_range = 7 * spread * nats / (3 * (len(values) - 1))
    return math.sqrt(2 * variance * nats / len(values)) + from_range


def test_the_exact_interval_is_the_sum_of_two_at_half_the_level() -> None:
    values, guesses, pool = (one.tolist() for one in sample(4000, 0))
    half = len(values) // 2
    factor = factor_of(values[:half], guesses[:half], len(pool))
    rest = [v - factor * g for v, g in zip(values[half:], guesses[half:], strict=True)]
    scaled = [factor * one for one in pool]
    middle = statistics.mean(rest) + statistics.mean(scaled)
    radius = radius_of(rest, 1 + factor, LEVEL / 2) + radius_of(scaled, factor, LEVEL / 2)
    found = powered_mean(np.array(values), np.array(guesses), np.array(pool), LEVEL)
    assert found.exact
    assert 0 < factor < 1
    assert found.factor == pytest.approx(factor)
    assert found.estimate == pytest.approx(middle)
    assert (found.low, found.high) == pytest.approx((middle - radius, middle + radius))


def test_the_normal_interval_has_both_variances() -> None:
    values, guesses, pool = (one.tolist() for one in sample(60, 1))
    factor = factor_of(values, guesses, len(pool))
    rest = [v - factor * g for v, g in zip(values, guesses, strict=True)]
    middle = statistics.mean(rest) + factor * statistics.mean(pool)
    error = math.sqrt(
        statistics.variance(rest) / len(rest) + factor**2 * statistics.variance(pool) / len(pool)
    )
    radius = error * statistics.NormalDist().inv_cdf(1 - LEVEL / 2)
    found = powered_mean(np.array(values), np.array(guesses), np.array(pool), LEVEL, exact=False)
    assert not found.exact
    assert found.estimate == pytest.approx(middle)
    assert (found.low, found.high) == pytest.approx((middle - radius, middle + radius))


def test_guesses_that_never_differ_are_not_used() -> None:
    values, _, pool = sample(40, 2)
    found = powered_mean(values, np.full(40, 0.5), pool, LEVEL, exact=False)
    assert found.factor == 0.0
    assert found.estimate == pytest.approx(values.mean())


@pytest.mark.parametrize("level", [0.0, 1.0])
def test_a_level_is_a_chance(level: float) -> None:
    with pytest.raises(InvalidInput, match="level"):
        powered_mean(*sample(20, 3), level)
