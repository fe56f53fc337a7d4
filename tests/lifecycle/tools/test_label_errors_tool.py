"""Labels that were made wrong are found, with models of the tool's own and with others."""

import numpy as np
import pandas as pd
import pytest

from easeml.lifecycle import tool_conformance
from easeml.lifecycle.held_out import Unseen
from easeml.lifecycle.tool import tool_named

TOOL = tool_named("label-errors")
WRONG = (3, 50, 120)


def facts(as_number: bool = False) -> dict:
    """Return rows whose answers are the sign of x, or x; those of ``WRONG`` are wrong."""
    random = np.random.default_rng(0)
    ids = np.arange(160) * 10
    inputs = pd.DataFrame(random.normal(size=(160, 2)), columns=["x", "z"], index=ids)
    x = inputs["x"].to_numpy().copy()
    x[list(WRONG)] += np.where(x[list(WRONG)] > 0, -9.0, 9.0)
    if as_number:
        noisy = x + random.normal(scale=0.5, size=160)
        return {"inputs": inputs, "answers": pd.Series(noisy, index=ids)}
    labels = pd.Categorical(np.where(x > 0, "up", "down"), ["down", "up"])
    return {"inputs": inputs, "answers": pd.Series(labels, index=ids)}


@pytest.mark.parametrize("as_number", [False, True])
def test_wrong_labels_are_listed_by_their_rows(as_number: bool) -> None:
    answer = tool_conformance.check(TOOL, facts(as_number))
    listed = {row[0] for row in answer.tables[0].rows}
    assert {10 * place for place in WRONG} <= listed
    assert len(listed) < 20
    assert answer.rows is not None
    suspicion = np.asarray(answer.rows["suspicion"])
    assert set(np.argsort(-suspicion)[:3]) == set(WRONG)


def test_what_other_models_say_is_believed() -> None:
    told = facts()
    names = np.asarray(["up", "down"], dtype=object)  # in an order of their own
    truth = (told["inputs"]["x"] > 0).to_numpy()
    chances = np.column_stack([np.where(truth, 0.99, 0.01), np.where(truth, 0.01, 0.99)])
    unseen = Unseen(names[chances.argmax(axis=1)], chances, names)
    rows = TOOL.answer({**told, "unseen": unseen}, {}).tables[0].rows
    assert {row[0] for row in rows} == {10 * place for place in WRONG}
    votes = Unseen(unseen.values, None, names)  # labels without chances
    rows = TOOL.answer({**told, "unseen": votes}, {}).tables[0].rows
    assert {row[0] for row in rows} == {10 * place for place in WRONG}


def test_how_many_are_wrong_is_said_in_words_and_counts_have_commas() -> None:
    says = np.asarray(["down", "up"], dtype=object)
    predicted = np.tile(says, 1_500)
    labels = predicted.copy()
    labels[:1_200] = predicted[1:1_201]
    answers = pd.Series(pd.Categorical(labels, says))
    inputs = pd.DataFrame({"x": np.arange(len(labels))})
    given = {"inputs": inputs, "answers": answers, "unseen": Unseen(predicted, None, says)}
    answer = TOOL.answer(given, {"confidence": 0.01})
    assert answer.advice.startswith("1,200 of 3,000 labels look wrong. The rows alone cannot tell")
    expected = next(one for one in answer.numbers if one.name == "expected")
    assert (expected.low, expected.high) == (None, None)  # from none to all would tell nothing
    assert expected.title.endswith("; else the rows alone do not tell")


def test_no_label_stands_out_where_models_agree() -> None:
    told = facts()
    told["answers"] = told["inputs"]["x"].gt(0).astype("category")
    answer = TOOL.answer(
        {**told, "unseen": Unseen(told["answers"].to_numpy(), None, np.asarray([False, True]))}, {}
    )
    assert answer.advice == "None of 160 labels stands out as wrong."
