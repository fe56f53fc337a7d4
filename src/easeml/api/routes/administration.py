"""For providers: tenants, settings, storage and what happened."""

from fastapi import APIRouter

from easeml.api.operations import Operation, add_routes
from easeml.service.administration import kept_settings, provider_view
from easeml.service.limits import quotas
from easeml.service.people import removing
from easeml.service.views import storage, usage

OPERATIONS = (
    Operation("tenants", "GET", "/tenants", provider_view.tenants),
    Operation("settings", "GET", "/settings", provider_view.settings_in_force),
    Operation("audit", "GET", "/audit", provider_view.audit, by_page=True),
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
