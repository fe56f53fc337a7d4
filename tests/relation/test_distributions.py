"""Every answer over a relation is what all its worlds, one by one, say."""

import math
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeml.errors import EasemlError
from easeml.relation import (
    Candidate,
    Distribution,
    Relation,
    RowCandidates,
    Source,
    cell_candidates,
)
from easeml.relation.blurred import blurred_sum
from easeml.relation.distributions import DRAWS
from relation.worlds import ANSWERS, GROUPS, Doubtful, agree, doubtful, known, probabilities


@pytest.fixture
def three_rows() -> Relation:
    """The relation of the paper's plan: {10, 20 each .5}, {5}, {0: .2, 30: .8}."""
    relation = Relation.from_frame(pd.DataFrame({"x": [10, 5, 0]}))
    return relation.with_candidates(0, "x", {10: 0.5, 20: 0.5}).with_candidates(
        2, "x", {0: 0.2, 30: 0.8}
    )


def test_three_rows_give_the_published_numbers(three_rows: Relation):
    total = three_rows.sum("x")
    assert total.distribution == pytest.approx({15: 0.1, 25: 0.1, 45: 0.4, 55: 0.4}, abs=1e-12)
    assert (total.mean, total.variance) == pytest.approx((44, 169))
    assert three_rows.entropy() == pytest.approx(1.721928, abs=1e-6)
    assert three_rows.worlds_log10() == pytest.approx(math.log10(4))
    counted = three_rows.count("x > 8")
    assert [counted.distribution[n] for n in range(4)] == pytest.approx([0, 0.2, 0.8, 0])


@settings(max_examples=60)
@given(doubtful())
def test_sums_means_and_extremes_are_those_of_all_worlds(found: Doubtful):
    relation, worlds = found.relation(), found.worlds()
    for name, answer in ANSWERS.items():
        for column in ("x", "y"):
            expected = probabilities(worlds, lambda rows: answer(known(rows, column)))  # noqa: B023
            agree(getattr(relation, name)(column), expected)
    agree(relation.count(), probabilities(worlds, len))
    different = [len({repr(way) for way, _ in doubt.ways}) for doubt in found.doubts]
    assert relation.worlds_log10() == pytest.approx(math.log10(math.prod(different)))


def test_what_is_told_twice_is_one_candidate():
    relation = Relation.from_frame(pd.DataFrame({"x": [10, 5]}))
    told = [
        Candidate({"x": value}, weight, True) for value, weight in ((1, 0.25), (2, 0.5), (1, 0.25))
    ]
    relation = relation.with_all([RowCandidates(0, told)])
    assert relation.entropy() == pytest.approx(1.0)
    assert relation.worlds_log10() == pytest.approx(math.log10(2))


@settings(max_examples=50)
@given(doubtful())
def test_conditions_count_the_rows_that_meet_them(found: Doubtful):
    relation, worlds = found.relation(), found.worlds()
    cases = {
        "x > 1": lambda row: row["x"] is not None and row["x"] > 1,
        "x > y or group == 'red'": lambda row: (
            row["group"] == "red" or (row["x"] is not None and row["x"] > row["y"])
        ),
        "x is None and not (group in ['red', 'blue'])": lambda row: (
            row["x"] is None and row["group"] not in ("red", "blue")
        ),
    }
    for text, meets in cases.items():
        expected = probabilities(worlds, lambda rows: sum(map(meets, rows)))  # noqa: B023
        agree(relation.count(text), expected)
    expected = probabilities(worlds, lambda rows: sum(row["y"] > 0.5 for row in rows))
    agree(relation.count(lambda frame: frame["y"] > 0.5), expected)


@settings(max_examples=40)
@given(doubtful())
def test_groups_are_those_of_all_worlds(found: Doubtful):
    relation, worlds = found.relation(), found.worlds()
    counts, means = relation.group_by("group").count(), relation.group_by("group").average("y")
    for group in GROUPS:
        expected = probabilities(worlds, lambda rows: len(_of(rows, group)))  # noqa: B023
        if group not in counts:
            assert set(expected) == {0}
            continue
        agree(counts[group], expected)
        average = ANSWERS["average"]
        expected = probabilities(worlds, lambda rows: average(known(_of(rows, group), "y")))  # noqa: B023
        agree(means[group], expected)


def _of(rows: list[dict], group: str) -> list[dict]:
    return [row for row in rows if row["group"] == group]


def test_many_rows_are_convolved_exactly():
    shares = np.random.default_rng(1).random(3000)
    relation = Relation.from_frame(pd.DataFrame({"x": np.zeros(3000)}))
    for row, share in enumerate(shares[:300]):
        relation = relation.with_candidates(row, "x", {0.0: 1 - share, 1.0: share})
    counted = relation.count("x == 1")
    assert counted.exact
    assert counted.mean == pytest.approx(shares[:300].sum())
    assert counted.variance == pytest.approx((shares[:300] * (1 - shares[:300])).sum())
    assert counted.probabilities.sum() == pytest.approx(1, abs=1e-12)


def test_what_has_too_many_sums_says_so():
    rng = np.random.default_rng(0)
    relation = Relation.from_frame(pd.DataFrame({"x": rng.normal(size=60)}))
    for row in range(60):
        ways = rng.normal(size=3)
        relation = relation.with_candidates(row, "x", dict(zip(ways, [0.2, 0.3, 0.5], strict=True)))
    total = relation.sum("x")
    assert not total.exact
    assert 0 < total.resolution < 0.2 * total.standard_deviation
    assert relation.sum("x").distribution == total.distribution
    sometimes = relation.with_optional(0, 0.5)
    drawn = sometimes.average("x")
    assert not drawn.exact
    assert drawn.error == pytest.approx(math.sqrt(math.log(40) / (2 * DRAWS)))
    assert sometimes.average("x").distribution == drawn.distribution


def test_a_distribution_tells_its_quantiles(three_rows: Relation):
    total = three_rows.sum("x")
    assert [total.quantile(share) for share in (0.1, 0.2, 0.21, 1.0)] == [15, 25, 45, 55]
    assert "exact" in repr(total)


def test_an_empty_relation_has_answers():
    relation = Relation.from_frame(pd.DataFrame({"x": np.zeros(0)}))
    assert relation.sum("x").distribution == {0.0: 1.0}
    assert relation.count().distribution == {0.0: 1.0}
    empty: Distribution = relation.average("x")
    assert empty.undefined == 1.0
    assert math.isnan(empty.mean)
    assert relation.max("x").undefined == 1.0
    assert (relation.entropy(), relation.worlds_log10()) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("weights", "column", "row", "words"),
    [
        ({1: 0.5, 2: 0.6}, "x", 0, "sum is 1.1"),
        ({1: -0.5, 2: 1.5}, "x", 0, "not probabilities"),
        ({}, "x", 0, "no candidates"),
        ({"a": 1.0}, "x", 0, "not of the column's type"),
        ({1: 1.0}, "z", 0, "no such column"),
        ({1: 1.0}, "x", 9, "no such row"),
    ],
)
def test_candidates_that_do_not_fit_are_refused(
    three_rows: Relation, weights: dict, column: str, row: int, words: str
):
    with pytest.raises(EasemlError, match=words):
        three_rows.with_candidates(row, column, weights)


def test_the_last_word_on_a_cell_counts(three_rows: Relation):
    known_now = three_rows.with_candidates(0, "x", {7: 1.0}, Source("a person"))
    assert known_now.sum("x").distribution == pytest.approx({12: 0.2, 42: 0.8})
    assert known_now.to_frame()["x"].tolist() == [7, 5, 30]
    assert known_now.candidates()["tool"].dropna().tolist() == ["a person"]
    assert three_rows.sum("x").mean == 44


def test_answers_are_about_numbers():
    relation = Relation.from_frame(pd.DataFrame({"name": ["a", "b"], "far": [1.0, math.inf]}))
    with pytest.raises(EasemlError, match="not numbers"):
        relation.sum("name")
    with pytest.raises(EasemlError, match="infinity"):
        relation.sum("far")


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(1, 9), st.integers(2, 4))
def test_a_blurred_sum_is_off_by_its_resolution_only(seed: int, groups: int, size: int):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=groups * size) * rng.choice([1.0, 50.0], groups * size)
    weights = rng.dirichlet(np.ones(size), groups).ravel()
    first = np.arange(groups + 1) * size
    sums, chances = np.zeros(1), np.ones(1)
    for begin in first[:-1]:  # all worlds
        sums = np.add.outer(sums, values[begin : begin + size]).ravel()
        chances = np.multiply.outer(chances, weights[begin : begin + size]).ravel()
    mean = float(sums @ chances)
    variance = float((sums - mean) ** 2 @ chances)
    found = blurred_sum(values, weights, first, mean, variance)
    at = found.values[:: len(found.values) // 50 + 1]
    reached = np.array([found.probabilities[found.values <= x].sum() for x in at])
    low = np.array([chances[sums <= x - found.resolution].sum() for x in at])
    high = np.array([chances[sums <= x + found.resolution].sum() for x in at])
    assert np.all(reached >= low - 1e-8)
    assert np.all(reached <= high + 1e-8)


def test_ten_thousand_real_cells_are_added_without_drawing_worlds():
    rng = np.random.default_rng(0)
    pairs = rng.random((10_000, 2))
    relation = Relation.from_frame(pd.DataFrame({"x": rng.random(10_000)}))
    told = [
        cell_candidates(row, "x", {float(low): 0.5, float(high): 0.5})
        for row, (low, high) in enumerate(pairs)
    ]
    relation = relation.with_all(told)
    total = relation.sum("x")
    assert total.mean == pytest.approx(pairs.mean(axis=1).sum())
    assert total.variance == pytest.approx((np.diff(pairs) ** 2 / 4).sum())
    assert total.error == 0
    assert total.resolution < 0.06 * total.standard_deviation
    normal = NormalDist(total.mean, total.standard_deviation)
    for share in (0.025, 0.5, 0.975):  # ten thousand terms are as good as normal
        assert total.quantile(share) == pytest.approx(normal.inv_cdf(share), abs=total.resolution)
    average = relation.average("x")
    assert average.mean == pytest.approx(total.mean / 10_000)
    assert average.variance == pytest.approx(total.variance / 1e8)
    assert "exact" in repr(average)
