"""What is done with a module that has passed its checks: everything that it fits goes on with it."""

from typing import Any

from easeml.contract.states import SEARCHED_JOBS
from easeml.modules import Module, Registry
from easeml.service.knowledge import knowledge_base
from easeml.service.knowledge.rules import allowed_models, kept_to
from easeml.service.knowledge.trials import cost_belief, finished_trials
from easeml.service.models import measuring
from easeml.service.search import candidates, jobs, variants
from easeml.store import Tables, Transaction
from easeml.store.records import Application, Job, ModuleMark
from easeml.store.shapes import given

_MODELS_BEHIND = 3  # of a search, that a new transform is put before


def mark(tx: Transaction, name: str, **changes: Any) -> ModuleMark:
    """Change what is kept of a module beside its description; return all of it."""
    tx.module_marks.ensure(ModuleMark(name))
    return tx.module_marks.update(name, **changes)


def take_up(tx: Transaction, name: str) -> None:
    """Let open searches go on with a new model, or measure what is trained by a new objective."""
    registry = knowledge_base.current(tx)
    module = registry.get(name)
    for older in module.replaces:
        mark(tx, older, archived=True)
        tx.events.append("module.archived", older, {"by": name}, registry.private.get(name, ""))
    if module.kind in _BY_KIND:
        _BY_KIND[module.kind](tx, registry, module)


def _join_searches(tx: Transaction, registry: Registry, model: Module) -> None:
    """Let the open searches that a new model fits go on with it."""
    costs = cost_belief(registry, finished_trials(tx))
    for job in _open_searches(tx, registry, model):
        tables = tx.scoped(job.tenant_id)
        application = tables.applications.get(job.application_id)
        is_current = jobs.current(tables, application.id) == job
        if is_current and _fits(tables, registry, application, job, model):
            candidates.add_model(tx, registry, application, job, model.name, costs)
            _tell_owner(tx, model, job)


def _put_before_models(tx: Transaction, registry: Registry, transform: Module) -> None:
    """Let open searches go on with their best models behind a new transform.

    Those that have no result yet do so when they have.
    """
    costs = cost_belief(registry, finished_trials(tx))
    for job in _open_searches(tx, registry, transform):
        models = variants.best_models(tx, job, _MODELS_BEHIND)
        if variants.add_variants(tx, registry, job, models, costs):
            _tell_owner(tx, transform, job)


_BY_KIND = {
    "objective": measuring.request,
    "model": _join_searches,
    "transform": _put_before_models,
}  # an optimizer waits until somebody chooses it


def _open_searches(tx: Transaction, registry: Registry, module: Module) -> list[Job]:
    """Return the searches that a module may join: of a private one, those of its tenant."""
    whose = given(tenant_id=registry.private.get(module.name))
    return tx.unscoped().jobs.list(state=SEARCHED_JOBS, limit=None, **whose)


def _fits(
    tables: Tables, registry: Registry, application: Application, job: Job, model: Module
) -> bool:
    """Tell whether a model fits the data of a search, and the rules of its application allow it."""
    version = tables.versions.get(job.version_id)
    match = registry.match(model, version.schema_in, version.schema_out)
    return bool(allowed_models([kept_to(match, application.rules)], application.rules))


def _tell_owner(tx: Transaction, module: Module, job: Job) -> None:
    data = {
        "model": module.name,
        "title": module.title,
        "job_id": job.id,
        "application_id": job.application_id,
    }
    tx.events.append("application.new-model", job.application_id, data, job.tenant_id)
