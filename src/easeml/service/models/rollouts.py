"""Roll-outs, as the owner of an application sets, reads, starts and ends them."""

from collections.abc import Sequence
from dataclasses import replace

from easeml.contract.rollouts import EndRollout, NewRollout, NewRolloutRule, Rollout, Rollouts
from easeml.contract.states import (
    PromotionKind,
    RolloutEnd,
    RolloutState,
    RolloutWay,
    TruthWay,
)
from easeml.errors import Conflict
from easeml.service.access.caller import Caller
from easeml.service.advice import asked_models
from easeml.service.models import promotion, retired, returning
from easeml.service.rollouts import after_release, kept
from easeml.store import Store, Tables, Transaction, records
from easeml.store.records import Application, RolloutRule

AT_ONCE = (
    "A better model serves at once. You can first compare it with the live model, on live "
    "requests: as a shadow, or with a growing share of the requests."
)
_COMPARES_ONE = "comparisons need one answer for each row, and these rows may have several."
_MOST_SHOWN = 10
_NO_MEANS = {
    "f-beta",
    "f1-macro",
    "f1-weighted",
    "matthews",
    "precision",
    "quadratic-kappa",
    "selection-rate",
}
_BY_PROBABILITIES = {"average-precision", "brier", "calibration-error", "log-loss", "roc-auc"}


def set_rollout_rule(
    store: Store, caller: Caller, application_id: str, wish: NewRolloutRule
) -> Rollouts:
    """Say how better models come to serve an application from now on.

    A roll-out that runs goes on as it began. Repeated, it changes nothing. Raises ``NotFound``;
    ``InvalidInput`` for shares that do not rise; ``Conflict`` where models cannot be compared: the
    target is neither category nor number, or no requests, or not all columns of them, are kept.
    """
    from easeml.lifecycle.rollout import Plan

    Plan(tuple(wish.shares), wish.tolerance, wish.reliability)
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        if wish.days:
            kept.kind_of_target(tables, application)
        if wish.way != RolloutWay.AT_ONCE:
            _check_comparable(tables, application)
        changes = {
            "way": wish.way,
            "tolerance": wish.tolerance,
            "reliability": wish.reliability,
            "shares": list(wish.shares),
            "scale": wish.scale,
            "days": kept.rule_of(tables, application).days if wish.days is None else wish.days,
            "truth": wish.truth,
        }
        rule = RolloutRule(application.id, application.tenant_id, **changes)
        tables.rollout_rules.ensure(rule)
        tables.rollout_rules.update(application.id, **changes)
        if wish.days == 0:
            after_release.stop(tx, application, "Its owner does not want it any more.")
        return show(tables, application)


def list_rollouts(store: Store, caller: Caller, application_id: str) -> Rollouts:
    """Return how better models come to serve, and the newest roll-outs; raises ``NotFound``."""
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        return show(tables, tables.applications.get(application_id))


def start_rollout(store: Store, caller: Caller, application_id: str, wish: NewRollout) -> Rollouts:
    """Compare a model with the one that serves; it serves if it is not worse.

    Raises ``NotFound``; ``Conflict`` where it serves already, another is rolled out, the models
    cannot be compared, or a gate asks for a proof that there is not.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.hold(application_id)
        model = promotion.to_go_back_to(tables, application, wish.model_id)
        model = retired.bring_back(tables, model)
        rule = _rule_for(tables, application, wish.way)
        _check_comparable(tables, application)
        promotion.roll_out(tx, application, model, rule, "asked for by a user")
        return show(tables, application)


def end_rollout(store: Store, caller: Caller, application_id: str, wish: EndRollout) -> Rollouts:
    """End the roll-out that runs: the new model serves from now on, or it does not.

    Where none runs, what serves is not compared with the model before it any more. Raises
    ``NotFound``; ``Conflict`` where nothing is compared.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        rollout = kept.running(tables, application.id)
        if rollout is None:
            _end_after_release(tx, application)
        elif wish.end == RolloutEnd.STOP:
            kept.end(tx, rollout, RolloutState.STOPPED, "ended by a user")
        else:
            model = tables.models.get(rollout.model_id)
            reason = "asked for by a user, before the roll-out had come to its end"
            promotion.make_live(tx, application, model, PromotionKind.BETTER, reason)
        return show(tables, tables.applications.get(application_id))


def _end_after_release(tx: Transaction, application: Application) -> None:
    if after_release.watched(tx.scoped(application.tenant_id), application.id) is None:
        raise Conflict("No model is being rolled out.", where=application.id)
    after_release.stop(tx, application, "ended by a user")


def show(tables: Tables, application: Application) -> Rollouts:
    """Return how better models come to serve ``application``."""
    rule = kept.rule_of(tables, application)
    found = _newest(tables, application, kept.BEFORE)
    released = _newest(tables, application, [RolloutWay.AFTER])
    ids = set[str]().union(*((one.model_id, one.against_id) for one in (*found, *released)))
    names = dict(tables.models.pick("id", "name", id=sorted(ids)))
    shown = [_show(tables, application, one, names) for one in found]
    log = tables.request_logs.find(id=application.id)
    promise, watches = _what_follows(tables, application, rule)
    return Rollouts(
        application_id=application.id,
        way=rule.way,
        tolerance=rule.tolerance,
        reliability=rule.reliability,
        shares=rule.shares,
        scale=rule.scale,
        promise=promise,
        running=bool(found) and found[0].state == RolloutState.RUNNING,
        keeps_requests=log is not None and log.share > 0,
        rollouts=shown,
        days=rule.days,
        truth=rule.truth,
        watches=watches,
        released=[_show(tables, application, one, names) for one in released],
    )


def _newest(
    tables: Tables, application: Application, ways: Sequence[RolloutWay]
) -> list[records.Rollout]:
    return tables.rollouts.list(
        application_id=application.id, way=ways, newest_first=True, limit=_MOST_SHOWN
    )


def _what_follows(tables: Tables, application: Application, rule: RolloutRule) -> tuple[str, str]:
    """Return what is promised of a better model, and what follows when one went live."""
    if asked_models.has_several(tables, application):
        at_once = f"A better model serves at once: {_COMPARES_ONE}"
        return at_once, f"What was released stays: {_COMPARES_ONE}"
    return _promise(tables, application, rule), _watches(tables, application, rule)


def _watches(tables: Tables, application: Application, rule: RolloutRule) -> str:
    """Return what follows when a model went live, in a few sentences."""
    if rule.days <= 0:
        return _stays(application)
    from easeml.lifecycle import released

    run, least = kept.runs_of(tables, application)
    rows = f"runs of {run or released.RUN} recorded requests with nearly all of their truth"
    if rule.truth == TruthWay.BY_CHANCE:
        rows = "recorded requests with their truth, chosen at random according to the owner"
    each = ""
    if run:
        each = (
            f" A run of {run} rows counts if it has at least {least} rows of each class, and "
            "each class counts equally in it."
        )
    elif not kept.is_proven_by_rows(application):
        each = " The model that is right more often, or closer, wins; not the objective decides."
    return (
        f"For {rule.days:g} days, the previous model predicts {rows}. It serves again if they "
        "prove that it is better. Over all releases of this application, the chance that a model "
        f"is withdrawn that was not worse is at most {1 - rule.reliability:.2g}.{each}"
    )


def _stays(application: Application) -> str:
    """Return that what was released stays, why, and how that is changed, in a few sentences."""
    change = (
        f"Compare with the previous model for 30 days: easeml app rollout {application.id} "
        "--days 30"
    )
    stays = "A released model stays, whatever truth comes later."
    if kept.is_proven_by_rows(application):
        return f"{stays} {change}"
    return (
        f"{stays} Rows cannot prove with a stated chance that a model is worse by "
        f"{application.objective}: {_why_not(application.objective)}. {change}; the model that is "
        "right more often, or closer, wins."
    )


def _why_not(objective: str) -> str:
    """Return why rows do not prove that a model is worse by an objective."""
    name, _, _ = objective.partition("(")
    if name in _NO_MEANS:
        return "it is not a mean over rows, or over the rows of each class"
    if name in _BY_PROBABILITIES:
        return "it needs probabilities, which the previous model does not give"
    return "that is not built yet"


def _promise(tables: Tables, application: Application, rule: RolloutRule) -> str:
    from easeml.lifecycle import rollout as rollouts

    if rule.way == RolloutWay.AT_ONCE:
        return AT_ONCE
    promised = rollouts.promise(kept.plan_by(rule))
    if kept.is_by_class(application):
        return f"{promised} Each class counts equally, so a rare one decides how long it takes."
    if kept.kind_of_target(tables, application) != kept.NUMBER:
        return promised
    return f"{promised} {_of_numbers(rule)}"


def _of_numbers(rule: RolloutRule) -> str:
    """Return what the quality of a number is: the tolerance is a share of the largest error."""
    largest = f"{rule.scale:g}" if rule.scale else "twice the live model's root mean squared error"
    return (
        f"Quality is 1 minus the error as a share of the largest that counts, {largest}. The "
        f"tolerance of {rule.tolerance:g} is such a share."
    )


def _show(
    tables: Tables, application: Application, rollout: records.Rollout, names: dict[str, str]
) -> Rollout:
    from easeml.lifecycle import released
    from easeml.lifecycle import rollout as rollouts

    plan, evidence = kept.plan_of(rollout), kept.evidence_of(rollout)
    is_after = rollout.way == RolloutWay.AFTER
    goes_on = not rollout.ended and not is_after
    quality, before = released.qualities(evidence)
    says = returning.says if is_after else _says
    return Rollout(
        id=rollout.id,
        way=rollout.way,
        state=rollout.state,
        model_id=rollout.model_id,
        challenger=names.get(rollout.model_id, ""),
        against_id=rollout.against_id,
        champion=names.get(rollout.against_id, ""),
        share=rollout.share,
        compared=rollout.compared,
        changed=rollout.changed,
        better=evidence.better,
        worse=evidence.worse_off,
        alike=evidence.alike,
        unknown=rollout.unknown,
        failures=evidence.failures,
        p_worse=rollouts.chance_if_worse(evidence),
        p_not_worse=rollouts.chance_if_not_worse(evidence),
        to_come=rollouts.requests_to_come(plan, evidence) if goes_on else None,
        quality=quality,
        quality_before=before,
        interval=released.interval(evidence),
        says=rollout.reason or says(tables, application, rollout),
        scale=rollout.scale,
        created=rollout.created,
        ended=rollout.ended,
    )


def _says(tables: Tables, application: Application, rollout: records.Rollout) -> str:
    from easeml.lifecycle import rollout as rollouts
    from easeml.lifecycle import rounds

    evidence = kept.evidence_of(rollout)
    said = rollouts.why(kept.plan_of(rollout), evidence, rollout.expected)
    if not evidence.waiting:
        return said
    classes = tables.versions.get(application.version_id).target_classes
    return f"{said} {rounds.waits(evidence, classes)}"


def _rule_for(tables: Tables, application: Application, way: RolloutWay | None) -> RolloutRule:
    """Return the rule of an application, with another way where one is asked for."""
    rule = kept.rule_of(tables, application)
    usual = RolloutWay.SHARE if rule.way == RolloutWay.AT_ONCE else rule.way
    way = way or usual
    if way == RolloutWay.AT_ONCE:
        raise Conflict(
            "A model that serves at once is not rolled out.",
            where="way",
            remedy=f"Serve it: easeml app rollback {application.id} --model MODEL",
        )
    return replace(rule, way=way)


def _check_comparable(tables: Tables, application: Application) -> None:
    """Raise ``Conflict`` where two models could not be compared on the requests that come."""
    kept.kind_of_target(tables, application)
    log = tables.request_logs.find(id=application.id)
    if log is None or log.share <= 0:
        raise Conflict(
            "No requests are kept, so models cannot be compared on them.",
            where=application.id,
            remedy=f"Keep them first: easeml app log {application.id} --share 1",
        )
    masked = kept.masked_inputs(tables, application)
    if masked:
        raise Conflict(
            f"The values of {masked[0]!r} are not kept, so the other model cannot predict rows.",
            where=application.id,
            remedy="Keep them, or let better models serve at once.",
        )
