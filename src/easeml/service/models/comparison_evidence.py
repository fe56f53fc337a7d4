"""What the rows whose truth is known tell of two models, and what is decided by it."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from easeml.contract.states import PromotionKind, RolloutState, RolloutWay
from easeml.service.models import promotion
from easeml.service.models.compared_rows import News, of_either, row_id
from easeml.service.rollouts import kept
from easeml.store import Tables, Transaction, grouped
from easeml.store.records import ProductionRow, Rollout

if TYPE_CHECKING:
    from easeml.lifecycle.rollout import Outcome

Truths = dict[str, Any]  # by the id of a row
Qualities = dict[str, tuple[float, float]]  # of the new and the old model, by the id of a row


def count(tx: Transaction, rollout: Rollout, news: News) -> None:
    """Let rows whose truth is known, and failures, be a part of the evidence, and decide."""
    from easeml.lifecycle import rollout as rollouts

    tables = tx.scoped(rollout.tenant_id)
    # The roll-out was written before this, which others wait for: what they counted is seen here.
    by_id = {row.id: row for row in news.ready}
    left = set(tables.production_rows.column("id", id=[*by_id], counted=False))
    truths = _truths_of(tables, rollout, [row for row in news.ready if row.id in left])
    tables.production_rows.set_each("counted", dict.fromkeys(truths, True))
    tables.production_rows.set_each("rollout_id", dict.fromkeys(truths, rollout.id))
    told = [by_id[id] for id in truths]
    qualities = _qualities(tables, rollout, told, truths)
    groups = _groups(tables, rollout, told, qualities)
    outcomes = [_outcome(rollout, rows, qualities) for rows in groups]
    evidence = rollouts.told(kept.plan_of(rollout), kept.evidence_of(rollout), outcomes)
    evidence = replace(evidence, failures=max(evidence.failures, news.failures))
    rollout = tables.rollouts.update(
        rollout.id,
        evidence=kept.evidence_to_keep(evidence),
        unknown=rollout.unknown + len(told) - len(qualities),
    )
    _decide(tx, rollout)


def take_back(tx: Transaction, rollout: Rollout, reason: str) -> None:
    """End a roll-out that runs: the model that served answers all requests."""
    tables = tx.scoped(rollout.tenant_id)
    ended = kept.end(tx, rollout, RolloutState.TAKEN_BACK, reason)
    application = tables.applications.get(rollout.application_id)
    promotion.note_rollout(tx, application, ended, reason)


def _truths_of(tables: Tables, rollout: Rollout, rows: list[ProductionRow]) -> Truths:
    """Return what was said to be true of rows, the newest word on each, by their ids.

    In the order in which it was said: it may not depend on what the models say of them.
    """
    ids_by_key: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        ids_by_key[row.key].append(row.id)
    words = of_either(
        tables.feedback,
        {"request_id": list({row.request_id for row in rows})},
        {"key": list(filter(None, ids_by_key))},
        application_id=rollout.application_id,
    )
    wanted = {row.id for row in rows}
    truths: Truths = {}
    for word in sorted(words, key=attrgetter("id")):
        value = word.value["value"]
        if word.key:
            truths.update(dict.fromkeys(ids_by_key[word.key], value))
        elif row_id(word) in wanted:
            truths[row_id(word)] = value
    return truths


def _qualities(
    tables: Tables, rollout: Rollout, rows: list[ProductionRow], truths: Truths
) -> Qualities:
    """Return how good both models are on each row; none where the truth says nothing."""
    target = _target_of(tables, rollout)
    found: Qualities = {}
    for row in rows:
        true = target.true(truths[row.id])
        if true is not None:
            new, old = _said(rollout, row)
            found[row.id] = (target.quality(new, true), target.quality(old, true))
    return found


@dataclass(frozen=True, slots=True)
class _Number:
    """A target that is a number. ``scale``: the largest error that counts."""

    scale: float

    def true(self, told: Any) -> float | None:
        """Return the number that was told; None where it is none."""
        return _number(told)

    def quality(self, said: Any, true: Any) -> float:
        """Return how good a prediction is, in [0, 1]."""
        from easeml.lifecycle import rollout as rollouts

        return rollouts.quality_of_number(_number(said), true, self.scale)


@dataclass(frozen=True, slots=True)
class _Category:
    """A target that is a category. ``classes``: their names."""

    classes: set[str | None]

    def true(self, told: Any) -> str | None:
        """Return the name of the class that was told; None where the target has no such class."""
        from easeml.lifecycle.labels import class_name

        name = class_name(told)
        return name if name in self.classes else None

    def quality(self, said: Any, true: Any) -> float:
        """Return 1 for the right class, else 0."""
        from easeml.lifecycle import rollout as rollouts

        return rollouts.quality_of_class(said, true)


def _target_of(tables: Tables, rollout: Rollout) -> _Number | _Category:
    """Return what is predicted, as roll-outs measure it."""
    from easeml.lifecycle.labels import class_name

    if rollout.scale > 0:
        return _Number(rollout.scale)
    application = tables.applications.get(rollout.application_id)
    version = tables.versions.get(application.version_id)
    return _Category(set(map(class_name, version.target_classes)))


def _number(value: Any) -> float | None:
    """Return a finite number; None for anything else."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _groups(
    tables: Tables, rollout: Rollout, rows: list[ProductionRow], qualities: Qualities
) -> list[list[ProductionRow]]:
    """Return what counts: each row; or the rows of each request, where both models answer some.

    A request then counts once, by the rows of it whose truth came first: who answered it is known
    to whoever tells more.
    """
    measured = [row for row in rows if row.id in qualities]
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
    share = 0.0 if rollout.way == RolloutWay.SHADOW else rows[0].share
    return Outcome(new - old, old, share, _is_by_new(rollout, rows[0]))


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


def _said(rollout: Rollout, row: ProductionRow) -> tuple[Any, Any]:
    """Return what the new and the old model say of a row; None: it failed."""
    answered = row.answer["prediction"]
    other = row.other.prediction if row.other is not None else None
    is_by_new = row.model_id == rollout.model_id
    return (answered, other) if is_by_new else (other, answered)
