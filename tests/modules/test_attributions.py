"""Shapley values against their definition, and the laws they obey."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.modules.attributions import shapley_values


def by_definition(predict, rows: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Return the Shapley values of a row by all coalitions, averaged over all background rows."""
    columns = len(row)

    def worth(coalition: tuple[int, ...]) -> float:
        mixed = rows.copy()
        mixed[:, list(coalition)] = row[list(coalition)]
        return float(predict(mixed).mean())

    values = np.zeros(columns)
    for column in range(columns):
        others = [one for one in range(columns) if one != column]
        for size in range(columns):
            weight = 1 / (columns * comb(columns - 1, size))
            for coalition in combinations(others, size):
                values[column] += weight * (worth((*coalition, column)) - worth(coalition))
    return values


def sampled(predict, rows: np.ndarray, row: np.ndarray, **options):
    together = np.vstack([rows, row])

    def value_of(origins: np.ndarray) -> np.ndarray:
        return predict(np.take_along_axis(together, origins, axis=0))

    return shapley_values(value_of, background=len(rows), columns=len(row), **options)


def crossed(x: np.ndarray) -> np.ndarray:
    return x[:, 0] * x[:, 1] + np.sin(x[:, 2]) + (x[:, 0] > x[:, 3]) * 2.0


@pytest.mark.parametrize("seed", range(5))
def test_they_are_those_of_the_definition_within_their_errors(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, row = rng.normal(size=(7, 5)), rng.normal(size=5)
    found = sampled(crossed, rows, row, seed=seed, most_rows=40_000)
    truth = by_definition(crossed, rows, row)
    assert np.all(np.abs(found.values - truth) <= 4 * found.errors + 1e-12)
    assert found.values[4] == 0 == truth[4]  # which is not looked at


def test_a_sum_of_columns_is_taken_apart_exactly() -> None:
    rng = np.random.default_rng(0)
    rows, row = rng.normal(size=(6, 3)), rng.normal(size=3)
    weights = np.array([2.0, -1.0, 0.5])
    found = sampled(lambda x: x @ weights, rows, row)
    assert found.values == pytest.approx(weights * (row - rows.mean(axis=0)))


@given(
    columns=st.integers(1, 8),
    background=st.integers(1, 9),
    most_rows=st.integers(0, 400),
    seed=st.integers(0, 99),
)
def test_what_all_columns_add_leads_from_the_base_to_the_prediction(
    columns: int, background: int, most_rows: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    rows, row = rng.normal(size=(background, columns)), rng.normal(size=columns)
    weights = rng.normal(size=columns)
    predict = lambda x: np.tanh(x @ weights) + x.prod(axis=1)  # noqa: E731
    found = sampled(predict, rows, row, seed=seed, most_rows=most_rows)
    assert found.base + found.values.sum() == pytest.approx(predict(row[None])[0])
    assert found.errors.shape == (columns,)


def test_work_is_bounded() -> None:
    asked = []

    def value_of(origins: np.ndarray) -> np.ndarray:
        asked.append(len(origins))
        return np.zeros(len(origins))

    shapley_values(value_of, background=40, columns=10)
    shapley_values(value_of, background=40, columns=800)
    assert asked == [2 * 160 * 11, 2 * 2 * 801]
