"""How a model does, by counts made by hand."""

import numpy as np
import pandas as pd
import pytest

from easeml.errors import InvalidInput
from easeml.lifecycle import tool_conformance
from easeml.lifecycle.held_out import Unseen
from easeml.lifecycle.tool import tool_named

TOOL = tool_named("evaluation")
NAMES = np.asarray(["down", "up"], dtype=object)


def of_classes(wrong: int, sure: float) -> dict:
    """Return 100 rows, 60 of them up, of which ``wrong`` are taken for down."""
    inputs = pd.DataFrame({"x": np.arange(100.0)}, index=np.arange(100) * 10)
    answers = pd.Series(pd.Categorical(["up"] * 60 + ["down"] * 40), index=inputs.index)
    codes = np.array([1] * 60 + [0] * 40)
    codes[:wrong] = 0
    chances = np.full((100, 2), 1 - sure)
    chances[np.arange(100), codes] = sure
    return {
        "inputs": inputs,
        "answers": answers,
        "predictions": Unseen(NAMES[codes], chances, NAMES),
    }


def numbers(answer) -> dict[str, float]:
    return {one.name: one.value for one in answer.numbers}


def test_classes_are_counted_and_the_worst_rows_named() -> None:
    answer = tool_conformance.check(TOOL, of_classes(wrong=12, sure=0.9))
    told = {"right": 0.88, "baseline": 0.6, "rows": 100, "sure": pytest.approx(0.9)}
    assert numbers(answer) == told
    assert "up for down (12 rows)" in answer.advice
    assert "surer" not in answer.advice  # 0.9 lies within the interval of what is right
    confusion, worst = answer.tables
    assert confusion.rows == (("down", 40, 0), ("up", 12, 48))
    assert worst.columns == ("Row", "Actual", "Predicted", "Chance given to the actual class", "x")
    assert [row[0] for row in worst.rows] == [10 * place for place in range(10)]
    assert [figure.title for figure in answer.figures] == ["ROC curves", "Calibration"]


def test_a_model_that_is_too_sure_or_no_better_than_the_most_frequent_class_is_told() -> None:
    answer = TOOL.answer(of_classes(wrong=45, sure=0.99), {"worst": 3})
    assert numbers(answer)["right"] == 0.55
    assert "surer (99.0%) than it is right" in answer.advice
    assert "Always saying up is as good" in answer.advice
    assert len(answer.tables[1].rows) == 3
    modest = TOOL.answer(of_classes(wrong=1, sure=0.7), {})
    assert "right more often than it is sure" in modest.advice


def test_errors_of_which_few_rows_have_any_are_not_told_too_small() -> None:
    answers = pd.Series(np.arange(50.0))
    facts = {"inputs": pd.DataFrame({"x": answers}), "answers": answers}
    off = np.where(np.arange(50) < 2, 1.0, 0.0)
    found = TOOL.answer({**facts, "predictions": Unseen(answers.to_numpy() + off)}, {})
    error = found.numbers[0]
    assert error.value == pytest.approx(0.04)
    assert error.low == pytest.approx(0.005, abs=0.01)
    assert error.high > 0.137  # of 2 of 50 rows by Clopper and Pearson; a normal mean's is .094
    exact = TOOL.answer({**facts, "predictions": Unseen(answers.to_numpy())}, {}).numbers[0]
    assert (exact.value, exact.low, exact.high) == (0.0, None, None)


def test_numbers_are_off_by_their_errors() -> None:
    inputs = pd.DataFrame({"x": np.arange(1000.0)})
    answers = pd.Series(np.arange(1000.0))
    answers[7] = np.nan
    error = np.where(np.arange(1000) % 2, 2.0, -4.0)
    told = {"inputs": inputs, "answers": answers, "predictions": Unseen(answers.to_numpy() + error)}
    answer = tool_conformance.check(TOOL, told)
    assert numbers(answer)["rows"] == 999
    assert numbers(answer)["error"] == pytest.approx((500 * 4 + 499 * 2) / 999)
    assert numbers(answer)["baseline"] == pytest.approx(250, abs=1)
    assert answer.tables[0].rows[0][:3] == (0, "0", "-4")
    assert answer.figures[0].title == "Predicted against actual values"


def test_tensors_are_off_by_their_elements() -> None:
    cells = np.empty(3, dtype=object)
    cells[:] = [np.zeros((2, 2))] * 3
    said = np.stack([np.zeros((2, 2)), np.ones((2, 2)), np.full((2, 2), 5.0)])
    inputs = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    told = {"inputs": inputs, "answers": pd.Series(cells), "predictions": Unseen(said)}
    answer = TOOL.answer(told, {})
    assert numbers(answer) == {"error": 2.0, "rows": 3}


def test_where_nothing_is_known_it_says_so() -> None:
    told = of_classes(wrong=0, sure=0.9)
    told["answers"] = pd.Series([None] * 100, dtype=object)
    with pytest.raises(InvalidInput, match="No row can be judged"):
        TOOL.answer(told, {})


def test_of_many_classes_the_most_frequent_is_one_that_there_is() -> None:
    """The confusion shows the rest as one, which nothing could always say."""
    names = np.asarray([f"kind {place:02}" for place in range(30)], dtype=object)
    codes = np.repeat(np.arange(30), 5)
    codes[:3] = 29
    said = codes.copy()
    said[-20::5] = 0
    inputs = pd.DataFrame({"x": np.arange(150.0)})
    answers = pd.Series(pd.Categorical(names[codes]))
    told = {"inputs": inputs, "answers": answers, "predictions": Unseen(names[said], None, names)}
    answer = TOOL.answer(told, {})
    (baseline,) = [one for one in answer.numbers if one.name == "baseline"]
    assert baseline.title == "Right if it always said kind 29"
    assert baseline.value == pytest.approx(8 / 150)


def of_labels(actual: list[list[int]], said: list[list[int]]) -> dict:
    """Return rows that may have the labels economy, sport and weather."""
    cells = np.empty(len(actual), dtype=object)
    cells[:] = [np.array(row, dtype=float) for row in actual]
    labels = ("economy", "sport", "weather")
    return {
        "inputs": pd.DataFrame({"x": np.arange(float(len(actual)))}),
        "answers": pd.Series(cells),
        "predictions": Unseen(np.array(said, dtype=float), labels=labels),
    }


def test_of_a_label_that_no_row_has_nothing_is_told() -> None:
    rows = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 0]]
    answer = tool_conformance.check(TOOL, of_labels(rows, rows))
    assert answer.tables[0].rows[2] == ("weather", 0, 0, None, None, None)
    assert "worst" not in answer.advice
    assert "weather: how well that is found is not known" in answer.advice
    wrong = TOOL.answer(of_labels(rows, [*rows[:3], [0, 1, 0]]), {})
    assert "sport is found worst (F1 0.8, 2 rows have it)" in wrong.advice


def test_few_rows_that_are_all_right_prove_no_quality_of_one() -> None:
    rows = [[1, 0, 0], [0, 1, 0]] * 33
    answer = TOOL.answer(of_labels(rows, rows), {})
    told = {one.name: (one.value, one.low, one.high) for one in answer.numbers}
    wilson = 66 / (66 + 1.959963984540054**2)  # where all are right
    for name in ("f1", "exact"):
        value, low, high = told[name]
        assert value == high == 1
        assert low == pytest.approx(wilson)
