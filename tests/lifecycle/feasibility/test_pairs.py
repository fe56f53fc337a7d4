"""Bounds by rows of one value, the kernel that learns directions, and what a verdict takes."""

from typing import cast

import numpy as np
import pandas as pd
import pytest

from easeml.lifecycle.feasibility.adaptive_kernel import AdaptiveKernel
from easeml.lifecycle.feasibility.answer import Sides, judge
from easeml.lifecycle.feasibility.columns import read_columns
from easeml.lifecycle.feasibility.pairs import pair_floors


def noisy_cells(seed: int, cells: int, classes: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, cells, 2000)
    labels = rng.integers(0, classes, cells)[levels]
    other = (labels + rng.integers(1, classes, 2000)) % classes
    return levels, np.where(rng.random(2000) < noise, other, labels)


@pytest.mark.parametrize(("cells", "classes"), [(60, 2), (300, 5)])
def test_pairs_of_one_value_bound_the_error_from_below(cells: int, classes: int):
    """Labels are wrong with chance .15: 60 bounds at 95 % pass it in 3 at the mean, 8 at most."""
    above, bounds = 0, []
    for seed in range(60):
        levels, target = noisy_cells(seed, cells, classes, 0.15)
        floors = pair_floors(levels, target, classes, 200, np.random.default_rng(seed))
        assert floors is not None
        bounds.append(float(np.quantile(floors, 0.05)))
        above += bounds[-1] > 0.15
    assert above <= 8
    assert np.mean(bounds) > 0.12


def test_few_cells_or_rows_alone_say_nothing():
    rng = np.random.default_rng(0)
    target = rng.integers(0, 2, 500)
    assert pair_floors(np.arange(500), target, 2, 10, rng) is None
    assert pair_floors(rng.integers(0, 5, 500), target, 2, 10, rng) is None


def test_the_kernel_finds_the_sum_that_decides_among_twelve_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 12))
    y = (np.sin(2.5 * (X[:, 0] + X[:, 1])) > 0).astype(int)
    kernel = AdaptiveKernel(2, seed=0, features=200)
    kernel.fit(X[:800], y[:800], np.where(np.arange(12) < 2, 1.0, 0.1))
    shares = kernel.predict(X[800:])
    assert np.allclose(shares.sum(axis=1), 1)
    assert (shares.argmax(axis=1) == y[800:]).mean() > 0.8
    numbers = AdaptiveKernel(0, seed=0, features=200)
    numbers.fit(X[:800], X[:800, 0] * X[:800, 1], np.ones(12))
    found = numbers.predict(X[800:])[:, 0]
    assert np.corrcoef(found, X[800:, 0] * X[800:, 1])[0, 1] > 0.9


class Bounds:
    """Sides whose bounds are known: as wide as the confidence asks."""

    reached = np.array([0.0, 1.0, 0.0, 0.0])
    floors = np.linspace(0, 1, 101)

    def upper(self, confidence: float) -> float:
        return confidence

    def lower(self, confidence: float) -> float:
        return 1 - confidence


@pytest.mark.parametrize(
    ("limit", "verdict"),
    [(0.95, "realistic"), (0.94, "cannot tell"), (0.03, "cannot tell"), (0.02, "unrealistic")],
)
def test_realistic_takes_one_side_at_its_confidence(limit: float, verdict: str):
    """The bound from below rests on assumptions: it keeps the distance of both bounds together."""
    assert judge(cast(Sides, Bounds()), 1 - limit, 0.95)[0] == verdict


def test_the_minute_and_the_day_of_a_time_are_looked_at():
    times = pd.Timestamp("2022-02-01") + pd.to_timedelta(np.arange(400) * 7_919, unit="s")
    names = {column.name for column in read_columns(pd.DataFrame({"at": times}))}
    assert {"at minute", "at day"} <= names
