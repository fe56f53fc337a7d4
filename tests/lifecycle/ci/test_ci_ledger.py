"""The ledger: what a step costs, who may see what, and when it refuses."""

import json
from dataclasses import replace

import numpy as np
import pytest

from easeml.errors import InvalidInput
from easeml.lifecycle.ci import Examples, Ledger, commit_digest, open_ledger, plan, read_config
from easeml.lifecycle.ci import test_set_digest as set_digest

ROWS = 1200


def configured(adaptivity: str, **more):
    keys = {
        "condition": "n - o > 0.02 +/- 0.05",
        "reliability": 0.95,
        "adaptivity": adaptivity,
        "steps": 3,
    }
    return read_config({**keys, **more})


def commit(seed: int, gain: float, rows: int = ROWS) -> Examples:
    generator = np.random.default_rng(seed)
    u = generator.random(rows)
    new, old = u < 0.1 + gain / 2, (u >= 0.1 + gain / 2) & (u < 0.2)
    return Examples(new.astype(float), old.astype(float), u < 0.2, np.ones(rows, dtype=bool))


BETTER, SAME, WORSE = commit(1, 0.15), commit(2, 0.0), commit(3, -0.1)
ALL, NONE = np.ones(ROWS, dtype=bool), np.zeros(ROWS, dtype=bool)


def test_steps_are_spent_once_a_commit_and_then_it_refuses() -> None:
    ledger = open_ledger(configured("none"), ALL, "set")
    first, ledger = ledger.test("a", BETTER)
    again, same = ledger.test("a", BETTER)
    assert (first.answer, first.step, first.steps_left) == ("pass", 1, 2)
    assert (again.answer, again.repeated, same) == ("pass", True, ledger)
    assert first.findings is not None
    second, ledger = ledger.test("b", WORSE)
    third, ledger = ledger.test("c", SAME)
    assert (second.answer, third.new_test_set_due, ledger.is_exhausted) == ("fail", True, True)
    beyond, after = ledger.test("d", BETTER)
    assert (beyond.answer, beyond.passed, after) == ("exhausted", False, ledger)
    assert "new test set" in beyond.advice
    assert len(ledger.released) == ROWS
    assert ledger.to_frame()["answer"].tolist() == ["pass", "fail", "fail"]


def test_a_ledger_goes_through_json_at_every_moment() -> None:
    ledger = open_ledger(configured("full"), NONE, "set", ("older",))
    for name, examples in (("a", replace(BETTER, known=NONE)), ("a", BETTER), ("b", WORSE)):
        _, ledger = ledger.test(name, examples)
        document = json.loads(json.dumps(ledger.to_json(), allow_nan=False))
        assert Ledger.from_json(document) == ledger
        assert document["steps_left"] == ledger.steps_left
    assert len(ledger.figure().series) == 2


@pytest.mark.parametrize(
    "document", [{}, {"version": 3}, {"version": 1}, {"version": 2, "config": 5}, None, []]
)
def test_what_is_no_ledger_is_refused(document) -> None:
    with pytest.raises(InvalidInput, match=r"ledger|version"):
        Ledger.from_json(document)


def test_the_first_pass_retires_the_test_set() -> None:
    ledger = open_ledger(configured("firstChange"), ALL)
    failed, ledger = ledger.test("a", WORSE)
    passed, ledger = ledger.test("b", BETTER)
    assert (failed.answer, failed.steps_left, passed.answer, passed.new_test_set_due) == (
        "fail",
        2,
        "pass",
        True,
    )
    assert (failed.findings, failed.labels_used) == (None, None)
    assert ledger.test("c", BETTER)[0].answer == "exhausted"


def test_with_first_change_only_a_failed_commit_may_be_followed() -> None:
    waiting, ledger = open_ledger(configured("firstChange"), NONE).test(
        "a", replace(BETTER, known=NONE)
    )
    assert (waiting.answer, waiting.steps_left) == ("unknown", 2)
    with pytest.raises(InvalidInput, match="waits for labels"):
        ledger.test("b", WORSE)
    assert ledger.test("a", BETTER)[0].answer == "pass"
    config = configured("firstChange", condition="n - o > 0.02 +/- 0.005")
    undecided, ledger = open_ledger(config, ALL).test("a", commit(0, 0.03))
    assert (undecided.answer, undecided.new_test_set_due) == ("unknown", True)


def test_labels_are_asked_for_until_the_commit_is_settled() -> None:
    ledger, known, asked = open_ledger(configured("none", batch=20), NONE), NONE.copy(), 0
    verdict, ledger = ledger.test("a", replace(BETTER, known=known))
    while verdict.answer == "unknown":
        wanted = list(verdict.labels_wanted)
        assert wanted
        assert BETTER.differ[wanted].all()
        assert not known[wanted].any()
        known[wanted] = True
        asked += len(wanted)
        verdict, ledger = ledger.test("a", replace(BETTER, known=known))
    assert (verdict.answer, verdict.step, len(ledger.history)) == ("pass", 1, 1)
    assert verdict.labels_used is not None
    assert asked - 20 < verdict.labels_used <= asked


def test_fresh_examples_for_every_step_where_developers_see_verdicts() -> None:
    ledger = open_ledger(configured("full"), NONE)
    assert not ledger.shared
    _, first = ledger.test("a", WORSE)
    _, second = first.test("b", WORSE)
    assert second.history[1].start == first.history[0].rows
    used = set(first.released.tolist())
    assert len(used) == first.history[0].rows
    assert used < set(second.released.tolist())


def test_an_abandoned_commit_keeps_its_examples() -> None:
    ledger = open_ledger(configured("full"), NONE)
    waiting, ledger = ledger.test("a", replace(BETTER, known=NONE))
    assert waiting.answer == "unknown"
    _, ledger = ledger.test("b", WORSE)
    assert ledger.history[0].answer == "abandoned"
    assert (
        ledger.history[1].start
        == ledger.history[0].rows
        > max(int(np.flatnonzero(ledger.order() == row)[0]) for row in waiting.labels_wanted)
    )
    again, ledger = ledger.test("a", BETTER)
    assert (again.step, again.repeated) == (3, False)


def test_fresh_examples_run_out() -> None:
    ledger = open_ledger(configured("full", steps=50, condition="n - o > 0.02 +/- 0.005"), NONE)
    verdict, ledger = ledger.test("a", commit(0, 0.03))
    assert (verdict.answer, verdict.labels_wanted, verdict.new_test_set_due) == (
        "unknown",
        (),
        True,
    )
    assert "larger test set" in verdict.advice
    assert ledger.is_exhausted
    assert ledger.test("a", commit(0, 0.03))[0].answer == "unknown"
    assert ledger.test("more", BETTER)[0].answer == "exhausted"


def test_a_wholly_labelled_set_is_shared_and_shows_one_bit() -> None:
    config = configured("full", condition="n > 0.5 +/- 0.1")
    enough = plan(config).chosen
    large, small = (open_ledger(config, np.ones(rows, dtype=bool)) for rows in (enough, enough - 1))
    assert (large.shared, large.answers, small.shared, small.answers) == (True, 2, True, 3)
    right = np.zeros(enough)
    right[: int(enough * 0.6)] = 1
    examples = Examples(right, right, np.zeros(enough, dtype=bool), np.ones(enough, dtype=bool))
    verdict, _ = large.test("a", examples)
    assert verdict.answer in ("pass", "fail")
    assert (verdict.findings, verdict.labels_used, verdict.rows_used) == (None, None, None)
    columns = ["clause", "truth", "estimate", "low", "high", "rows"]
    assert verdict.to_frame().columns.tolist() == columns
    assert len(verdict.to_frame()) == 0


def test_examples_that_are_not_the_ledgers_are_refused() -> None:
    ledger = open_ledger(configured("none"), ALL, "set")
    with pytest.raises(InvalidInput, match="1,200"):
        ledger.test("a", commit(1, 0.1, rows=5))
    with pytest.raises(InvalidInput, match="missing now"):
        ledger.test("a", replace(BETTER, known=NONE))
    with pytest.raises(InvalidInput, match="used up"):
        open_ledger(configured("none"), ALL, "set", ("set",))
    with pytest.raises(InvalidInput, match="at least one"):
        open_ledger(configured("none"), np.zeros(0, dtype=bool))


def test_what_is_labelled_does_not_change_the_order() -> None:
    known = NONE.copy()
    known[[5, 700, 901]] = True
    orders = [open_ledger(configured("none"), each).order() for each in (known, NONE, ALL)]
    assert np.array_equal(orders[0], orders[1])
    assert np.array_equal(orders[1], orders[2])
    assert sorted(orders[0].tolist()) == list(range(ROWS))


def test_a_ledger_of_the_first_version_goes_on_unless_its_order_was_chosen() -> None:
    part = NONE.copy()
    part[:40] = True
    for known, goes_on in ((ALL, True), (NONE, True), (part, False)):
        ledger = open_ledger(configured("none"), known)
        document = {**ledger.to_json(), "version": 1}
        for key in ("seed", "spent"):
            del document[key]
        if goes_on:
            assert Ledger.from_json(document) == ledger
            continue
        with pytest.raises(InvalidInput, match="began with the labelled"):
            Ledger.from_json(document)


def test_uses_of_the_same_examples_share_one_budget() -> None:
    _, first = open_ledger(configured("none"), ALL).test("a", BETTER)
    seen = first.given_away()
    assert (seen.rows, seen.nats) == (first.history[0].rows, 0)
    other = configured("none", condition="n > 0.05 +/- 0.05", seed=9)
    second = open_ledger(other, ALL, spent=seen)
    assert np.array_equal(second.order(), first.order())
    verdict, second = second.test("b", BETTER)
    assert second.history[0].start == first.history[0].rows
    assert "share one budget" in verdict.advice
    _, first = first.beside(second.given_away()).test("c", WORSE)
    assert first.history[1].start >= second.history[0].start + second.history[0].rows


def test_answers_that_were_seen_elsewhere_cost_evidence() -> None:
    hidden = configured("full")
    _, first = open_ledger(hidden, ALL).test("a", BETTER)
    seen = first.given_away()
    assert (seen.rows, seen.nats) == (0, pytest.approx(np.log(3)))
    twice = seen.and_also(seen)
    assert (twice.rows, twice.nats) == (0, pytest.approx(np.log(9)))
    plain, burdened = open_ledger(hidden, ALL), open_ledger(hidden, ALL, spent=twice)
    assert (
        burdened.test("b", BETTER)[1].history[0].rows > plain.test("b", BETTER)[1].history[0].rows
    )
    with pytest.raises(InvalidInput, match="different orders"):
        plain.beside(open_ledger(configured("none", seed=5), ALL).given_away())


def test_names_follow_from_predictions_and_labels() -> None:
    assert commit_digest([1, 2], [1, 1]) == commit_digest(["1", "2"], ["1", "1"])
    assert (
        len({commit_digest([1, 2], None), commit_digest([1, 2], []), commit_digest([1], [2])}) == 3
    )
    assert set_digest(["a", None]) == set_digest(["a", float("nan")])
    assert set_digest(["a"], ["1"]) != set_digest(["a"], ["2"])
    assert set_digest([None, None]) == ""


def test_a_retired_set_is_known_by_its_ids_whatever_was_labelled_since() -> None:
    used, later = set_digest([None, None], ["1", "2"]), set_digest(["a", "b"], ["1", "2"])
    with pytest.raises(InvalidInput, match="used up"):
        open_ledger(configured("none"), ALL, later, (used,))
    unnamed = open_ledger(configured("none"), NONE, "", ("", used))
    assert unnamed.test_set == ""


def test_a_verdict_shows_itself() -> None:
    verdict, _ = open_ledger(configured("none"), ALL).test("a", BETTER)
    document = verdict.to_json()
    assert json.loads(json.dumps(document, allow_nan=False))["answer"] == "pass"
    assert len(verdict.figure().series) == 2
    (row,) = verdict.to_frame().to_dict("records")
    assert row == vars(verdict.findings[0])
    assert row["clause"] == "n - o > 0.02 +/- 0.05"
    assert "2 steps are left" in verdict.advice
