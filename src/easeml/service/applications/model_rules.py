"""What every model of an application has to keep, and what proposes for its search.

Both are looked at, and changed at any time.
"""

from dataclasses import replace
from operator import attrgetter

from easeml.contract.model_rules import LeftOut, ModelRules, NewModelRules
from easeml.contract.states import ENDED_JOBS, JobState, TaskGroup
from easeml.errors import Conflict, InvalidInput
from easeml.modules import Registry
from easeml.search import feasible
from easeml.service.access.caller import Caller
from easeml.service.applications import forecasts
from easeml.service.knowledge import knowledge_base
from easeml.service.knowledge.optimizers import choices, optimizer_of
from easeml.service.knowledge.rules import NOT_MONOTONIC, allowed_models, check_monotonic, matching
from easeml.service.models import promotion
from easeml.service.search import jobs, model_limits
from easeml.service.search.beliefs import arm_of
from easeml.store import Store, Tables, Transaction, id_of
from easeml.store.records import Application, Job
from easeml.store.shapes import Rules

EVENT = "application.rules"


def get(store: Store, caller: Caller, application_id: str) -> ModelRules:
    """Return the rules of an application, and what they leave out and why. Raises ``NotFound``."""
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        registry = knowledge_base.of_tenant(tx, caller.tenant_id)
        return _show(tables, registry, tables.applications.get(application_id))


def set_rules(store: Store, caller: Caller, application_id: str, wish: NewModelRules) -> ModelRules:
    """Ask other things of every model that serves, or have the search asked of another optimizer.
    The same rules again change nothing.

    The search goes on under them. What serves and breaks them gives way to the best model that
    keeps them, as soon as there is one. Where columns are to be followed that were not, no model of
    before knows that: a new search begins on the same data.

    Raises ``NotFound``, ``InvalidInput`` for a column that cannot be followed, an optimizer that is
    not there or where no model is left, and ``Conflict`` where a new search would have to begin
    before the data is ready.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        before = application.rules
        rules = replace(
            before,
            latency=wish.max_latency,
            size=wish.max_size,
            monotonic=dict(wish.monotonic),
            optimizer=wish.optimizer,
        )
        registry = knowledge_base.of_tenant(tx, caller.tenant_id)
        if rules != before:
            _check(tables, registry, application, rules)
            application = tables.applications.update(application.id, rules=rules)
            _follow(tx, application, before)
        return _show(tables, registry, application)


def _check(tables: Tables, registry: Registry, application: Application, rules: Rules) -> None:
    if rules.optimizer:
        optimizer_of(registry, rules.optimizer, application.tenant_id)
    version = tables.versions.get(application.version_id)
    if not version.schema_out:
        raise Conflict("The data is being prepared.", remedy="Try again in a moment.")
    asked = forecasts.asked_schema(version.schema_in, rules)
    check_monotonic(rules, asked, version.schema_out)
    matches = matching(registry, version.schema_in, version.schema_out, rules)
    if not allowed_models(matches, rules):
        raise InvalidInput(
            "No model is left that can keep these rules.",
            where="monotonic",
            remedy="Allow more models, or ask less of them.",
        )


def _follow(tx: Transaction, application: Application, before: Rules) -> None:
    """Let the search go on under other rules, or begin anew; what serves may change at once."""
    tables = tx.scoped(application.tenant_id)
    job = jobs.current(tables, application.id)
    data = {"application_id": application.id, "job_id": id_of(job)}
    tx.events.append(EVENT, application.id, data, application.tenant_id)
    if job is None:
        return
    is_held_anew = application.rules.monotonic != before.monotonic
    if is_held_anew and job.state != JobState.PREPARING:
        jobs.begin_again(tx, job, job.version_id)
    elif job.state not in ENDED_JOBS:
        tables.jobs.update(job.id, settled=False)
        limited = {"application_id": application.id, "state": job.state}
        tx.events.append("job.limited", job.id, limited, job.tenant_id)
    promotion.consider(tx, application.id)


def _show(tables: Tables, registry: Registry, application: Application) -> ModelRules:
    rules = application.rules
    shown = ModelRules(
        application_id=application.id,
        max_latency=rules.latency,
        max_size=rules.size,
        monotonic=rules.monotonic,
        optimizer=rules.optimizer,
        optimizers=choices(registry, application.tenant_id),
    )
    job = jobs.current(tables, application.id)
    if job is None or not model_limits.are_any(rules):
        return shown
    models = tables.models.list(application_id=application.id, error="", limit=None)
    breaks = model_limits.breaking(tables, rules, models)
    left_out = _models_left_out(tables, registry, application)
    for model in models:
        if model.id in breaks:
            reason = breaks[model.id]
            left_out.append(LeftOut(what="trained", name=model.name, id=model.id, reason=reason))
    left_out += _unlikely(tables, registry, application, job)
    own = {model.id for model in models if model.job_id == job.id}
    kept = own - breaks.keys()
    return shown.model_copy(
        update={"left_out": left_out, "trained": len(own), "keeping": len(kept)}
    )


def _models_left_out(tables: Tables, registry: Registry, application: Application) -> list[LeftOut]:
    """Return the models of the knowledge base that cannot keep the rules."""
    version = tables.versions.get(application.version_id)
    if not version.schema_out:
        return []
    matches = matching(registry, version.schema_in, version.schema_out, application.rules)
    return [
        LeftOut(what="model", name=match.module.name, reason=match.why_not)
        for match in matches
        if match.why_not == NOT_MONOTONIC
    ]


def _unlikely(
    tables: Tables, registry: Registry, application: Application, job: Job
) -> list[LeftOut]:
    """Return the candidates that were not tried and will hardly keep the limits."""
    limits = model_limits.limits(application.rules)
    if not limits:
        return []
    candidates = sorted(tables.candidates.list(job_id=job.id, limit=None), key=attrgetter("arm"))
    if not candidates:
        return []
    models = tables.models.list(job_id=job.id, limit=None)
    arms = {candidate.id: candidate.arm for candidate in candidates}
    measured = model_limits.measured_arms(tables, models, arms)
    known = [arm_of(registry, candidate) for candidate in candidates]
    chances = feasible.chances(known, measured, limits)
    tried = set(tables.tasks.column("candidate_id", job_id=job.id, kind=TaskGroup.TRAIN))
    reason = "Models like it took more than the limit."
    found = []
    for candidate, chance in zip(candidates, chances, strict=True):
        is_unlikely = chance < feasible.UNLIKELY
        if is_unlikely and candidate.id not in tried:
            found.append(
                LeftOut(what="candidate", name=candidate.name, reason=reason, chance=chance)
            )
    return found
