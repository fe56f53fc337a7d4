"""The next step follows from facts, and comes with evidence, cost, gain and what to run."""

import numpy as np
import pandas as pd
import pytest

import easeml
from easeml.errors import EasemlError


def table(rows: int = 240) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(rows, 4)), columns=list("abcd"))
    frame["kind"] = np.where(frame["a"] + 0.5 * frame["b"] > 0, "up", "down")
    return frame


def actions(relation: easeml.Relation) -> list[str]:
    return [each.action for each in relation.suggest()]


def test_first_a_target_then_roles():
    assert actions(easeml.Relation.from_frame(table())) == ["name the target"]
    relation = easeml.Relation.from_frame(table(), target="kind")
    assert actions(relation) == ["split"]
    assert relation.suggest()[0].step.eval().roles is not None


def test_machines_work_comes_first_and_is_not_asked_twice():
    frame = table()
    frame.loc[:20, "a"] = np.nan
    relation = easeml.Relation.from_frame(frame, target="kind").split()
    assert actions(relation)[:2] == ["clean", "feasibility"]
    found = actions(relation.clean())
    assert found == ["feasibility", "search", "plan_cleaning"]


def with_wrong_labels(count: int) -> tuple[easeml.Relation, set[int]]:
    """Return rows of which the first half learns, and the ids of those labels that are wrong."""
    frame = table()
    planted = np.random.default_rng(1).choice(120, count, replace=False)
    frame.loc[planted, "kind"] = frame.loc[planted, "kind"].map({"up": "down", "down": "up"})
    roles = ["train"] * 120 + ["validation"] * 120
    return easeml.Relation.from_frame(frame, "kind", roles), set(planted.tolist())


def test_labels_that_contradict_all_others_are_to_be_checked():
    relation, planted = with_wrong_labels(24)
    found = next(each for each in relation.suggest() if each.action == "check_labels")
    assert "of 120 answers in column 'kind' look wrong" in found.why
    assert "labels contradict" in found.evidence[0]
    assert found.minutes == 5
    assert 0 < found.gain.value <= found.gain.high

    answer = found.step.eval()
    assert len(answer["row_ids"]) == 20
    assert len(planted.intersection(answer["row_ids"])) >= 15
    assert answer["wrong"] == sorted(answer["wrong"], reverse=True)
    labels = relation.to_frame().loc[answer["row_ids"], "kind"]
    assert answer["labels"] == list(labels)
    assert all(np.not_equal(answer["labels"], answer["suggestions"]))


def test_clean_labels_are_left_alone():
    relation, _ = with_wrong_labels(0)
    assert "check_labels" not in actions(relation)


def test_wrong_numbers_are_checked_as_wrong_names_are():
    frame = table(120).drop(columns="kind")
    frame["sum"] = frame["a"] + frame["b"]
    planted = [3, 15, 30, 45, 58]
    frame.loc[planted, "sum"] += 15.0
    roles = ["train"] * 60 + ["validation"] * 60
    relation = easeml.Relation.from_frame(frame, "sum", roles)
    answer = relation.check_labels(n=5).eval()
    assert set(answer["row_ids"]) == set(planted)
    assert "check_labels" in actions(relation)


def test_too_few_labels_are_not_judged():
    relation = easeml.Relation.from_frame(table(8), "kind")
    with pytest.raises(EasemlError, match="fewer than 10") as caught:
        relation.check_labels().eval()
    assert "label_next" in str(caught.value.remedy)


def test_a_parameter_that_there_is_not_is_told_with_those_there_are():
    relation = easeml.Relation.from_frame(table(8), "kind")
    with pytest.raises(EasemlError, match="'limit'") as caught:
        easeml.lineage.apply("check_labels", relation, limit=3)
    assert "relation, n, confidence, seed" in str(caught.value.remedy)


@pytest.fixture(scope="module")
def half_labelled() -> easeml.Relation:
    frame = table()
    frame.loc[40:149, "kind"] = None
    roles = ["train"] * 40 + ["pool"] * 110 + ["validation"] * 90
    relation = easeml.Relation.from_frame(frame, "kind", roles)
    for row in range(6):
        relation = relation.with_candidates(row, "d", {-1.0: 0.5, 1.0: 0.5})
    return relation


def test_peoples_work_is_ranked_by_gain_a_minute(half_labelled: easeml.Relation):
    found = [each for each in half_labelled.suggest() if each.gain is not None]
    assert {each.action for each in found} == {"label_next", "plan_cleaning"}
    rates = [each.gain.value / each.minutes for each in found]
    assert rates == sorted(rates, reverse=True)
    for each in found:
        assert each.gain.low <= each.gain.value <= each.gain.high
        assert "points" in str(each)
    label = next(each for each in found if each.action == "label_next")
    assert label.minutes == 5
    assert "110 rows of the pool" in label.why
    assert len(label.step.eval()["row_ids"]) == 20
