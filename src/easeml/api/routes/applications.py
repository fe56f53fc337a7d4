"""Applications: declared, watched and steered. Predictions have a route of their own."""

from typing import Annotated

from fastapi import APIRouter, Body, Query, status

from easeml.api.context import After, Asker, Here, Limit, OnceKey
from easeml.contract.resources import (
    Application,
    Declaration,
    Page,
    Promotion,
    Proposal,
    TrainedModel,
)
from easeml.service.applications import applications

router = APIRouter(prefix="/applications", tags=["applications"])


@router.post("/propose")
def propose(here: Here, asker: Asker, declaration: Declaration) -> Proposal:
    """Show what a declaration would mean; nothing is made."""
    return applications.propose(here.store, asker, declaration)


@router.post("", status_code=status.HTTP_201_CREATED)
def declare(
    here: Here, asker: Asker, declaration: Declaration, once: OnceKey = None
) -> Application:
    """Declare an application; its model search starts by itself."""
    return applications.declare(here.store, asker, declaration, idempotency_key=once)


@router.get("")
def list_applications(
    here: Here, asker: Asker, after: After = None, limit: Limit = 50
) -> Page[Application]:
    """List the tenant's applications, oldest first."""
    return applications.list_page(here.store, asker, after=after, limit=limit)


@router.get("/{application_id}")
def get_application(here: Here, asker: Asker, application_id: str) -> Application:
    """Show an application and how it does."""
    return applications.get(here.store, asker, application_id)


@router.get("/{application_id}/models")
def list_models(
    here: Here,
    asker: Asker,
    application_id: str,
    best: Annotated[
        int | None, Query(ge=1, le=10_000, description="this many of the best only")
    ] = None,
) -> Page[TrainedModel]:
    """List the trained models of an application, best on validation rows first, on one page."""
    return Page(items=applications.models(here.store, asker, application_id, best=best))


@router.get("/{application_id}/promotions")
def list_promotions(
    here: Here, asker: Asker, application_id: str, after: After = None, limit: Limit = 50
) -> Page[Promotion]:
    """List the changes of what an application serves, oldest first."""
    return applications.promotions(here.store, asker, application_id, after=after, limit=limit)


@router.post("/{application_id}/rollback")
def roll_back(
    here: Here,
    asker: Asker,
    application_id: str,
    model_id: Annotated[str | None, Body(embed=True)] = None,
) -> Application:
    """Serve an earlier model again and pin it: the one before, or the named one."""
    return applications.roll_back(here.store, asker, application_id, model_id)


@router.post("/{application_id}/include")
def include_model(
    here: Here,
    asker: Asker,
    application_id: str,
    model: Annotated[str, Body(embed=True, max_length=200)],
) -> Application:
    """Let the search try a model, too, that was left out; a search that rests may go on."""
    return applications.include(here.store, asker, application_id, model)


@router.post("/{application_id}/pin")
def pin(here: Here, asker: Asker, application_id: str) -> Application:
    """Keep what is served now, whatever the search finds."""
    return applications.set_pinned(here.store, asker, application_id, True)


@router.post("/{application_id}/unpin")
def unpin(here: Here, asker: Asker, application_id: str) -> Application:
    """Let better models be promoted again."""
    return applications.set_pinned(here.store, asker, application_id, False)
