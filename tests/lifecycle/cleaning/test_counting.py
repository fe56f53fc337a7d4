"""Worlds by label, in exact integers."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds_by_hand import count, random_rows

from easeml.errors import InvalidInput
from easeml.lifecycle.cleaning import (
    Incomplete,
    count_worlds,
    count_worlds_by_similarity,
    possible_labels,
)

FIVE = [[0.9, 0.2], [0.8, 0.35, 0.1], [0.7], [0.6, 0.5], [0.4, 0.95]]


@pytest.mark.parametrize(("k", "expected"), [(1, [10, 14]), (2, [22, 2]), (3, [10, 14])])
def test_counts_of_a_worked_example(k: int, expected: list[int]) -> None:
    labels = [0, 1, 0, 1, 1]
    assert list(count_worlds_by_similarity(FIVE, labels, k).values()) == expected
    distances = [[1 - s for s in row] for row in FIVE]
    assert list(count_worlds(distances, labels, [0.0], k).values()) == expected


def test_four_classes_where_extreme_worlds_mislead() -> None:
    similarity = [[0.99], [0.98], [0.97], [0.6], [0.59], [0.7, 0.1], [0.71, 0.11]]
    labels = [0, 0, 1, 1, 1, 2, 3]
    assert count_worlds_by_similarity(similarity, labels, 5) == {0: 3, 1: 1, 2: 0, 3: 0}
    rows = Incomplete.of([[1 - s for s in row] for row in similarity], labels)
    assert possible_labels(rows, [[0.0]], 5).tolist() == [[True, True, False, False]]


def test_distance_is_euclidean() -> None:
    # Row 0 at distance 5, row 1 at distance 4.9: multiplying coordinates would call row 0 nearer.
    assert count_worlds([[[3.0, 4.0]], [[4.9, 0.0]]], ["a", "b"], [0.0, 0.0], 1) == {"a": 0, "b": 1}
    assert count_worlds([[[1.0, 1.0]], [[1.1, 1.0]]], ["a", "b"], [1.0, 1.0], 1) == {"a": 1, "b": 0}


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 7))
def test_counts_equal_enumeration(seed: int, k: int) -> None:
    rows, x = random_rows(np.random.default_rng(seed))
    candidates = [rows.candidates_of(i) for i in range(len(rows))]
    found = count_worlds(candidates, rows.labels, x, k)
    assert found == count(rows, x.tolist(), k)
    assert sum(found.values()) == math.prod(rows.sizes.tolist())


def test_ties_go_to_the_smaller_row_and_the_smaller_label() -> None:
    assert count_worlds([[[1.0]], [[1.0]]], ["b", "a"], [0.0], 1) == {"a": 0, "b": 1}
    assert count_worlds([[[1.0]], [[2.0]]], ["b", "a"], [0.0], 2) == {"a": 1, "b": 0}


def test_numbers_beyond_floats_stay_exact() -> None:
    generator = np.random.default_rng(0)
    found = count_worlds(
        generator.random((400, 10, 2)), generator.integers(0, 3, 400), [0.5, 0.5], 3
    )
    assert sum(found.values()) == 10**400
    assert min(found.values()) > 0


def test_equal_candidates_are_different_worlds_and_k_may_be_large() -> None:
    assert count_worlds([[[1.0], [1.0]], [[2.0]]], [0, 0], [0.0], 99) == {0: 2}


@pytest.mark.parametrize(
    ("candidates", "labels", "x", "k"),
    [
        ([], [], [0.0], 1),
        ([[[1.0]]], [0, 1], [0.0], 1),
        ([[[1.0]], []], [0, 1], [0.0], 1),
        ([[[1.0]], [[1.0, 2.0]]], [0, 1], [0.0], 1),
        ([[[np.nan]]], [0], [0.0], 1),
        ([[[np.inf]]], [0], [0.0], 1),
        ([[["word"]]], [0], [0.0], 1),
        ([[[1.0]]], [0], [0.0, 1.0], 1),
        ([[[1.0]]], [0], [np.nan], 1),
        ([[[1.0]]], [0], [0.0], 0),
        ([[[1.0]]], [0], [0.0], 1.5),
        ([[[1.0]]], [None], [0.0], 1),
        ([[[1.0]], [[1.0]]], [0.0, np.nan], [0.0], 1),
        ([[[1.0]], [[1.0]]], np.array([0, "a"], dtype=object), [0.0], 1),
    ],
)
def test_what_does_not_fit_is_refused(
    candidates: object, labels: object, x: object, k: object
) -> None:
    with pytest.raises(InvalidInput):
        count_worlds(candidates, labels, x, k)  # pyright: ignore[reportArgumentType]


def test_similarities_must_fit_labels() -> None:
    with pytest.raises(InvalidInput):
        count_worlds_by_similarity([[0.1]], [0, 1], 1)
