"""Goals as people write them."""

import pytest

from easeml.errors import InvalidInput
from easeml.lifecycle.journey import read_goal
from easeml.modules import load_registry
from easeml.objective_names import is_known


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
        ("balanced accuracy 0.78", "balanced-accuracy", 0.78),
        ("balanced accuracy .9", "balanced-accuracy", 0.9),
        ("AUC .85", "roc-auc", 0.85),
        ("F1-macro: 0.7", "f1-macro", 0.7),
        ("R2 0.8", "r2", 0.8),
        ("90% accuracy", "accuracy", 0.9),
        ("90 percent accuracy", "accuracy", 0.9),
        ("at least 90 % accuracy", "accuracy", 0.9),
        ("an accuracy of at least 90%", "accuracy", 0.9),
        ("Accuracy should be over 90%", "accuracy", 0.9),
        ("accuracy ≥ 0.9", "accuracy", 0.9),
        ("minimum accuracy 90%", "accuracy", 0.9),
        ("at least 0.9", "", 0.9),
        (">= 0.9", "", 0.9),
        ("less than 5% error", "accuracy", 0.95),
        ("no more than 5 % errors", "accuracy", 0.95),
        ("error 5%", "accuracy", 0.95),
        ("error under 0.05", "accuracy", 0.95),
        ("max error 5 %", "accuracy", 0.95),
        ("log-loss below 1e-3", "log-loss", 0.001),
        ("recall(1) >= 0.8", "recall(1)", 0.8),
        ("recall(Bad) of 80 %", "recall(Bad)", 0.8),
    ],
)
def test_a_goal_is_a_number_or_an_objective_with_one(text: str, objective: str, value: float):
    goal = read_goal(text)
    assert (goal.objective, goal.text) == (objective, text)
    assert goal.value == pytest.approx(value)


@pytest.mark.parametrize(
    "text", ["", "good", "accuracy", ">=", "accuracy >= high", "1 2", "0.8 0.9 accuracy", "? 0.9"]
)
def test_what_is_no_goal_is_refused_with_an_example(text: str):
    with pytest.raises(InvalidInput, match="is not a goal") as caught:
        read_goal(text)
    assert "balanced-accuracy >= 0.9" in caught.value.remedy


def test_a_comma_that_may_be_one_of_thousands_is_asked_about():
    with pytest.raises(InvalidInput, match=r"'1,000' may mean 1000 or 1\.000") as caught:
        read_goal("error below 1,000 dollars")
    assert caught.value.remedy == "Write 1000 or 1.000."


@pytest.mark.parametrize(
    "text",
    ["accuracy <= 0.9", "r2 below 0.5", "error >= 0.1", "at most 90% accuracy", "rmse over 5"],
)
def test_a_goal_on_the_wrong_side_is_refused(text: str):
    with pytest.raises(InvalidInput, match="wrong side"):
        read_goal(text)


@pytest.mark.parametrize(
    "text",
    [
        "error below 5 minutes",
        "error < 5",
        "rmse below 5 °C",
        "error under 5 minutes",
        "less than 5 minutes error",
        "within 5 minutes of error",
        "rmse 5",
        "RMSE of 5 dollars",
        "an error of at most 5",
    ],
)
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


@pytest.mark.parametrize(
    ("text", "objective"), [("at most 0.9", "accuracy"), ("at least 5", "rmse")]
)
def test_the_side_has_to_be_right_for_the_objective_that_was_chosen(text: str, objective: str):
    with pytest.raises(InvalidInput, match="wrong side"):
        read_goal(text).of(objective)


@pytest.mark.parametrize(
    ("text", "measure", "value", "wants_less"),
    [
        ("latency under 20 ms", "latency", 0.02, True),
        ("size up to 5 MB", "size", 5e6, True),
        ("gap(sex) <= 5 %", "gap(sex)", 0.05, True),
        ('recall("a 1") at least .8', 'recall("a 1")', 0.8, False),
    ],
)
def test_a_further_part_is_read_as_people_write_it(text, measure, value, wants_less):
    (part,) = read_goal(f"accuracy 0.9 and {text}").parts
    assert (part.measure, part.wants_less) == (measure, wants_less)
    assert part.value == pytest.approx(value)


@pytest.mark.parametrize("text", ["gap(sex) 0.05", "latency < 20 %", "latency < 20", "< 0.9"])
def test_a_further_part_that_says_too_little_is_refused(text: str):
    with pytest.raises(InvalidInput):
        read_goal(f"accuracy 0.9 and {text}")


def test_every_objective_of_easeml_is_known_by_its_name():
    named = {one.name for one in load_registry().of_kind("objective")}
    assert {name for name in named if not is_known(name)} == {"cost", "pinball-10", "pinball-90"}
