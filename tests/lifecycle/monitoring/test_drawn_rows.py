"""Truths of rows of which somebody says that they were drawn at random: used, and doubted."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from monitoring_streams import World, world

from easeml.lifecycle.monitoring import (
    Batch,
    Drawn,
    Late,
    Monitor,
    MonitorReport,
    ask,
    fit,
    load,
    save,
)

ROWS = 500
ASKED = 150


@pytest.fixture(scope="module")
def fitted() -> Monitor:
    known = world(1000, 0)
    return fit(known.inputs, known.predicted, known.labels, known.scores)


def late(some: World, told: np.ndarray, look: int, role: str = "truth", seed: int = 0) -> Late:
    """Return rows whose truth came, and a sample of all others to compare them with."""
    others = np.setdiff1d(np.arange(len(some.labels)), told)
    others = np.random.default_rng(seed).permutation(others)[: 3 * len(told)]
    places = np.concatenate([told, others])
    labels = some.labels[places].astype(object)
    labels[len(told) :] = None
    roles = np.repeat([role, "other"], [len(told), len(others)])
    inputs, looks = some.inputs.iloc[places], np.full(len(places), look)
    return Late(inputs, some.predicted[places], labels, some.scores[places], looks, roles)


def told_late(some: World, told: np.ndarray, look: int = 1, by: str = "Ann") -> Batch:
    nothing = some.inputs.iloc[:0], some.predicted[:0], some.scores[:0]
    drawn = (Drawn(by, late=np.arange(len(told))),) if by else ()
    return Batch(*nothing, late=late(some, told, look), at_random=False, drawn=drawn)


def sample(some: World, number: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).choice(len(some.labels), number, replace=False)


def seen(monitor: Monitor, some: World) -> Monitor:
    return ask(monitor, replace(some.batch(), at_random=False))[1]


def concept(report: MonitorReport):
    return next(test for test in report.drift if test.kind == "concept")


def test_a_sample_shows_a_fall_that_the_same_truths_as_they_come_do_not(fitted: Monitor):
    worse = world(ROWS, 1, flipped=0.35)
    after = seen(fitted, worse)
    rows = sample(worse, ASKED, 2)
    unsaid, _ = ask(after, told_late(worse, rows, by=""))
    assert not concept(unsaid).alarm
    assert unsaid.status == "cannot tell"
    report, told = ask(after, told_late(worse, rows))
    assert concept(report).alarm
    assert concept(report).where == "rows drawn at random"
    assert report.status == "alert"
    assert report.low <= worse.quality <= report.high
    (claim,) = report.claims
    assert (claim.by, claim.rows, claim.is_credible) == ("Ann", ASKED, True)
    again = load(save(told))
    assert (again.drawn, again.cohorts) == (told.drawn, told.cohorts)


def test_a_sample_lets_the_newest_rows_be_ok(fitted: Monitor):
    same = world(1000, 3)
    batch = told_late(same, sample(same, 400, 0))
    report, _ = ask(seen(fitted, same), batch)
    assert report.status == "ok"
    assert report.told == 400
    assert report.low <= same.quality <= report.high


@pytest.mark.parametrize("by_inputs", [True, False])
def test_mistakes_that_are_said_to_be_drawn_at_random_are_doubted(fitted: Monitor, by_inputs: bool):
    same = world(ROWS, 4)
    wrong = np.flatnonzero(same.predicted != same.labels)
    batch = told_late(same, wrong)
    if not by_inputs:  # all else is known to be right, so as many wrong ones cannot be drawn
        rows = np.arange(ROWS)
        batch = replace(told_late(same, rows), drawn=(Drawn("Ann", late=wrong),))
        batch = replace(batch, late=replace(batch.late, role=np.full(ROWS, "truth")))
    report, after = ask(seen(fitted, same), batch)
    (claim,) = report.claims
    assert not claim.is_credible
    assert claim.p_value <= claim.level
    assert claim.where in ("hard", "chance to be right", "truths of the other rows")
    assert (claim.where != "truths of the other rows") == by_inputs
    assert not concept(report).alarm
    assert report.status != "alert"
    assert after.drawn.stake + after.drawn.aside <= 1


def test_a_claim_that_holds_is_hardly_ever_doubted(fitted: Monitor):
    doubted = 0
    for seed in range(60):
        same = world(200, 100 + seed)
        report, _ = ask(seen(fitted, same), told_late(same, sample(same, 40, seed)))
        doubted += not report.claims[0].is_credible
    assert doubted <= 5  # of 60 at level .03; P(Binomial(60, 0.03) > 5) < 0.01


def test_looks_that_differ_do_not_make_a_sample_of_each_suspect(fitted: Monitor):
    one, other = world(ROWS, 5), world(ROWS, 6, shift=2.0)
    monitor = seen(seen(fitted, one), other)
    first, second = late(one, sample(one, 60, 0), 1), late(other, sample(other, 10, 0), 2)
    parts = []
    for name in ("inputs", "predictions", "labels", "probabilities", "looks", "role"):
        mine, yours = getattr(first, name), getattr(second, name)
        joined = (pd.concat if name == "inputs" else np.concatenate)([mine, yours])
        parts.append(joined)
    joined = Late(*parts)
    places = np.flatnonzero(joined.role == "truth")
    batch = replace(told_late(one, places), late=joined, drawn=(Drawn("Ann", late=places),))
    report, _ = ask(monitor, batch)
    assert report.claims[0].is_credible


def test_truths_that_were_counted_before_join_a_sample_and_count_once(fitted: Monitor):
    worse = world(ROWS, 7, flipped=0.35)
    rows = sample(worse, ASKED, 0)
    _, told = ask(seen(fitted, worse), told_late(worse, rows, by=""))
    batch = told_late(worse, rows)
    assert batch.late is not None
    roles = np.where(batch.late.role == "truth", "again", batch.late.role)
    report, after = ask(told, replace(batch, late=replace(batch.late, role=roles)))
    assert concept(report).alarm
    (cohort,) = after.cohorts.cohorts
    assert cohort.right + cohort.wrong == cohort.drawn == ASKED


def test_an_alarm_by_samples_ends_when_samples_are_right_again(fitted: Monitor):
    monitor = fitted
    for look in range(1, 30):
        some = world(200, 200 + look, flipped=0.35 if look < 6 else 0.0)
        monitor = seen(monitor, some)
        report, monitor = ask(monitor, told_late(some, sample(some, 80, look), look))
        if look == 5:
            assert concept(report).alarm
    assert not concept(report).alarm
    assert report.status != "alert"
