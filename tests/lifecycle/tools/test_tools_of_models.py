"""Monitor, pick, ci and meter hold the contract of a tool, and answer what is true by construction."""

import numpy as np
import pandas as pd
import pytest

from easeml.errors import InvalidInput
from easeml.lifecycle import tool_conformance
from easeml.lifecycle.held_out import LateRows, Predicted, Unseen
from easeml.lifecycle.tool import tool_named

NAMES = np.asarray(["down", "up"], dtype=object)


def rows(count: int, seed: int) -> tuple[pd.DataFrame, pd.Series]:
    """Return rows whose answer is the sign of x."""
    random = np.random.default_rng(seed)
    inputs = pd.DataFrame(random.normal(size=(count, 2)), columns=["x", "z"])
    codes = (inputs["x"] > 0).astype(int)
    return inputs, pd.Series(pd.Categorical.from_codes(codes, ["down", "up"]))


def said(answers: pd.Series, wrong: float, seed: int) -> Unseen:
    """Return what a model says that is wrong about a share of the rows."""
    random = np.random.default_rng(seed)
    codes = answers.cat.codes.to_numpy() ^ (random.random(len(answers)) < wrong)
    chances = np.column_stack([1.0 - codes, codes]) * 0.8 + 0.1
    return Unseen(NAMES[codes], chances, NAMES)


def predicted(count: int, seed: int, **wrong: float) -> Predicted:
    inputs, answers = rows(count, seed)
    by = {name: said(answers, share, seed) for name, share in wrong.items()}
    return Predicted(inputs, answers, by)


def unlabelled(rows: Predicted, known: list[int]) -> Predicted:
    answers = rows.answers.copy()
    answers[~answers.index.isin(known)] = None
    return Predicted(rows.inputs, answers, rows.by)


def of_validation(wrong: float = 0.1) -> dict:
    inputs, answers = rows(200, 1)
    return {"inputs": inputs, "answers": answers, "predictions": said(answers, wrong, 1)}


def number(answer, name: str) -> float:
    return next(one.value for one in answer.numbers if one.name == name)


def test_the_monitor_goes_on_from_what_it_kept() -> None:
    monitor = tool_named("monitor")
    blind = unlabelled(predicted(200, 2, model=0.1), [])
    told = {**of_validation(), "newer": blind}
    first = tool_conformance.check(monitor, told)
    assert first.verdict in ("inputs as before", "cannot tell")
    assert abs(number(first, "quality") - 0.9) < 0.1
    _, kept = monitor.asked(told, {}, None)
    worse = {**told, "newer": predicted(200, 3, model=0.6)}
    second, _ = monitor.asked(worse, {}, kept)
    assert number(second, "batch") == 2
    assert second.verdict == "alert"
    assert abs(number(second, "labelled") - 0.4) < 0.1


def test_the_monitor_learns_from_answers_that_come_after_it_was_asked() -> None:
    monitor = tool_named("monitor")
    as_they_come = {"at_random": False}
    worse = predicted(200, 3, model=0.6)
    told = {**of_validation(), "newer": unlabelled(worse, [])}
    first, kept = monitor.asked(told, as_they_come, None)
    assert first.verdict != "alert"
    said = worse.by["model"]
    nothing = Predicted(
        worse.inputs.iloc[:0],
        worse.answers.iloc[:0],
        {"model": Unseen(said.values[:0], said.chances[:0], NAMES)},
    )
    late = {**told, "newer": nothing, "late": LateRows(worse, np.ones(200, int))}
    second, _ = monitor.asked(late, as_they_come, kept)
    assert second.verdict == "alert"
    assert [row[0] for row in second.tables[0].rows] == ["concept"]
    assert (number(second, "batch"), number(second, "late"), number(second, "rows")) == (1, 200, 0)
    assert any("rows without answer count as right" in one for one in second.assumes)
    drawn, _ = monitor.asked({**late, "late": LateRows(worse)}, {}, kept)
    assert drawn.verdict == "alert"
    assert any("drawn at random" in one for one in drawn.assumes)


def test_picking_asks_for_labels_until_it_is_sure() -> None:
    pick = tool_named("pick")
    whole = predicted(300, 4, good=0.05, fair=0.3, bad=0.5)
    known: list[int] = []
    answer = tool_conformance.check(pick, {"newer": unlabelled(whole, known)})
    assert answer.verdict == "label more"
    while answer.verdict == "label more":
        wanted = [row - 1 for (row,) in answer.tables[0].rows]
        assert len(wanted) <= 10
        assert not set(wanted) & set(known)
        known += wanted
        answer = pick.answer({"newer": unlabelled(whole, known)}, {})
    assert number(answer, "labels") == len(known) < 300
    assert answer.advice.startswith("Use good")
    surplus = pick.answer({"newer": unlabelled(whole, [*known, *range(300)])}, {})
    assert number(surplus, "labels") == len(known)  # others were not asked for
    assert "not asked for" in surplus.notes[0]


def test_the_monitor_looks_at_models_of_pictures() -> None:
    newer = predicted(200, 3, model=0.1)
    told = {**of_validation(), "newer": newer}
    pictures = [b"\xff\xd8" + bytes([place % 256, place // 256]) for place in range(1000)]
    for frame in (told["inputs"], newer.inputs):
        for column in frame.columns:
            frame[column] = pd.Series(pictures[: len(frame)], index=frame.index, dtype=object)
    answer = tool_named("monitor").answer(told, {})
    assert answer.verdict == "ok"
    by_column = [table.rows for table in answer.tables if table.title == "Drift by column"]
    assert not any(by_column)


def test_of_models_that_say_the_same_no_accuracy_is_made_up() -> None:
    whole = predicted(300, 4, good=0.05)
    alike = {"one": whole.by["good"], "two": whole.by["good"]}
    told = {"newer": Predicted(whole.inputs, whole.answers, alike)}
    answer = tool_named("pick").answer(told, {})
    assert answer.advice.startswith("All models say the same of the 300 rows")
    assert answer.verdict == "chosen"
    assert [one.name for one in answer.numbers] == ["labels", "rows"]
    assert answer.figures == ()
    assert {row[1:] for row in answer.tables[0].rows} == {(None, None, None, 0)}


def test_a_metric_of_classes_is_refused_for_numbers_with_what_to_choose() -> None:
    inputs, _ = rows(20, 0)
    numbers = Unseen(np.arange(20.0))
    told = {"test": Predicted(inputs, pd.Series(np.arange(20.0)), {"new": numbers, "old": numbers})}
    with pytest.raises(InvalidInput, match="accuracy is of classes") as refused:
        tool_named("ci").answer({**told, "elsewhere": 0.0}, {})
    assert "absolute-error" in refused.value.remedy
    measured = {"metric": "absolute-error", "scale": 5.0}
    assert tool_named("ci").answer({**told, "elsewhere": 0.0}, measured).verdict


def test_picking_needs_classes() -> None:
    inputs, _ = rows(20, 0)
    numbers = Unseen(np.arange(20.0))
    answers = pd.Series(np.arange(20.0))
    told = {"newer": Predicted(inputs, answers, {"one": numbers, "two": numbers})}
    with pytest.raises(InvalidInput, match="numbers"):
        tool_named("pick").answer(told, {})


def test_a_better_model_passes_and_the_same_question_is_free() -> None:
    ci = tool_named("ci")
    told = {"test": predicted(2000, 5, old=0.3, new=0.05), "elsewhere": 0.0}
    passed = tool_conformance.check(ci, told, {"condition": "n - o > 0.1 +/- 0.05"})
    assert passed.verdict == "pass"
    assert passed.told > 0
    _, kept = ci.asked(told, {}, None)
    again, kept = ci.asked(told, {}, kept)
    assert number(again, "step") == 1
    worse = {"test": predicted(2000, 5, old=0.05, new=0.3), "elsewhere": 0.0}
    failed, kept = ci.asked(worse, {}, kept)
    assert (failed.verdict, number(failed, "step")) == ("fail", 2)


def test_what_others_told_of_test_rows_counts() -> None:
    told = {"test": predicted(300, 5, old=0.2, new=0.05), "elsewhere": 0.0}
    condition = {"condition": "n - o > 0.05 +/- 0.05"}
    ci = tool_named("ci")
    assert ci.answer(told, condition).verdict == "pass"
    assert ci.answer({**told, "elsewhere": 200.0}, condition).verdict != "pass"
    other = {"condition": "n - o > 0.04 +/- 0.05"}
    first, kept = ci.asked(told, condition, None)
    second, _ = ci.asked(told, other, kept)
    assert second.told > first.told


def test_a_wrong_condition_says_what_is_wrong() -> None:
    told = {"test": predicted(300, 5, old=0.2, new=0.05), "elsewhere": 0.0}
    with pytest.raises(InvalidInput) as refused:
        tool_named("ci").answer(told, {"condition": "accuracy is good"})
    assert refused.value.where or refused.value.remedy
    with pytest.raises(InvalidInput, match="labelled or predicted"):
        tool_named("ci").answer(told, {"metric": "f1", "condition": "n > 0.5 +/- 0.1"})


@pytest.mark.parametrize(("validation", "verdict"), [(0.2, "fresh"), (0.0, "overfitted")])
def test_the_meter_shows_the_gap(validation: float, verdict: str) -> None:
    meter = tool_named("meter")
    told = {**of_validation(validation), "elsewhere": 0.0}
    told["test"] = predicted(4000, 7, model=0.1 if verdict == "fresh" else 0.3)
    answer = tool_conformance.check(meter, told)
    assert answer.verdict == verdict
    _, kept = meter.asked(told, {}, None)
    again, _ = meter.asked(told, {"delta": 0.5}, kept)
    assert number(again, "readings") == 1  # the same model costs nothing
    assert "goes on with the promise" in again.notes[0]


def test_few_test_rows_cannot_tell_that_a_model_is_overfitted() -> None:
    told = {**of_validation(0.0), "elsewhere": 0.0, "test": predicted(70, 7, model=0.1)}
    answer = tool_named("meter").answer(told, {})
    assert answer.verdict == "cannot tell"
    assert number(answer, "tolerance") > 0.1
    assert "few test rows cannot tell" in answer.advice


@pytest.mark.parametrize("rows_of_test", [6, 8, 20])
def test_a_handful_of_test_rows_tells_nothing_and_is_no_error(rows_of_test: int) -> None:
    """Six were refused for a tolerance that nobody had asked for, eight were "fresh"."""
    test = predicted(rows_of_test, 7, model=0.1)
    answer = tool_named("meter").answer({**of_validation(0.1), "elsewhere": 0.0, "test": test}, {})
    assert answer.verdict == "cannot tell"


def test_a_meter_of_numbers_counts_small_errors() -> None:
    random = np.random.default_rng(0)
    truth = pd.Series(random.normal(size=500))
    inputs = pd.DataFrame({"x": truth})
    close = Unseen(truth.to_numpy() + 0.01)
    told = {"inputs": inputs, "answers": truth, "predictions": close, "elsewhere": 0.0}
    told["test"] = Predicted(inputs, truth, {"model": close})
    answer = tool_named("meter").answer(told, {})
    assert number(answer, "validation") == 1.0
    assert number(answer, "error") > 0.1


def test_few_test_rows_are_refused_with_the_number_that_is_enough() -> None:
    told = {**of_validation(), "elsewhere": 0.0, "test": predicted(30, 7, model=0.1)}
    with pytest.raises(InvalidInput) as refused:
        tool_named("meter").answer(told, {"tolerance": 0.02})
    assert "Label" in refused.value.remedy
