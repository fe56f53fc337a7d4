"""Values of source rows behind pipelines against every order of the units."""

import numpy as np
import pytest
from labeling_oracles import shapley

from easeml.errors import InvalidInput
from easeml.lifecycle.labeling import (
    Provenance,
    knn_shapley,
    sampled_unit_knn_shapley,
    unit_knn_shapley,
)
from easeml.lifecycle.labeling.inputs import check_task
from easeml.lifecycle.labeling.units import integrated_values


def oracle(provenance: Provenance, match: np.ndarray, k: int) -> np.ndarray:
    """Return values of units for output rows sorted nearest first."""

    def worth(coalition):
        there = [
            i for i, units in enumerate(provenance.units) if set(units.tolist()) <= set(coalition)
        ]
        return sum(match[i] for i in there[:k]) / k

    return shapley(provenance.n_units, worth)


def line(n: int) -> np.ndarray:
    return np.arange(1.0, n + 1)[:, None]


def test_fork_with_one_neighbour():  # mkt-6
    provenance = Provenance.source(3).take([0, 1, 0, 2, 1])
    values = unit_knn_shapley(provenance, line(5), [0, 1, 1, 1, 0], [[0.0]], [1], 1)
    assert values == pytest.approx([-2 / 3, 1 / 3, 1 / 3], abs=1e-15)
    task = check_task(line(5), [0, 1, 1, 1, 0], [[0.0]], [1], 1)
    assert integrated_values(task, provenance.units[:, 0], None, 3) == pytest.approx(
        values, abs=1e-14
    )


@pytest.mark.parametrize("k", [1, 2, 3, 7])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_forks_against_every_order(k: int, seed: int):
    generator = np.random.default_rng(seed)
    provenance = Provenance.source(6).take(generator.integers(0, 5, 9))  # unit 5 has no output row
    y = generator.integers(0, 2, 9)
    values = unit_knn_shapley(provenance, line(9), y, [[0.0]], [1], k)
    assert values == pytest.approx(oracle(provenance, y, k), abs=1e-13)
    assert values[5] == 0


@pytest.mark.parametrize("k", [1, 2, 3, 7])
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("swapped", [False, True])
def test_one_to_many_joins_against_every_order(k: int, seed: int, swapped: bool):
    generator = np.random.default_rng(seed)
    facts, dims = (
        Provenance.source(4).take(generator.integers(0, 4, 8)),
        generator.integers(0, 2, 4),
    )
    parents = dims[facts.units[:, 0]]
    if swapped:
        joined = Provenance.source(2).join(facts, parents, np.arange(8))
    else:
        joined = facts.join(Provenance.source(2), np.arange(8), parents)
    y = generator.integers(0, 2, 8)
    values = unit_knn_shapley(joined, line(8), y, [[0.0]], [1], k)
    assert values == pytest.approx(oracle(joined, y, k), abs=1e-13)


def test_maps_and_filters_are_plain_values():
    generator = np.random.default_rng(0)
    X, y, V, v = (
        generator.normal(size=(30, 2)),
        generator.integers(0, 3, 30),
        generator.normal(size=(6, 2)),
        [0, 1, 2] * 2,
    )
    kept = generator.random(30) < 0.6
    values = unit_knn_shapley(Provenance.source(30).take(kept), X[kept], y[kept], V, v, 3)
    assert values[kept] == pytest.approx(knn_shapley(X[kept], y[kept], V, v, 3), abs=1e-12)
    assert not values[~kept].any()


def test_sampling_takes_many_to_many_joins():
    generator = np.random.default_rng(1)
    joined = Provenance.from_columns([[0, 0, 1, 1, 2, 2, 0], [0, 1, 0, 1, 1, 0, 2]], [3, 3])
    y = generator.integers(0, 2, 7)
    with pytest.raises(InvalidInput, match="sampled"):
        unit_knn_shapley(joined, line(7), y, [[0.0]], [1], 2)
    values, errors = sampled_unit_knn_shapley(
        joined, line(7), y, [[0.0]], [1], 2, permutations=3000, seed=4
    )
    assert (np.abs(values - oracle(joined, y, 2)) <= 5 * errors + 1e-9).all()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Provenance.from_columns([[0, 3]], [3]),
        lambda: Provenance.from_columns([[0.5]], [3]),
        lambda: Provenance.from_columns([[0], [0, 1]], [1, 2]),
        lambda: Provenance.from_columns([], []),
        lambda: Provenance.source(3).take([-1]),
        lambda: Provenance.source(3).join(Provenance.source(2), [0, 1], [0]),
        lambda: unit_knn_shapley(Provenance.source(2), line(3), [0, 1, 0], [[0.0]], [1], 1),
    ],
)
def test_wrong_provenance_is_refused(wrong):
    with pytest.raises(InvalidInput):
        wrong()
