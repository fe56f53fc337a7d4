"""Roll-outs as they are kept: the rule of an application, and the one that runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from easeml.contract.states import PromotionKind, RolloutState, RolloutWay
from easeml.errors import Conflict
from easeml.ids import new_id
from easeml.store import Tables, Transaction, id_of
from easeml.store.records import (
    Application,
    Feedback,
    ProductionRow,
    Rollout,
    RolloutRule,
    TrainedModel,
)
from easeml.store.shapes import ColumnSeen, Json, RolloutEvidence, RolloutPlan, Shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from easeml.lifecycle.rollout import Evidence, Plan
    from easeml.store.rows import Rows

STARTED, GREW, ENDED = "rollout.started", "rollout.grew", "rollout.ended"
BACK = "rollout.taken-back"  # what its owner is told of: nobody asked for this end
RETURNED = "release.returned"  # the same, of a model that was live
EVENTS = (STARTED, GREW, ENDED, BACK)
BEFORE = (RolloutWay.SHADOW, RolloutWay.SHARE)
"""The ways in which a model is compared before it is released."""
_ERASED = "rows were erased that one of its models had learned from"
_SHARES = (0.1, 0.25, 0.5)
_DAYS = 30.0
_SQUARED = ("rmse", "r2")
_BALANCED = "balanced-accuracy"
_COMPARED = ("accuracy", _BALANCED, "mean-absolute-error", *_SQUARED)
_SCALE = 2.0  # times the root mean squared error of what serves
_CATEGORY, NUMBER = "category", "number"


@dataclass(frozen=True, slots=True)
class _Measured(Shape):
    """What a task measured on validation rows, by objective."""

    measures: Json = field(default_factory=dict)


def rule_of(tables: Tables, application: Application) -> RolloutRule:
    """Return how better models come to serve an application: at once where nobody said.

    Where nobody said, a released model is compared with the one before for 30 days, if rows can
    prove that it is worse by the application's objective.
    """
    from easeml.lifecycle.rollout import Plan

    found = tables.rollout_rules.find(id=application.id)
    if found is not None:
        return found
    plain = Plan()
    return RolloutRule(
        application.id,
        application.tenant_id,
        RolloutWay.AT_ONCE,
        plain.tolerance,
        plain.reliability,
        list(_SHARES),
        days=_DAYS if is_proven_by_rows(application) else 0.0,
    )


def is_proven_by_rows(application: Application) -> bool:
    """Tell whether rows can prove that a model is worse by the application's objective.

    It has to be a mean of what came of each row, or of each row of a class, within known bounds.
    """
    return application.objective in _COMPARED


def is_by_class(application: Application) -> bool:
    """Tell whether each class counts alike where two models are compared."""
    return application.objective == _BALANCED


def running(tables: Tables, application_id: str) -> Rollout | None:
    """Return the roll-out that runs, of a model that is not released; None where there is none."""
    return tables.rollouts.find(
        application_id=application_id, way=BEFORE, state=RolloutState.RUNNING
    )


def challenger(tables: Tables, application_id: str) -> tuple[TrainedModel, float] | None:
    """Return the model that answers a share of the requests, and the share."""
    rollout = running(tables, application_id)
    if rollout is None or rollout.way != RolloutWay.SHARE:
        return None
    return tables.models.get(rollout.model_id), rollout.share


def was_tried(tables: Tables, application: Application, model: TrainedModel) -> bool:
    """Tell whether a model was compared with the one that serves, and did not replace it."""
    ended = tables.rollouts.find(
        application_id=application.id,
        way=BEFORE,
        model_id=model.id,
        against_id=application.live_model_id,
        state=[RolloutState.TAKEN_BACK, RolloutState.STOPPED],
    )
    return ended is not None


def start(
    tx: Transaction, application: Application, model: TrainedModel, rule: RolloutRule
) -> Rollout:
    """Begin to compare a model with the one that serves, the way that the rule says.

    Raises ``Conflict`` where they cannot be compared, or another comparison runs.
    """
    tables = tx.scoped(application.tenant_id)
    if running(tables, application.id) is not None:
        raise Conflict(
            "A model is being rolled out.",
            where=application.id,
            remedy=f"Let it finish, or end it: easeml app rollout {application.id} --stop",
        )
    if tables.request_logs.find(id=application.id) is not None:
        tables.request_logs.update(application.id, failed=0)
    scale = scale_of(tables, application, rule)
    added = add(tables, application, model.id, plan_by(rule), rule.way, scale)
    data = {"model_id": model.id, "name": model.name, "share": added.share, "way": rule.way}
    tx.events.append(STARTED, application.id, data, application.tenant_id)
    return added


def add(
    tables: Tables,
    application: Application,
    model_id: str,
    plan: Plan,
    way: RolloutWay,
    scale: float,
    against_id: str = "",
) -> Rollout:
    """Keep that a model is compared from now on: what came before does not count.

    ``scale``: the largest error that counts; 0 of classes. ``against_id``: by default, what serves.
    """
    from easeml.lifecycle import rollout as rollouts

    evidence = rollouts.Evidence()
    is_after = way == RolloutWay.AFTER
    run, least = runs_of(tables, application) if is_after else (0, 0)
    by_class = not is_after and is_by_class(application)
    first = _last_id(tables.production_rows, application)
    return tables.rollouts.add(
        Rollout(
            id=new_id("roll"),
            tenant_id=application.tenant_id,
            application_id=application.id,
            model_id=model_id,
            against_id=against_id or application.live_model_id,
            way=way,
            plan=RolloutPlan(
                list(plan.shares), plan.tolerance, plan.reliability, run, least, by_class
            ),
            evidence=evidence_to_keep(evidence),
            scale=scale,
            expected=_expected(tables, application, scale),
            share=rollouts.share_now(plan, evidence),
            seen=first,
            first=first,
            told=_last_id(tables.feedback, application),
        )
    )


def runs_of(tables: Tables, application: Application) -> tuple[int, int]:
    """Return the rows of a run, and of each class in it; zeros where each row is a gain alone."""
    from easeml.lifecycle import balanced

    if not is_by_class(application):
        return 0, 0
    target = tables.versions.get(application.version_id).target
    if target is None:
        return 0, 0
    return balanced.run_of(_rarest_share(target))


def _rarest_share(target: ColumnSeen) -> float:
    """Return the share of the rarest class; as if all were as common where it is not known."""
    classes = max(1, len(target.get("classes", [])))
    found = target.get("distribution", {})
    counts = list(dict(found.get("values", [])).values())
    total = sum(counts) + found.get("others", 0)
    if not total:
        return 1 / classes
    rarest = 1 if found.get("others") else min(counts)
    return max(1, rarest) / total


def end(tx: Transaction, rollout: Rollout, state: RolloutState, reason: str) -> Rollout:
    """End a roll-out that runs; raises ``Conflict`` where it ended meanwhile."""
    tables = tx.scoped(rollout.tenant_id)
    ended = close(tx, rollout, state, reason)
    data = {
        "model_id": rollout.model_id,
        "name": tables.models.get(rollout.model_id).name,
        "state": state,
        "reason": reason,
    }
    kind = BACK if state == RolloutState.TAKEN_BACK else ENDED
    tx.events.append(kind, rollout.application_id, data, rollout.tenant_id)
    return ended


def close(tx: Transaction, rollout: Rollout, state: RolloutState, reason: str) -> Rollout:
    """Keep how a comparison ended, and tell nobody; raises as ``end``."""
    return tx.scoped(rollout.tenant_id).rollouts.update(
        rollout.id,
        where={"state": RolloutState.RUNNING},
        state=state,
        reason=reason,
        ended=tx.now(),
    )


def end_with(
    tx: Transaction,
    application: Application,
    model: TrainedModel,
    kind: PromotionKind,
    reason: str,
) -> None:
    """End the roll-out that runs, since ``model`` serves from now on for a reason of ``kind``."""
    rollout = running(tx.scoped(application.tenant_id), application.id)
    if rollout is None or rollout.against_id == model.id:  # what serves may be fitted again
        return
    if rollout.model_id == model.id and kind == PromotionKind.BETTER:
        end(tx, rollout, RolloutState.LIVE, reason)
    else:
        end(tx, rollout, RolloutState.REPLACED, f"{model.name} serves now: {reason}")


def end_of_erased(tx: Transaction, application: Application, model_ids: Sequence[str]) -> None:
    """End the comparisons of models whose files are gone: what serves goes on alone."""
    found = tx.scoped(application.tenant_id).rollouts.list(
        application_id=application.id, state=RolloutState.RUNNING, limit=None
    )
    for rollout in found:
        if not {rollout.model_id, rollout.against_id}.isdisjoint(model_ids):
            end(tx, rollout, RolloutState.STOPPED, _ERASED)


def plan_by(rule: RolloutRule) -> Plan:
    """Return how a model is rolled out by a rule; a shadow answers no share of the requests."""
    from easeml.lifecycle.rollout import Plan

    shares = tuple(rule.shares) if rule.way == RolloutWay.SHARE else ()
    return Plan(shares, rule.tolerance, rule.reliability)


def plan_of(rollout: Rollout) -> Plan:
    """Return the plan of a roll-out."""
    from easeml.lifecycle.rollout import Plan

    kept = rollout.plan
    return Plan(tuple(kept.shares), kept.tolerance, kept.reliability)


def evidence_of(rollout: Rollout) -> Evidence:
    """Return what the requests of a roll-out told so far."""
    from easeml.lifecycle.rollout import Evidence

    bets = {"fine": tuple(rollout.evidence.fine), "worse": tuple(rollout.evidence.worse)}
    return Evidence(**{**asdict(rollout.evidence), **bets})


def evidence_to_keep(evidence: Evidence) -> RolloutEvidence:
    """Return evidence as a record keeps it."""
    bets = {"fine": list(evidence.fine), "worse": list(evidence.worse)}
    return RolloutEvidence(**{**asdict(evidence), **bets})


def kind_of_target(tables: Tables, application: Application) -> str:
    """Return whether the target is a category or a number.

    Raises ``Conflict`` for anything else: what is right is not known of it.
    """
    kind = tables.versions.get(application.version_id).target_type
    if kind not in (_CATEGORY, NUMBER):
        raise Conflict(
            "Models can be compared on requests where the target is a category or a number.",
            where=application.id,
            remedy="Let better models serve at once, by their quality on validation rows.",
        )
    return kind


def scale_of(tables: Tables, application: Application, rule: RolloutRule) -> float:
    """Return the largest error that counts, 0 of classes; raises ``Conflict`` if none is known."""
    if kind_of_target(tables, application) == _CATEGORY:
        return 0.0
    return rule.scale or usual_scale(tables, application)


def power_of(application: Application, rollout: Rollout) -> int:
    """Return 2 where errors count by their square, after a release for such objectives; else 1."""
    if rollout.way in BEFORE:
        return 1
    return 1 + (application.objective in _SQUARED)


def masked_inputs(tables: Tables, application: Application) -> list[str]:
    """Return the columns that models predict by, and whose values the log does not keep."""
    log = tables.request_logs.find(id=application.id)
    if log is None:
        return []
    version = tables.versions.get(application.version_id)
    inputs = {column["name"] for column in version.inputs}
    return list(filter(inputs.__contains__, log.masked))


def _expected(tables: Tables, application: Application, scale: float) -> float:
    """Return the quality that the live model has on validation rows, as roll-outs measure it.

    ``scale``: the largest error that counts; 0: of classes. 0 where it is not known.
    """
    if scale <= 0:
        return _measured(tables, application, _BALANCED if is_by_class(application) else "accuracy")
    error = _measured(tables, application, "mean-absolute-error")
    return 1 - error / scale if error else 0.0


def _measured(tables: Tables, application: Application, objective: str) -> float:
    """Return a measure of the live model on validation rows, in its own unit; 0: not known."""
    live = tables.models.get(application.live_model_id)
    result = _Measured.from_json(tables.tasks.get(live.task_id).result)
    found = result.measures.get(objective)
    return float(found["value"]) if found else 0.0


def usual_scale(tables: Tables, application: Application) -> float:
    """Return the largest error that counts: twice what serves is off by on validation rows."""
    error = _measured(tables, application, "rmse") if application.live_model_id else 0.0
    if error <= 0:
        raise Conflict(
            "It is not known how far off the model that serves is.",
            where=application.id,
            remedy="Say which error is the largest that counts: --scale 10",
        )
    return _SCALE * error


def _last_id(rows: Rows[ProductionRow] | Rows[Feedback], application: Application) -> str:
    """Return the newest row of an application: what came before a roll-out does not count."""
    return id_of(rows.newest(application_id=application.id))
