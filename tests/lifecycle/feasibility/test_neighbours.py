"""Neighbours, votes and folds against brute force."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeml.lifecycle.feasibility.arms import (
    DIRECT,
    NEIGHBOURS,
    LeafArm,
    NeighbourArm,
    ScoreArm,
    Target,
    leaf_codes,
    vote,
)
from easeml.lifecycle.feasibility.folds import Fold, make_folds, stage_sizes
from easeml.lifecycle.feasibility.learners import Discriminant, discriminant, leaves, ridge
from easeml.lifecycle.feasibility.neighbours import BATCH, NearestRows


def brute(known: np.ndarray, queries: np.ndarray, k: int) -> np.ndarray:
    distances = ((queries[:, None].astype(float) - known[None]) ** 2).sum(axis=2)
    return np.argsort(distances, axis=1, kind="stable")[:, :k]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(1, 4), st.integers(1, 6))
def test_nearest_rows_are_those_of_brute_force_with_ties(
    seed: int, known: int, columns: int, k: int
):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (known, columns))
    queries = rng.integers(0, 3, (7, columns))
    store = NearestRows(queries, k)
    for part in np.array_split(rows, 3):
        store.add(part)
    assert store.nearest().tolist() == brute(rows, queries, k).tolist()


def test_nearest_rows_over_several_blocks():
    rng = np.random.default_rng(0)
    rows, queries = rng.normal(size=(BATCH + 300, 5)), rng.normal(size=(20, 5))
    store = NearestRows(queries, 9)
    store.add(rows)
    assert store.nearest().tolist() == brute(rows, queries, 9).tolist()


def test_votes_against_counting():
    rng = np.random.default_rng(0)
    labels, actual = rng.integers(0, 3, (50, 12)), rng.integers(0, 3, 50)
    losses, floors, guesses = vote(labels, actual, 3)
    assert len(losses) == sum(k <= 12 for k in NEIGHBOURS)
    for place, k in enumerate(NEIGHBOURS[:4]):
        for row in range(50):
            counts = Counter(labels[row, :k].tolist())
            most = max(counts.values())
            assert counts[int(guesses[place, row])] == most
            assert floors[place, row] == pytest.approx(1 - most / k)
            assert losses[place, row] == (guesses[place, row] != actual[row])
    assert (guesses[0] == labels[:, 0]).all()


def test_ties_of_the_vote_go_to_the_nearer_class():
    _, _, guesses = vote(np.array([[2, 0, 1], [1, 0, 2]]), np.array([0, 0]), 3)
    assert guesses[1].tolist() == [2, 1]


def test_neighbours_of_numbers_give_mean_and_variance():
    labels = np.array([[1.0, 2.0, 6.0]])
    losses, floors, guesses = vote(labels, np.array([2.0]), 0)
    assert guesses[:, 0].tolist() == [1.0, 3.0]
    assert losses[:, 0].tolist() == [1.0, 1.0]
    assert floors[:, 0] == pytest.approx([0.0, labels.var()])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.integers(20, 200))
def test_folds_part_the_rows_and_keep_copies_together(seed: int, rows: int):
    rng = np.random.default_rng(seed)
    strata, groups = rng.integers(0, 3, rows), rng.integers(0, rows, rows)
    folds = make_folds(strata, groups, rng)
    tested = np.concatenate([fold.test for fold in folds])
    assert sorted(tested.tolist()) == list(range(rows))
    for fold in folds:
        assert sorted(np.concatenate([fold.train, fold.test]).tolist()) == list(range(rows))
        assert not set(groups[fold.train]) & set(groups[fold.test])


@pytest.mark.parametrize(("rows", "folds"), [(2500, 5), (2501, 3), (8001, 1), (60_000, 1)])
def test_large_data_is_evaluated_on_a_part(rows: int, folds: int):
    made = make_folds(np.arange(rows) % 2, np.arange(rows), np.random.default_rng(0))
    assert len(made) == folds
    assert all(len(fold.test) <= 5001 for fold in made)
    assert np.mean(np.arange(rows)[made[0].test] % 2) == pytest.approx(0.5, abs=0.01)


def test_sizes_double():
    assert stage_sizes(1600, 2) == [200, 400, 800, 1600]
    assert stage_sizes(30, 2) == [30]


def separable(rows: int, seed: int) -> tuple[np.ndarray, Target, list[Fold]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    target = Target((X[:, 0] > 0).astype(np.int64), 2)
    return X, target, make_folds(target.values, np.arange(rows), rng)


def test_streaming_is_the_same_as_reading_all_at_once():
    X, target, folds = separable(120, 1)
    streamed, whole = (NeighbourArm("raw", X.__getitem__, folds, target) for _ in range(2))
    for count in (10, 35, 96):
        last = streamed.read(count)
    once = whole.read(96)
    assert np.array_equal(last.losses, once.losses)
    assert last.ways == once.ways == NEIGHBOURS
    assert streamed.read(12).count == 12


def test_learned_scores_do_not_leak_labels():
    """With labels that nothing predicts, no way does better than guessing; scores of the rows
    learned from would.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 20))
    target = Target(rng.integers(0, 2, 600), 2)
    folds = make_folds(target.values, np.arange(600), rng)
    arms = [
        ScoreArm("linear", discriminant, X, folds, target),
        LeafArm("leaves", leaves(2, 0), X, folds, target),
    ]
    for arm in arms:
        reading = arm.read(480)
        assert reading.losses.mean(axis=1).min() > 0.44
    assert arms[0].read(480).ways[0] == DIRECT


def test_leaves_are_learned_from_other_rows_than_those_that_vote():
    X, target, folds = separable(200, 2)
    seen: list[np.ndarray] = []

    class Spy:
        def fit(self, rows: np.ndarray, labels: np.ndarray) -> "Spy":
            seen.append(rows[:, 0])
            return self

        def apply(self, rows: np.ndarray) -> np.ndarray:
            assert not set(rows[:, 0]) & set(seen[-1])
            return np.zeros((len(rows), 2), dtype=int)

    LeafArm("leaves", lambda rows: Spy(), X, folds, target).read(160)
    assert len(seen) == len(folds)


def test_distances_of_leaf_codes_follow_the_trees_that_part_two_rows():
    rng = np.random.default_rng(0)
    known, queries = rng.integers(0, 4, (40, 60)), rng.integers(0, 4, (5, 60))
    codes = leaf_codes(known, queries)
    distances = ((codes[1][:, None] - codes[0]) ** 2).sum(axis=2).ravel()
    parted = (queries[:, None] != known).sum(axis=2).ravel()
    assert np.corrcoef(distances, parted)[0, 1] > 0.5
    same = leaf_codes(known, known[:5])
    assert np.allclose(same[0][:5], same[1])


def test_the_discriminant_finds_the_bayes_rule_of_gaussians():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 3000)
    means = np.array([[0, 0], [2, 0], [0, 2]])
    X = means[y] + rng.normal(size=(3000, 2))
    shares = Discriminant().fit(X, y).predict_proba(X)
    best = np.exp(-((X[:, None] - means) ** 2).sum(axis=2) / 2)
    assert np.abs(shares - best / best.sum(axis=1, keepdims=True)).mean() < 0.02


def test_scores_of_a_half_without_some_class():
    X = np.arange(60.0)[:, None]
    target = Target(np.r_[np.zeros(58), 1, 1].astype(np.int64), 2)
    folds = make_folds(target.values, np.arange(60), np.random.default_rng(0))
    assert np.isfinite(ScoreArm("linear", discriminant, X, folds, target).read(8).losses).all()
    numbers = Target(X[:, 0] / X.std(), 0)
    assert ScoreArm("linear", ridge, X, folds, numbers).read(40).losses[0].mean() < 0.1
