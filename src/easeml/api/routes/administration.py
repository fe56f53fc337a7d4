"""For providers: tenants, settings, storage and what happened."""

from typing import Annotated

from fastapi import APIRouter, Query

from easeml.api.context import Asker, Here, Limit
from easeml.api.operations import Operation, add_routes
from easeml.contract.administration import AuditEvent, Setting, Tenant
from easeml.contract.resources import Page
from easeml.service.administration import kept_settings, provider_view
from easeml.service.limits import quotas
from easeml.service.people import removing
from easeml.service.views import storage, usage

OPERATIONS = (
    Operation(
        "remove_user", "POST", "/users/{user_id}/remove", removing.remove_user, repeatable=False
    ),
    Operation(
        "add_member",
        "POST",
        "/tenants/{tenant_id}/members",
        removing.add_member,
        status=201,
        repeatable=False,
    ),
    Operation("tenant_limits", "GET", "/tenants/{tenant_id}/limits", quotas.get),
    Operation("limit_tenant", "PUT", "/tenants/{tenant_id}/limits", quotas.set_limits),
    Operation("default_limits", "GET", "/limits", quotas.get_defaults),
    Operation("set_default_limits", "PUT", "/limits", quotas.set_defaults),
    Operation("usage", "GET", "/usage", usage.get),
    Operation("set_setting", "POST", "/settings/{name}", kept_settings.change),
    Operation("storage", "GET", "/storage", storage.get),
)

router = APIRouter(tags=["administration"])
add_routes(router, OPERATIONS)


@router.get("/tenants")
def list_tenants(here: Here, asker: Asker) -> Page[Tenant]:
    """List all tenants in numbers (providers only), on one page."""
    return Page(items=provider_view.tenants(here.store, asker))


@router.get("/settings")
def list_settings(here: Here, asker: Asker) -> Page[Setting]:
    """List the settings in force with their origin (providers only), on one page."""
    return Page(items=provider_view.settings_in_force(here.store, here.settings, asker))


@router.get("/audit")
def list_audit(
    here: Here,
    asker: Asker,
    before: Annotated[
        int | None, Query(ge=1, le=2**63 - 1, description="`next` of the page before")
    ] = None,
    limit: Limit = 50,
    kind: Annotated[
        str, Query(max_length=100, description="a kind, such as `user.signed-in`, or its beginning")
    ] = "",
    person: Annotated[str, Query(max_length=100, description="name of a user")] = "",
) -> Page[AuditEvent]:
    """List what happened to all tenants, newest first (providers only)."""
    return provider_view.audit(
        here.store, asker, before=before, limit=limit, kind=kind, person=person
    )
