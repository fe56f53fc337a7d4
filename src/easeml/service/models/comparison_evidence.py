"""What the rows whose truth is known tell of two models, and what is decided by it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from easeml.contract.states import PromotionKind, RolloutState, RolloutWay
from easeml.service.models import promotion, released_rows, returning
from easeml.service.models.compared_rows import News
from easeml.service.models.told_truths import Category, Truths, said, target_of, truths_of
from easeml.service.rollouts import kept
from easeml.store import Tables, Transaction, grouped
from easeml.store.records import ProductionRow, Rollout

if TYPE_CHECKING:
    from easeml.lifecycle.rollout import Outcome
    from easeml.lifecycle.rounds import Row

Qualities = dict[str, tuple[float, float]]  # of the new and the old model, by the id of a row


def count(tx: Transaction, rollout: Rollout, news: News) -> None:
    """Let rows whose truth is known, and failures, be a part of the evidence, and decide."""
    from easeml.lifecycle import rollout as rollouts
    from easeml.lifecycle import rounds

    tables = tx.scoped(rollout.tenant_id)
    # The roll-out was written before this, which others wait for: what they counted is seen here.
    left = set(
        tables.production_rows.column("id", id=[row.id for row in news.ready], counted=False)
    )
    rows = [row for row in news.ready if row.id in left]
    if rollout.way == RolloutWay.AFTER:
        rows = released_rows.complete(tables, rollout, rows)
    truths = truths_of(tables, rollout, rows)
    plan, evidence = kept.plan_of(rollout), kept.evidence_of(rollout)
    if rollout.way == RolloutWay.AFTER:
        counted, unknown, outcomes = released_rows.outcomes(tables, rollout, rows, truths)
        evidence = rollouts.told(plan, evidence, outcomes)
    elif rollout.plan.by_class:
        target = target_of(tables, rollout)
        assert isinstance(target, Category)  # nothing else has a balanced accuracy
        counted, unknown, told = _rows_of_classes(tables, rollout, rows, truths)
        evidence = rounds.told(plan, evidence, told, target.classes)
    else:
        counted, unknown, outcomes = _outcomes(tables, rollout, rows, truths)
        evidence = rollouts.told(plan, evidence, outcomes)
    tables.production_rows.set_each("counted", dict.fromkeys(counted, True))
    tables.production_rows.set_each("rollout_id", dict.fromkeys(counted, rollout.id))
    evidence = replace(evidence, failures=max(evidence.failures, news.failures))
    rollout = tables.rollouts.update(
        rollout.id,
        evidence=kept.evidence_to_keep(evidence),
        unknown=rollout.unknown + unknown,
    )
    if rollout.way == RolloutWay.AFTER:
        returning.decide(tx, rollout)
    else:
        _decide(tx, rollout)


def _outcomes(
    tables: Tables, rollout: Rollout, rows: list[ProductionRow], truths: Truths
) -> tuple[list[str], int, list[Outcome]]:
    """Return the ids of rows that count, how many have no usable truth, and what came of them."""
    by_id = {row.id: row for row in rows}
    told = [by_id[id] for id in truths]
    qualities = _qualities(tables, rollout, told, truths)
    groups = _groups(tables, rollout, told, qualities)
    outcomes = [_outcome(rollout, rows, qualities) for rows in groups]
    return [*truths], len(told) - len(qualities), outcomes


def _rows_of_classes(
    tables: Tables, rollout: Rollout, rows: list[ProductionRow], truths: Truths
) -> tuple[list[str], int, list[Row]]:
    """Return what ``_outcomes`` does, as rows of classes: one of each request that has a share."""
    from easeml.lifecycle.rounds import Row

    by_id = {row.id: row for row in rows}
    told = [by_id[id] for id in truths]
    qualities = _qualities(tables, rollout, told, truths)
    target = target_of(tables, rollout)
    found: list[Row] = []
    for first, *_ in _groups(tables, rollout, told, qualities):
        new, old = map(bool, qualities[first.id])
        true = str(target.true(truths[first.id]))
        share = _share(rollout, first)
        found.append(Row(true, new, old, share, _is_by_new(rollout, first)))
    return [*truths], len(told) - len(qualities), found


def take_back(tx: Transaction, rollout: Rollout, reason: str) -> None:
    """End a roll-out that runs: the model that served answers all requests."""
    tables = tx.scoped(rollout.tenant_id)
    ended = kept.end(tx, rollout, RolloutState.TAKEN_BACK, reason)
    application = tables.applications.get(rollout.application_id)
    promotion.note_rollout(tx, application, ended, reason)


def _qualities(
    tables: Tables, rollout: Rollout, rows: list[ProductionRow], truths: Truths
) -> Qualities:
    """Return how good both models are on each row; none where the truth says nothing."""
    target = target_of(tables, rollout)
    found: Qualities = {}
    for row in rows:
        true = target.true(truths[row.id])
        if true is not None:
            new, old = said(rollout, row)
            found[row.id] = (target.quality(new, true), target.quality(old, true))
    return found


def _groups(
    tables: Tables, rollout: Rollout, rows: list[ProductionRow], qualities: Qualities
) -> list[list[ProductionRow]]:
    """Return what counts: each row; or the rows of each request, where both models answer some.

    A request then counts once, by the rows of it whose truth came first: who answered it is known
    to whoever tells more.
    """
    measured = [row for row in rows if row.id in qualities]
    measured = released_rows.one_of_each_key(tables, rollout, measured)
    if rollout.way == RolloutWay.SHADOW:
        return [[row] for row in measured]
    by_request = grouped(measured, lambda row: row.request_id)
    for request_id in _requests_before(tables, rollout, rows):
        by_request.pop(request_id, None)
    return list(by_request.values())


def _requests_before(tables: Tables, rollout: Rollout, rows: list[ProductionRow]) -> set[str]:
    """Return the requests of these rows that have counted already, by other rows."""
    now = {row.id for row in rows}
    request_ids = list({row.request_id for row in rows})
    counted = tables.production_rows.pick(
        "id", "request_id", request_id=request_ids, rollout_id=rollout.id, counted=True
    )
    return {request_id for id, request_id in counted if id not in now}


def _outcome(rollout: Rollout, rows: list[ProductionRow], qualities: Qualities) -> Outcome:
    """Return what came of rows of one request."""
    from easeml.lifecycle.rollout import Outcome

    new = sum(qualities[row.id][0] for row in rows) / len(rows)
    old = sum(qualities[row.id][1] for row in rows) / len(rows)
    share = _share(rollout, rows[0])
    return Outcome(new - old, old, share, _is_by_new(rollout, rows[0]))


def _share(rollout: Rollout, row: ProductionRow) -> float:
    """Return the chance that the new model would answer a row; 0 in a shadow."""
    return 0.0 if rollout.way == RolloutWay.SHADOW else row.share


def _decide(tx: Transaction, rollout: Rollout) -> None:
    """Let the new model serve, answer more, or be taken back, as the evidence says."""
    from easeml.lifecycle import rollout as rollouts

    tables = tx.scoped(rollout.tenant_id)
    application = tables.applications.get(rollout.application_id)
    plan, evidence = kept.plan_of(rollout), kept.evidence_of(rollout)
    answer = rollouts.verdict(plan, evidence, rollout.expected)
    share = rollouts.share_now(plan, evidence)
    if answer == rollouts.GOES_ON and share <= rollout.share:
        return
    reason = rollouts.why(plan, evidence, rollout.expected)
    if answer == rollouts.LIVE:
        model = tables.models.get(rollout.model_id)
        promotion.make_live(tx, application, model, PromotionKind.BETTER, reason)
    elif answer == rollouts.TAKEN_BACK:
        take_back(tx, rollout, reason)
    else:
        rollout = tables.rollouts.update(rollout.id, share=share)
        data = {"model_id": rollout.model_id, "share": share}
        tx.events.append(kept.GREW, application.id, data, application.tenant_id)
        promotion.note_rollout(tx, application, rollout, reason)


def _is_by_new(rollout: Rollout, row: ProductionRow) -> bool:
    """Tell whether it was the new model's turn to answer."""
    if row.model_id == rollout.model_id:
        return True
    return row.other is not None and row.other.failed
