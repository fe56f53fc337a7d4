"""The knowledge base; and, for providers, tenants, settings, storage and what happened."""

from typing import Annotated

from fastapi import APIRouter, Query

from easeml.api.context import Asker, Here, Limit
from easeml.contract.administration import AuditEvent, Setting, Storage, Tenant
from easeml.contract.knowledge import KnowledgeBase
from easeml.contract.resources import Page
from easeml.service import administration, modules

router = APIRouter()


@router.get("/modules", tags=["knowledge base"])
def list_modules(here: Here, asker: Asker) -> KnowledgeBase:
    """Show all modules, where they fit, and how they have done."""
    return modules.get(here.store, asker)


@router.get("/tenants", tags=["administration"])
def list_tenants(here: Here, asker: Asker) -> Page[Tenant]:
    """List all tenants in numbers (providers only), on one page."""
    return Page(items=administration.tenants(here.store, asker))


@router.get("/settings", tags=["administration"])
def list_settings(here: Here, asker: Asker) -> Page[Setting]:
    """List the settings in force with their origin (providers only), on one page."""
    return Page(items=administration.settings_in_force(here.settings, asker))


@router.get("/storage", tags=["administration"])
def get_storage(here: Here, asker: Asker) -> Storage:
    """Show what is used and free (providers only)."""
    return administration.storage(here.store, here.settings, asker)


@router.get("/audit", tags=["administration"])
def list_audit(
    here: Here,
    asker: Asker,
    before: Annotated[int | None, Query(ge=1, le=2**63 - 1, description="`next` of the page before")] = None,
    limit: Limit = 50,
) -> Page[AuditEvent]:
    """List what happened to all tenants, newest first (providers only)."""
    return administration.audit(here.store, asker, before=before, limit=limit)
