"""Objectives of a class, and costs of confusions: scikit-learn and counting by hand are the oracle."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics

from easeml.errors import InvalidInput
from easeml.modules import Context, Predictions, load_registry, measured, score, value
from easeml.modules.calls import cost_arguments, quoted, read_call, read_costs, unquoted, written
from easeml.modules.decision import class_weights
from easeml.modules.pipeline import fit, load_trained, save
from easeml.modules.selection import choose

REGISTRY = load_registry()
metrics: Any = sklearn_metrics  # its stubs do not know zero_division as a number
LABELS = st.text(min_size=1, max_size=12).filter(lambda text: text == text.strip())


def answers(seed: int, rows: int, classes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return labels, probabilities with ties, and the classes."""
    random = np.random.default_rng(seed)
    names = np.array([f"class {code}" for code in range(classes)], dtype=object)
    raw = np.round(random.random((rows, classes)), 1) + 0.01
    return names[random.integers(classes, size=rows)], raw / raw.sum(axis=1, keepdims=True), names


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), rows=st.integers(1, 40), classes=st.integers(2, 4))
def test_measures_of_a_class_are_scikit_learns(seed: int, rows: int, classes: int) -> None:
    actual, shares, names = answers(seed, rows, classes)
    predicted = Predictions.of_probabilities(shares, names)
    is_so, is_said = actual == names[1], predicted.values == names[1]
    beta = 0.5 + seed % 3
    wanted = {
        "recall(class 1)": metrics.recall_score(is_so, is_said, zero_division=0),
        "precision(class 1)": metrics.precision_score(is_so, is_said, zero_division=0),
        "specificity(class 1)": metrics.recall_score(~is_so, ~is_said, zero_division=0),
        f"f-beta(class 1, {beta})": metrics.fbeta_score(is_so, is_said, beta=beta, zero_division=0),
        "selection-rate(class 1)": is_said.mean(),
    }
    for name, expected in wanted.items():
        assert value(name, actual, predicted) == pytest.approx(expected, abs=1e-12), name


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), rows=st.integers(1, 200))
def test_the_calibration_error_is_that_of_the_bins(seed: int, rows: int) -> None:
    actual, shares, names = answers(seed, rows, 3)
    predicted = Predictions.of_probabilities(shares, names)
    expected = 0.0
    for number in range(15):
        low, high = number / 15, (number + 1) / 15
        held = (shares.max(axis=1) > low) & (shares.max(axis=1) <= high)
        if held.any():
            right = np.mean(predicted.values[held] == actual[held])
            expected += held.mean() * abs(right - shares.max(axis=1)[held].mean())
    assert value("calibration-error", actual, predicted) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), rows=st.integers(1, 40), classes=st.integers(2, 4))
def test_labels_cost_least_in_expectation_and_costs_are_counted(
    seed: int, rows: int, classes: int
) -> None:
    actual, shares, names = answers(seed, rows, classes)
    random = np.random.default_rng(seed)
    table = random.integers(1, 9, (classes, classes)).astype(float)
    np.fill_diagonal(table, 0)
    costs = {true: dict(zip(names, table[place], strict=True)) for place, true in enumerate(names)}
    name = written("cost", cost_arguments(costs, "EUR"))
    weights = class_weights(name, np.ones(classes, dtype=int), names)
    predicted = Predictions.of_probabilities(shares, names, weights)

    total = 0.0
    for row, said in enumerate(predicted.values):
        expected = [
            math.fsum(shares[row, true] * table[true, other] for true in range(classes))
            for other in range(classes)
        ]
        assert expected[list(names).index(said)] == pytest.approx(min(expected))
        total += costs[actual[row]][said]
    found = measured(name, actual, predicted, resamples=0)
    assert found.value == pytest.approx(total / rows)
    assert (found.unit, found.lower_is_better) == ("EUR", True)


def test_the_quality_of_costs_is_0_for_the_best_constant_and_1_for_the_least() -> None:
    name = "cost(bad as good=5, good as bad=1)"
    names = np.array(["bad", "good"], dtype=object)
    actual = np.array(["bad"] * 3 + ["good"] * 7)

    def quality(said: list[str]) -> float:
        return score(name, actual, Predictions(np.array(said, dtype=object), None, names))

    assert quality(actual.tolist()) == 1
    assert quality(["bad"] * 10) == 0  # 7 of 10 at 1; always good: 3 of 10 at 5
    assert quality(["good"] * 10) == -1
    halfway = ["bad"] * 3 + ["bad"] * 4 + ["good"] * 3
    assert quality(halfway) == pytest.approx(1 - 4 / 7)


@example(labels=["0", "0 as"], unit="0")
@example(labels=["as", "as b"], unit="as")
@given(labels=st.lists(LABELS, min_size=2, max_size=5, unique=True), unit=LABELS)
def test_any_label_can_be_named(labels: list[str], unit: str) -> None:
    costs = {true: {said: 2.5 for said in labels if said != true} for true in labels}
    call = read_call(written("cost", cost_arguments(costs, unit)))
    assert call is not None
    told = read_costs(call.arguments)
    assert told["unit"] == unit
    found: dict[str, dict[str, float]] = {}
    for true, said, cost in told["costs"]:
        found.setdefault(true, {})[said] = cost
    assert found == costs
    for label in labels:
        again = read_call(written("recall", [quoted(label)]))
        assert again is not None
        assert [unquoted(one) for one in again.arguments] == [label]
        assert REGISTRY.get(written("recall", [quoted(label)])).title == f"Recall of {label}"


@given(text=st.text(max_size=60))
@example("ridge")  # a module, but no objective
def test_what_people_write_is_read_or_refused(text: str) -> None:
    for name in (text, f"recall({text})", f"cost({text})", f"f-beta({text}"):
        try:
            score(name, ["a", "b"], Predictions(np.array(["a", "a"], dtype=object), None, AB))
        except InvalidInput:
            pass
        except LookupError:
            pass


AB = np.array(["a", "b"], dtype=object)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("recall", "has to be told: class"),
        ("recall()", "takes 1"),
        ("recall(c)", "'c' is not a class of the target"),
        ("accuracy(a)", "takes nothing"),
        ("f-beta(a, 0)", "beta is not above 0"),
        ("f-beta(a, inf)", "not a number"),
        ("cost(a as b)", "not a cost"),
        ("cost(a as b=nan)", "not a number"),
        ("cost(a as b=1, a as b=2)", "named twice"),
        ("cost(a as b=0)", "Every answer costs the same"),
        ("cost(a as a=1)", "costs less than saying 'a'"),
        ('recall("a)', "not closed"),
    ],
)
def test_what_is_no_objective_says_why(name: str, message: str) -> None:
    predicted = Predictions(np.array(["a", "b"], dtype=object), None, AB)
    with pytest.raises(InvalidInput, match=message):
        score(name, ["a", "b"], predicted)


def test_the_same_objective_has_one_name() -> None:
    written_so = 'cost( bad  as good = 5.0, "good" as bad=1 , unit = DM)'
    assert REGISTRY.get(written_so).name == "cost(bad as good=5, good as bad=1, unit=DM)"
    assert REGISTRY.get("F-Beta(x,2.0)").name == "f-beta(x, 2)"


def test_a_model_says_what_costs_least_also_when_loaded_and_in_an_ensemble(tmp_path) -> None:
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"x": random.normal(size=600)})
    frame["y"] = np.where(frame["x"] + random.normal(size=600) > 0.5, "bad", "good")
    schema_in = {"nodes": {"x": {"singleton": True, "type": "tensor", "dim": [1]}}, "classes": {}}
    schema_out = {
        "nodes": {"y": {"singleton": True, "type": "category", "class": "label"}},
        "classes": {"label": {"dim": 2, "labels": ["bad", "good"]}},
    }
    pipeline = {
        "transforms": [{"module": "table-onehot", "config": {}}],
        "model": {"module": "logistic", "config": {}},
    }
    name = "cost(bad as good=5, good as bad=1)"
    plain = fit(pipeline, frame, schema_in, schema_out, Context(objective="accuracy"))
    dear = fit(pipeline, frame, schema_in, schema_out, Context(objective=name))
    assert any("least expected cost" in note for note in dear.notes)
    one, other = plain.predict(frame), dear.predict(frame)
    np.testing.assert_array_equal(one.probabilities, other.probabilities)
    assert value(name, frame["y"], other) < value(name, frame["y"], one)
    threshold = np.asarray(other.probabilities)[:, 0] > 1 / 6  # 1 / (1 + 5)
    np.testing.assert_array_equal(other.values == "bad", threshold)

    save(dear, tmp_path / "model")
    loaded = load_trained(tmp_path / "model")
    loaded.check_parity()
    assert loaded.predict(frame).values.tolist() == other.values.tolist()
    choice = choose(name, frame["y"], [other, other])
    assert choice.best.values.tolist() == other.values.tolist()
