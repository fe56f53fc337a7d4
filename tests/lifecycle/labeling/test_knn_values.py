"""Values of rows against every order of the players, the published check values, and laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labeling_oracles import hard, nearest, over_ties, shapley, soft

from easeml.errors import InvalidInput
from easeml.lifecycle.labeling import (
    approximate_knn_shapley,
    expected_knn_shapley,
    knn_shapley,
    threshold_knn_shapley,
    value_rows,
    weighted_knn_shapley,
)

ORIGIN = [[0.0]]


def line(n: int) -> np.ndarray:
    """Return rows at distances 1 .. n of the origin."""
    return np.arange(1.0, n + 1)[:, None]


def blobs(n: int, t: int, seed: int = 0, classes: int = 3) -> tuple[np.ndarray, ...]:
    generator = np.random.default_rng(seed)
    y, v = generator.integers(0, classes, n), generator.integers(0, classes, t)
    centres = generator.normal(size=(classes, 3)) * 2
    return (
        centres[y] + generator.normal(size=(n, 3)),
        y,
        centres[v] + generator.normal(size=(t, 3)),
        v,
    )


def test_fewer_rows_than_neighbours():  # mkt-2
    assert knn_shapley(line(3), [1, 0, 1], ORIGIN, [1], 5) == pytest.approx(
        [1 / 5, 0, 1 / 5], abs=1e-15
    )


def test_soft_labels_with_fewer_rows_than_neighbours():  # mkt-8
    values = knn_shapley(line(3), [1, 0, 1], ORIGIN, [1], 5, soft=True)
    assert values == pytest.approx([11 / 36, -4 / 9, 11 / 36], abs=1e-15)


def test_threshold():  # mkt-4
    values = threshold_knn_shapley(line(7), [1, 0, 0, 1, 1, 0, 1], ORIGIN, [1], 4.0)
    assert values == pytest.approx([11 / 36, -11 / 36, -11 / 36, 11 / 36, 0, 0, 0], abs=1e-15)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6])
@pytest.mark.parametrize("k", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("game", [hard, soft])
def test_rows_against_every_order(n: int, k: int, game):
    generator = np.random.default_rng(n * 10 + k)
    X, y = generator.normal(size=(n, 2)), generator.integers(0, 2, n)
    V, v = generator.normal(size=(2, 2)), np.array([0, 1])
    expected = [
        shapley(n, game(((X - point) ** 2).sum(axis=1), (y == label).astype(float), k))
        for point, label in zip(V, v, strict=True)
    ]
    values = knn_shapley(X, y, V, v, k, soft=game is soft)
    assert values == pytest.approx(np.mean(expected, axis=0), abs=1e-13)


@pytest.mark.parametrize("game", [hard, soft])
@pytest.mark.parametrize("k", [1, 2, 3, 6])
@pytest.mark.parametrize("places", [[1, 1, 1, 1], [1, 1, 2, 2], [1, 2, 2, 2], [1, 1, 1, 2]])
def test_equal_distances_are_averaged_over_their_orders(places: list[int], k: int, game):
    y = np.array([1, 0, 1, 0])
    distances = np.array(places, dtype=float)
    values = knn_shapley(distances[:, None], y, ORIGIN, [1], k, soft=game is soft)
    if game is soft:  # label 0 must exist for two classes
        assert set(y) == {0, 1}
    assert values == pytest.approx(over_ties(distances, (y == 1).astype(float), k, game), abs=1e-13)


def test_equal_distances_by_index_on_request():
    y = np.array([0, 1, 1, 0])
    values = knn_shapley(np.ones((4, 1)), y, ORIGIN, [1], 2, ties="index")
    assert values == pytest.approx(
        shapley(4, hard(np.ones(4), (y == 1).astype(float), 2)), abs=1e-13
    )


def test_rounding_does_not_decide_between_equal_distances():
    values = knn_shapley([[0.1 + 0.2], [0.3], [-0.3]], [1, 1, 0], ORIGIN, [1], 1)
    assert values[0] == pytest.approx(values[1], abs=1e-15)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 400),
    st.integers(1, 12),
    st.integers(1, 30),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_values_sum_to_what_all_rows_are_worth(n: int, t: int, k: int, is_soft: bool, seed: int):
    X, y, V, v = blobs(n, t, seed)
    values = knn_shapley(X, y, V, v, k, soft=is_soft)
    order = np.argsort(((V[:, None] - X) ** 2).sum(axis=2), axis=1)[:, :k]
    matches = (y[order] == v[:, None]).sum(axis=1)
    n_classes = len(set(y.tolist()) | set(v.tolist()))
    worth = (matches / min(k, n) - 1 / n_classes).mean() if is_soft else matches.mean() / k
    assert values.sum() == pytest.approx(worth, abs=1e-10)


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 300), st.integers(1, 8), st.integers(0, 10**6))
def test_order_of_rows_does_not_matter(n: int, k: int, seed: int):
    X, y, V, v = blobs(n, 5, seed)
    X = np.round(X)  # many ties
    order = np.random.default_rng(seed).permutation(n)
    assert knn_shapley(X, y, V, v, k)[order] == pytest.approx(
        knn_shapley(X[order], y[order], V, v, k), abs=1e-12
    )


@pytest.mark.parametrize("is_soft", [False, True])
@pytest.mark.parametrize("error", [0.2, 0.05, 0.01, 0.002])
@pytest.mark.parametrize("shape", ["spread", "grid", "all equal", "one outlier"])
def test_truncated_values_keep_their_error_and_the_sum(shape: str, error: float, is_soft: bool):
    X, y, V, v = blobs(1500, 9)
    if shape == "grid":
        X, V = np.round(X), np.round(V)
    elif shape == "all equal":
        X = np.ones_like(X)
    elif shape == "one outlier":
        X[7] = 1e9
    exact = knn_shapley(X, y, V, v, 5, soft=is_soft)
    truncated = knn_shapley(X, y, V, v, 5, soft=is_soft, error=error)
    assert np.abs(truncated - exact).max() <= error
    assert truncated.sum() == pytest.approx(exact.sum(), abs=1e-10)


def test_many_rows_with_crowded_distances():
    X, y, V, v = blobs(6000, 5)
    X[0] = 1e6
    X[1:4000] = X[1]
    table = 1 / np.maximum(3, np.arange(1, len(X) + 1))
    expected = np.zeros(len(X))
    for point, label in zip(V, v, strict=True):
        order = np.argsort(((X - point) ** 2).sum(axis=1), kind="stable")
        match = (y[order] == label).astype(float)
        taken = np.append(match[1:] * (table[:-1] - table[1:]), 0)
        expected[order] += (match * table - taken[::-1].cumsum()[::-1]) / len(V)
    assert knn_shapley(X, y, V, v, 3, ties="index") == pytest.approx(expected, abs=1e-12)
    alike = knn_shapley(X, y, V, v, 3)[1:4000]
    assert len(np.unique(np.round(alike, 12))) == len(np.unique(y[1:4000]))


def test_expected_values_average_over_labels():
    generator = np.random.default_rng(3)
    X, V, v = generator.normal(size=(4, 2)), generator.normal(size=(3, 2)), np.array([0, 1, 1])
    chance = generator.random(4)
    expected = np.zeros(4)
    for labels in np.ndindex(2, 2, 2, 2):
        y = np.array(labels)
        weight = np.where(y == 1, chance, 1 - chance).prod()
        expected += weight * knn_shapley(X, y, V, v, 2)
    posterior = np.column_stack([1 - chance, chance])
    assert expected_knn_shapley(X, posterior, V, v, 2) == pytest.approx(expected, abs=1e-13)
    swapped = expected_knn_shapley(X, posterior[:, ::-1], V, v, 2, classes=[1, 0])
    assert swapped == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("n", [1, 2, 4, 6])
@pytest.mark.parametrize("k", [1, 2, 3, 8])
def test_weighted_vote_against_every_order(n: int, k: int):
    generator = np.random.default_rng(n + k)
    X, y = generator.normal(size=(n, 2)), generator.integers(0, 2, n)
    distances = np.sqrt((X**2).sum(axis=1))
    spread = np.ptp(distances) or 1.0
    weights = np.rint(1 + 7 * (distances.max() - distances) / spread) * np.where(y == 1, 1, -1)

    def worth(coalition):
        votes = sum(weights[i] for i in nearest(distances, coalition, k))
        return (np.sign(votes) + 1) / 2

    values = weighted_knn_shapley(X, y, [[0.0, 0.0]], [1], k)
    assert values == pytest.approx(shapley(n, worth), abs=1e-12)


@pytest.mark.parametrize("radius", [0.5, 1.0, 1.5, 9.0])
def test_threshold_against_every_order(radius: float):
    generator = np.random.default_rng(5)
    X, y = generator.normal(size=(6, 2)), np.array([0, 1, 2, 0, 1, 1])
    inside = np.sqrt((X**2).sum(axis=1)) <= radius

    def worth(coalition):
        voters = [i for i in coalition if inside[i]]
        return float(np.mean(y[voters] == 1)) if voters else 1 / 3

    assert threshold_knn_shapley(X, y, [[0.0, 0.0]], [1], radius) == pytest.approx(
        shapley(6, worth), abs=1e-13
    )


def test_approximate_neighbours_measure_their_error():
    X, y, V, v = blobs(3000, 20)
    exact = knn_shapley(X, y, V, v, 5)
    shares: list[float] = []
    few = approximate_knn_shapley(X, y, V, v, 5, error=0.02, probes=2)
    many = approximate_knn_shapley(X, y, V, v, 5, error=0.02, probes=10**6, progress=shares.append)
    assert shares[-1] == 1
    assert many.recall == 1
    assert np.abs(many.values - exact).max() <= 0.02
    assert many.error == pytest.approx(
        np.abs(many.values - exact).max()
    )  # all validation rows are in the sample
    assert few.recall <= 1
    assert few.error == pytest.approx(np.abs(few.values - exact).max())


def test_labels_that_training_rows_lack_are_matched_by_none():
    assert knn_shapley(line(3), ["a", "b", "a"], ORIGIN, ["z"], 2).tolist() == [0, 0, 0]


def test_cosine_looks_at_directions():
    X, y, V, v = blobs(50, 5)
    scaled = X * np.linspace(1, 9, 50)[:, None]
    assert knn_shapley(scaled, y, V, v, metric="cosine") == pytest.approx(
        knn_shapley(X, y, V, v, metric="cosine")
    )


def test_standard_errors_are_those_of_single_validation_rows():
    X, y, V, v = blobs(40, 10)
    for is_soft in (False, True):
        answer = value_rows(X, y, V, v, 3, soft=is_soft)
        each = np.array([knn_shapley(X, y, V[i : i + 1], v[i : i + 1], 3) for i in range(10)])
        if not is_soft:
            assert answer.standard_errors == pytest.approx(
                each.std(axis=0, ddof=1) / np.sqrt(10), abs=1e-12
            )
        assert (answer.standard_errors >= 0).all()


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"X": [[np.nan], [1.0]]}, "X, row 0, column 0"),
        ({"X": [["a"], ["b"]]}, "X"),
        ({"X": np.zeros((0, 1)), "y": []}, "X"),
        ({"X": np.zeros((2, 0))}, "X"),
        ({"X": [1.0, 2.0]}, "X"),
        ({"X_valid": [[1.0, 2.0]]}, "X_valid"),
        ({"y": [1]}, "y"),
        ({"y": [1, None]}, "y, row 1"),
        ({"y_valid": [np.nan]}, "y_valid, row 0"),
        ({"k": 0}, "k"),
        ({"k": 1.5}, "k"),
        ({"k": True}, "k"),
        ({"error": -1.0}, "error"),
        ({"error": float("nan")}, "error"),
        ({"ties": "random"}, "ties"),
        ({"metric": "l1"}, "metric"),
        ({"metric": "cosine", "X": [[0.0], [1.0]]}, "X, row 0"),
    ],
)
def test_wrong_inputs_are_refused_with_their_place(change: dict, where: str):
    given_ = {"X": [[1.0], [2.0]], "y": [0, 1], "X_valid": [[1.0]], "y_valid": [0], "k": 1} | change
    with pytest.raises(InvalidInput) as caught:
        knn_shapley(**given_)
    assert caught.value.where == where
