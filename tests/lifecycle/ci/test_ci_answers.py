"""What a test of a commit, a ledger and what lies around them answer, case by case."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from easeml.errors import InvalidInput
from easeml.lifecycle.ci import (
    Adaptivity,
    Config,
    Examples,
    Ledger,
    Metric,
    Mode,
    Outlook,
    Spent,
    evaluate,
    labels_to_come,
    open_ledger,
    parse,
    plan,
    powered_mean,
    read_config,
    rows_that_settle,
    score_examples,
    step_nats,
    try_commit,
)


def configured(condition: str = "n > 0.7 +/- 0.1", adaptivity: str = "none", **more) -> Config:
    keys = {"condition": condition, "reliability": 0.9, "adaptivity": adaptivity, "steps": 3}
    return read_config({**keys, **more})


def rows_of(new: np.ndarray, old: np.ndarray, known: np.ndarray | None = None) -> Examples:
    """Rows on which models were right or wrong; they differ where their scores do."""
    everything = np.ones(len(new), dtype=bool)
    known = everything if known is None else known
    return Examples(new.astype(float), old.astype(float), new != old, known)


def alone(share: float, rows: int, seed: int = 1) -> Examples:
    """Rows of one model that is right in a share of them, and of one that is always right."""
    new = np.random.default_rng(seed).permutation(rows) < share * rows
    return rows_of(new, np.ones(rows, dtype=bool))


# A commit


def test_three_values_by_their_table() -> None:
    unknown = None
    table = {(True, True): (True, True), (True, False): (False, True)}
    table |= {(True, unknown): (unknown, True), (False, False): (False, False)}
    table |= {(False, unknown): (False, unknown), (unknown, unknown): (unknown, unknown)}
    for (first, second), (both, either) in table.items():
        for values in ((first, second), (second, first)):
            for joined, expected in (("and", both), ("or", either)):
                formula = parse(f"n > 0.5 +/- 0.1 {joined} o > 0.5 +/- 0.1")
                told = lambda clause, v=values: v[0] if clause.n else v[1]  # noqa: E731
                assert evaluate(formula, told) is expected
    for value in (True, False, unknown):
        assert evaluate(parse("n > 0.5 +/- 0.1"), lambda _, v=value: v) is value


@pytest.mark.parametrize("share", [0.5, 0.72, 0.95])
def test_findings_of_less_than_are_those_of_more_than(share: float) -> None:
    examples = alone(share, 700)
    more, less = configured("n > 0.7 +/- 0.1"), configured("n < 0.9 +/- 0.1")
    nats = step_nats(more, shared=True)
    (upward,) = try_commit(more, examples, nats, shared=True).findings
    (downward,) = try_commit(less, examples, nats, shared=True).findings
    assert (upward.clause, downward.clause) == ("n > 0.7 +/- 0.1", "n < 0.9 +/- 0.1")
    for finding in (upward, downward):
        seen = examples.new[: finding.rows].mean()
        assert finding.estimate == pytest.approx(seen)
        assert 0 <= finding.low <= seen <= finding.high <= 1
    # Both have the zone from .7 to .9, so that what one proves the other disproves.
    assert (upward.low, upward.high) == pytest.approx((downward.low, downward.high))
    assert upward.truth is (share > 0.8)
    assert downward.truth is (share < 0.8)


def test_labels_count_up_to_the_row_that_settles_the_condition() -> None:
    examples = alone(0.95, 3000)
    nats = 5.0
    config = configured("n > 0.6 +/- 0.1 or n > 0.92 +/- 0.02")
    trial = try_commit(config, examples, nats, shared=True)
    first, second = trial.findings
    assert (trial.truth, first.truth) == (True, True)
    assert first.rows < second.rows
    assert trial.labels == trial.rows == first.rows
    unseen = try_commit(
        configured("d < 0.01 +/- 0.01 and n > 0.6 +/- 0.1"), examples, nats, shared=True
    )
    assert (unseen.truth, unseen.findings[1].rows, unseen.labels) == (False, 0, 0)
    open_one = try_commit(
        configured("n > 0.6 +/- 0.1 and n > 0.92 +/- 0.02"), examples, 5.0, shared=True
    )
    assert open_one.labels == open_one.rows == max(one.rows for one in open_one.findings)


def test_a_clause_on_d_looks_at_all_shared_rows_and_others_at_those_of_their_design() -> None:
    """Right in the middle of the zone, where bets win little, the look is what settles."""
    config = configured("d < 0.3 +/- 0.05")
    needed = rows_that_settle(config, shared=True)
    rows = 3 * needed
    differ = np.arange(rows) % 4 == 0
    examples = rows_of(differ, np.zeros(rows, dtype=bool))
    nats = step_nats(config, shared=True)
    shared, fresh = (try_commit(config, examples, nats, shared=one) for one in (True, False))
    assert fresh.findings[0].rows == needed < shared.findings[0].rows
    assert (shared.labels, fresh.labels) == (0, 0)
    of_labels = configured("n < 0.3 +/- 0.05")
    for one in (True, False):
        trial = try_commit(of_labels, examples, nats, shared=one)
        assert trial.findings[0].rows == rows_that_settle(of_labels, shared=True)


@pytest.mark.parametrize(
    ("more", "condition", "scouts"),
    [
        ({}, "n - o > 0 +/- 0.1", 20),
        ({"difference": 0.9}, "n - o > 0 +/- 0.1", 0),
        ({}, "n - o > 0 +/- 0.1 and d < 0.4 +/- 0.1", 0),
        ({}, "n - o > 0 +/- 0.1 or d < 0.05 +/- 0.02", 20),
        ({}, "n - o > 0 +/- 0.1 and n > 0.2 +/- 0.1", 20),
        ({}, "n > 0.5 +/- 0.1", 0),
    ],
)
def test_scouts_are_a_twentieth_of_the_rows_where_nothing_bounds_the_changes(
    more: dict, condition: str, scouts: int
) -> None:
    """Scouts look at rows before the test: the first that lacks a label comes behind them."""
    config = configured(condition, **more, batch=1)
    rows = 400
    none, differ = np.zeros(rows, dtype=bool), np.arange(rows) % 10 == 0
    examples = rows_of(differ, none, known=none)
    trial = try_commit(config, examples, 12.0, shared=True)
    assert trial.wanted.tolist() == [scouts]


def test_scouts_come_out_of_what_is_left_over() -> None:
    config = configured("n - o > 0 +/- 0.1", batch=1)
    enough = rows_that_settle(config, shared=True)
    for spare in (0, 3, 4000):
        rows = enough + spare
        none = np.zeros(rows, dtype=bool)
        trial = try_commit(
            config, rows_of(~none, none, known=none), step_nats(config, shared=True), shared=True
        )
        assert trial.wanted.tolist() == [min(spare, 200, rows // 20)]


# A ledger


def named(answers: dict[str, Examples], ledger: Ledger) -> Ledger:
    """Return the ledger after tests of some commits."""
    for name, examples in answers.items():
        _, ledger = ledger.test(name, examples)
    return ledger


GOOD, BAD = alone(1.0, 600), alone(0.4, 600)
UNLABELLED = replace(GOOD, known=np.zeros(600, dtype=bool))
ALL = np.ones(600, dtype=bool)


@pytest.mark.parametrize(("mode", "answer"), [("fp-free", "fail"), ("fn-free", "pass")])
def test_the_mode_answers_for_what_two_answers_leave_open(mode: str, answer: str) -> None:
    """Far more predictions change than the team has said, so that the rows do not suffice."""
    config = configured("n - o > 0.02 +/- 0.05", "full", difference=0.05, mode=mode)
    rows = rows_that_settle(config, shared=True)
    differ = np.random.default_rng(2).permutation(rows)
    gain = 0.07 if mode == "fp-free" else -0.03  # the middle of the zone
    new, old = differ < rows * (0.4 + gain / 2), differ >= rows * (0.6 + gain / 2)
    ledger = open_ledger(config, np.ones(rows, dtype=bool))
    assert ledger.answers == 2
    verdict, after = ledger.test("a", rows_of(new, old))
    assert (verdict.answer, verdict.by_mode, after.history[0].answer) == (answer, True, answer)
    assert verdict.reason == f"The examples left it open, and {mode} decided."
    alike = np.zeros(rows, dtype=bool)
    settled, _ = ledger.test("b", rows_of(alike, alike))
    assert (settled.by_mode, settled.reason) == (False, "")
    with_more = replace(ledger, answers=3)
    unknown, _ = with_more.test("a", rows_of(new, old))
    assert (unknown.answer, unknown.by_mode, unknown.labels_wanted) == ("unknown", False, ())


def test_commits_have_places_whatever_came_between() -> None:
    ledger = named(
        {"a": BAD, "b": GOOD, "c": UNLABELLED}, open_ledger(configured(steps=5), ALL & False)
    )
    again, _ = ledger.test("b", GOOD)
    assert (again.step, again.steps, again.repeated) == (2, 5, True)
    assert ledger.advice == "3 of 5 steps are spent, 2 left. The last commit waits for labels."
    ledger = named({"d": BAD}, ledger)
    assert [step.commit for step in ledger.history] == ["a", "b", "c", "d"]
    assert [step.answer for step in ledger.history] == ["fail", "pass", "abandoned", "fail"]
    assert ledger.advice == "4 of 5 steps are spent, 1 left."
    frame = ledger.to_frame()
    assert list(frame) == ["step", "commit", "answer", "labels", "start", "rows"]
    assert frame["step"].tolist() == [1, 2, 3, 4]
    assert frame["labels"].tolist() == [step.labels for step in ledger.history]
    assert (ledger.released.tolist(), ledger.is_exhausted) == ([], False)


def test_beyond_the_last_step_nothing_is_looked_at() -> None:
    ledger = named({"a": GOOD, "b": BAD, "c": GOOD}, open_ledger(configured(), ALL))
    verdict, _ = ledger.test("d", GOOD)
    assert (verdict.answer, verdict.step, verdict.steps_left) == ("exhausted", 3, 0)
    assert (verdict.labels_used, verdict.rows_used, verdict.findings) == (0, 0, None)


def test_with_first_change_a_commit_that_waits_ends_nothing() -> None:
    config = configured(adaptivity="firstChange", steps=4)
    ledger = open_ledger(config, ALL & False)
    ledger = named({"a": BAD, "b": UNLABELLED}, ledger)
    assert (ledger.steps_left, ledger.is_exhausted) == (2, False)
    with pytest.raises(InvalidInput, match="waits for labels"):
        ledger.test("c", BAD)
    ledger = named({"b": BAD}, ledger)
    assert ledger.steps_left == 2
    assert named({"c": GOOD}, ledger).is_exhausted


def test_one_fresh_example_is_enough_for_another_step() -> None:
    ledger = named({"a": BAD}, open_ledger(configured(adaptivity="full", steps=9), ALL & False))
    (step,) = ledger.history
    for left in (0, 1, 2):
        shorter = replace(ledger, examples=step.end + left)
        assert shorter.steps_left == (8 if left else 0)


@pytest.mark.parametrize("spent", [0, 1])
def test_a_row_less_than_always_settles_adds_an_answer(spent: int) -> None:
    config = configured(adaptivity="full")
    rows = rows_that_settle(config, shared=True)
    known = np.ones(rows, dtype=bool)
    opened = open_ledger(config, known)
    assert (opened.shared, opened.answers, opened.test_set) == (True, 2, "")
    assert opened.beside(Spent(rows=spent)).answers == 2 + spent
    assert open_ledger(config, known, spent=Spent(rows=spent)).answers == 2 + spent


def test_answers_give_away_their_number_and_after_how_many_requests_they_came() -> None:
    config = configured(adaptivity="full", batch=70)
    known = ALL.copy()
    ledger = replace(open_ledger(config, known), shared=True)
    ledger = named({"a": GOOD, "b": BAD}, ledger)
    assert ledger.given_away() == Spent(nats=2 * math.log(3), seed=0)
    known[5] = False
    partly = replace(named({}, ledger), known_first=open_ledger(config, known).known_first)
    assert partly.given_away().nats == pytest.approx(2 * math.log(3 * (1 + 9)))  # 600 by 70
    shown = named({"a": GOOD, "b": BAD}, open_ledger(configured(), ALL))
    assert shown.given_away() == Spent(rows=max(step.end for step in shown.history), seed=0)


def test_what_others_spent_goes_through_json() -> None:
    ledger = open_ledger(configured(), ALL, spent=Spent(rows=7, nats=1.5, seed=3))
    document = json.loads(json.dumps(ledger.to_json()))
    assert document["spent"] == {"rows": 7, "nats": 1.5, "seed": 3}
    assert document["version"] == 2
    assert Ledger.from_json(document) == ledger
    for version in (0, 3):
        with pytest.raises(InvalidInput, match=f"of version {version}, not 2"):
            Ledger.from_json({**document, "version": version})


# Labels to come


def test_labels_to_come_are_those_of_forty_plays() -> None:
    config = configured("n - o > 0.05 +/- 0.1", batch=30)
    rows = 400
    generator = np.random.default_rng(8)
    new, old = generator.random(rows) < 0.7, generator.random(rows) < 0.6
    known = np.arange(rows) < 30
    examples = rows_of(new, old, known=known)
    ledger = open_ledger(config, known)
    _, waiting = ledger.test("a", examples)
    found = labels_to_come(waiting, "a", examples, rows_of(new[:0], old[:0]), seed=5)

    patient = replace(waiting, config=replace(config, batch=rows))
    wanted = np.array(patient.test("a", examples)[0].labels_wanted)
    seen = np.flatnonzero(known & (new != old))
    played = []
    random = np.random.default_rng(5)
    for _ in range(40):
        chances = random.dirichlet(np.ones(len(seen)))
        drawn = seen[random.choice(len(seen), size=len(wanted), p=chances)]
        filled = rows_of(new, old, known=known | np.isin(np.arange(rows), wanted))
        filled.new[wanted], filled.old[wanted] = new[drawn], old[drawn]
        filled = replace(filled, differ=examples.differ)
        _, after = waiting.test("a", filled)
        looked_at = waiting.order()[after.history[-1].start : after.history[-1].end]
        played.append(len(set(wanted.tolist()) & set(looked_at.tolist())))
    low, about, high = (max(1, round(np.quantile(played, q))) for q in (0.1, 0.5, 0.9))
    assert low < about < high
    assert found == Outlook(about, len(wanted), low, high)


def test_no_labels_come_where_none_can_help() -> None:
    ledger = open_ledger(configured(), ALL)
    assert labels_to_come(ledger, "a", GOOD, GOOD) == Outlook(0, 0, 0, 0)
    nobody = rows_of(np.zeros(0, dtype=bool), np.zeros(0, dtype=bool))
    unknown = open_ledger(configured(), ALL & False)
    assert labels_to_come(unknown, "a", UNLABELLED, nobody) == Outlook(None, 600, 0, 0)


def test_one_label_may_be_all_that_is_left() -> None:
    config = configured("n - o > 0.05 +/- 0.1", reliability=0.8, steps=1)
    rows = 60
    new, old = np.arange(rows) % 20 < 6, np.arange(rows) % 20 > 15  # a gain within the zone
    known = np.ones(rows, dtype=bool)
    ledger = open_ledger(config, known & False)
    last = ledger.order()[new[ledger.order()] != old[ledger.order()]][-1]
    known[last] = False
    examples = rows_of(new, old, known=known)
    _, waiting = ledger.test("a", examples)
    assert labels_to_come(waiting, "a", examples, examples) == Outlook(1, 1, 1, 1)


# Around them


def test_scores_of_numbers_by_hand() -> None:
    labels, new, old = [1.0, 2.0, None, 4.0], [1.5, 2.0, 3.0, 0.0], [0.0, 2.0, 3.0, 4.5]
    keys = {"condition": "n < 0.5 +/- 0.1", "reliability": 0.9, "scale": 4.0}
    squared = score_examples(new, old, labels, read_config({**keys, "metric": "squared-error"}))
    plain = score_examples(new, old, labels, read_config({**keys, "metric": "absolute-error"}))
    known = [True, True, False, True]
    for made in (squared, plain):
        assert made.known.tolist() == known
        assert made.differ.tolist() == [True, False, False, True]
    assert squared.new[known].tolist() == [0.25, 0.0, 4.0]
    assert squared.old[known].tolist() == [1.0, 0.0, 0.25]
    assert plain.new[known].tolist() == [0.5, 0.0, 4.0]
    assert plain.old[known].tolist() == [1.0, 0.0, 0.5]


def test_numbers_without_limits_are_refused() -> None:
    made = Config(condition=parse("n > 0.5 +/- 0.1"), reliability=0.9, metric=Metric.SCORE)
    assert (made.mode, made.adaptivity) == (Mode.FP_FREE, Adaptivity.FULL)
    for scale in (0.0, math.inf):
        with pytest.raises(InvalidInput) as caught:
            replace(made, scale=scale)
        assert caught.value.where == "scale"
    with pytest.raises(InvalidInput) as caught:
        read_config({"condition": "n > 0.5 +/- 0.1"})
    assert "reliability" in f"{caught.value} {caught.value.where}"


@pytest.mark.parametrize(
    ("condition", "verdict"),
    [
        ("n > 1 +/- 0.1", "never"),
        ("n > -0.5 +/- 0.1", "always"),
        ("n < 1.5 +/- 0.1", "always"),
        ("n < 0 +/- 0.1", "never"),
        ("n - o > 1 +/- 0.1", "never"),
    ],
)
def test_clauses_are_told_to_hold_always_or_never(condition: str, verdict: str) -> None:
    with pytest.raises(InvalidInput, match=f" {verdict} holds"):
        plan(configured(condition))


def test_a_condition_of_many_spaces_is_too_long() -> None:
    text = "n - o > 0 +/- 0.1"
    assert str(parse(text + " " * (10_000 - len(text)))) == text  # and no "-0"
    with pytest.raises(InvalidInput, match="longer than 10,000"):
        parse(text + " " * (10_001 - len(text)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n - o > 0.1", "the tolerance is missing here:\n  n - o > 0.1\n             ^"),
        ("n ? o", "'?' is not understood:\n  n ? o\n    ^"),
        (
            "(n - o) +/- 0.1",
            "a comparison, > or <, is missing here:\n  (n - o) +/- 0.1\n          ^",
        ),
    ],
)
def test_a_mark_stands_below_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse(text)
    assert message in str(caught.value)


@pytest.mark.parametrize("inner", ["(n - o) > 0.1 +/- 0.1", "((n) - (o)) > (0.1) +/- (0.1)"])
def test_brackets_hold_expressions_and_conditions(inner: str) -> None:
    plain = parse("n - o > 0.1 +/- 0.1")
    assert parse(inner) == plain
    assert parse(f"({inner})") == plain
    text = "n - o > 0.1 +/- 0.1"
    assert parse("(" * 41 + text + ")" * 41) == plain
    with pytest.raises(InvalidInput, match="too many brackets"):
        parse("(" * 42 + text + ")" * 42)


@pytest.mark.parametrize(("value", "end"), [(1.0, (0.5, 1.0)), (0.0, (0.0, 0.5))])
def test_a_normal_interval_stays_among_shares(value: float, end: tuple[float, float]) -> None:
    values = np.array([1 - value, *[value] * 7])
    pool = np.array([0.3, 0.6])
    made = powered_mean(values, np.tile([0.2, 0.4], 4), pool, 0.05, exact=False)
    assert end[0] < made.low + (value == 0.0)
    assert (made.low if value == 0.0 else made.high) == value
    with pytest.raises(InvalidInput, match="8 values and 2"):
        powered_mean(values[:7], values[:7], pool, 0.05)
    with pytest.raises(InvalidInput, match="8 values and 2"):
        powered_mean(values, values, pool[:1], 0.05)
