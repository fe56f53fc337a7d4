"""The tool that compares two models, beside what a loop over the rows finds."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from easeml.errors import InvalidInput
from easeml.lifecycle import tool_conformance
from easeml.lifecycle.tool import tool_named
from easeml.sampling_error import wilson

NAMES = np.asarray(["no", "yes"], dtype=object)


@dataclass(frozen=True)
class Said:
    """Predictions as a trained model returns them."""

    values: np.ndarray
    probabilities: np.ndarray | None = None
    classes: np.ndarray | None = None

    def of_rows(self, rows) -> "Said":
        shares = None if self.probabilities is None else self.probabilities[rows]
        return Said(self.values[rows], shares, self.classes)


def by_size(inputs: pd.DataFrame) -> Said:
    """Look at the size alone."""
    return Said(NAMES[(inputs["size"] > 0).astype(int)], None, NAMES)


def by_size_and_shop(inputs: pd.DataFrame) -> Said:
    """Say the opposite in the shop ``east``."""
    codes = (inputs["size"] > 0).to_numpy() ^ (inputs["shop"] == "east").to_numpy()
    return Said(NAMES[codes.astype(int)], None, NAMES)


def accuracy(answers: pd.Series, said: Said) -> float:
    return float(np.mean(answers.astype(str).to_numpy() == said.values.astype(str)))


def ends(answers: pd.Series, said: Said) -> tuple[float, float, float]:
    share = accuracy(answers, said)
    return share, *wilson(share, len(answers))


def facts(old=by_size, new=by_size_and_shop, rows: int = 120) -> dict:
    """Rows whose answer the second model knows, but for one in ten."""
    random = np.random.default_rng(7)
    inputs = pd.DataFrame(
        {
            "size": random.normal(size=rows),
            "shop": pd.Categorical(random.choice(["east", "north", "west"], size=rows)),
            "colour": pd.Categorical(random.choice(["red", "blue"], size=rows)),
        },
        index=pd.Index(range(1000, 1000 + rows)),
    )
    answers = by_size_and_shop(inputs).values.copy()
    answers[::10] = np.where(answers[::10] == "yes", "no", "yes")
    target = pd.Series(pd.Categorical(answers, categories=NAMES), index=inputs.index)
    rivals = {"old": old, "new": new}
    told = {"inputs": inputs, "answers": target, "rivals": rivals}
    return {**told, "quality": accuracy, "interval": ends}


def numbers(answer) -> dict:
    return {one.name: one for one in answer.numbers}


def test_it_finds_what_a_loop_over_the_rows_finds() -> None:
    told = facts()
    answer = tool_conformance.check(tool_named("difference"), told)
    inputs, answers = told["inputs"], told["answers"]
    old, new = by_size(inputs).values, by_size_and_shop(inputs).values
    changes, right_before, right_now, by_group = [], 0, 0, {}
    for place, row in enumerate(inputs.index):
        right_before += old[place] == answers[row]
        right_now += new[place] == answers[row]
        if old[place] == new[place]:
            continue
        changes.append((str(row), answers[row], old[place], new[place]))
        for column in ("shop", "colour"):
            group = (column, inputs.loc[row, column])
            by_group[group] = by_group.get(group, 0) + 1
    found = numbers(answer)
    assert found["old"].value == pytest.approx(right_before / 120)
    assert found["new"].value == pytest.approx(right_now / 120)
    assert found["gain"].value == pytest.approx((right_now - right_before) / 120)
    assert found["changed"].value == pytest.approx(len(changes) / 120)
    rows, groups, columns = answer.tables
    assert rows.rows == tuple(changes[:20])
    assert rows.note == f"20 of {len(changes)}."
    assert {row[:2]: row[3] for row in groups.rows} == by_group
    assert groups.rows[0][:2] == ("shop", "east")
    assert groups.rows[0][4] == 1.0  # every row of that shop changes
    assert columns.rows == (("size", "yes", "yes"), ("shop", "no", "yes"), ("colour", "no", "no"))
    assert answer.verdict == "better"


def test_a_model_does_not_differ_from_itself() -> None:
    answer = tool_named("difference").answer(facts(new=by_size), {})
    gain = numbers(answer)["gain"]
    assert (gain.low, gain.value, gain.high) == (None, 0, None)
    assert answer.verdict == "no clear difference"
    assert answer.tables[0].rows == ()


def test_the_worse_model_is_called_so() -> None:
    answer = tool_named("difference").answer(facts(by_size_and_shop, by_size), {})
    assert answer.verdict == "worse"
    assert numbers(answer)["gain"].high < 0


def test_numbers_change_beyond_the_tolerance() -> None:
    told = facts(
        lambda rows: Said(rows["size"].to_numpy()),
        lambda rows: Said(rows["size"].to_numpy() + 0.2 * (rows["shop"] == "east").to_numpy()),
    )
    told["answers"] = told["inputs"]["size"]
    told["quality"] = lambda answers, said: 1 - float(np.mean((answers - said.values) ** 2))
    told["interval"] = lambda answers, said: (told["quality"](answers, said), 0.9, 1.0)
    difference = tool_named("difference")
    east = float((told["inputs"]["shop"] == "east").mean())
    assert numbers(difference.answer(told, {}))["changed"].value == pytest.approx(east)
    coarse = difference.answer(told, {"tolerance": 0.5})
    assert numbers(coarse)["changed"].value == 0
    assert 0.01 < numbers(coarse)["changed"].high < 0.05  # of 120 rows none: of all perhaps some


def test_no_mistake_of_few_rows_and_one_that_differs_are_not_taken_for_sure() -> None:
    """Resampled rows say that the old model is always right, and the new one at most as good."""
    told = facts(rows=60)
    right = told["answers"].astype(str).to_numpy()
    once = np.where(np.arange(60) == 7, NAMES[(right == "no").astype(int)], right)
    said = {"old": right.astype(object), "new": once.astype(object)}
    for name, values in said.items():
        told["rivals"][name] = lambda rows, values=values: Said(values[: len(rows)], None, NAMES)
    found = numbers(tool_named("difference").answer(told, {}))
    assert found["old"].high == 1.0
    assert found["old"].low == pytest.approx(0.94, abs=0.01)
    assert found["new"].low == pytest.approx(0.91, abs=0.01)
    assert found["gain"].value == pytest.approx(-1 / 60)
    assert found["gain"].low < -0.07  # resampled rows: -.05
    assert found["gain"].high > 0.03  # 0


def test_no_rows_are_refused() -> None:
    told = facts()
    told["inputs"], told["answers"] = told["inputs"].iloc[:0], told["answers"].iloc[:0]
    with pytest.raises(InvalidInput, match="no validation rows"):
        tool_named("difference").answer(told, {})


def test_rows_without_a_value_are_a_group_like_others() -> None:
    """Tables as people leave them have gaps: pandas keeps these beside texts, without an order."""
    told = facts()
    shop = told["inputs"]["shop"]
    told["inputs"]["shop"] = shop.where(shop != "west")
    told["rivals"]["new"] = lambda rows: Said(np.full(len(rows), "yes", dtype=object), None, NAMES)
    answer = tool_named("difference").answer(told, {})
    gaps = told["inputs"]["shop"].isna().to_numpy()
    changes = int((by_size(told["inputs"]).values[gaps] != "yes").sum())
    by_group = {row[:2]: row[2:4] for row in answer.tables[1].rows}
    assert by_group["shop", "(missing)"] == (int(gaps.sum()), changes)


def test_models_that_say_the_same_are_not_to_be_looked_at_row_by_row() -> None:
    answer = tool_named("difference").answer(facts(new=by_size), {})
    assert answer.advice == (
        "These validation rows do not tell the models apart: 0 of 120 predictions change. "
        f"On other rows up to {numbers(answer)['changed'].high:.1%} may change. "
        "Take the one that is faster or smaller."
    )
    assert answer.tables[0].rows == answer.tables[1].rows == ()


def test_the_interval_of_very_many_rows_is_told_by_resamples_of_some_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("easeml.lifecycle.tools.difference._RESAMPLED", 500)
    answer = tool_named("difference").answer(facts(rows=3_000), {})
    gain = next(one for one in answer.numbers if one.name == "gain")
    inputs = facts(rows=3_000)["inputs"]
    moved = (inputs["shop"] == "east").to_numpy()
    right = np.where(np.arange(3_000) % 10 == 0, -1.0, 1.0)
    half = 1.96 * np.std(moved * right) / math.sqrt(3_000)  # of a mean
    assert gain.low == pytest.approx(gain.value - half, abs=0.25 * half)
    assert gain.high == pytest.approx(gain.value + half, abs=0.25 * half)
