"""Truths that come late, in any order: what they show, and that nothing rests on who they come for."""

from dataclasses import replace

import numpy as np
import pytest
from monitoring_streams import World, world

from easeml.lifecycle.monitoring import (
    Batch,
    Cohort,
    CohortTest,
    Labelled,
    Late,
    Monitor,
    MonitorReport,
    ask,
    at_random,
    fit,
    load,
    save,
)

LEVEL = 0.05 / 3


@pytest.fixture(scope="module")
def fitted() -> Monitor:
    known = world(1000, 0)
    return fit(known.inputs, known.predicted, known.labels, known.scores)


def as_they_come(some: World) -> Batch:
    return replace(some.batch(), at_random=False)


def late(some: World, rows: np.ndarray, look: int) -> Late:
    """Return rows of a world that the ``look``-th batch had, with their truth."""
    looks = np.full(len(rows), look)
    inputs, scores = some.inputs.iloc[rows], some.scores[rows]
    return Late(inputs, some.predicted[rows], some.labels[rows], scores, looks)


def no_rows(some: World, truths: Late) -> Batch:
    nothing = some.inputs.iloc[:0]
    return Batch(nothing, some.predicted[:0], some.scores[:0], late=truths, at_random=False)


def concept(report: MonitorReport):
    return next(test for test in report.drift if test.kind == "concept")


def test_drift_that_only_late_truths_show_is_found(fitted: Monitor):
    worse = world(300, 1, flipped=0.35)
    blind, after = ask(fitted, as_they_come(worse))
    assert blind.status == "inputs as before"
    assert concept(blind).p_value is None
    report, told = ask(after, no_rows(worse, late(worse, np.arange(300), 1)))
    assert report.status == "alert"
    assert concept(report).alarm
    assert "concept drift" in report.advice
    assert [test.kind for test in report.drift] == ["concept"]  # nothing else is tested twice
    assert (told.batches, told.seen) == (after.batches, after.seen) == (1, 300)
    assert load(save(told)).cohorts == told.cohorts


def test_truths_of_the_rows_as_they_were_let_the_estimate_be_ok(fitted: Monitor):
    same = world(600, 2)
    _, after = ask(fitted, as_they_come(same))
    report, _ = ask(after, no_rows(same, late(same, np.arange(600), 1)))
    assert report.status == "ok"
    assert report.low <= same.quality <= report.high


def test_the_order_in_which_truths_come_changes_nothing():
    rng = np.random.default_rng(0)
    right = rng.random((5, 80)) < 0.7
    test = CohortTest()
    for look in range(1, 6):
        test = test.seen(Cohort(look, 80, 0.85, 0.82, 0.1))
    everything = [(look, row) for look in range(5) for row in range(80)]
    found = []
    for seed in range(4):
        told = test
        shuffled = np.random.default_rng(seed).permutation(everything)
        for part in np.array_split(shuffled, 7):
            told = told.told(part[:, 0] + 1, right[part[:, 0], part[:, 1]])
        found.append(told)
    assert found[1:] == found[:-1]
    assert found[0].p_value <= LEVEL


def test_wrong_answers_that_are_reported_first_raise_no_alarm(fitted: Monitor):
    monitor = fitted
    said = set()
    for look in range(1, 9):
        same = world(200, 10 + look)
        wrong = np.flatnonzero(same.predicted != same.labels)
        labelled = Labelled(at_random(wrong, 200), same.labels[wrong])
        batch = replace(as_they_come(same), labelled=labelled)
        report, monitor = ask(monitor, batch)
        assert not concept(report).alarm
        said.add(report.status)
    assert "alert" not in said and "ok" not in said
    assert "cannot tell" in said
    assert "truth came for" in " ".join(report.reasons)


def test_alarms_stay_rare_where_only_wrong_answers_are_ever_reported():
    alarms = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        test = CohortTest()
        lowest = 1.0
        for look in range(1, 31):
            chances = rng.beta(6, 1.5, 60)
            mean = float(chances.mean())
            test = test.seen(Cohort(look, 60, mean, mean, 0.1))
            wrong = int((rng.random(60) > chances).sum())
            test = test.told(np.full(wrong, look), np.zeros(wrong))
            lowest = min(lowest, test.p_value)
        alarms += lowest <= LEVEL
    assert alarms <= 12  # P(Binomial(300, 0.05 / 3) > 12) < 0.003


def test_only_wrong_answers_that_are_reported_show_a_fall(fitted: Monitor):
    monitor = fitted
    for look in range(1, 5):
        worse = world(200, 40 + look, flipped=0.35)
        wrong = np.flatnonzero(worse.predicted != worse.labels)
        labelled = Labelled(at_random(wrong, 200), worse.labels[wrong])
        report, monitor = ask(monitor, replace(as_they_come(worse), labelled=labelled))
    assert concept(report).alarm
    assert report.status == "alert"


def test_what_is_known_of_old_rows_does_not_speak_for_those_in_question():
    """Mistakes come at once, all else four looks later: the last whole look is one of before."""
    test = CohortTest()
    for look in range(1, 4):
        test = test.seen(Cohort(look, 100, 0.85, 0.82, 0.1))
        wrong = 15 if look == 1 else 50
        test = test.told(np.full(wrong, look), np.zeros(wrong))
    test = test.told(np.full(85, 1), np.ones(85))
    assert test.p_value <= LEVEL
    assert [quality for quality, _ in test.bests] == [0.5, 0.5, 0.85]  # the newest first
    assert all(quality < highest for quality, highest in test.bests)


def test_a_truth_counts_once_and_no_look_has_more_truths_than_rows():
    test = CohortTest().seen(Cohort(1, 10, 0.9, 0.85, 0.1))
    told = test.told(np.ones(30, int), np.zeros(30))
    (cohort,) = told.cohorts
    assert (cohort.right, cohort.wrong, cohort.answered) == (0, 10, 1.0)
    assert test.told(np.full(5, 99), np.zeros(5)) == test  # of a look that is settled


def test_an_alarm_ends_when_newer_truths_are_right_again():
    test = CohortTest()
    for look, quality in enumerate([0.4, 0.4, *[0.9] * 12], 1):
        test = test.seen(Cohort(look, 100, 0.85, 0.82, 0.1))
        right = np.arange(100) < 100 * quality
        test = test.told(np.full(100, look), right)
        if look == 2:
            assert test.p_value <= LEVEL
    assert test.p_value > LEVEL


def test_a_proven_fall_is_an_alert_where_the_estimate_of_few_new_rows_cannot_tell(
    fitted: Monitor,
):
    worse, newer = world(300, 1, flipped=0.35), world(30, 2, flipped=0.35)
    _, after = ask(fitted, worse.batch())
    truths = Late(worse.inputs, worse.predicted, worse.labels, worse.scores)  # as files have them
    report, _ = ask(after, replace(newer.batch(), late=truths))
    assert concept(report).alarm
    assert (report.high - report.low) / 2 > fitted.rules.widest
    assert (report.status, report.reasons) == ("alert", ())
    assert "concept drift" in report.advice
    few = Late(*(one[:60] for one in (worse.inputs, worse.predicted, worse.labels, worse.scores)))
    unproven, _ = ask(after, replace(newer.batch(), late=few))
    assert unproven.status == "cannot tell"


def test_truths_of_earlier_rows_let_no_newer_ones_be_ok(fitted: Monitor):
    same = world(600, 2)
    _, after = ask(fitted, as_they_come(same))
    changed = world(300, 3, flipped=0.35)  # of which nothing is known yet
    batch = replace(as_they_come(changed), late=late(same, np.arange(600), 1))
    report, _ = ask(after, batch)
    assert report.status == "inputs as before"
    assert "concept unknown since 300 rows" in report.advice
