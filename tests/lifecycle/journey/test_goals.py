"""Goals as people write them."""

import pytest

from easeml.errors import InvalidInput
from easeml.lifecycle.journey import read_goal


@pytest.mark.parametrize(
    ("text", "objective", "value"),
    [
        ("0.9", "", 0.9),
        ("90 %", "", 0.9),
        ("accuracy >= 0,9", "accuracy", 0.9),
        ("-0.5", "", -0.5),
        ("accuracy >= 0.95", "accuracy", 0.95),
        ("Accuracy above 95%", "accuracy", 0.95),
        ("error below 5 %", "accuracy", 0.95),
        ("error<.05", "accuracy", 0.95),
        ("R2 at least 0.5", "r2", 0.5),
        ("balanced-accuracy >= 0.9", "balanced-accuracy", 0.9),
        ("balanced accuracy > .9", "balanced-accuracy", 0.9),
        ("rmse below 5", "rmse", 5.0),
        ("mean absolute error <= 12.5", "mean-absolute-error", 12.5),
        ("MAE below 5", "mean-absolute-error", 5.0),
        ("AUC >= .9", "roc-auc", 0.9),
        ("roc_auc >= .9", "roc-auc", 0.9),
        ("R² at least 0.5", "r2", 0.5),
        ("macro F1 above 0.8", "f1-macro", 0.8),
    ],
)
def test_a_goal_is_a_number_or_an_objective_with_one(text: str, objective: str, value: float):
    goal = read_goal(text)
    assert (goal.objective, goal.text) == (objective, text)
    assert goal.value == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "good", "accuracy", ">= 0.9", "accuracy >= high", "1 2"])
def test_what_is_no_goal_is_refused_with_an_example(text: str):
    with pytest.raises(InvalidInput, match="is not a goal") as caught:
        read_goal(text)
    assert "balanced-accuracy >= 0.9" in caught.value.remedy


def test_a_comma_that_may_be_one_of_thousands_is_asked_about():
    with pytest.raises(InvalidInput, match=r"'1,000' may mean 1000 or 1\.000") as caught:
        read_goal("error below 1,000 dollars")
    assert caught.value.remedy == "Write 1000 or 1.000."


@pytest.mark.parametrize("text", ["accuracy <= 0.9", "r2 below 0.5", "error >= 0.1"])
def test_a_goal_on_the_wrong_side_is_refused(text: str):
    with pytest.raises(InvalidInput, match="wrong side"):
        read_goal(text)


@pytest.mark.parametrize("text", ["error below 5 minutes", "error < 5", "rmse below 5 °C"])
def test_an_error_with_a_unit_or_of_more_than_one_is_of_numbers(text: str):
    goal = read_goal(text)
    assert (goal.objective, goal.value, goal.wants_less) == ("rmse", 5.0, True)
    assert goal.text == text


@pytest.mark.parametrize("text", ["accuracy >= 0.9 points", "0.9 or so", "error above 5 minutes"])
def test_only_what_is_to_be_small_has_a_unit(text: str):
    with pytest.raises(InvalidInput):
        read_goal(text)


@pytest.mark.parametrize(
    ("text", "objective"), [("1.5", "accuracy"), ("accuracy > 1.5", "rmse"), ("90", "r2")]
)
def test_a_goal_beyond_the_best_is_refused_with_what_to_write(text: str, objective: str):
    with pytest.raises(InvalidInput, match="beyond the best there is") as caught:
        read_goal(text).of(objective)
    assert "write 0.9 or 90 %" in caught.value.remedy


def test_a_goal_without_a_name_is_of_the_objective_that_was_chosen():
    goal = read_goal("5000").of("rmse")
    assert (goal.objective, goal.value) == ("rmse", 5000)
