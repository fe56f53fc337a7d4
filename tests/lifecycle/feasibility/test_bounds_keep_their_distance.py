"""Bounds from below that an attacker's tables had put above the least error."""

import numpy as np
import pytest

from easeml.lifecycle.feasibility.curve import SLOWEST, slowest_ends
from easeml.lifecycle.feasibility.pairs import pair_floors

NOISE = 0.15


def floor_of(codes: np.ndarray, target: np.ndarray) -> float:
    found = pair_floors(codes, target, 2, 200, np.random.default_rng(1))
    assert found is not None
    return float(np.quantile(found, 0.025))


def days_and_months(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The day decides, but for three of 31 days, on which the month does, too."""
    rng = np.random.default_rng(seed)
    day = rng.integers(0, 31, rows)
    is_long_month = rng.random(rows) < 0.5
    answer = np.where(day < 27, False, True)
    answer = np.where((day >= 25) & (day < 28), is_long_month, answer)
    return day, (answer ^ (rng.random(rows) < NOISE)).astype(int)


def test_cells_in_which_another_column_decides_do_not_lift_the_bound() -> None:
    """It was above the least error in a quarter of such tables, then in a tenth."""
    above = sum(floor_of(*days_and_months(2_000, seed)) > NOISE for seed in range(100))
    assert above <= 6  # 2.5 are stated


@pytest.mark.parametrize(("cells", "mixed"), [(31, 3), (31, 9), (200, 20), (200, 60)])
@pytest.mark.parametrize("noise", [0.05, 0.3])
def test_however_many_cells_are_mixed_the_bound_is_that_of_the_others(
    cells: int, mixed: int, noise: float
) -> None:
    """Where a third is mixed, it was above the least error in all tables, by up to .03."""
    above = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, cells, 2_000)
        answers = rng.random(cells) < 0.5
        by_another = (codes < mixed) & (rng.random(2_000) < 0.5)
        is_wrong = rng.random(2_000) < noise
        above += floor_of(codes, (answers[codes] ^ by_another ^ is_wrong).astype(int)) > noise
    assert above <= 3


def test_where_the_cells_decide_the_bound_stays_near_the_least_error() -> None:
    found = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, 31, 2_000)
        target = ((codes > 20) ^ (rng.random(2_000) < NOISE)).astype(int)
        found.append(floor_of(codes, target))
    assert sum(floor > NOISE for floor in found) <= 7
    assert np.mean(found) > NOISE - 0.03


def test_the_slowest_end_is_as_unsure_as_the_fall_that_it_continues() -> None:
    """Errors fall from .4 to .35; the end is many times as unsure."""
    rng = np.random.default_rng(0)
    rows = 2_000
    losses = np.array([rng.random(rows) < 0.4, rng.random(rows) < 0.35]).astype(float)
    samples = rng.multinomial(rows, np.full(rows, 1 / rows), 400)
    found = slowest_ends(losses, samples)
    rest = 1 / (2**SLOWEST - 1)
    expected = losses[1].mean() - rest * (losses[0].mean() - losses[1].mean())
    assert abs(found.mean() - expected) < 0.01
    # of two independent shares: sqrt((1 + rest)^2 .35 .65 + rest^2 .4 .6) / sqrt(rows)
    spread = np.sqrt((1 + rest) ** 2 * 0.2275 + rest**2 * 0.24) / np.sqrt(rows)
    assert found.std() == np.clip(found.std(), 0.85 * spread, 1.15 * spread)


def test_a_fall_that_may_be_chance_goes_on_nowhere() -> None:
    rng = np.random.default_rng(0)
    losses = np.array([rng.random(500) < 0.2, rng.random(500) < 0.2]).astype(float)
    found = slowest_ends(losses, np.ones((1, 500)))
    assert found[0] == losses[1].mean()
