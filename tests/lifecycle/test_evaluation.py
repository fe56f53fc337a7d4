"""What the evaluation of validation predictions says, against counts made by hand."""

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix, roc_auc_score

from easeml.contract.evaluation import Evaluation
from easeml.lifecycle import evaluation
from easeml.lifecycle.held_out import Unseen
from easeml.web import model_charts


def evaluate(frame: pd.DataFrame, target: str, said: Unseen) -> Evaluation:
    """Return the evaluation as a page gets it."""
    rows = frame.set_index("_row")
    found = evaluation.evaluate(rows.drop(columns=[target]), rows[target], said)
    return Evaluation.model_validate(asdict(found))


def classified(rows: int, classes: int, seed: int = 0) -> tuple[pd.DataFrame, Unseen]:
    """Return rows with a random class each, and noisy predictions of them."""
    random = np.random.default_rng(seed)
    names = np.asarray([f"class {code}" for code in range(classes)], dtype=object)
    actual = random.integers(classes, size=rows)
    chances = random.dirichlet(np.ones(classes), rows)
    chances[np.arange(rows), actual] += 0.5
    chances /= chances.sum(axis=1, keepdims=True)
    frame = pd.DataFrame(
        {"_row": np.arange(rows) * 3, "x": random.normal(size=rows), "y": names[actual]}
    )
    return frame, Unseen(names[chances.argmax(axis=1)], chances, names)


@given(st.integers(1, 80), st.integers(2, 20), st.integers(0, 99))
def test_every_row_is_counted_once_and_every_mark_is_inside_its_plot(
    rows: int, classes: int, seed: int
):
    frame, predictions = classified(rows, classes, seed)
    found = evaluate(frame, "y", predictions)
    assert sum(map(sum, found.confusion)) == rows == found.rows
    assert len(found.labels) == len(found.confusion) <= 12
    assert sum(one.rows for one in found.calibration) in (0, rows)
    for figure in (model_charts.roc(found), model_charts.calibration(found)):
        for series in figure.series if figure else ():
            assert all(0 <= value <= 100 + 1e-9 for value in (*series.x, *series.y))
    assert all(cell.shade <= 5 for _, cells in model_charts.confusion(found) for cell in cells)


def test_counts_and_areas_are_those_of_scikit_learn():
    frame, predictions = classified(300, 4)
    found = evaluate(frame, "y", predictions)
    assert (
        found.confusion
        == confusion_matrix(frame["y"], predictions.values, labels=found.labels).tolist()
    )
    assert predictions.chances is not None
    for curve, chances in zip(found.roc, predictions.chances.T, strict=True):
        assert curve.area == pytest.approx(roc_auc_score(frame["y"] == curve.label, chances))


def test_the_worst_examples_are_those_whose_class_was_thought_least_likely():
    frame, predictions = classified(300, 3)
    found = evaluate(frame, "y", predictions)
    assert len(found.worst) == 10
    assert predictions.chances is not None
    of_actual = predictions.chances[np.arange(300), [int(name[-1]) for name in frame["y"]]]
    wrong = frame["y"].to_numpy() != predictions.values
    assert [one.score for one in found.worst] == pytest.approx(np.sort(of_actual[wrong])[:10])
    assert [one.row % 3 for one in found.worst] == [0] * 10
    assert all(one.actual != one.predicted for one in found.worst)


def test_rows_of_equal_confidence_share_a_bin():
    names = np.asarray(["a", "b"], dtype=object)
    frame = pd.DataFrame({"_row": range(60), "y": ["a"] * 30 + ["b"] * 30})
    chances = np.tile([0.7, 0.3], (60, 1))
    chances[::3] = [0.9, 0.1]
    found = evaluate(frame, "y", Unseen(names[chances.argmax(axis=1)], chances, names)).calibration
    assert [(one.confidence, one.rows, one.right) for one in found] == [
        (pytest.approx(0.7), 40, 0.5),
        (pytest.approx(0.9), 20, 0.5),
    ]


def test_rare_classes_are_one_and_nothing_is_lost():
    frame, predictions = classified(500, 40)
    found = evaluate(frame, "y", predictions)
    assert found.labels[-1] == "all others"
    assert len(found.labels) == 12
    assert sum(map(sum, found.confusion)) == 500


def test_of_many_classes_those_with_the_most_mistakes_are_shown():
    """Thirty classes: ten rows of each are right, and those of two are taken for each other."""
    codes = np.repeat(np.arange(30), 10)
    answers = codes.copy()
    answers[codes == 17], answers[codes == 28] = 28, 17
    names = np.asarray([f"class {code}" for code in range(30)], dtype=object)
    frame = pd.DataFrame({"_row": range(300), "y": names[codes]})
    found = evaluate(frame, "y", Unseen(names[answers], None, names))
    place = {label: at for at, label in enumerate(found.labels)}
    assert found.confusion[place["class 17"]][place["class 28"]] == 10
    assert found.confusion[-1][-1] == 190


def test_two_classes_have_one_curve_and_labels_alone_have_none():
    frame, predictions = classified(60, 2)
    assert [one.label for one in evaluate(frame, "y", predictions).roc] == ["class 1"]
    found = evaluate(frame, "y", Unseen(predictions.values, None, predictions.classes))
    assert (found.roc, found.calibration) == ([], [])
    assert found.confusion


def test_rows_without_an_actual_value_are_left_out():
    frame, predictions = classified(20, 2)
    frame.loc[3:7, "y"] = None
    assert evaluate(frame, "y", predictions).rows == 15
    numbers = pd.DataFrame(
        {"_row": range(4), "x": ["é" * 99, None, "b", "c"], "y": [1.0, np.nan, 3.0, -1.0]}
    )
    found = evaluate(numbers, "y", Unseen(np.asarray([1.0, 2.0, 5.0, np.nan]), None, None))
    assert found.rows == 2
    assert (found.worst[0].row, found.worst[0].score) == (2, 2.0)
    assert len(found.worst[1].values["x"]) == 60
    assert model_charts.residuals(found)


def test_nothing_known_is_no_picture():
    frame = pd.DataFrame({"_row": range(3), "y": [np.nan] * 3})
    found = evaluate(frame, "y", Unseen(np.zeros(3), None, None))
    assert found.rows == 0
    assert model_charts.residuals(found) is None
    assert model_charts.learning(found) is None


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=40))
def test_residuals_are_told_on_equal_axes_that_hold_them(values: list[float]):
    frame = pd.DataFrame({"_row": range(len(values)), "y": values})
    figure = model_charts.residuals(
        evaluate(frame, "y", Unseen(np.asarray(values[::-1]), None, None))
    )
    assert figure is not None
    dots = figure.series[-1]
    assert dots.x == tuple(values)
    assert dots.y == tuple(values[::-1])
    assert (figure.x.low, figure.x.high) == (figure.y.low, figure.y.high)
    assert figure.x.low is not None and figure.x.low <= min(values)
    assert figure.x.high is not None and figure.x.high >= max(values)


def test_worst_rows_tell_all_their_columns():
    wide = {f"column {place}": [float(place)] for place in range(40)}
    frame = pd.DataFrame({"_row": [0], **wide, "y": [1.0]})
    found = evaluate(frame, "y", Unseen(np.zeros(1), None, None))
    assert list(found.worst[0].values) == list(wide)


def test_tensors_err_by_element():
    frame = pd.DataFrame({"_row": [0, 1], "x": [1.0, 2.0]})
    frame["y"] = [np.zeros((2, 2)), np.ones((2, 2))]
    found = evaluate(frame, "y", Unseen(np.zeros((2, 2, 2)), None, None))
    assert found.rows == 2
    assert len(found.residuals) == 8
    assert [(one.row, one.score) for one in found.worst] == [(1, 1.0), (0, 0.0)]
    assert found.worst[0].actual == "2 x 2 numbers"
