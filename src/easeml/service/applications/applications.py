"""Applications: what a user declares, watches, and steers."""

from typing import Annotated

from pydantic import Field

from easeml.contract.applications import Application, Declaration, Proposal
from easeml.contract.applications import Promotion as PromotionAnswer
from easeml.contract.models import TrainedModel
from easeml.contract.parameters import After, Limit, OnceKey
from easeml.contract.resources import Page
from easeml.contract.states import ENDED_JOBS
from easeml.errors import Conflict, InvalidInput
from easeml.service.access.caller import Caller
from easeml.service.access.idempotency import Once
from easeml.service.access.paging import page_of, page_records
from easeml.service.applications import application_views, declaration_plan, questions
from easeml.service.applications.keeping import check_name
from easeml.service.knowledge import knowledge_base, rules
from easeml.service.knowledge.trials import finished_trials
from easeml.service.limits import quotas
from easeml.service.models import lost_models, promotion, retired
from easeml.service.models.trained_models import show_models, versions_of_jobs
from easeml.service.search import candidates, jobs
from easeml.store import Store, Tables
from easeml.store.records import Application as ApplicationRecord
from easeml.store.records import Promotion
from easeml.store.shapes import given

Best = Annotated[int | None, Field(ge=1, le=10_000, description="this many of the best only")]
ModelName = Annotated[str, Field(max_length=200, description="name of a model")]

_LARGEST_NUMBER = 2**32 - 1  # the largest seed of NumPy; more than a century in seconds


def propose(store: Store, caller: Caller, declaration: Declaration) -> Proposal:
    """Return what a declaration would mean; writes nothing and raises like ``declare``."""
    check_name(declaration.name)
    _check_numbers(declaration)
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        registry = knowledge_base.of_tenant(tx, caller.tenant_id)
        return declaration_plan.show(
            declaration_plan.plan(tables, declaration, registry), registry, finished_trials(tx)
        )


def declare(
    store: Store,
    caller: Caller,
    declaration: Declaration,
    idempotency_key: OnceKey = None,
) -> Application:
    """Make an application and its model search.

    Raises ``NotFound`` for the data, ``NotReady`` while the upload is being read, ``Conflict`` if
    it could not be read, and ``InvalidInput`` for a column, type, objective or model that is
    unknown or does not fit.
    """
    check_name(declaration.name)
    _check_numbers(declaration)
    once = Once(caller, "applications", idempotency_key, declaration)
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        if earlier := once.earlier(tx):
            return application_views.show(tx, caller, tables.applications.get(earlier["id"]))
        quotas.check_applications(tx, caller.tenant_id)
        registry = knowledge_base.of_tenant(tx, caller.tenant_id)
        plan = declaration_plan.plan(tables, declaration, registry)
        application = declaration_plan.write(tx, caller, plan)
        questions.take_over(tx, application)
        once.remember(tx, {"id": application.id})
        return application_views.show(tx, caller, application)


def get(store: Store, caller: Caller, application_id: str) -> Application:
    """Return an application and how it does; raises ``NotFound``."""
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        return application_views.show(tx, caller, tables.applications.get(application_id))


def list_page(
    store: Store, caller: Caller, *, after: After = None, limit: Limit = 50
) -> Page[Application]:
    """Return a page of the tenant's applications, oldest first."""
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        found, following = page_records(tables.applications, after, limit, deleted=None)
        return Page(items=application_views.show_all(tx, caller, found), next=following)


def include(store: Store, caller: Caller, application_id: str, model: ModelName) -> Application:
    """Let the search try a model that was left out when the application was declared.

    A search that rests may go on.

    Raises ``NotFound``, ``InvalidInput`` for a model that is unknown or does not fit, ``Conflict``
    where the search has ended. Repeated, it changes nothing.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        job = jobs.current(tables, application.id)
        if job is None or job.state in ENDED_JOBS:
            raise Conflict(
                "The search of this application has ended.", remedy="Declare the application again."
            )
        registry = knowledge_base.of_tenant(tx, caller.tenant_id)
        allowing = rules.with_model(tables, application, model, registry)
        if allowing != application.rules:
            application = tables.applications.update(application.id, rules=allowing)
            candidates.add_model(tx, registry, application, job, model)
        return application_views.show(tx, caller, application)


def models(
    store: Store, caller: Caller, application_id: str, *, best: Best = None
) -> Page[TrainedModel]:
    """Return the application's trained models (``best``: so many), best on validation rows first.

    Those that were measured on other validation rows, before these grew, come after them, and those
    that cannot be loaded any more last. Raises
    ``NotFound``.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        return Page(items=best_models(tables, application, best))


def best_models(
    tables: Tables,
    application: ApplicationRecord,
    best: int | None = None,
    only: list[str] | None = None,
) -> list[TrainedModel]:
    """Return an application's trained models in the order of ``models``.

    ``best``: at most so many (None: all). ``only``: ids to choose from (None: all models).
    """
    picked = tables.models.pick(
        "quality", "id", "job_id", "error", application_id=application.id, **given(id=only)
    )
    versions = versions_of_jobs(tables, {job for _, _, job, _ in picked})

    def place(row: tuple[float, str, str, str]) -> tuple[bool, bool, float, str]:
        quality, model_id, job_id, error = row
        return error != "", not versions[job_id].is_comparable, -quality, model_id

    picked.sort(key=place)
    order = [model_id for _, model_id, _, _ in picked][:best]
    found = tables.models.by_id(id=order)
    return show_models(tables, [found[model_id] for model_id in order], versions)


def promotions(
    store: Store,
    caller: Caller,
    application_id: str,
    *,
    after: After = None,
    limit: Limit = 50,
) -> Page[PromotionAnswer]:
    """Return a page of the application's promotions, oldest first; raises ``NotFound``."""
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        return page_of(
            tables.promotions, _show_promotion, after, limit, application_id=application.id
        )


def newest_promotions(tables: Tables, application: ApplicationRecord) -> list[PromotionAnswer]:
    """Return all changes of what an application serves, the newest first."""
    found = tables.promotions.list(application_id=application.id, newest_first=True, limit=None)
    return list(map(_show_promotion, found))


def roll_back(
    store: Store, caller: Caller, application_id: str, model_id: str | None = None
) -> Application:
    """Let ``model_id`` serve, and pin it so that the search does not undo it.

    ``model_id`` None: the model that was live before. One that was retired less than a day ago has
    its files back.

    Raises ``NotFound``, or ``Conflict`` if there is nothing to go back to, or its files are gone or
    damaged.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.hold(application_id)  # nothing of it is retired meanwhile
        model = promotion.to_go_back_to(tables, application, model_id)
        model = retired.bring_back(tables, model)
    lost_models.check_files(store, model)
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.hold(application_id)
        retired.bring_back(tables, tables.models.get(model.id))
        promotion.roll_back(tx, application, model.id)
        return application_views.show(tx, caller, tables.applications.get(application_id))


def pin(store: Store, caller: Caller, application_id: str) -> Application:
    """Keep what is served now, whatever the search finds.

    Raises ``NotFound``, and ``Conflict`` where nothing is live.
    """
    return _set_pinned(store, caller, application_id, pinned=True)


def unpin(store: Store, caller: Caller, application_id: str) -> Application:
    """Let better models be promoted again; raises ``NotFound``."""
    return _set_pinned(store, caller, application_id, pinned=False)


def _set_pinned(store: Store, caller: Caller, application_id: str, *, pinned: bool) -> Application:
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        # Held, as another may unpin it at the moment: what is pinned already is left as it is.
        promotion.set_pinned(tx, tables.applications.hold(application_id), pinned)
        return application_views.show(tx, caller, tables.applications.get(application_id))


def _check_numbers(declaration: Declaration) -> None:
    """Refuse numbers that JSON can say and no job can hold. Raises ``InvalidInput``."""
    for where in ("tolerance", "max_seconds", "max_tasks", "seed"):
        value = getattr(declaration, where)
        if value is not None and not 0 <= value <= _LARGEST_NUMBER:
            raise InvalidInput(f"{where} must be between 0 and {_LARGEST_NUMBER}.", where=where)


def _show_promotion(promotion: Promotion) -> PromotionAnswer:
    return PromotionAnswer(
        id=promotion.id,
        model_id=promotion.model_id,
        previous_model_id=promotion.previous_model_id,
        state=promotion.state,
        kind=promotion.kind,
        reason=promotion.reason,
        created=promotion.created,
    )
