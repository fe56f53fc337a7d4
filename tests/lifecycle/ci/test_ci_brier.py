"""The metric brier: conditions on how right the chances of a class are."""

import numpy as np
import pytest

from easeml.errors import InvalidInput
from easeml.lifecycle import gates
from easeml.lifecycle.ci import plan, read_config, score_examples, step_nats, try_commit


def configured(condition: str, **more):
    told = {"condition": condition, "reliability": 0.95, "adaptivity": "none", "metric": "brier"}
    return read_config({**told, "positive": "spam", **more})


def world(rows: int):
    """Chances of spam that are right, and the same pushed to the ends; what is true."""
    rng = np.random.default_rng(0)
    chance = rng.beta(1, 1, rows)
    truth = np.where(rng.random(rows) < chance, "spam", "ham")
    return chance, np.where(chance > 0.5, 0.999, 0.001), truth


def test_scores_are_squared_errors_of_the_chance() -> None:
    config = configured("n < 0.2 +/- 0.1")
    examples = score_examples([0.9, 0.2, 0.5], [0.9, 0.1, 0.5], ["spam", "ham", None], config)
    assert examples.new[:2] == pytest.approx([0.01, 0.04])
    assert examples.old[:2] == pytest.approx([0.01, 0.01])
    assert examples.differ.tolist() == [False, True, False]
    assert examples.known.tolist() == [True, True, False]


def test_a_model_that_is_as_accurate_and_too_sure_is_refused() -> None:
    right, too_sure, truth = world(3000)
    config = configured("o - n > -0.02 +/- 0.02")
    for new, old, expected in ((too_sure, right, False), (right, too_sure, True)):
        examples = score_examples(new, old, truth, config)
        found = try_commit(config, examples, step_nats(config, shared=True), shared=True)
        assert found.truth is expected


def test_less_is_better_and_no_labels_are_bought() -> None:
    gates.check_direction(configured("o - n > -0.02 +/- 0.02"))
    with pytest.raises(InvalidInput, match="worse"):
        gates.check_direction(configured("n - o > -0.02 +/- 0.02"))
    with pytest.raises(InvalidInput, match="on chances"):
        gates.check_can_buy(configured("o - n > -0.02 +/- 0.02"), "kind")
    assert "chance of 'spam'" in gates.promise(configured("n < 0.1 +/- 0.05"))


def test_what_is_no_chance_is_refused() -> None:
    config = configured("n < 0.2 +/- 0.1")
    for wrong in ([1.2], [-0.1], ["spam"]):
        with pytest.raises(InvalidInput) as error:
            score_examples(wrong, [0.5], ["spam"], config)
        assert error.value.where == "new predictions"
    with pytest.raises(InvalidInput, match="labelled or predicted as 'spam'"):
        score_examples([0.5, 0.5], [0.5, 0.5], ["yes", "no"], config)


def test_a_plan_counts_rows_as_for_any_score() -> None:
    assert plan(configured("n < 0.2 +/- 0.05")).chosen > 0
    with pytest.raises(InvalidInput, match="always 1"):
        configured("n < 0.2 +/- 0.05", scale=2)
