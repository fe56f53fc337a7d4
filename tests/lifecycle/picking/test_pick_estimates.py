"""How far beliefs in models give way to what the labels say."""

import numpy as np
import pytest

from easeml.lifecycle.picking.estimates import Estimates


def lagging(labels: int = 30) -> Estimates:
    """Return estimates by which the second of two models lags behind the first."""
    rng = np.random.default_rng(0)
    found = Estimates.none(2)
    for _ in range(labels):
        found = found.with_one(np.array([500.0, 450.0]) + rng.normal(0, 100, size=2))
    return found


def gaps(estimates: Estimates) -> tuple[float, float]:
    """Return the estimated gap of the two models and its standard error."""
    sides = (estimates.mean[0] - estimates.mean[1]) / estimates.weight
    return float(sides), float(sides / estimates.lags(0)[1])


@pytest.mark.parametrize(
    ("errors", "followed"), [(0.4, 0.0), (0.5, 0.0), (1.0, 0.75), (2.0, 15 / 16)]
)
def test_beliefs_give_way_beyond_half_a_standard_error(errors, followed):
    estimates = lagging()
    estimated, error = gaps(estimates)
    believed = estimated + errors * error
    corrected = estimates.correct(np.array([believed, 0.0]))
    assert corrected[0] - corrected[1] == pytest.approx(believed - followed * errors * error)


def test_beliefs_stay_before_there_is_a_spread():
    believed = np.array([3.0, 1.0])
    assert Estimates.none(2).correct(believed).tolist() == believed.tolist()
