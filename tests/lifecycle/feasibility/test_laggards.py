"""What a competitor that lags may still know: nothing where the leader's errors are wrong labels."""

import numpy as np
import pytest

from easeml.lifecycle.feasibility.arms import Reading
from easeml.lifecycle.feasibility.laggards import end_of_laggard
from easeml.lifecycle.feasibility.race import Track

ROWS = 4000


def track(actual: np.ndarray, guesses: np.ndarray) -> Track:
    losses = (guesses != actual).astype(float)[None]
    reading = Reading(100, (1,), losses, losses, guesses[None].astype(float))
    return Track(arm=None, readings=[reading])  # pyright: ignore[reportArgumentType]


def disturbed(truth: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Return the classes with each of a share of the rows replaced by another class."""
    other = (truth + rng.integers(1, 3, ROWS)) % 3
    return np.where(rng.random(ROWS) < share, other, truth)


@pytest.mark.parametrize("seed", range(5))
def test_a_laggard_without_knowledge_of_its_own_stays_near_the_leader(seed: int):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, ROWS)
    labels = disturbed(truth, 0.15, rng)
    leader = track(labels, truth)
    laggard = track(labels, disturbed(truth, 0.1, rng))
    end = end_of_laggard(leader, laggard, 0.0, 2 / 3, 3)
    assert 0.12 < end <= leader.best


@pytest.mark.parametrize("seed", range(5))
def test_a_laggard_that_knows_where_the_leader_errs_may_pass_it(seed: int):
    """The leader errs where a pattern of its own rules; the laggard has learned half of both."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, ROWS)
    leader = track(truth, disturbed(truth, 0.2, rng))
    laggard = track(truth, disturbed(truth, 0.3, rng))
    assert end_of_laggard(leader, laggard, 0.0, 2 / 3, 3) == 0.0
