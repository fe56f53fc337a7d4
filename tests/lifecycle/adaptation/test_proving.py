"""The tool ``prove``: which of several models is better than what serves, and by how many labels."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest

from easeml.lifecycle.held_out import Predicted, Unseen
from easeml.lifecycle.tool import ToolAnswer, tool_named
from easeml.lifecycle.tools import prove

ROWS = 400
NAMES = np.array(["no", "yes"], dtype=object)


def asked(said: Mapping[str, np.ndarray], truth: np.ndarray) -> tuple[ToolAnswer, int]:
    """Label what the tool wants until it is settled; return its answer and the labels given."""
    known = np.zeros(len(truth), dtype=bool)
    by = {name: Unseen(NAMES[codes], None, NAMES) for name, codes in said.items()}
    inputs = pd.DataFrame({"size": np.arange(len(truth))})
    while True:
        answers = pd.Series(np.where(known, NAMES[truth], None), name="kind")
        facts = {"newer": Predicted(inputs, answers, by), "answers": answers}
        answer, _ = tool_named("prove").asked(facts, {}, None, lambda: True)
        if answer.verdict != "label more":
            return answer, int(known.sum())
        for (row,) in answer.tables[0].rows:
            known[int(row) - 1] = True


@pytest.mark.parametrize("rivals", [1, 2, 3])
def test_the_labels_of_all_models_are_counted_once(rivals: int) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, ROWS)
    said = {"old": np.where(rng.random(ROWS) < 0.6, truth, 1 - truth)}
    for number in range(rivals):
        said[f"model {number}"] = np.where(rng.random(ROWS) < 0.95, truth, 1 - truth)
    answer, given = asked(said, truth)
    assert answer.verdict == "proven"
    used = next(one.value for one in answer.numbers if one.name == "labels")
    assert 0 < used <= given
    assert f"by {used:,} labels:" in answer.advice


def test_where_no_model_is_proven_every_label_is_counted() -> None:
    """Two models that are wrong on other halves of the rows: no label serves both of them."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, ROWS)
    halves = np.arange(ROWS) % 2
    coin = rng.integers(0, 2, ROWS)
    said = {"old": truth.copy()}
    for number in (0, 1):
        said[f"model {number}"] = np.where(halves == number, coin, truth)
    answer, given = asked(said, truth)
    assert answer.verdict == "not proven"
    each = [float(str(row[2])) for row in answer.tables[0].rows]
    assert max(each) <= 0
    used = next(one.value for one in answer.numbers if one.name == "labels")
    assert used == given
    assert f"by {given:,} labels." in answer.advice


def test_one_model_uses_the_labels_that_its_test_counts() -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, ROWS)
    by = {}
    for name, quality in (("old", 0.7), ("new", 0.9)):
        said = np.where(rng.random(ROWS) < quality, truth, 1 - truth)
        by[name] = Unseen(NAMES[said], None, NAMES)
    newer = Predicted(pd.DataFrame({"size": truth}), pd.Series(NAMES[truth]), by)
    ledger = prove._ledger(prove._configured(prove.ProveConfig(), newer, truth), ROWS, 0.0)
    trial = prove._try(ledger, newer, "new", ROWS)
    assert trial.labels_used == trial.verdict.labels_used
