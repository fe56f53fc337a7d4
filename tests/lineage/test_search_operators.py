"""Operators that train models: from a dirty relation to a gated model, in one graph."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import easeml
from easeml.errors import InvalidInput, NotFound
from easeml.lineage import NodeFailed
from easeml.modules import load_registry
from easeml.operators.typed import columns_of, rows_in

MODELS = ["logistic", "decision-tree-classifier"]
ROLES = ["train"] * 200 + ["validation"] * 80 + ["test"] * 120 + ["production"] * 50


def table() -> pd.DataFrame:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(450, 3)), columns=["a", "b", "größe"])
    frame["kind"] = np.where(frame["a"] + frame["b"] > 0, "up", "down")
    frame["group"] = pd.Categorical(np.where(frame["größe"] > 0, "x", "y"))
    frame.loc[:20, "b"] = np.nan
    frame.loc[400:, "kind"] = None
    frame.index = [f"row {number}" for number in range(450)]
    return frame


@pytest.fixture(scope="module")
def relation() -> easeml.Relation:
    return easeml.Relation.from_frame(table(), "kind", ROLES)


@pytest.fixture(scope="module")
def searched(relation: easeml.Relation) -> easeml.Relation:
    found = relation.search(3, models=MODELS)
    found.eval()
    return found


def test_a_search_is_staged_and_says_the_same_each_time(
    relation: easeml.Relation, searched: easeml.Relation
):
    again = relation.search(3, models=MODELS)
    assert not again.node.kept
    assert again.node.key == searched.node.key
    answer = again.eval()
    assert answer == searched.eval()
    assert "logistic" in again._repr_html_()
    assert repr(again) == "<Answer of search: found>"
    assert answer["trained"] == 3
    assert answer["quality"] > 0.85
    assert answer["low"] <= answer["quality"] <= answer["high"]
    assert answer["quality"] == max(one["quality"] for one in answer["models"])


def test_a_search_warns_of_what_may_know_the_answers():
    told = table().assign(copy=lambda rows: rows["kind"].map({"up": 1.5, "down": 2.5}))
    dirty = easeml.Relation.from_frame(told, "kind", ROLES)
    with pytest.warns(UserWarning, match="'copy'"):
        answer = dirty.search(1, models=["baseline-classifier"]).eval()
    assert any("'copy'" in note for note in answer["notes"])


def test_a_search_ends_when_its_goal_is_reached(relation: easeml.Relation):
    answer = relation.search(4, goal=0.3, models=MODELS).eval()
    assert (answer["verdict"], answer["trained"]) == ("reached", 1)
    assert (
        relation.search(1, goal=1.0, models=["baseline-classifier"]).eval()["verdict"] == "missed"
    )


def test_a_gate_compares_with_guessing_or_with_another_search(
    relation: easeml.Relation, searched: easeml.Relation
):
    found = searched.gate("n - o > 0.1 +/- 0.1").eval()
    assert (found["verdict"], found["rows"]) == ("pass", 120)
    worse = relation.search(1, models=["baseline-classifier"])
    assert worse.gate("n - o > 0.1 +/- 0.05", over=searched).eval()["verdict"] == "fail"


def test_newer_rows_are_picked_and_watched(relation: easeml.Relation, searched: easeml.Relation):
    several = relation.search(6, models=["baseline-classifier", "logistic"])
    picked = several.pick(batch=5).eval()
    assert picked["verdict"] == "label more"
    assert len(set(picked["row_ids"])) == 5
    assert all(int(name.removeprefix("row ")) >= 400 for name in picked["row_ids"])
    watched = searched.monitor().eval()
    assert watched["rows"] == 50
    assert 0 <= watched["quality"] <= 1


def test_labels_that_are_likely_enough_are_learned_from():
    frame = table()[:400]
    frame.loc[frame.index[:150], "kind"] = None
    relation = easeml.Relation.from_frame(frame, "kind", ROLES[:400])
    for number in range(150):
        label = "up" if number % 2 else "down"
        likely = 0.95 if number < 10 else 0.8
        weights = {label: likely, "up" if label == "down" else "down": 1 - likely}
        relation = relation.with_candidates(f"row {number}", "kind", weights)
    columns = columns_of(relation)
    schemas = columns.schema_in, columns.schema_out
    assert len(rows_in(relation, schemas, "train", sure=0.9).known) == 50 + 10
    assert len(rows_in(relation, schemas, "train", sure=0.8).known) == 200
    assert len(rows_in(relation, schemas, "train").known) == 50


def test_labels_in_doubt_judge_nothing(relation: easeml.Relation):
    doubtful = relation
    for number in range(280, 290):
        doubtful = doubtful.with_candidates(f"row {number}", "kind", {"up": 0.5, "down": 0.5})
    found = doubtful.search(1, models=["baseline-classifier"])
    assert found.gate().eval()["rows"] == 110


def test_numbers_are_gated_by_their_errors():
    frame = table()[["a", "b", "größe"]].fillna(0.0)
    frame["y"] = 3 * frame["a"] + frame["b"]
    relation = easeml.Relation.from_frame(frame, "y", ROLES)
    searched = relation.search(1, models=["ridge"])
    assert searched.gate("o - n > 0.1 +/- 0.1", scale=5.0).eval()["verdict"] == "pass"
    assert searched.gate("n - o > 0.1 +/- 0.1", scale=5.0).eval()["verdict"] == "fail"


@pytest.mark.parametrize(
    ("frame", "target", "said"),
    [
        (table(), None, "no target"),
        (table().assign(kind=None), "kind", "has a label"),
        (table().iloc[:200], "kind", "validation"),
    ],
)
def test_what_cannot_be_searched_is_said(frame: pd.DataFrame, target: str | None, said: str):
    relation = easeml.Relation.from_frame(frame, target, ROLES[: len(frame)])
    with pytest.raises(NodeFailed, match=said):
        relation.search(1).eval()


def test_a_gate_belongs_to_a_search(relation: easeml.Relation):
    with pytest.raises(InvalidInput, match="models of a search"):
        relation.gate()


@pytest.mark.parametrize(
    ("ask", "place", "meant"),
    [
        (lambda one: one.search(1, models=["logistik"]), "models", "logistic"),
        (
            lambda one: one.search(1, exclude=["desicion-tree-classifier"]),
            "exclude",
            "decision-tree",
        ),
        (lambda one: one.search(1, objective="acuracy"), "objective", "accuracy"),
        (lambda one: one.search(1, models="logistic"), "models", "Write ['logistic']."),
        (lambda one: one.select(["grösse"]), "column 'grösse'", "größe"),
        (lambda one: one.filter("grupp == 'x'"), "column 'grupp'", "group"),
        (
            lambda one: one.weak_labels([{"label": "up", "column": "grup", "words": ["x"]}]),
            "labelling function 0",
            "group",
        ),
    ],
)
def test_a_misspelt_name_is_told_with_what_it_may_mean(
    relation: easeml.Relation, ask: Callable[..., easeml.Relation], place: str, meant: str
) -> None:
    with pytest.raises(NodeFailed) as caught:
        ask(relation).eval()
    assert place in str(caught.value)
    assert meant in caught.value.remedy


def test_a_misspelt_operator_or_module_is_told_with_what_it_may_mean(
    relation: easeml.Relation,
) -> None:
    with pytest.raises(InvalidInput, match=r"Did you mean 'search'\?"):
        easeml.lineage.apply("serch", relation)
    with pytest.raises(NotFound, match=r"Did you mean 'logistic'\? Or install the package"):
        load_registry().get("logistik")
    with pytest.raises(NotFound, match=r"'zzzzzz'\. Install the package"):
        load_registry().get("zzzzzz")
