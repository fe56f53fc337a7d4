"""The next step follows from facts, and comes with evidence, cost, gain and what to run."""

import numpy as np
import pandas as pd
import pytest

import easeml


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
