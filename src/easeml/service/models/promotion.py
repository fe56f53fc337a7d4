"""Promotion: which trained model an endpoint serves.

Every change is a compare-and-set with a record.
"""

import math
from collections.abc import Sequence
from operator import attrgetter

from easeml.contract.measures import of_event, rows_of_event, score
from easeml.contract.states import (
    SEARCHING_JOBS,
    ApplicationState,
    JobState,
    PromotionKind,
    PromotionState,
    RolloutState,
    RolloutWay,
)
from easeml.errors import Conflict, NotFound
from easeml.ids import new_id
from easeml.service.advice import importance, rescoring, test_quality
from easeml.service.gates import bought_labels, kept
from easeml.service.models import ensembling, gating
from easeml.service.rollouts import after_release
from easeml.service.rollouts import kept as kept_rollouts
from easeml.service.search import model_limits
from easeml.service.tasks.measured import Measured
from easeml.store import Tables, Transaction, grouped
from easeml.store.records import (
    Application,
    Job,
    Json,
    Promotion,
    Rollout,
    RolloutRule,
    TrainedModel,
)

_DEVIATIONS = 1.96  # half the width of an interval of 95 %
_OF_PRODUCTION = (PromotionKind.PICKED, PromotionKind.RETURNED)
_UNCHOSEN = "the rows that judge an ensemble have not chosen it"


def consider(tx: Transaction, application_id: str) -> Promotion | None:
    """Propose the best model for the application's version; returns the promotion if there was one.

    Nothing happens when the application is pinned or its live model is as good, on the same
    validation rows: one of an older version is scored on those of this version first. A live model
    that breaks a rule, which was changed meanwhile, gives way to any that keeps them. Where the
    application has a gate, a test decides, and its answer comes later. Where production has shown
    that a model of this version was worse, its validation rows let no other serve.
    """
    application = tx.unscoped().applications.get(application_id)
    tables = tx.scoped(application.tenant_id)
    if application.pinned or application.state == ApplicationState.FAILED:
        return None
    if after_release.is_misled(tables, application):
        return None
    if rescoring.request(tx, application):
        return None
    model = _better_model(tables, application) or _better_by_corrected(tables, application)
    if model is None or _waits_for_rollout(tables, application, model):
        return None
    held = gating.hold(tx, application, model)
    if held is None:
        reason = _why(tables, application, model)
        return let_serve(tx, application, model, reason)
    if held.refusal:
        refuse(tx, application, model, held.refusal)
    return None


def _better_model(tables: Tables, application: Application) -> TrainedModel | None:
    """Return the best model if it may replace the one that serves; None if that one is as good."""
    model = best_model(tables, application)
    if model is None or model.id == application.live_model_id:
        return None
    if _live_breaks_rules(tables, application):
        return model
    before, now = rescoring.live_quality(tables, application, model)
    if before is None or now > before:
        return model
    # One that another objective chose gives way to any as good, which may be the same model.
    if now == before and _is_live_judged_otherwise(tables, application):
        return model
    if now >= before - _chance(tables, application, model):
        return model
    return None


def _better_by_corrected(tables: Tables, application: Application) -> TrainedModel | None:
    """Return the model of before that corrected answers show to be better than what serves."""
    rival = rescoring.rival(tables, application)
    if rival is None:
        return None
    models = tables.models.list(id=rival.model_id, error="")
    return next(iter(model_limits.keeping(tables, application, models)), None)


def _chance(tables: Tables, application: Application, model: TrainedModel) -> float:
    """Return by how much a model that learned from newer data may be worse than what serves.

    It is a standard error of its quality on the validation rows. What serves is the best of many on
    these rows, which flatters it: without such a margin nothing that people add might ever be
    learned from. (The rule of one standard error; Breiman, Friedman, Olshen and Stone,
    Classification and Regression Trees, 1984, section 3.4.3.) 0 of one that learned from the same
    data, and before its search has come to rest: a better one may follow; of a forecast, which is
    told newer values without being fitted again; and where a gate tests models: each test spends a
    step, and one that is no better would spend it for nothing.
    """
    is_tested = kept.active(tables, application.id) is not None
    if application.rules.forecast or is_tested:
        return 0.0
    live = tables.models.get(application.live_model_id)
    learned_from = tables.jobs.get(live.job_id).version_id
    job = tables.jobs.get(model.job_id)
    if learned_from == job.version_id:
        return 0.0
    goes_on = job.state in SEARCHING_JOBS
    if goes_on:
        return 0.0
    task = tables.tasks.get(model.task_id)
    measured = Measured.from_json(task.result or {})
    if measured.low is None or measured.high is None:
        return 0.0
    half = (measured.high - measured.low) / 2
    error = half / _DEVIATIONS
    version = tables.versions.get(job.version_id)
    rows = max(1, version.summary.rows_of("validation"))
    measure = task.measure or {}
    judged = measure.get("rows") or rows
    return error * math.sqrt(judged / rows)


def let_serve(
    tx: Transaction, application: Application, model: TrainedModel, reason: str
) -> Promotion:
    """Let a better model serve: at once, or after a roll-out that begins now.

    The first model of an application serves at once: there is nothing to compare it with.
    """
    tables = tx.scoped(application.tenant_id)
    rule = kept_rollouts.rule_of(tables, application)
    if not application.live_model_id or rule.way == RolloutWay.AT_ONCE:
        return make_live(tx, application, model, PromotionKind.BETTER, reason)
    return roll_out(tx, application, model, rule, reason)


def roll_out(
    tx: Transaction,
    application: Application,
    model: TrainedModel,
    rule: RolloutRule,
    reason: str,
) -> Promotion:
    """Compare a model with the one that serves on live requests, the way that the rule says.

    Raises as ``kept.start``.
    """
    rollout = kept_rollouts.start(tx, application, model, rule)
    return note_rollout(tx, application, rollout, reason)


def note_rollout(
    tx: Transaction, application: Application, rollout: Rollout, reason: str
) -> Promotion:
    """Keep in the list of changes what a roll-out has come to."""
    tables = tx.scoped(application.tenant_id)
    model = tables.models.get(rollout.model_id)
    if rollout.state == RolloutState.RUNNING:
        state = PromotionState(rollout.way)
        if rollout.way == RolloutWay.SHARE:
            reason = f"{rollout.share:.0%} of the requests: {reason}"
    else:
        state = PromotionState.TAKEN_BACK
    return _record(tables, application, model, PromotionKind.BETTER, reason, state)


def _waits_for_rollout(tables: Tables, application: Application, model: TrainedModel) -> bool:
    """Tell whether a model may not be rolled out now.

    One that runs comes to its end first, and a search has to have ended: a comparison takes long,
    and a better model may follow in seconds.
    """
    if not application.live_model_id:
        return False
    if kept_rollouts.running(tables, application.id) is not None:
        return True
    if kept_rollouts.rule_of(tables, application).way == RolloutWay.AT_ONCE:
        return False
    if tables.jobs.get(model.job_id).state in SEARCHING_JOBS:
        return True
    return kept_rollouts.was_tried(tables, application, model)


def _why(tables: Tables, application: Application, model: TrainedModel) -> str:
    """Return why a model serves in place of another: by what both are measured."""
    rival = rescoring.rival(tables, application)
    if rival is None or rival.model_id != model.id:
        return _why_better(tables, application, model)
    now, before = score(rival.quality), score(rival.live)
    return (
        f"score {now} on the rows that judge models, with the answers that people corrected; "
        f"what served before scores {before} there"
    )


def _why_better(tables: Tables, application: Application, model: TrainedModel) -> str:
    """Return the measure of a model on validation rows, and that of what serves before it."""
    data = _event_data(tables, application, model)
    reason = f"{of_event(data)} on {rows_of_event(data)}"
    if data["is_ensemble"]:
        return f"{reason} that did not choose it; better there than the choice of a single model"
    if _live_breaks_rules(tables, application):
        return f"{reason}; what served before breaks a rule of the application"
    before, now = rescoring.live_quality(tables, application, model)
    if before is None:
        return reason
    if now <= before:
        return (
            f"{reason}; it learned from the data as it is now, and is worse by no more than chance: "
            f"score {score(now)} on the validation rows, {_before(tables, application, before)}"
        )
    if now != model.standing:
        return f"{reason}; on the validation rows alone score {score(now)}, over {score(before)}"
    live = {**data, "quality": before, "measure": rescoring.live_measure(tables, application)}
    return f"{reason}, over {of_event(live)}"


def _before(tables: Tables, application: Application, ranked: float) -> str:
    """Return what the live model scores on the validation rows, and as what it is ``ranked``."""
    found = rescoring.live_score(tables, application)
    if found is None or found == ranked:
        return f"{score(ranked)} before"
    return f"{score(found)} before, ranked as {score(ranked)}: {_UNCHOSEN}"


def _event_data(tables: Tables, application: Application, model: TrainedModel) -> Json:
    """Return what events tell of a model."""
    task = tables.tasks.get(model.task_id)
    return {
        "model_id": model.id,
        "name": model.name,
        "quality": model.quality,
        "measure": task.measure,
        "objective": application.objective,
        "target": application.target,
        "is_ensemble": not model.candidate_id and task.spec_kind == ensembling.KIND,
    }


def make_live(
    tx: Transaction, application: Application, model: TrainedModel, kind: PromotionKind, reason: str
) -> Promotion:
    """Let ``model`` serve instead of the model that ``application`` has live.

    Its test quality is read, unless a gate needs the test rows, and its columns are weighed next.

    Raises ``Conflict`` if another model went live meanwhile, or a better one comes after what
    served was pinned.
    """
    tables = tx.scoped(application.tenant_id)
    unchanged: dict[str, object] = {"live_model_id": application.live_model_id}
    if kind == PromotionKind.BETTER:
        unchanged["pinned"] = application.pinned
    tables.applications.update(
        application.id,
        where=unchanged,
        live_model_id=model.id,
        state=ApplicationState.SERVING,
    )
    kept_rollouts.end_with(tx, application, model, kind, reason)
    after_release.follow(tx, application, model, kind)
    rescoring.request(tx, tables.applications.get(application.id))  # one of old may know less
    bought_labels.stop(tx, application)
    promotion = _record(tables, application, model, kind, reason)
    data = _event_data(tables, application, model)
    if not application.live_model_id:
        tx.events.append("application.first-model", application.id, data, application.tenant_id)
    if kind != PromotionKind.BETTER:
        data = {**data, "because": reason}
    event = "promotion.refitted" if kind == PromotionKind.REFIT else "promotion.live"
    tx.events.append(event, application.id, data, application.tenant_id)
    _look_closer(tx, application, model, soon_replaced=kind == PromotionKind.BETTER)
    return promotion


def look_at_the_end(tx: Transaction, job: Job) -> None:
    """Read the test quality of what serves, and weigh its columns, if its search has ended."""
    if job.state == JobState.RUNNING:
        return
    tables = tx.scoped(job.tenant_id)
    application = tables.applications.get(job.application_id)
    model = tables.models.find(id=application.live_model_id)
    if model is not None:
        _look_closer(tx, application, model, soon_replaced=False)


def _look_closer(
    tx: Transaction, application: Application, model: TrainedModel, *, soon_replaced: bool
) -> None:
    """Have the test quality of a model read, unless a gate needs the test rows; weigh its columns.

    Where it may be ``soon_replaced``, only as far as there is time beside the search.
    """
    is_gated = kept.active(tx.scoped(application.tenant_id), application.id) is not None
    read = test_quality.request_soon if soon_replaced else test_quality.request_test_quality
    if not is_gated:
        read(tx, model)
    importance.request(tx, model)


def refuse(tx: Transaction, application: Application, model: TrainedModel, reason: str) -> None:
    """Keep that the gate of an application did not let a model serve, and say so."""
    tables = tx.scoped(application.tenant_id)
    state = PromotionState.REFUSED
    _record(tables, application, model, PromotionKind.BETTER, reason, state)
    data = {**_event_data(tables, application, model), "reason": reason}
    tx.events.append("promotion.refused", application.id, data, application.tenant_id)


def pick(tx: Transaction, application: Application, model: TrainedModel, reason: str) -> Promotion:
    """Let a model serve that is best on rows of production, and pin it.

    Else the one that is best on validation rows, which are older, would take its place again.
    """
    tables = tx.scoped(application.tenant_id)
    tables.applications.update(application.id, pinned=True)
    return make_live(tx, application, model, PromotionKind.PICKED, reason)


def is_held(tables: Tables, application: Application) -> bool:
    """Tell whether somebody, and not a comparison on production, has pinned what serves."""
    last = tables.promotions.newest(application_id=application.id, state=PromotionState.LIVE)
    is_of_production = last is not None and last.kind in _OF_PRODUCTION
    return application.pinned and not is_of_production


def wait(tx: Transaction, application: Application, model: TrainedModel, reason: str) -> None:
    """Keep that a model waits for labels that its test needs, and say so."""
    tables = tx.scoped(application.tenant_id)
    _record(tables, application, model, PromotionKind.BETTER, reason, PromotionState.WAITS)
    data = {**_event_data(tables, application, model), "reason": reason}
    tx.events.append("promotion.waits", application.id, data, application.tenant_id)


def to_go_back_to(tables: Tables, application: Application, model_id: str | None) -> TrainedModel:
    """Return the model ``model_id`` (None: the model that the live one replaced).

    Raises ``NotFound`` for a model that is not the application's, ``Conflict`` if there is nothing
    to go back to.
    """
    model_id = model_id or _previous(tables, application)
    model = tables.models.find(id=model_id, application_id=application.id)
    if model is None:
        raise NotFound(
            f"{model_id} is not a trained model of this application.",
            remedy="List the application's models.",
        )
    if model.id == application.live_model_id:
        raise Conflict(f"{model.name} is live already.", where=model.id)
    is_gated = kept.active(tables, application.id) is not None
    if is_gated and not kept.was_live(tables, application, model.id):
        raise Conflict(
            f"{model.name} never served, and what was not proven may not serve here.",
            where=model.id,
            remedy="Name a model that served before, or remove the gate.",
        )
    return model


def roll_back(tx: Transaction, application: Application, model_id: str | None) -> Promotion:
    """Let ``model_id`` (None: the model that the live one replaced) serve, and pin it.

    Its files were found whole. Raises as ``to_go_back_to``.
    """
    tables = tx.scoped(application.tenant_id)
    model = to_go_back_to(tables, application, model_id)
    if model.error:  # the files were brought back
        model = tables.models.update(model.id, error="")
    tables.applications.update(application.id, pinned=True)
    return make_live(tx, application, model, PromotionKind.ROLLBACK, "asked for by a user; pinned")


def set_pinned(tx: Transaction, application: Application, pinned: bool) -> Promotion | None:
    """Hold the live model against better ones, or let better ones in again.

    A better one may go live at once.

    Raises ``Conflict`` if there is no live model to pin.
    """
    if pinned == application.pinned:
        return None
    tables = tx.scoped(application.tenant_id)
    if not application.live_model_id:
        raise Conflict("There is no live model to pin yet.", where=application.id)
    tables.applications.update(application.id, pinned=pinned)
    live = tables.models.get(application.live_model_id)
    if pinned:
        _stop_rollouts(tx, application)
        bought_labels.stop(tx, application)
        return _record(tables, application, live, PromotionKind.PIN, "pinned by a user")
    promotion = _record(tables, application, live, PromotionKind.PIN, "no longer pinned")
    consider(tx, application.id)
    return promotion


def _stop_rollouts(tx: Transaction, application: Application) -> None:
    rollout = kept_rollouts.running(tx.scoped(application.tenant_id), application.id)
    reason = "What serves was pinned by a user."
    if rollout is not None:
        kept_rollouts.end(tx, rollout, RolloutState.STOPPED, reason)
    after_release.stop(tx, application, reason)


def best_model(tables: Tables, application: Application) -> TrainedModel | None:
    """Return the best model of the application's version that can be loaded and keeps its rules.

    The best is by the application's objective: searches by another one do not count.
    """
    jobs = tables.jobs.column(
        "id",
        application_id=application.id,
        version_id=application.version_id,
        objective=["", application.objective],
    )
    models = tables.models.list(job_id=jobs, error="", limit=None)
    return _best(model_limits.keeping(tables, application, models))


def _best(models: Sequence[TrainedModel]) -> TrainedModel | None:
    """Return the best of models of a version.

    Those that folds have judged compete by that; with others, such as imported ones, their best
    competes on the validation rows alone.
    """
    by_folds = grouped(models, lambda model: model.held_out is not None)
    best = max(by_folds[True], key=attrgetter("standing"), default=None)
    other = max(by_folds[False], key=attrgetter("standing"), default=best)
    if best is None or other is None:
        return other
    return max(best, other, key=attrgetter("on_validation_rows"))


def _is_live_judged_otherwise(tables: Tables, application: Application) -> bool:
    """Tell whether the search that found what serves went by another objective."""
    live = tables.models.get(application.live_model_id)
    return not tables.jobs.get(live.job_id).is_judged_by(application.objective)


def _live_breaks_rules(tables: Tables, application: Application) -> bool:
    live = tables.models.list(id=application.live_model_id)
    return bool(model_limits.breaking(tables, application.rules, live))


def _previous(tables: Tables, application: Application) -> str:
    """Return the model that the live one replaced when it first went live.

    Repeated rollbacks therefore go further back.
    """
    first = _first_time(tables, application, PromotionKind.BETTER)
    if first is None:  # a model that never was the best can only have been asked for
        first = _first_time(tables, application, PromotionKind.ROLLBACK)
    if first is None or not first.previous_model_id:
        raise Conflict("No other model was live before this one.", where=application.id)
    return first.previous_model_id


def _first_time(tables: Tables, application: Application, kind: PromotionKind) -> Promotion | None:
    """Return the promotion of a kind by which the live model first went live."""
    return tables.promotions.find(
        application_id=application.id,
        model_id=application.live_model_id,
        state=PromotionState.LIVE,
        kind=kind,
    )


def _record(
    tables: Tables,
    application: Application,
    model: TrainedModel,
    kind: PromotionKind,
    reason: str,
    state: PromotionState = PromotionState.LIVE,
) -> Promotion:
    return tables.promotions.add(
        Promotion(
            id=new_id("pro"),
            tenant_id=application.tenant_id,
            application_id=application.id,
            model_id=model.id,
            previous_model_id=application.live_model_id,
            state=state,
            kind=kind,
            reason=reason,
        )
    )
