"""A model that serves and cannot be loaded any more: what serves instead, and who is told."""

from easeml.contract.states import ApplicationState, JobState, PromotionKind
from easeml.errors import Conflict, Damaged, NotFound
from easeml.modules import Registry
from easeml.service.events.telling import tell_providers
from easeml.service.models import promotion
from easeml.service.search import training_tasks
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Application, TrainedModel

EVENT = "model.lost"


def check_files(store: Store, model: TrainedModel) -> None:
    """Read all files of a model against their digests; raises ``Conflict`` if it cannot serve."""
    if not model.served:
        raise Conflict(f"{model.name} has no files. {model.error}", where=model.id)
    try:
        store.artefacts.verify(model.tenant_id, model.served)
    except (NotFound, Damaged) as error:
        fault = "damaged" if isinstance(error, Damaged) else "gone"
        raise Conflict(
            f"The files of {model.name} are {fault}, so it cannot serve.",
            remedy="Choose another model, or ask the provider to restore them from a backup.",
            where=model.id,
        ) from error


def give_up(
    tx: Transaction, application: Application, model: TrainedModel, reason: str, registry: Registry
) -> None:
    """Take a live model that cannot be loaded out of service, for the best one that is left.

    One that was fitted on all rows gives way to its first fit. Else its owner and the providers
    are told, and it is trained again where its search is not over. A pin ends with the model that
    it held.
    Where no other model is left the application searches again. Nothing happens where another
    model went live meanwhile.
    """
    tables = tx.scoped(application.tenant_id)
    application = tables.applications.get(application.id)
    if application.live_model_id != model.id:
        return
    if model.refitted:  # its first fit can serve
        tables.models.update(model.id, refitted="", refitted_predictions="")
        return
    tables.models.update(model.id, error=reason)
    if application.pinned:
        # The pin was for the model that is lost; better models than its stand-in are welcome.
        tables.applications.update(application.id, pinned=False)
    other = promotion.best_model(tables, application) or _newest_model(tables, application)
    if other is None:
        tables.applications.update(
            application.id, live_model_id="", state=ApplicationState.SEARCHING
        )
    else:
        why = f"{model.name} cannot be loaded any more"
        promotion.make_live(tx, application, other, PromotionKind.FALLBACK, why)
    trained_again = _train_again(tx, model, registry)
    data = {
        "application_id": application.id,
        "model_id": model.id,
        "name": model.name,
        "error": reason,
        "serves": other.name if other else "",
        "trained_again": trained_again,
        "was_pinned": application.pinned,
    }
    tx.events.append(EVENT, application.id, data, application.tenant_id)
    tenant = tx.tenants.get(application.tenant_id)
    of_provider = {**data, "tenant": tenant.name, "application": application.name}
    tell_providers(tx, "provider.model-lost", application.id, of_provider)


def _newest_model(tables: Tables, application: Application) -> TrainedModel | None:
    """Return the newest model of any version of the data."""
    return tables.models.newest(application_id=application.id, error="")


def _train_again(tx: Transaction, model: TrainedModel, registry: Registry) -> bool:
    if not model.candidate_id:  # put together from others, or imported
        return False
    tables = tx.scoped(model.tenant_id)
    job = tables.jobs.get(model.job_id)
    candidate = tables.candidates.get(model.candidate_id)
    is_known = candidate.model in {module.name for module in registry.of_kind("model")}
    if job.state not in (JobState.RUNNING, JobState.RESTING) or not is_known:
        return False
    training_tasks.request_training(tx, registry, job, candidate)
    return True
