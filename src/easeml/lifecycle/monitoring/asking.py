"""What a monitor answers about a batch, and what it learns from labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from operator import attrgetter

import numpy as np

from easeml.lifecycle.monitoring.cohorts import MATURE, Cohort
from easeml.lifecycle.monitoring.drawn import (
    BEYOND,
    Claim,
    Pool,
    gain,
    judged,
    with_drawn,
)
from easeml.lifecycle.monitoring.drift import (
    KINDS,
    DriftTest,
    covariate_test,
    level_at,
    prior_test,
)
from easeml.lifecycle.monitoring.estimators import estimate
from easeml.lifecycle.monitoring.features import as_frame
from easeml.lifecycle.monitoring.labels import (
    Labelled,
    Late,
    Query,
    at_random,
    draw,
    measured,
)
from easeml.lifecycle.monitoring.monitor import Batch, Monitor
from easeml.lifecycle.monitoring.priors import explain, shares, signs, signs_of_numbers
from easeml.lifecycle.monitoring.report import Blind, MonitorReport, Told, decide
from easeml.lifecycle.monitoring.rows import Rows
from easeml.lifecycle.monitoring.selection import SURE, Selection
from easeml.lifecycle.monitoring.sequential import labels_needed

_NO_INPUTS = "no column but dates can be compared, and time always moves"


def ask(monitor: Monitor, batch: Batch) -> tuple[MonitorReport, Monitor]:
    """Estimate the model's quality on a batch, test for drift, and apply the alert rules.

    Truths that came late are learned first. Without new rows the report is about the late ones:
    they are not tested for drift of inputs or predictions again. Nothing given is changed: the
    second value is the state to ask next.

    Raises:
        InvalidInput: if the rows do not fit the reference.
    """
    learned = None
    if batch.late is not None:
        learned = _learned(monitor, batch.late, batch.at_random)
        monitor = learned.monitor
    if learned is None or len(as_frame(batch.inputs)):
        return _ask(monitor, batch, learned)
    shown = _Shown(learned.told)
    if not batch.at_random:
        shown, monitor = _shown(monitor, batch, learned, None)
    tests = _tests(monitor, None, True, batch.at_random)
    blind = replace(learned.blind, by_shares=_by_shares(monitor, learned.rows))
    return _report(monitor, batch, blind, shown, tests, len(learned.rows.predictions)), monitor


@dataclass(frozen=True)
class _Learned:
    """What truths that came late tell: the rows without labels, the labels, the state after them.

    ``pool``: what claims about them are held against.
    """

    rows: Rows
    blind: Blind
    told: Told | None
    pool: Pool
    monitor: Monitor


@dataclass(frozen=True)
class _Shown:
    """What labels show of the newest rows, and what became of claims that rows were drawn."""

    told: Told | None = None
    claims: tuple[Claim, ...] = ()


def _learned(monitor: Monitor, late: Late, is_sample: bool) -> _Learned:
    """Learn from rows that came before, without counting them again.

    Whose truth comes may depend on inputs and predictions. So labels are compared with what the
    inputs of these very rows let expect.
    """
    every = monitor.rows(Batch(late.inputs, late.predictions, late.probabilities))
    labels, is_other = np.asarray(late.labels, dtype=object), late.roles == "other"
    looks = np.zeros(len(labels), dtype=np.int64) if late.looks is None else np.asarray(late.looks)
    right = np.full(len(labels), np.nan)
    right[~is_other] = monitor.right(every.predictions[~is_other], labels[~is_other])
    chances = monitor.reference.forest.predict(every.features)
    pool = Pool(every.features, chances, looks, right, is_other)
    rows = every.at(np.flatnonzero(~is_other))
    blind = _without_labels(monitor, rows, by_shares=False)
    new = np.flatnonzero(late.roles == "truth")
    if not len(new):
        return _Learned(rows, blind, None, pool, monitor)
    new_rows, of_new = every.at(new), blind
    if len(new) < len(rows.predictions):
        of_new = _without_labels(monitor, new_rows, by_shares=False)
    labelled = Labelled(at_random(np.arange(len(new)), len(new)), labels[new])
    before = monitor if monitor.offset.labelled else replace(monitor, offset=of_new.unexplained)
    lag = 0.0 if late.looks is None else float(np.mean(monitor.batches - looks[new]))
    told, after = _with_labels(before, new_rows, of_new, labelled, is_sample, lag)
    if late.looks is not None:
        after = replace(after, cohorts=after.cohorts.told(looks[new], right[new]))
    return _Learned(rows, blind, told, pool, after)


def _ask(monitor: Monitor, batch: Batch, learned: _Learned | None) -> tuple[MonitorReport, Monitor]:
    """Judge new rows. ``learned``: from what came late; it is in ``monitor`` already."""
    rows = monitor.rows(batch)
    blind = _without_labels(monitor, rows)
    shown = _Shown()
    look, count = monitor.batches + 1, len(rows.predictions)
    cohort = Cohort(look, count, blind.base, blind.least_chance, monitor.rules.shown)
    monitor = replace(
        monitor,
        batches=look,
        seen=monitor.seen + count,
        offset=monitor.offset.ahead() if monitor.offset.labelled else blind.unexplained,
        unlabelled=monitor.unlabelled + count,
        cohorts=monitor.cohorts.seen(cohort),
    )
    if batch.labelled is not None:
        told, monitor = _with_labels(monitor, rows, blind, batch.labelled, batch.at_random)
        shown = _Shown(told)
        monitor = _counted(monitor, rows, batch.labelled)
        monitor = replace(monitor, unlabelled=0, labelled_day=batch.day)
    has_labels = any((shown.told, learned))
    if not batch.at_random:
        shown, monitor = _shown(monitor, batch, learned, rows)
    tests = _tests(monitor, rows, has_labels, batch.at_random)
    return _report(monitor, batch, blind, shown, tests, count), monitor


def _shown(
    monitor: Monitor, batch: Batch, learned: _Learned | None, rows: Rows | None
) -> tuple[_Shown, Monitor]:
    """Return what truths show that come as they come, and the state that learned it.

    First those of rows that were drawn at random, then of looks nearly all of whose truths are
    there.
    """
    by_drawn, claims, monitor = _with_drawn(monitor, batch, learned, rows)
    told, monitor = _matured(monitor)
    return _Shown(told or by_drawn, claims), monitor


def _pool(monitor: Monitor, batch: Batch, learned: _Learned | None, rows: Rows | None) -> Pool:
    """Return what claims are held against: late rows, then new ones, which are their whole look."""
    parts = [] if learned is None else [learned.pool]
    if rows is not None:
        right = np.full(len(rows.predictions), np.nan)
        if batch.labelled is not None:
            known = batch.labelled.query.rows
            right[known] = monitor.right(rows.predictions[known], batch.labelled.labels)
        looks = np.full(len(right), monitor.batches)
        chances = monitor.reference.forest.predict(rows.features)
        parts.append(Pool(rows.features, chances, looks, right, np.ones(len(right), dtype=bool)))
    columns = zip(*map(_columns, parts), strict=True)
    return Pool(*map(np.concatenate, columns))


_columns = attrgetter("features", "chances", "looks", "right", "is_other")


def _with_drawn(
    monitor: Monitor, batch: Batch, learned: _Learned | None, rows: Rows | None
) -> tuple[Told | None, tuple[Claim, ...], Monitor]:
    """Return what rows tell of which somebody says that they were drawn at random; each claim once.

    What is told of the newest look comes first, with what became of the claims.
    """
    if not batch.drawn:
        return None, (), monitor
    pool = _pool(monitor, batch, learned, rows)
    number_late = 0 if learned is None else len(learned.pool.looks)
    most = BEYOND * 2 * len(KINDS) / monitor.rules.alpha
    told, claims = None, []
    for one in batch.drawn:
        places = np.concatenate([one.late, number_late + one.newer])
        places = places[~np.isnan(pool.right[places])]
        cohorts = monitor.cohorts.cohorts
        claim = judged(one, places, pool, cohorts, monitor.names, monitor.drawn.level)
        won = gain(places, pool, cohorts)
        if not claim.is_credible:
            won = min(0.0, won)
        monitor = replace(monitor, drawn=monitor.drawn.told(won, most))
        if claim.is_credible:
            by_claim, monitor = _with_sample(monitor, places, pool)
            told = by_claim or told
        claims.append(claim)
    return told, tuple(claims), monitor


def _with_sample(monitor: Monitor, places: np.ndarray, pool: Pool) -> tuple[Told | None, Monitor]:
    """Return what a sample tells of the newest look, and the state that learned from all of it."""
    told, offset, cohorts = None, monitor.offset, []
    for cohort in monitor.cohorts.cohorts:
        right = pool.right[places[pool.looks[places] == cohort.look]]
        cohorts.append(with_drawn(cohort, places, pool))
        if not len(right):
            continue
        query = at_random(np.arange(len(right)), cohort.rows)
        quality, error = measured(np.full(cohort.rows, cohort.base), query, right)
        lag = monitor.batches - cohort.look
        doubt = sqrt(error**2 + lag * offset.step**2)
        offset = offset.update(quality - cohort.base, doubt)
        if lag == 0:
            told = Told(quality, error, len(right))
    counted = replace(monitor.cohorts, cohorts=tuple(cohorts))
    return told, replace(
        monitor,
        offset=offset,
        cohorts=counted,
        answered=1.0,
        unlabelled=counted.rows_since_used,
    )


def _counted(monitor: Monitor, rows: Rows, labelled: Labelled) -> Monitor:
    """Return the state in which truths that came with a batch count among its rows, once each."""
    asked, first = np.unique(labelled.query.rows, return_index=True)
    right = monitor.right(rows.predictions[asked], np.asarray(labelled.labels)[first])
    looks = np.full(len(asked), monitor.batches)
    return replace(monitor, cohorts=monitor.cohorts.told(looks, right))


def _matured(monitor: Monitor) -> tuple[Told | None, Monitor]:
    """Return what looks tell of which nearly all truths are there, and the state that learned it.

    From fewer the estimate does not learn: wrong answers may be reported first. Of the rows whose
    truth is missing half may be right, give or take the other half.
    """
    told, offset, answered = None, monitor.offset, monitor.answered
    for cohort in monitor.cohorts.matured:
        if 2 * cohort.drawn >= cohort.rows:
            continue  # it has learned from these rows as a sample
        query = at_random(np.arange(cohort.right + cohort.wrong), cohort.rows)
        right = np.repeat([1.0, 0.0], [cohort.right, cohort.wrong])
        _, error = measured(np.full(cohort.rows, cohort.base), query, right)
        lag = monitor.batches - cohort.look
        doubt = sqrt(error**2 + lag * offset.step**2 + (1 - cohort.answered) ** 2 / 4)
        offset = offset.update(cohort.quality - cohort.base, doubt)
        if lag == 0:  # truths of earlier rows do not tell what is right today
            told = Told(cohort.quality, error, len(right), (1 - cohort.answered) / 2)
        answered = cohort.answered
    used = monitor.cohorts.used()
    return told, replace(
        monitor, offset=offset, cohorts=used, answered=answered, unlabelled=used.rows_since_used
    )


def _report(
    monitor: Monitor,
    batch: Batch,
    blind: Blind,
    shown: _Shown,
    tests: tuple[DriftTest, ...],
    rows: int,
) -> MonitorReport:
    """Return what is said by a state that has learned all there is of a batch."""
    since = None
    if batch.day is not None and monitor.labelled_day is not None:
        since = (batch.day - monitor.labelled_day).days
    share = monitor.rules.alpha / len(KINDS)
    found = decide(
        batch=monitor.batches,
        rows=rows,
        blind=blind,
        told=shown.told,
        tests=tests,
        offset=monitor.offset,
        trust=monitor.trust,
        rules=monitor.rules,
        unlabelled=monitor.unlabelled,
        days=since,
        needed=_needed(monitor, blind, share, batch.at_random),
        selection=_selection(monitor, share, batch.at_random),
        claims=shown.claims,
    )
    if found.status == "inputs as before" and not monitor.encoder.columns:
        return replace(found, status="cannot tell", reasons=(_NO_INPUTS,))
    return found


def _needed(monitor: Monitor, blind: Blind, share: float, is_sample: bool) -> int:
    """Return how many labels show a fall, by the test that is valid for them."""
    shown = monitor.rules.shown
    if is_sample:
        return labels_needed(monitor.concept.labels, blind.least, shown, share)
    return labels_needed(monitor.drawn.claims, blind.least_chance, shown, share / 2)


def _selection(monitor: Monitor, share: float, is_sample: bool) -> Selection:
    """Return what rows without truth may hide; ``share``: of alpha, that a test has."""
    if is_sample:
        return Selection()
    cohorts = monitor.cohorts
    is_suspect = monitor.concept.p_value <= share and cohorts.share < MATURE
    if cohorts.is_sampled:
        is_suspect = False  # rows drawn at random tell how right all are
    quality = monitor.reference.quality
    bad = (best for best in cohorts.bests if monitor.rules.judge(*best, quality))
    return Selection(monitor.answered, cohorts.share if is_suspect else None, next(bad, SURE))


def choose(monitor: Monitor, batch: Batch, *, budget: int, seed: int) -> Query:
    """Draw rows of a batch whose labels say most about its quality; see `Query`."""
    rows = monitor.rows(batch)
    return draw(monitor.reference.forest.predict(rows.features), budget, seed)


def _without_labels(monitor: Monitor, rows: Rows, *, by_shares: bool = True) -> Blind:
    """Return what the rows alone tell; ``by_shares``: also if only shares of classes changed."""
    trust = monitor.trust
    found, chances, shift = estimate(monitor.reference, rows.features, rows.scores, rows.codes)
    move = trust.share * (found.doubly_robust - found.constant)
    beyond = trust.beyond(shift.separation, found.doubly_robust - found.constant)
    count = len(rows.predictions)
    unexplained = trust.offset(monitor.seen + count, count)
    return Blind(
        base=found.constant + move,
        found=found,
        chances=chances,
        shift=shift,
        beyond=beyond,
        unexplained=unexplained,
        doubt=sqrt(found.spread**2 + unexplained.variance + beyond**2),
        by_shares=_by_shares(monitor, rows) if by_shares else None,
    )


def _by_shares(monitor: Monitor, rows: Rows) -> tuple[float, float] | None:
    """Return the interval of the quality if only the shares of the classes have changed.

    None where something else has.
    """
    known = monitor.known
    if known is None:
        return None
    if monitor.task == "regression":
        new = signs_of_numbers(rows.predictions, known.cuts)
    else:
        new = signs(rows.predictions, rows.surety, len(monitor.classes))
    found = shares(known, monitor.reference.right, new)
    if not explain(known, found, monitor.reference.features, rows.features):
        return None
    return found.interval(len(new), monitor.rules.level)


def _with_labels(
    monitor: Monitor,
    rows: Rows,
    blind: Blind,
    labelled: Labelled,
    is_sample: bool,
    lag: float = 0.0,
) -> tuple[Told, Monitor]:
    """Return what labels tell of a batch, and the state that has learned it.

    ``is_sample``: the rows were drawn at random. Otherwise the estimate learns from nearly all
    truths of a look only. ``lag``: how many batches ago the rows came. What they showed may have
    moved on since.
    """
    query = labelled.query
    right = monitor.right(rows.predictions[query.rows], labelled.labels)
    quality, error = measured(blind.chances, query, right)
    offset = monitor.offset
    if is_sample:
        doubt = sqrt(error**2 + lag * offset.step**2)
        offset = offset.update(quality - blind.base, doubt)
    weights = 1 / (len(rows.predictions) * query.chances)
    return Told(quality, error, len(query.rows)), replace(
        monitor,
        offset=offset,
        concept=monitor.concept.told(right, weights, blind.least, monitor.rules.shown),
    )


def _tests(
    monitor: Monitor, rows: Rows | None, has_labels: bool, at_random: bool
) -> tuple[DriftTest, ...]:
    """Return the tests of drift; of the concept alone where there are no new ``rows``."""
    concept = _concept_test(monitor, has_labels, at_random)
    if rows is None:
        return (concept,)
    level = level_at(monitor.batches, monitor.rules.alpha)
    return (
        covariate_test(monitor.reference.features, rows.features, monitor.names, level),
        prior_test(monitor.predictions, rows.predictions, level),
        concept,
    )


def _concept_test(monitor: Monitor, has_labels: bool, at_random: bool) -> DriftTest:
    """Return the test of the concept that is valid for the labels that there are."""
    share = monitor.rules.alpha / len(KINDS)
    if at_random and has_labels:
        p_value, where = monitor.concept.p_value, "queried labels"
    elif not at_random and (monitor.cohorts.has_truths or monitor.drawn.claims):
        by_all = monitor.cohorts.p_value
        by_drawn = monitor.drawn.p_value
        where = "rows drawn at random" if by_drawn < by_all else "rows without truth count as right"
        p_value = min(1.0, 2 * min(by_all, by_drawn))  # each test has half of the error
    else:
        return DriftTest("concept", None, share, False, "no labels")
    return DriftTest("concept", p_value, share, p_value <= share, where)
