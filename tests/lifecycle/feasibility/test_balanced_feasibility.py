"""Goals of balanced accuracy and of rmse, on data whose best is known."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.errors import InvalidInput
from easeml.lifecycle.feasibility.balanced import rows_of_equal_classes
from easeml.lifecycle.tool import tool_named

BEST = 1 - 0.158655  # balanced accuracy of the nearer of two normals, two apart


def rare_class(rows: int = 1500) -> tuple[pd.DataFrame, pd.Series]:
    """Two normals, two apart; one of ten rows is of the rare one."""
    rng = np.random.default_rng(1)
    is_rare = rng.random(rows) < 0.1
    frame = pd.DataFrame(rng.normal(size=(rows, 2)), columns=["near", "other"])
    frame["near"] += np.where(is_rare, 1.0, -1.0)
    return frame, pd.Series(np.where(is_rare, "ill", "well"), dtype="category")


def ask(facts: dict[str, object], **parameters: object):
    return tool_named("feasibility").asked(facts, parameters, None)[0]


def test_a_goal_of_balanced_accuracy_has_a_verdict():
    frame, labels = rare_class()
    answer = ask({"inputs": frame, "answers": labels}, goal=0.7, of="balanced-accuracy")
    numbers = {one.name: one for one in answer.numbers}
    best = numbers["best"]
    assert answer.verdict == "realistic"
    assert best.low <= BEST <= best.high
    assert best.value == pytest.approx(BEST, abs=0.05)
    assert numbers["baseline"].value == pytest.approx(0.5, abs=0.02)
    assert "balanced accuracy" in best.title
    assert "as many of each class" in answer.notes[0]


def test_what_accuracy_reaches_says_nothing_of_balanced_accuracy():
    frame, labels = rare_class()
    facts = {"inputs": frame[["other"]], "answers": labels}
    asked = {"goal": 0.85, "quick": True}
    assert ask(facts, **asked).verdict == "realistic"  # as it is by guessing "well"
    assert ask(facts, of="balanced-accuracy", **asked).verdict == "unrealistic"


@given(st.lists(st.integers(1, 30), min_size=2, max_size=5), st.integers(0, 9))
def test_as_many_rows_of_each_class_are_drawn(counts: list[int], seed: int):
    labels = pd.Series(np.repeat(np.arange(len(counts)), counts)).sample(frac=1, random_state=0)
    labels = labels.reset_index(drop=True)
    drawn = rows_of_equal_classes(labels, seed)
    assert len(set(drawn)) == len(drawn)
    assert (labels[drawn].value_counts() == min(counts)).all()
    assert labels[drawn].nunique() == len(counts)


def test_a_goal_of_rmse_is_judged_in_the_unit_of_the_target():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(500, 2)), columns=["a", "b"])
    minutes = pd.Series(20 + 6 * frame["a"] + 2 * rng.normal(size=500))
    facts = {"inputs": frame, "answers": minutes}
    found = ask(facts, goal=3.0, of="rmse")
    least = found.numbers[-1]
    assert found.verdict == "realistic"
    assert (least.name, least.low <= 2.0 <= least.high) == ("rmse", True)
    assert "an rmse of 3 is an R2 of" in found.notes[0]
    assert ask(facts, goal=1.0, of="rmse", quick=True).verdict == "unrealistic"


@pytest.mark.parametrize(("of", "held"), [("rmse", "classes"), ("balanced-accuracy", "numbers")])
def test_a_goal_that_does_not_fit_the_target_is_refused(of: str, held: str):
    frame, labels = rare_class(100)
    answers = labels if held == "classes" else frame["other"]
    with pytest.raises(InvalidInput, match=f"the target holds {held}"):
        ask({"inputs": frame[["near"]], "answers": answers}, of=of)


def test_too_few_rows_of_a_class_are_named_with_how_many_to_bring():
    frame, labels = rare_class(300)
    kept = np.r_[np.flatnonzero(labels == "ill")[:7], np.flatnonzero(labels == "well")]
    facts = {"inputs": frame.iloc[kept], "answers": labels.iloc[kept]}
    with pytest.raises(
        InvalidInput, match=f"Only 7 of {len(kept)} rows are of class 'ill'"
    ) as caught:
        ask(facts, goal=0.7, of="balanced-accuracy")
    assert "at least 10 rows of each class" in str(caught.value)
    assert "a goal of accuracy" in str(caught.value)


@pytest.mark.parametrize("seed", range(4))
def test_the_best_r2_of_noise_lies_in_its_own_interval(seed: int):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    answer = ask({"inputs": frame, "answers": pd.Series(rng.normal(size=200))}, goal=0.5)
    best = next(one for one in answer.numbers if one.name == "best")
    assert 0 <= best.low <= best.value <= best.high
    assert f"about {best.value:.3f} (between {best.low:.3f} and {best.high:.3f}" in answer.advice
