"""A planted fault is named first, with its cause and its remedy; without one there is none."""

import numpy as np
import pandas as pd
import pytest
from faulty_rows import Model, answers, facts, rows

from easeml.errors import InvalidInput
from easeml.lifecycle import tool_conformance
from easeml.lifecycle.held_out import Explained, Unseen
from easeml.lifecycle.tool import tool_named

TOOL = tool_named("debug")


def test_wrong_answers_in_a_region_are_to_be_checked() -> None:
    random = np.random.default_rng(3)
    parts = []
    for seed in (1, 2):
        inputs, codes = rows(900, seed)
        wrong = (inputs["site"] == "west").to_numpy() & (random.random(900) < 0.35)
        parts.append((inputs, np.where(wrong, 1 - codes, codes), wrong))
    told = facts(parts[0][:2], parts[1][:2])
    answer = TOOL.answer({**told, "explain": explain}, {})
    mistakes = answer.tables[2]
    assert mistakes.columns == ("Row", "True", "Predicted", "Moved there by", "site", "x", "z")
    assert {row[2:5] for row in mistakes.rows} == {("yes", "z −31%, x +20%", "west")}
    assert "the probability of what was predicted" in mistakes.note
    assert answer.verdict == "faults"
    assert answer.tables[0].rows[0][0] == "1. site is west"
    assert answer.tables[1].rows[0][1] == "wrong answers, or hard to tell"
    remedy = next(one for one in answer.remedies if one.kind == "check-labels")
    wrong = set(parts[0][0].index[parts[0][2]])
    asked = [item.row for item in remedy.items]
    assert len(asked) > 50
    assert len(wrong & set(asked)) > 0.6 * len(asked)
    assert {item.suggestion for item in remedy.items} == {"no", "yes"}
    assert remedy.low <= remedy.corrected <= remedy.high


def test_what_the_columns_do_not_decide_is_not_promised_to_be_corrected() -> None:
    """Right answers that are hard to tell look like wrong ones: nobody can say who has not looked."""
    random = np.random.default_rng(5)
    parts = []
    for seed in (1, 2):
        inputs, codes = rows(1500, seed)
        share = np.where(inputs["site"] == "west", 0.35, 0.15)
        parts.append((inputs, np.where(random.random(1500) < share, 1 - codes, codes)))
    answer = TOOL.answer(facts(*parts), {})
    assert answer.tables[1].rows[0][1] == "wrong answers, or hard to tell"
    checks = [remedy for remedy in answer.remedies if remedy.kind == "check-labels"]
    assert checks
    assert {remedy.low for remedy in checks} == {0.0}


def test_of_many_rows_some_are_looked_at_and_all_tell_the_share_of_mistakes() -> None:
    """A quarter of a million rows would take hours."""
    inputs, codes = rows(4000, 2)
    wrong = (inputs["site"] == "west").to_numpy()
    told = facts(rows(900, 1), (inputs, np.where(wrong, 1 - codes, codes)))
    answer = TOOL.answer(told, {"most_rows": 500})
    assert answer.notes[0].startswith("500 of 4,000 validation rows were looked at")
    west = next(row for row in answer.tables[0].rows if "site is west" in row[0])
    assert west[2] < 250  # a third of the rows that were looked at
    said = told["predictions"]
    truth = told["answers"].astype(object).to_numpy()
    assert answer.numbers[0].value == np.mean(said.values != truth)


def explain(mistakes: pd.DataFrame) -> list[Explained]:
    """Say what moved predictions, the same of each."""
    return [Explained("yes", "yes", {"z": -0.31, "x": 0.2})] * len(mistakes)


def test_broken_cells_are_to_be_repaired() -> None:
    parts = []
    for seed in (1, 2):
        inputs, codes = rows(900, seed)
        inputs.loc[inputs["site"] == "south", "x"] = np.nan
        parts.append((inputs, codes))
    answer = TOOL.answer(facts(*parts), {})
    assert answer.tables[1].rows[0][1] == "broken cells"
    assert "cells of x are missing" in answer.tables[1].rows[0][5]
    assert answer.tables[2].columns == ("Row", "True", "z", "site", "x")
    remedy = next(one for one in answer.remedies if one.kind == "repair-cells")
    broken = parts[0][0].index[parts[0][0]["x"].isna()]
    assert {item.row for item in remedy.items} <= set(broken)
    assert {item.column for item in remedy.items} == {"x"}
    assert len(remedy.items) == 100


def test_what_production_changed_is_to_be_learned_from() -> None:
    later, codes = rows(900, 3)
    changed = (later["site"] == "north").to_numpy()
    told = facts(rows(900, 1), rows(900, 2), (later, np.where(changed, 1 - codes, codes)))
    answer = tool_conformance.check(TOOL, told)
    assert answer.tables[0].rows[0][:2] == ("1. site is north", "production")
    assert answer.tables[1].rows[0][1] == "it changed"
    first = answer.remedies[0]
    assert first.kind == "retrain"
    assert first.corrected > 0.5 * answer.tables[0].rows[0][3]
    assert first.human_minutes == 0
    assert first.instead
    assert "in place of those before" in first.title


def test_a_column_that_moved_is_to_be_repaired_or_learned_from() -> None:
    """Nobody but its owner knows whether a column is broken or the world has changed."""
    later, codes = rows(900, 3)
    later["x"] += 30.0  # and what follows from it is as before
    answer = TOOL.answer(facts(rows(900, 1), rows(900, 2), (later, codes)), {})
    assert answer.tables[1].rows[0][1] == "broken cells"
    found = {one.kind: one for one in answer.remedies}
    assert "x" in found["repair-source"].title
    learned = found["retrain"]
    assert learned.reason.startswith("Where x is right and stays as it is:")
    assert not learned.instead
    assert learned.low > 0


def test_a_group_that_was_missing_in_training_is_one_of_too_few_rows() -> None:
    inputs, codes = rows(900, 1)
    there = (inputs["site"] != "north").to_numpy()
    validation, truth = rows(900, 2)
    other = (validation["site"] == "north").to_numpy()
    told = facts((inputs[there], codes[there]), (validation, np.where(other, 1 - truth, truth)))
    answer = TOOL.answer(told, {})
    assert answer.tables[0].rows[0][0] == "1. site is north"
    assert answer.tables[1].rows[0][1] == "too few rows like these"
    assert "collect" in {one.kind for one in answer.remedies}


def test_all_of_production_may_have_changed() -> None:
    later, codes = rows(600, 3)
    answer = TOOL.answer(facts(rows(900, 1), rows(900, 2), (later, 1 - codes)), {})
    assert answer.tables[0].rows[0][0] in ("1. all rows", "1. all other rows")
    assert answer.tables[1].rows[0][1] == "it changed"


def test_searching_on_is_no_remedy_for_a_model_that_names_a_rare_class_early() -> None:
    random = np.random.default_rng(0)
    parts = []
    for seed in (1, 2):
        inputs, _ = rows(900, seed)
        chance = np.where(inputs["site"] == "west", 0.3, 0.02)
        parts.append((inputs, (random.random(900) < chance).astype(int)))
    told = facts(*parts)
    is_west = (parts[1][0]["site"] == "west").to_numpy()
    early = np.where(is_west, "yes", "no").astype(object)
    told["predictions"] = Unseen(early, np.eye(2)[is_west.astype(int)], np.array(["no", "yes"]))
    answer = TOOL.answer(told, {})
    assert answer.tables[0].rows[0][0] == "1. site is west"
    assert not [one for one in answer.remedies if one.kind == "search"]


def test_nothing_is_named_where_mistakes_are_even() -> None:
    train, validation = rows(900, 1), rows(900, 2)
    model = Model(train[0], answers(train[1], train[0]))
    said = (model.predict(validation[0]).values == "yes").astype(int)
    even = np.where(np.random.default_rng(0).random(900) < 0.1, 1 - said, said)
    answer = tool_conformance.check(TOOL, facts(train, (validation[0], even)))
    assert answer.verdict == TOOL.yes
    assert answer.remedies == ()


def test_a_column_that_only_moved_is_not_blamed() -> None:
    """What the model does not need can move as it likes: the law has changed, not a column."""
    parts = []
    for seed in (1, 2, 3):
        inputs, codes = rows(900, seed)
        random = np.random.default_rng(seed)
        inputs["adverts"] = random.normal(3.0 if seed < 3 else 9.0, 1.0, size=900)
        parts.append((inputs, codes))
    later, codes = parts[2]
    answer = TOOL.answer(facts(parts[0], parts[1], (later, 1 - codes)), {})
    assert answer.tables[1].rows[0][1] == "it changed"


def test_numbers_that_are_far_off_are_mistakes() -> None:
    inputs, _ = rows(900, 2)
    truth = pd.Series(inputs["x"] * 3, index=inputs.index, name="answer")
    off = np.where(inputs["site"] == "west", 4.0, 0.1)
    said = Unseen(truth.to_numpy() + off * np.random.default_rng(0).normal(size=900))
    told = {"inputs": inputs, "answers": truth, "predictions": said}
    answer = tool_conformance.check(TOOL, told, {"tolerance": 1.0})
    assert answer.tables[0].rows[0][0] == "1. site is west"
    assert any("off by more than 1 " in note for note in answer.notes)


def test_rows_without_answers_cannot_be_judged() -> None:
    told = facts(rows(60, 1), rows(60, 2))
    told["answers"] = told["answers"].where([False] * 60)
    with pytest.raises(InvalidInput, match="No row can be judged"):
        TOOL.answer(told, {})


@pytest.mark.parametrize("count", [1, 3, 20])
def test_few_rows_name_nothing(count: int) -> None:
    told = facts(rows(60, 1), rows(count, 2))
    assert TOOL.answer(told, {}).verdict == "even"
