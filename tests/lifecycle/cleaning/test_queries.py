"""Certain predictions and label probabilities, beside enumeration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds_by_hand import count, random_rows, shares

from easeml.errors import InvalidInput
from easeml.lifecycle.cleaning import Incomplete, count_worlds, label_probabilities, possible_labels


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 7))
def test_both_queries_equal_enumeration(seed: int, k: int) -> None:
    rows, x = random_rows(np.random.default_rng(seed))
    worlds = count(rows, x.tolist(), k)
    assert possible_labels(rows, [x], k)[0].tolist() == [
        worlds[label] > 0 for label in rows.classes.tolist()
    ]
    np.testing.assert_allclose(
        label_probabilities(rows, [x], k)[0], shares(rows, x.tolist(), k), atol=1e-12
    )


@pytest.mark.parametrize(("classes", "k"), [(2, 1), (2, 3), (2, 8), (3, 5), (7, 4), (12, 9)])
def test_probabilities_equal_exact_counts_on_many_rows(classes: int, k: int) -> None:
    generator = np.random.default_rng(classes)
    candidates = [generator.random((generator.integers(1, 6), 2)) for _ in range(120)]
    labels = generator.integers(0, classes, 120)
    rows, points = Incomplete.of(candidates, labels), generator.random((3, 2))
    found = label_probabilities(rows, points, k)
    for x, given_labels, possible in zip(
        points, found, possible_labels(rows, points, k), strict=True
    ):
        worlds = list(count_worlds(candidates, labels, x, k).values())
        total = sum(worlds)
        np.testing.assert_allclose(given_labels, [count / total for count in worlds], atol=1e-12)
        assert possible.tolist() == [count > 0 for count in worlds]


def test_an_unlikely_label_is_still_possible() -> None:
    rows = Incomplete.of([[[0.0], [9.0]]] * 60 + [[[1.0]]], [0] * 60 + [1])
    assert possible_labels(rows, [[0.0]], 1).tolist() == [[True, True]]  # one world in 2^60
    assert label_probabilities(rows, [[0.0]], 1)[0, 0] == pytest.approx(1.0)


def test_clean_rows_are_certain_and_agree_with_the_classifier() -> None:
    generator = np.random.default_rng(1)
    X, y, points = (
        generator.random((50, 3)),
        generator.integers(0, 3, 50),
        generator.random((20, 3)),
    )
    found = possible_labels(Incomplete.of(X[:, None, :], y), points, 5)
    assert (found.sum(axis=1) == 1).all()


def test_candidates_of_weight_zero_do_not_exist() -> None:
    rows = Incomplete.of([[[0.0], [5.0]], [[1.0]]], ["a", "b"], [[0.0, 1.0], [3.0]])
    assert possible_labels(rows, [[0.0]], 1).tolist() == [[False, True]]


def test_no_points_no_answers() -> None:
    assert possible_labels(Incomplete.of([[[0.0]]], [1]), np.zeros((0, 1)), 1).shape == (0, 1)


@pytest.mark.parametrize("weights", [[[1.0]], [[1.0, -1.0]], [[0.0, 0.0]], [[np.nan, 1.0]], []])
def test_weights_must_fit(weights: list[list[float]]) -> None:
    with pytest.raises(InvalidInput):
        Incomplete.of([[[0.0], [1.0]]], [0], weights)


def test_points_must_fit() -> None:
    rows = Incomplete.of([[[0.0]]], [0])
    for points in ([[np.nan]], [[0.0, 1.0]], [0.0], [["a"]]):
        with pytest.raises(InvalidInput):
            possible_labels(rows, points, 1)
