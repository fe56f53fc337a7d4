"""Laws of the graph: a planned, a cached and a fresh evaluation give the same."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

import easeml
from easeml.errors import Conflict, InvalidInput
from easeml.lineage import FolderCache, NodeFailed, StagedRelation, optimised, ordered
from easeml.relation import Relation
from relation.worlds import Doubtful, doubtful

CALLS: list[str] = []
STEPS = {
    "few": lambda relation: relation.filter("x >= 0"),
    "low": lambda relation: relation.filter("y < 3"),
    "sure": lambda relation: relation.with_column("x", "x * 1").filter("y >= 0"),
    "sum": lambda relation: relation.with_column("z", "x + y"),
    "twice": lambda relation: relation.with_column("y", "y * 2"),
    "roles": lambda relation: relation.split(seed=3),
    "some": lambda relation: relation.select(["x", "y"]),
    "told": lambda relation: relation.with_all([]),
}


@easeml.lineage.operator
def noted(relation: Relation, name: str = "noted") -> Relation:
    """Note that it was called."""
    CALLS.append(name)
    return relation


@easeml.lineage.operator(version="2")
def failing(relation: Relation, fail: bool = True) -> Relation:
    """Fail if it is told to."""
    if fail:
        raise ZeroDivisionError("division by zero")
    return relation


@pytest.fixture(autouse=True)
def no_calls():
    CALLS.clear()


def table() -> StagedRelation:
    """A relation of twenty rows with two doubts."""
    frame = pd.DataFrame({"x": np.arange(20.0), "y": np.arange(20.0) % 5, "unread": "a"})
    relation = easeml.Relation.from_frame(frame)
    return relation.with_candidates(1, "x", {1.0: 0.5, 9.0: 0.5}).with_candidates(
        2, "y", {0.0: 0.25, 4.0: 0.75}
    )


def same(left: Relation, right: Relation) -> None:
    """Compare rows, roles and answers."""
    assert_frame_equal(left.to_frame(), right.to_frame())
    assert left.roles == right.roles
    assert left.entropy() == pytest.approx(right.entropy())
    assert left.count().distribution == pytest.approx(right.count().distribution)
    for column in ("x", "y"):
        assert left.sum(column).distribution == pytest.approx(right.sum(column).distribution)


@settings(max_examples=25)
@given(doubtful(), st.lists(st.sampled_from(sorted(STEPS)), max_size=5))
def test_planned_equals_plain_equals_eager(found: Doubtful, names: list[str]):
    eager = found.relation()
    staged = StagedRelation(eager.content)
    plain = StagedRelation(eager.content)
    for name in names:
        eager, staged, plain = (STEPS[name](each) for each in (eager, staged, plain))
    same(staged.eval(), eager)
    same(plain.eval(plan=False), eager)


@settings(max_examples=15)
@given(found=doubtful(), names=st.lists(st.sampled_from(["few", "sum", "roles"]), max_size=3))
def test_cached_equals_fresh(
    found: Doubtful, names: list[str], tmp_path_factory: pytest.TempPathFactory
):
    cache = FolderCache(tmp_path_factory.mktemp("cache"))
    results = []
    for _ in range(2):
        relation = StagedRelation(found.relation().content)
        for name in names:
            relation = STEPS[name](relation)
        results.append(relation.eval(cache=cache))
    same(*results)


def test_operations_return_at_once_and_work_when_asked():
    relation = noted(table()).filter("x > 3")
    assert CALLS == []
    assert "to come" in repr(relation)
    assert relation.count().mean == pytest.approx(16.5)
    assert CALLS == ["noted"]
    assert relation.sum("y").exact
    assert CALLS == ["noted"]


def test_a_change_recomputes_what_depends_on_it_only():
    base = noted(table(), "first")
    noted(base, name="second").eval()
    noted(base, name="third").eval()
    assert CALLS == ["first", "second", "third"]


def test_other_processes_find_results_in_the_folder(tmp_path: Path):
    for _ in range(2):
        noted(table()).eval(cache=FolderCache(tmp_path))
    assert CALLS == ["noted"]
    noted(table(), "other").eval(cache=FolderCache(tmp_path))
    assert CALLS == ["noted", "other"]


def test_equal_parts_of_a_graph_are_computed_once():
    pair = StagedRelation.from_frame(pd.DataFrame({"k": [1]}))
    noted(pair).join(noted(pair), "k").eval()
    assert CALLS == ["noted"]


def test_a_node_that_fails_is_named_and_the_next_evaluation_goes_on_there(tmp_path: Path):
    cache = FolderCache(tmp_path)
    with pytest.raises(NodeFailed, match=r"the bad step: ZeroDivisionError: division by zero"):
        failing(noted(table())).called("the bad step").eval(cache=cache)
    failing(noted(table()), fail=False).eval(cache=cache)
    assert CALLS == ["noted"]
    with pytest.raises(NodeFailed, match="no such column"):
        table().filter("missing > 1").eval()


def test_the_plan_filters_first_and_never_across_what_people_added():
    relation = table().split(seed=1).filter("y > 1")
    planned = optimised(relation.node, lambda node: False)
    names = [node.operator.name for node in ordered(planned)]
    assert names == ["source", "with_all", "filter", "split"]
    other = easeml.Relation.from_frame(pd.DataFrame({"unread": ["a"], "more": [1]}))
    joined = table().join(other, "unread").filter("y > 1")
    planned = optimised(joined.node, lambda node: False)
    assert planned.operator.name == "join"
    assert planned.inputs[0].operator.name == "filter"
    same(joined, joined.eval(plan=False))
    barrier = noted(table().split()).filter("y > 1")
    planned = optimised(barrier.node, lambda node: False)
    assert [node.operator.name for node in ordered(planned)][-2:] == ["noted", "filter"]


def test_the_plan_filters_below_computed_columns_and_drops_what_nobody_reads():
    frame = table().to_frame().assign(sure=np.arange(20.0))
    asked = {
        "sure": lambda start: start.with_column("z", "x + sure").filter("sure > 3"),
        "doubtful": lambda start: start.with_column("z", "x + sure").filter("x > 3"),
        "computed": lambda start: start.with_column("z", "x + sure").filter("z > 3"),
        "few": lambda start: start.filter("sure > 3").select(["x", "y"]),
    }
    expected = {
        "sure": ["with_candidates", "filter", "with_column"],
        "doubtful": ["with_candidates", "with_column", "filter"],
        "computed": ["with_candidates", "with_column", "filter"],
        "few": ["with_candidates", "select", "filter", "select"],
    }
    for name, step in asked.items():
        twice = []
        for plan in (True, False):
            start = StagedRelation.from_frame(frame)
            start = start.with_candidates(1, "x", {1.0: 0.5, 9.0: 0.5})
            twice.append(step(start))
            planned = optimised(twice[-1].node, lambda node: bool(node.kept))
            names = [node.operator.name for node in ordered(planned)]
            assert names[1:] == expected[name]
            twice[-1].eval(plan=plan)
        same(*twice)


def test_keys_say_what_is_done_and_not_how_it_is_written():
    def key(relation: StagedRelation) -> str:
        return relation.node.key

    assert key(table().split()) == key(table().split(seed=0))
    assert key(table().split(seed=1)) != key(table().split(seed=0))
    assert key(noted(table())) == key(noted(table(), name="noted"))
    assert key(table().filter("x > 1")) != key(table().filter("x > 2"))
    halves = pd.concat([table().to_frame()[:7], table().to_frame()[7:]])
    assert key(easeml.Relation.from_frame(halves)) == key(
        easeml.Relation.from_frame(table().to_frame())
    )
    other = halves.assign(unread="b")
    assert key(easeml.Relation.from_frame(other)) != key(easeml.Relation.from_frame(halves))
    with pytest.raises(InvalidInput, match="no lasting name"):
        key(noted(table(), name=object()))


def test_a_function_is_known_by_what_it_does():
    def above(most: float):
        return table().filter(lambda frame: frame["x"] > most).node.key

    assert above(1.0) == above(1.0)
    assert above(1.0) != above(2.0)


def test_long_graphs_are_no_problem():
    relation = table()
    for number in range(3000):
        relation = relation.with_candidates(number % 20, "x", {-1.0: 0.5, float(number): 0.5})
    assert relation.count().mean == 20


def test_a_folder_keeps_what_was_used_lately(tmp_path: Path):
    cache = FolderCache(tmp_path, most_bytes=1)
    for name in ("one", "two"):
        noted(table(), name).eval(cache=cache)
    assert cache.has(noted(table(), "two").node.key)
    assert not cache.has(noted(table(), "one").node.key)


def test_a_damaged_result_is_computed_again(tmp_path: Path):
    noted(table()).eval(cache=FolderCache(tmp_path))
    for path in tmp_path.iterdir():
        path.write_bytes(b"damaged")
    assert len(noted(table()).eval(cache=FolderCache(tmp_path))) == 20


def test_a_name_of_easeml_is_taken():
    with pytest.raises(Conflict, match="filter"):
        easeml.lineage.operator(name="filter")(lambda relation: relation)


def test_feasibility_is_a_step_whose_answer_is_kept(tmp_path: Path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=200), "b": rng.normal(size=200)})
    frame["label"] = np.where(frame["a"] > 0, "yes", "no")
    asked = easeml.Relation.from_frame(frame, target="label").feasibility(goal=0.8)
    answer = asked.eval(cache=FolderCache(tmp_path))
    assert answer["verdict"] == "realistic"
    with pytest.raises(InvalidInput, match="an answer, not a relation"):
        asked.to_frame()
