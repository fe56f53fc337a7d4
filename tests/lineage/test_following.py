"""Analyses that follow their data, beside the same from scratch."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeml.lifecycle.labeling import MovingQueue, value_pool
from easeml.lineage import FolderCache, StagedRelation
from easeml.relation import Relation, cell_candidates
from easeml.relation.updates import changed_rows

ROWS = 400
DOUBTFUL = (3, 40, *range(50, 230, 9))
TRUE_VALUE = {0.5: 0.7, 2.0: 0.3}


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=12, deadline=None)  # each fits a forest
def test_values_follow_any_moves_exactly(seed, with_ties):
    rng = np.random.default_rng(seed)
    width = int(rng.integers(1, 4))

    def rows(count):
        shape = (int(count), width)
        return rng.integers(0, 3, shape).astype(float) if with_ties else rng.normal(size=shape)

    X, pool, valid = rows(rng.integers(2, 30)), rows(rng.integers(1, 12)), rows(rng.integers(1, 9))
    y, y_valid = rng.integers(0, 2, len(X)), rng.integers(0, 3, len(valid))
    k = int(rng.integers(1, 5))
    queue = MovingQueue(X, y, pool, valid, y_valid, k)
    for _ in range(4):
        kind, place = int(rng.integers(3)), rows(1)[0]
        changed, move = [
            (X, queue.move_labelled),
            (pool, queue.move_unlabelled),
            (valid, queue.move_validation),
        ][kind]
        row = int(rng.integers(len(changed)))
        move(row, place)
        changed[row] = place
    chances = queue._forest.predict_proba(pool)
    anew = value_pool(X, y, pool, valid, y_valid, k, posterior=chances)
    assert queue.values == pytest.approx(anew, abs=1e-12)


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=12, deadline=None)  # each fits a forest
def test_a_renewed_queue_has_the_values_of_its_rows(seed, with_ties):
    rng = np.random.default_rng(seed)

    def task():
        counts = rng.integers(3, 30), rng.integers(1, 12), rng.integers(1, 9)
        shapes = [(int(count), 2) for count in counts]
        draw = rng.integers(0, 3, (50, 2)).astype(float) if with_ties else rng.normal(size=(50, 2))
        X, pool, valid = (draw[: rows[0]] + number for number, rows in enumerate(shapes))
        y, y_valid = np.arange(len(X)) % 3, rng.integers(0, 3, len(valid))
        return X, rng.permutation(y), pool, valid, y_valid

    queue = MovingQueue(*task(), 3)
    other = task()
    chances = queue._forest.predict_proba(other[2])
    anew = value_pool(*other, 3, posterior=chances)
    renewed = queue.renewed(*other)
    assert renewed is not None
    assert renewed.values == pytest.approx(anew, abs=1e-12)
    X, y, pool, valid, y_valid = other
    assert queue.renewed(X, np.zeros(len(y), int), pool, valid, y_valid) is None


def relabelled(relation: StagedRelation, labels: dict[str, str], role: str) -> StagedRelation:
    """Return rows with labels and a role, as people who label give them."""
    frame = relation.to_frame()
    assert relation.roles is not None
    roles = pd.Series(relation.roles, frame.index)
    for row, label in labels.items():
        frame.loc[row, "kind"] = label
        roles[row] = role
    return StagedRelation.from_frame(frame, target="kind", roles=roles.tolist())


def certain() -> StagedRelation:
    return relabelled(doubtful(), {}, "train")


def test_an_order_follows_a_batch_of_labels():
    relation = certain()
    first = relation.label_next(n=100).eval()
    labels = {str(row): "high" for row in first["row_ids"][:3]}
    labelled = relabelled(relation, labels, "train")
    followed = labelled.label_next(n=100).eval()
    anew = labelled.label_next(n=100).eval(follow=False)
    assert "3 rows changed" in followed["updated"]
    assert len(followed["row_ids"]) == 97
    assert not set(labels) & set(followed["row_ids"])
    ours, theirs = (
        pd.Series(each["values"], each["row_ids"]).sort_index() for each in (followed, anew)
    )
    assert ours.corr(theirs) > 0.95  # the forest is the one of before
    again = relabelled(labelled, {"r0": "other"}, "train")  # a class that no row had
    assert "updated" not in again.label_next(n=100).eval()


def test_bounds_of_feasibility_allow_for_rows_that_are_labelled():
    relation = certain()
    first = relation.feasibility().eval()
    labelled = relabelled(relation, {"r399": "high"}, "train")
    followed = labelled.feasibility().eval()
    assert followed["upper"] == pytest.approx(first["upper"] + 1 / 300)
    other = "low" if label_of(labelled, "r2") == "high" else "high"
    changed = relabelled(labelled, {"r2": other}, "train")
    assert changed.feasibility().eval()["upper"] == pytest.approx(first["upper"] + 2 / 300)


def label_of(relation: StagedRelation, row: str) -> str:
    return str(relation.to_frame().loc[row, "kind"])


def doubtful() -> StagedRelation:
    """Return rows of all roles, of which some have a cell in doubt."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(ROWS, 3)), columns=["a", "b", "c"])
    frame["kind"] = np.where(frame["a"] + frame["b"] > 0, "high", "low")
    roles = np.repeat(["train", "validation", "pool"], [240, 60, 100])
    frame.loc[roles == "pool", "kind"] = None
    frame.index = [f"r{number}" for number in range(ROWS)]
    relation = StagedRelation.from_frame(frame, target="kind", roles=roles.tolist())
    told = [cell_candidates(f"r{number}", "a", TRUE_VALUE) for number in (*DOUBTFUL, 350)]
    return relation.with_all(told).eval()


def without_note(answer):
    """Return an answer without what it says of its updates, its numbers rounded."""
    told = {name: value for name, value in answer.items() if name != "updated"}
    return json.loads(json.dumps(told), parse_float=lambda text: round(float(text), 9))


@pytest.mark.parametrize("question", ["feasibility", "plan_cleaning", "label_next"])
def test_an_answer_that_confirms_what_was_likeliest_changes_nothing_but_the_plan(question):
    relation = doubtful()
    first = getattr(relation, question)().eval()
    confirmed = relation.with_candidates("r3", "a", {0.5: 1.0})
    followed = getattr(confirmed, question)().eval()
    anew = getattr(confirmed, question)().eval(follow=False)
    assert without_note(followed) == without_note(anew)
    assert ("updated" in followed) == (question == "plan_cleaning")
    assert "updated" not in first


def test_a_plan_follows_answers_as_it_would_be_made_anew():
    relation = doubtful()
    relation.plan_cleaning().eval()
    mended = relation.with_candidates("r40", "a", {2.0: 1.0}).with_candidates("r3", "a", {0.5: 1})
    followed, anew = mended.plan_cleaning().eval(), mended.plan_cleaning().eval(follow=False)
    assert "2 rows changed" in followed["updated"]
    assert followed["dirty"] == anew["dirty"] == len(DOUBTFUL) - 2
    ours, theirs = ([each["row_id"] for each in plan["planned"]] for plan in (followed, anew))
    assert set(ours) == set(theirs)
    assert ours[:3] == theirs[:3]
    assert followed["entropy_after"] == pytest.approx(anew["entropy_after"], abs=0.01)


def test_an_order_follows_a_repair_within_the_bound_that_it_states():
    relation = doubtful()
    relation.label_next(n=100).eval()
    mended = relation.with_candidates("r40", "a", {2.0: 1.0}).with_candidates("r350", "a", {2.0: 1})
    followed = mended.label_next(n=100).eval()
    anew = mended.label_next(n=100).eval(follow=False)
    assert "2 rows changed" in followed["updated"]
    ours, theirs = (
        pd.Series(each["values"], each["row_ids"]).sort_index() for each in (followed, anew)
    )
    assert ours.corr(theirs) > 0.99
    assert len(set(followed["row_ids"][:30]) & set(anew["row_ids"][:30])) >= 20


def test_bounds_of_feasibility_allow_for_repairs_and_a_verdict_never_outlives_its_reason():
    relation = doubtful()
    first = relation.feasibility(0.8).eval()
    mended = relation.with_candidates("r40", "a", {2.0: 1.0})
    followed = mended.feasibility(0.8).eval()
    assert followed["upper"] == pytest.approx(first["upper"] + 1 / 300)
    assert followed["verdict"] == mended.feasibility(0.8).eval(follow=False)["verdict"]
    close = relation.feasibility(1 - first["upper"] - 1e-6)
    assert close.eval()["verdict"] == "realistic"
    again = mended.feasibility(1 - first["upper"] - 1e-6).eval()
    assert "updated" not in again  # was asked anew, as the wider bound decides nothing


@pytest.mark.parametrize(
    "change",
    [
        lambda relation: relation.with_candidates("r3", "kind", {"low": 1.0}),
        lambda relation: relation.with_column("d", "a * 2"),
        lambda relation: relation.filter("b > -2"),
        lambda relation: relation.with_all(
            [cell_candidates(f"r{number}", "b", {9.0: 1.0}) for number in range(6)]
        ),
    ],
)
@pytest.mark.parametrize("question", ["plan_cleaning", "label_next"])
def test_other_changes_are_answered_from_scratch(question, change):
    relation = doubtful()
    getattr(relation, question)().eval()
    changed = change(relation)
    answer = getattr(changed, question)().eval()
    is_label = "kind" in changed.content.blocks.cells
    if is_label and question == "label_next":
        assert "1 row changed" in answer["updated"]  # any label can be taken in
        return
    assert answer == getattr(changed, question)().eval(follow=False)


def test_a_cache_gets_only_answers_from_scratch(tmp_path):
    relation = doubtful()
    relation.plan_cleaning().eval(cache=FolderCache(tmp_path))
    mended = relation.with_candidates("r40", "a", {2.0: 1.0})
    assert "updated" in mended.plan_cleaning().eval(cache=FolderCache(tmp_path))
    fresh = mended.plan_cleaning().eval(cache=FolderCache(tmp_path), follow=False)
    assert "updated" not in fresh
    relation.plan_cleaning(n=7).eval()
    again = doubtful().plan_cleaning(n=7)  # asked of equal rows: nothing was updated
    again.eval(cache=FolderCache(tmp_path))
    assert FolderCache(tmp_path).has(again.node.key)
    assert mended.plan_cleaning().eval(cache=FolderCache(tmp_path)) == fresh


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_changed_rows_are_those_that_differ(data):
    rows = data.draw(st.integers(1, 8))
    cells = st.sampled_from([1.0, 2.0, None, float("nan")])
    columns = {
        "n": pd.array(data.draw(st.lists(cells, min_size=rows, max_size=rows)), "Float64"),
        "t": data.draw(st.lists(st.sampled_from(["x", "y", None]), min_size=rows, max_size=rows)),
    }
    before = Relation.from_frame(pd.DataFrame(columns))
    frame, expected = before.to_frame(), set()
    for row in data.draw(st.sets(st.integers(0, rows - 1))):
        frame.loc[row, "n"] = 7.0
        expected.add(row)
    after = before.like(Relation.from_frame(frame).content)
    for row in data.draw(st.sets(st.integers(0, rows - 1))):
        after = after.with_candidates(row, "n", {3.0: 0.5, 4.0: 0.5})
        expected.add(row)
    found = changed_rows(before.content, after.content)
    assert found is not None
    assert set(found.tolist()) == expected
    fewer = before.select(["n"])
    assert changed_rows(before.content, fewer.content) is None
