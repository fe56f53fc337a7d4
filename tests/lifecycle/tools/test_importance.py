"""What a model looks at, by permutation: as often as asked, of all columns in turn."""

import numpy as np
import pandas as pd
import pytest

from easeml.errors import InvalidInput
from easeml.lifecycle.tool import ToolAnswer, tool_named

TOOL = tool_named("importance")


def facts(rows: int = 400, columns: int = 4) -> dict:
    """Return facts of a sum whose weights are 0, 1, 2 ...; the quality is minus the mean error."""
    random = np.random.default_rng(0)
    names = [f"x{place}" for place in range(columns)]
    inputs = pd.DataFrame(random.normal(size=(rows, columns)), columns=names)
    weights = np.arange(columns)
    answers = pd.Series(inputs.to_numpy() @ weights)

    def predict(frame: pd.DataFrame) -> np.ndarray:
        return frame.to_numpy() @ weights

    def quality(actual: pd.Series, predicted: np.ndarray) -> float:
        return 1 - float(np.mean((actual.to_numpy() - predicted) ** 2))

    return {"inputs": inputs, "answers": answers, "predict": predict, "quality": quality}


def losses(answer: ToolAnswer) -> dict[str, float]:
    return {row[0]: row[1] for row in answer.tables[0].rows}


def test_a_column_costs_what_its_weight_says() -> None:
    answer = TOOL.answer(facts(), {})
    found = losses(answer)
    assert list(found) == ["x3", "x2", "x1", "x0"]
    for place in range(4):  # a shuffled column of variance 1 adds twice its weight, squared
        assert found[f"x{place}"] == pytest.approx(2 * place**2, rel=0.25)
    assert "x3" in answer.advice
    assert "1 column costs 0.01 at most" in answer.advice
    assert answer.figures[0].y.categories == ("x3", "x2", "x1", "x0")
    assert not answer.unfinished


def test_a_column_that_dominates_all_others_is_named() -> None:
    told = facts(columns=3)
    weights = np.array([0.1, 3.0, 0.2])
    told["answers"] = pd.Series(told["inputs"].to_numpy() @ weights)
    told["predict"] = lambda frame: frame.to_numpy() @ weights
    answer = TOOL.answer(told, {})
    assert answer.notes[0].startswith("Nearly all that the model knows comes from 'x1'")
    assert "drop it" in answer.notes[0]
    assert answer.of_model == answer.notes[:1]
    of_several = TOOL.answer(facts(columns=4), {})
    assert of_several.notes == of_several.of_model == ()


def test_a_text_that_decides_the_answer_is_what_it_is_for() -> None:
    told = facts(columns=2)
    weights = np.array([0.1, 3.0])
    numbers = told["inputs"].to_numpy()
    told["answers"] = pd.Series(numbers @ weights)
    told["inputs"] = told["inputs"].assign(x1=[f"about {value} in all" for value in numbers[:, 1]])

    def predict(frame: pd.DataFrame) -> np.ndarray:
        said = frame["x1"].str.split().str[1].astype(float)
        return frame["x0"].to_numpy() * 0.1 + said.to_numpy() * 3.0

    told["predict"] = predict
    answer = TOOL.answer(told, {})
    assert list(losses(answer)) == ["x1", "x0"]
    assert answer.notes == ()


def test_a_column_that_many_others_together_outweigh_does_not_dominate() -> None:
    told = facts(columns=20)
    weights = np.array([2.0, *[0.8] * 19])
    told["answers"] = pd.Series(told["inputs"].to_numpy() @ weights)
    told["predict"] = lambda frame: frame.to_numpy() @ weights
    answer = TOOL.answer(told, {"rounds": 2})
    first, second = answer.tables[0].rows[:2]
    assert first[1] > 5 * second[1]
    assert answer.of_model == ()


def test_one_round_calls_no_column_needless() -> None:
    told, state = facts(), TOOL.open(TOOL.configured({}))
    for _ in range(4):
        answer, state = TOOL.ask(state, told)
    assert losses(answer)["x0"] == 0
    assert "at most" not in answer.advice


def test_columns_are_needless_among_all_or_not_at_all() -> None:
    told, state = facts(), TOOL.open(TOOL.configured({}))
    said = []
    for _ in range(8):
        answer, state = TOOL.ask(state, told)
        said.append("0.01 at most" in answer.advice)
    assert said == [False] * 7 + [True]  # x0, before all had their second turn


def test_states_are_values_and_every_step_says_more() -> None:
    told, state = facts(), TOOL.open(TOOL.configured({"rounds": 2}))
    answers = []
    for _ in range(8):
        answer, after = TOOL.ask(state, told)
        again, _ = TOOL.ask(state, told)
        assert again == answer
        answers.append(answer)
        state = after
    assert [one.unfinished for one in answers] == [True] * 7 + [False]
    assert [len(one.tables[0].rows) for one in answers] == [1, 2, 3, 4, 4, 4, 4, 4]
    assert answers[-1] == TOOL.answer(told, {"rounds": 2})


def test_columns_for_which_there_was_no_time_are_named() -> None:
    answer = TOOL.answer(facts(), {}, go_on=lambda: False)
    assert list(losses(answer)) == ["x0"]
    assert answer.notes[0].startswith("There was no time for 3 columns: x1, x2, x3.")
    assert answer.unfinished


def test_rows_and_inputs_stay_as_they_were() -> None:
    told = facts(rows=50)
    before = told["inputs"].copy()
    first = TOOL.answer(told, {"rows": 20, "rounds": 1})
    assert next(one.value for one in first.numbers if one.name == "rows") == 20
    pd.testing.assert_frame_equal(told["inputs"], before)
    assert first != TOOL.answer(told, {"rows": 20, "rounds": 1, "seed": 1})


def test_a_missing_fact_and_a_wrong_parameter_are_named() -> None:
    with pytest.raises(InvalidInput, match="needs predict, quality"):
        TOOL.answer({"inputs": pd.DataFrame(), "answers": pd.Series()}, {})
    with pytest.raises(InvalidInput) as refused:
        TOOL.configured({"rounds": 0})
    assert refused.value.where == "parameters.rounds"


def test_of_columns_that_there_was_no_time_for_nothing_is_claimed() -> None:
    answer = TOOL.answer(facts(columns=40), {}, go_on=lambda: False)
    assert answer.advice.startswith(
        "Of the 1 of 40 columns that there was time for, x0 counts most"
    )
    assert answer.advice.endswith("Others may count more.")
    told = "There was no time for 39 columns: x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, ..."
    assert answer.notes[0] == f"{told} Nothing is known of their importance."


def test_of_many_columns_those_that_matter_are_found_by_halves() -> None:
    told = facts(columns=900)
    weights = np.zeros(900)
    weights[[17, 444, 890]] = [3.0, 2.0, 1.5]
    told["answers"] = pd.Series(told["inputs"].to_numpy() @ weights)
    told["predict"] = lambda frame: frame.to_numpy() @ weights
    state = TOOL.open(TOOL.configured({}))
    answers = []
    for _ in range(70):  # 30 groups, and 3 times 2 halves of 30, 15, 8, 4 and 2 columns
        answer, state = TOOL.ask(state, told)
        answers.append(answer)
    assert "groups of columns were shuffled" in answers[0].advice
    found = losses(answers[-1])
    assert {name for name, loss in found.items() if loss > 0.1} == {"x17", "x444", "x890"}
    assert answers[-1].advice.startswith("Of 900 columns x17 counts most")
    assert "of which each costs at most" in answers[-1].notes[0]
    assert answers[-1].unfinished


def test_the_error_counts_that_the_rows_are_some_of_many() -> None:
    """Of rounds on the same rows alone, the error would be a fifth of what it is."""
    near = 0
    for draw in range(60):
        random = np.random.default_rng(draw)
        told = facts(columns=1)
        inputs = pd.DataFrame({"x": random.standard_t(8, size=150)})
        noise = random.normal(size=150)
        told["inputs"], told["answers"] = inputs, inputs["x"] + noise
        told["predict"] = lambda frame: frame["x"].to_numpy()
        ((_, loss, error),) = TOOL.answer(told, {"rounds": 8}).tables[0].rows
        near += abs(loss - 2 * 8 / 6) < 2 * error  # twice the variance of what is shuffled
    assert near >= 50


def test_few_rows_call_no_column_needless_that_may_be_needed() -> None:
    told = facts(rows=40, columns=3)
    random = np.random.default_rng(2)
    told["answers"] += random.normal(scale=9, size=40)
    answer = TOOL.answer(told, {})
    ((_, loss, error),) = [row for row in answer.tables[0].rows if row[0] == "x1"]
    assert loss < 2 * error  # not measurable, with these rows
    assert "1 column costs 0.01 at most" in answer.advice  # x0, at which the model does not look


def test_a_handful_of_rows_is_said_to_be_too_few() -> None:
    """Of six rows, a column was named that "costs 0.3667 of quality", without a doubt."""
    few = tool_named("importance").answer(facts(6), {})
    assert "6 rows are too few to tell how far these numbers are chance." in few.notes
    many = tool_named("importance").answer(facts(60), {})
    assert not any("too few" in note for note in many.notes)
