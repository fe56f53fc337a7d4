"""Operations on a relation do in all its worlds at once what they do in each."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import easeml
from easeml.errors import EasemlError
from easeml.relation import Relation, Source
from easeml.relation.expressions import parse
from relation.worlds import ANSWERS, Doubtful, agree, doubtful, known, probabilities


def double(row: dict) -> float | None:
    return None if row["x"] is None else 2 * row["x"] + row["y"]


@settings(max_examples=50)
@given(doubtful())
def test_operations_one_after_the_other_are_those_of_all_worlds(found: Doubtful):
    relation = found.relation()
    made = relation.with_column("z", "2 * x + y").filter("x >= 0").filter("y < 3")
    worlds = []
    for weight, rows in found.worlds():
        alive = [row for row in rows if row["x"] is not None and row["x"] >= 0 and row["y"] < 3]
        worlds.append((weight, [{**row, "z": double(row)} for row in alive]))
    for name, answer in ANSWERS.items():
        expected = probabilities(worlds, lambda rows: answer(known(rows, "z")))  # noqa: B023
        agree(getattr(made, name)("z"), expected)
    agree(made.count("z > y"), probabilities(worlds, lambda rows: sum(_above(row) for row in rows)))
    projected = made.select(["z"])
    agree(projected.sum("z"), probabilities(worlds, lambda rows: sum(known(rows, "z"))))
    assert projected.entropy() <= made.entropy() + 1e-9


def _above(row: dict) -> bool:
    return row["z"] is not None and row["z"] > row["y"]


@settings(max_examples=50)
@given(doubtful(), st.lists(st.sampled_from([0.0, 1.0, 5.0]), max_size=4))
def test_a_join_repeats_candidates_and_not_doubts(found: Doubtful, keys: list[float]):
    """One uncertain row that is met by several is the same in all of them."""
    left = Relation.from_frame(pd.DataFrame({"key": np.array(keys, float)}))
    right = found.relation().with_column("key", "y * 0 + 1").filter("x > 0")
    left_rows = [{"key": key} for key in keys]
    worlds = []
    for weight, rows in found.worlds():
        alive = [row for row in rows if row["x"] is not None and row["x"] > 0]
        pairs = [right for row in left_rows for right in alive if row["key"] == 1]
        worlds.append((weight, pairs))
    if right.content.blocks.covering("key").any():
        with pytest.raises(EasemlError, match="key of a join has candidates"):
            left.join(right, "key")
        return
    joined = left.join(right, on="key")
    for name, answer in ANSWERS.items():
        answered = getattr(joined, name)("x")
        expected = probabilities(worlds, lambda rows: answer(known(rows, "x")))  # noqa: B023
        if answered.exact:
            agree(answered, expected)
        else:  # worlds were drawn: every P(answer <= x) is as near as is said
            for value in answered.distribution:
                truth = sum(p for v, p in expected.items() if v is not None and v <= value + 1e-9)
                drawn = answered.probabilities[answered.values <= value].sum()
                assert abs(drawn - truth) < 2 * answered.error


def test_a_join_says_whose_row_is_which():
    people = Relation.from_frame(pd.DataFrame({"town": ["a", "b", "a", None], "age": [1, 2, 3, 4]}))
    towns = pd.DataFrame({"town": ["a", "c", "a"], "age": [100, 200, 300]}, index=["x", "y", "z"])
    joined = people.join(Relation.from_frame(towns), "town").to_frame()
    assert joined.index.tolist() == ["0/x", "0/z", "2/x", "2/z"]
    assert joined["age_right"].tolist() == [100, 300, 100, 300]
    once = people.join(Relation.from_frame(towns[:2]), "town")
    assert once.to_frame().index.tolist() == [0, 2]


def test_a_row_that_comes_twice_does_not_double_the_doubt():
    one = Relation.from_frame(pd.DataFrame({"k": [1], "v": [0]})).with_candidates(
        0, "v", {0: 0.5, 1: 0.5}
    )
    twice = Relation.from_frame(pd.DataFrame({"k": [1, 1]})).join(one, "k")
    assert twice.sum("v").distribution == {0.0: 0.5, 2.0: 0.5}
    assert twice.entropy() == 1.0
    doubled = twice.with_column("w", "v + 1").filter("w > 1")
    assert doubled.count().distribution == {0.0: 0.5, 2.0: 0.5}


def test_shared_candidates_in_rows_with_other_doubts_are_drawn():
    right = Relation.from_frame(pd.DataFrame({"k": [1], "v": [0]}))
    left = Relation.from_frame(pd.DataFrame({"k": [1, 1], "u": [1, 1]}))
    joined = left.with_optional(0, 0.5).join(right.with_candidates(0, "v", {0: 0.5, 1: 0.5}), "k")
    total = joined.sum("v")
    assert not total.exact
    for value, share in {0: 0.5, 1: 0.25, 2: 0.25}.items():
        assert total.distribution[value] == pytest.approx(share, abs=2 * total.error)
    with pytest.raises(EasemlError, match="share candidates"):
        joined.with_candidates(0, "u", {1: 0.5, 2: 0.5}).filter("u > v")


@settings(max_examples=20)
@given(st.integers(0, 2**31), st.sets(st.integers(0, 10_000), min_size=1))
def test_a_row_keeps_its_role_whatever_rows_come_and_go(seed: int, rows: set[int]):
    frame = pd.DataFrame({"x": np.arange(10_001)})
    everything = dict(
        zip(frame.index, Relation.from_frame(frame).split(seed=seed).roles, strict=True)
    )
    some = frame.loc[sorted(rows)]
    assert Relation.from_frame(some).split(seed=seed).roles == [
        everything[row] for row in some.index
    ]


def test_a_split_has_the_shares_and_leaves_unlabelled_rows_to_the_pool():
    labels = np.where(np.arange(10_000) < 1000, np.nan, 1.0)
    relation = Relation.from_frame(pd.DataFrame({"y": labels}), target="y")
    relation = relation.with_candidates(0, "y", {0.0: 0.5, 1.0: 0.5}).split(0.5, 0.25, 0.25, seed=3)
    counts = pd.Series(relation.roles).value_counts()
    assert counts["pool"] == 999
    assert counts["train"] == pytest.approx(4500, abs=200)
    assert len(relation.in_role("train", "pool")) == counts["train"] + 999
    assert relation.in_role("pool").roles == ["pool"] * 999
    with pytest.raises(EasemlError, match="no shares"):
        relation.split(0.5, 0.5, 0.5)
    with pytest.raises(EasemlError, match="no roles"):
        Relation.from_frame(pd.DataFrame({"x": [1]})).in_role("train")


def test_a_computed_column_takes_the_place_of_another_and_types_stay():
    frame = pd.DataFrame({"n": pd.array([1, None], "Int64"), "t": ["a", "b"]})
    relation = Relation.from_frame(frame).with_candidates(1, "n", {5: 0.5, 6: 0.5})
    made = relation.with_column("t", "length(t)")
    assert made.to_frame()["n"].tolist() == [1, 5]
    assert str(made.to_frame()["n"].dtype) == "Int64"
    replaced = relation.with_column("n", "n * 2")
    assert replaced.sum("n").distribution == {12.0: 0.5, 14.0: 0.5}
    assert replaced.with_column("n", "length(t)").entropy() == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x >", "not a condition or formula"),
        ("__import__('os')", "no function"),
        ("x.real > 1", "cannot stand"),
        ("z > 1", "no such column"),
        ("x > 'a'", "cannot be computed"),
        ("x + 1", "is not a condition"),
        ("x ** 2 > 1", "not known"),
        ("[x for x in x] == x", "cannot be computed|cannot stand|malformed"),
    ],
)
def test_conditions_that_are_none_are_refused(text: str, words: str):
    with pytest.raises(EasemlError, match=words):
        Relation.from_frame(pd.DataFrame({"x": [1, 2]})).filter(text)


def test_conditions_read_the_columns_that_they_name():
    assert parse("`how old` > 3 and abs(x) < `how old`").columns == ("how old", "x")
    relation = Relation.from_frame(pd.DataFrame({"how old": [1, 4, 9], "x": [0, -3, 20]}))
    assert len(relation.filter("`how old` > 3 and abs(x) < `how old`")) == 1
    assert relation.filter("1 < `how old` <= 9 and x not in (20,)").to_frame().index.tolist() == [1]
    assert relation.with_column("half", "x / 2").to_frame()["half"].tolist() == [0, -1.5, 10]


@pytest.mark.parametrize(
    ("values", "missing"),
    [
        (["x", "y"], float("nan")),
        (pd.to_datetime(["2024-01-01", "2024-01-02"]), pd.NaT),
        (pd.array([1, 2], "Int64"), pd.NA),
        ([Decimal("1.5"), Decimal("2.5")], None),
    ],
)
def test_a_cell_may_be_missing_in_a_column_of_any_type(values, missing):
    relation = easeml.Relation.from_frame(pd.DataFrame({"a": values}))
    doubtful = relation.with_candidates(0, "a", {values[0]: 0.4, missing: 0.6})
    assert doubtful.worlds_log10() == pytest.approx(np.log10(2))
    assert pd.isna(doubtful.to_frame().loc[0, "a"])


def test_weights_below_zero_are_named():
    relation = easeml.Relation.from_frame(pd.DataFrame({"a": [1]}))
    with pytest.raises(EasemlError, match=r"least is -0\.5"):
        relation.with_candidates(0, "a", {1: 1.5, 2: -0.5}).entropy()


def test_candidates_keep_their_tool_when_more_are_told_after_a_join():
    clean, other = Source("clean"), Source("other")
    left = pd.DataFrame({"key": ["a", "b"], "x": [1.0, 2.0]})
    right = pd.DataFrame({"key": ["a", "b"], "y": [1.0, 2.0]})
    weights = {1.0: 0.5, 3.0: 0.5}
    cleaned = Relation.from_frame(left).with_candidates(0, "x", weights, clean)
    beside = Relation.from_frame(right).with_candidates(1, "y", weights, clean)
    told = cleaned.join(beside, "key").with_candidates(0, "y", weights, other)
    tools = told.candidates().groupby("block")["tool"].unique().map(list).tolist()
    assert tools == [["clean"], ["other"], ["clean"]]
