"""Measures between groups and under noise: counting by hand is the oracle."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from easeml.errors import InvalidInput
from easeml.modules import Predictions
from easeml.modules.further_measures import (
    LEAST_ROWS,
    Further,
    measure_further,
    read_further,
    with_noise,
)

CLASSES = np.array(["bad", "good"], dtype=object)


def rows_of(seed: int, rows: int, groups: int) -> tuple[pd.DataFrame, Predictions]:
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"_row": np.arange(rows), "sex": random.integers(groups, size=rows)})
    frame["sex"] = frame["sex"].map(lambda code: f"group {code}").astype("category")
    frame.loc[random.random(rows) < 0.05, "sex"] = None
    frame["y"] = CLASSES[random.integers(2, size=rows)]
    shares = random.dirichlet([1, 1], rows)
    return frame, Predictions.of_probabilities(shares, CLASSES)


def measure(name: str, frame: pd.DataFrame, said: Predictions) -> float:
    further = read_further(name)
    assert further is not None
    found = measure_further(further, "accuracy", frame, "y", said)
    assert found.low is not None and found.high is not None
    assert found.low <= found.value <= found.high
    return found.value


@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 1000), rows=st.integers(80, 200), groups=st.integers(2, 4))
def test_gaps_are_differences_of_the_largest_and_the_least(
    seed: int, rows: int, groups: int
) -> None:
    frame, said = rows_of(seed, rows, groups)
    by_group: dict[str, dict[str, float]] = {"accuracy": {}, "selected": {}, "recall": {}}
    for name, part in frame.groupby("sex", observed=True):
        if len(part) < LEAST_ROWS:
            continue
        told = said.values[part.index]
        by_group["accuracy"][str(name)] = float(np.mean(told == part["y"]))
        by_group["selected"][str(name)] = float(np.mean(told == "bad"))
        by_group["recall"][str(name)] = float(
            metrics.recall_score(part["y"] == "bad", told == "bad")
        )

    def gap(kind: str) -> float:
        return max(by_group[kind].values()) - min(by_group[kind].values())

    assert measure("gap(sex)", frame, said) == pytest.approx(gap("accuracy"))
    assert measure("gap(sex, selection-rate(bad))", frame, said) == pytest.approx(gap("selected"))
    assert measure("gap(sex, recall(bad))", frame, said) == pytest.approx(gap("recall"))
    assert measure("worst(sex)", frame, said) == pytest.approx(min(by_group["accuracy"].values()))


def test_groups_that_are_alike_have_no_sure_gap() -> None:
    shown = 0
    for seed in range(20):
        frame, said = rows_of(seed, 240, 4)
        further = read_further("gap(sex)")
        assert further is not None
        low = measure_further(further, "accuracy", frame, "y", said).low
        assert low is not None
        shown += low > 0
    assert shown <= 2


def test_a_gap_that_is_plain_is_sure() -> None:
    frame, said = rows_of(0, 400, 2)
    known = frame["sex"] == "group 1"
    frame.loc[known, "y"] = said.values[known.to_numpy()]
    further = read_further("gap(sex)")
    assert further is not None
    found = measure_further(further, "accuracy", frame, "y", said)
    assert found.low is not None
    assert found.low > 0.3


def test_the_worst_group_by_an_error_has_the_largest() -> None:
    frame, said = rows_of(0, 200, 2)
    worst = measure("worst(sex, log-loss)", frame, said)
    each = []
    for _, part in frame.groupby("sex", observed=True):
        chances = np.asarray(said.probabilities)[part.index]
        right = chances[np.arange(len(part)), (part["y"] == "good").astype(int)]
        each.append(-np.mean(np.log(right)))
    assert worst == pytest.approx(max(each))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gap(age)", "no column 'age'"),
        ("gap(_row)", "groups, more than"),
        ("gap()", "one or two"),
        ("gap(sex, accuracy, x)", "one or two"),
        ("noisy(0)", "between 0 and 1"),
        ("noisy(0.1)", "The model is needed"),
    ],
)
def test_what_cannot_be_measured_says_why(name: str, message: str) -> None:
    frame, said = rows_of(0, 200, 2)
    with pytest.raises(InvalidInput, match=message):
        measure(name, frame, said)


def test_small_groups_are_not_compared() -> None:
    frame, said = rows_of(0, 200, 2)
    frame["sex"] = ["a"] * 195 + ["b"] * 5
    with pytest.raises(InvalidInput, match="Fewer than two groups"):
        measure("gap(sex)", frame, said)


def test_the_same_measure_has_one_name() -> None:
    assert read_further("accuracy") is None
    assert read_further("recall(bad)") is None
    found = read_further('GAP( "sex" , recall(bad))')
    assert found == Further("gap", "recall(bad)", column="sex")
    assert found is not None and found.name == "gap(sex, recall(bad))"
    noisy = read_further("noisy")
    assert noisy is not None and noisy.name == "noisy(0.1)"


def test_noise_exchanges_a_share_of_the_cells_and_no_answer() -> None:
    random = np.random.default_rng(0)
    frame, _ = rows_of(1, 1000, 3)
    frame["x"] = random.normal(size=1000)
    noisy = with_noise(frame, "y", 0.2)
    pd.testing.assert_frame_equal(noisy, with_noise(frame, "y", 0.2))
    for column in ("y", "_row"):
        assert noisy[column].equals(frame[column])
    assert 0.15 < np.mean(noisy["x"] != frame["x"]) < 0.25
    assert set(noisy["x"]) <= set(frame["x"])
    assert noisy["sex"].dtype == frame["sex"].dtype

    further = read_further("noisy(0.2)")
    assert further is not None

    def predict(rows: pd.DataFrame) -> Predictions:
        good = (rows["x"] > 0).to_numpy().astype(int)
        return Predictions.of_probabilities(np.eye(2)[good], CLASSES)

    frame["y"] = np.where(frame["x"] > 0, "good", "bad")
    found = measure_further(further, "accuracy", frame, "y", predict(frame), predict)
    expected = np.mean((with_noise(frame, "y", 0.2)["x"] > 0) == (frame["x"] > 0))
    assert found.value == pytest.approx(expected)
    assert found.objective == "noisy(0.2)"
