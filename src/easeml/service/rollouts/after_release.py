"""Models that were released and are compared with the one before, as they are kept."""

from __future__ import annotations

from contextlib import suppress
from itertools import chain
from operator import attrgetter

from easeml.contract.applications import AfterRelease
from easeml.contract.states import PromotionKind, RolloutState, RolloutWay
from easeml.errors import Conflict
from easeml.service.rollouts import kept
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Application, Rollout, TrainedModel

DAY = 86_400.0
_RELEASES = (PromotionKind.BETTER, PromotionKind.PICKED, PromotionKind.ROLLBACK)


def watched(tables: Tables, application_id: str) -> Rollout | None:
    """Return the comparison of what serves with what served before; None where there is none."""
    return tables.rollouts.find(
        application_id=application_id, way=RolloutWay.AFTER, state=RolloutState.RUNNING
    )


def follow(
    tx: Transaction, application: Application, model: TrainedModel, kind: PromotionKind
) -> None:
    """Compare a model that goes live with the one before from now on.

    ``application``: as it was before. A model that was fitted once more goes on as before. Nothing
    is compared where its owner does not want it, nothing served before, or models cannot be.
    """
    if application.live_model_id == model.id:
        return
    tables = tx.scoped(application.tenant_id)
    before = watched(tables, application.id)
    if before is not None:
        kept.close(tx, before, RolloutState.REPLACED, f"{model.name} serves now.")
    if kind in _RELEASES and application.live_model_id:
        with suppress(Conflict):  # the target is no category or number, or its scale is not known
            _begin(tables, application, model, before)


def stop(tx: Transaction, application: Application, reason: str) -> None:
    """End the comparison of an application, if it has one."""
    running = watched(tx.scoped(application.tenant_id), application.id)
    if running is not None:
        kept.close(tx, running, RolloutState.STOPPED, reason)


def is_misled(tables: Tables, application: Application) -> bool:
    """Tell whether what serves was returned to from a model of the present version of the data.

    The validation rows of that version have said once that another model is better, and were wrong.
    """
    returned = tables.rollouts.column(
        "model_id",
        application_id=application.id,
        way=RolloutWay.AFTER,
        state=RolloutState.TAKEN_BACK,
        against_id=application.live_model_id,
    )
    jobs = tables.models.column("job_id", id=returned)
    return bool(tables.jobs.count(id=jobs, version_id=application.version_id))


def shown(tables: Tables, application_ids: list[str]) -> dict[str, list[AfterRelease]]:
    """Return, by application, what is compared after its release, and the newest return."""
    found = tables.rollouts.list(
        application_id=application_ids,
        way=RolloutWay.AFTER,
        state=[RolloutState.RUNNING, RolloutState.TAKEN_BACK],
        limit=None,
    )
    ids = set(chain.from_iterable(map(attrgetter("model_id", "against_id"), found)))
    names = dict(tables.models.pick("id", "name", id=sorted(ids)))
    newest: dict[tuple[str, str], AfterRelease] = {}
    for one in sorted(found, key=attrgetter("created")):
        newest[one.application_id, one.state] = _shown(one, names)
    by_application: dict[str, list[AfterRelease]] = {}
    for (id, _), one in sorted(newest.items()):  # what runs comes first
        by_application.setdefault(id, []).append(one)
    return by_application


def _shown(rollout: Rollout, names: dict[str, str]) -> AfterRelease:
    return AfterRelease(
        model_id=rollout.model_id,
        model=names.get(rollout.model_id, rollout.model_id),
        before_id=rollout.against_id,
        before=names.get(rollout.against_id, rollout.against_id),
        state=rollout.state,
        says=rollout.reason or _so_far(rollout),
        created=rollout.created,
        ended=rollout.ended,
    )


def _so_far(rollout: Rollout) -> str:
    told = rollout.evidence
    rows = told.better + told.worse_off + told.alike
    if not rows:
        return "No row counts yet."
    return f"Better on {told.better:,} and worse on {told.worse_off:,} of {rows:,} rows."


def end_due(store: Store) -> None:
    """End the comparisons that have lasted as long as their owners want."""
    with store.read() as tx:
        running = tx.unscoped().rollouts.list(
            way=RolloutWay.AFTER, state=RolloutState.RUNNING, limit=None
        )
    for one in running:
        with store.write() as tx, suppress(Conflict):  # it ended meanwhile
            _end_if_due(tx, one)


def _end_if_due(tx: Transaction, rollout: Rollout) -> None:
    tables = tx.scoped(rollout.tenant_id)
    application = tables.applications.find(id=rollout.application_id)
    if application is None:
        return
    days = kept.rule_of(tables, application).days
    if tx.now() - rollout.created >= days * DAY:
        reason = f"In {days:g} days it was not shown to be worse."
        kept.close(tx, rollout, RolloutState.LIVE, reason)


def _begin(
    tables: Tables, application: Application, model: TrainedModel, before: Rollout | None
) -> None:
    from easeml.lifecycle import released
    from easeml.lifecycle.rollout import Plan

    rule = kept.rule_of(tables, application)
    if rule.days <= 0:
        return
    reliability = released.reliability_of(rule.reliability, _number(tables, application))
    plan = Plan(tolerance=rule.tolerance, reliability=reliability)
    scale = kept.scale_of(tables, application, rule)
    against_id = _served_before(tables, application, model, before)
    kept.add(tables, application, model.id, plan, RolloutWay.AFTER, scale, against_id)


def _number(tables: Tables, application: Application) -> int:
    """Return which release this is, from 1, of those that rows told something of."""
    compared = tables.rollouts.column(
        "compared", application_id=application.id, way=RolloutWay.AFTER
    )
    return 1 + len(list(filter(None, compared)))


def _served_before(
    tables: Tables, application: Application, model: TrainedModel, before: Rollout | None
) -> str:
    """Return what a model is compared with: what production has seen last.

    A search releases one model after another in seconds. What served before all of them is what
    they replace.
    """
    if before is None or before.against_id == model.id:
        return application.live_model_id
    last = tables.production_rows.newest(application_id=application.id)
    if last is None or last.model_id != before.against_id:
        return application.live_model_id
    return last.model_id
