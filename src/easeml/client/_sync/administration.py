# Made from ../_async/administration.py by scripts/unasync.py: change that file, then run the script.
"""The knowledge base; and what a provider sees of his service."""

from easeml.client._sync.calls import API, Calls
from easeml.client.answers import made_request, read_answer
from easeml.contract.administration import AuditEvent, Setting, Storage, Tenant, TenantLimits
from easeml.contract.knowledge import KnowledgeBase, ModuleChecks, NewModule
from easeml.contract.resources import Page


class Administration(Calls):
    """What can be plugged in, and how the service is doing."""

    def knowledge_base(self) -> KnowledgeBase:
        """Return all modules, where they fit, and how they have done."""
        return self._get(KnowledgeBase, "/modules")

    def add_module(self, toml: str) -> ModuleChecks:
        """Have a model checked, described by the text of its ``module.toml`` (providers only).

        It joins the knowledge base, and searches that it fits go on with it, when all checks have
        passed. Raises NotAllowed, InvalidInput for what is no model of a trusted package, Conflict
        for a name that is taken.
        """
        return self._create(
            ModuleChecks, "/modules", key=None, request=made_request(NewModule, toml=toml)
        )

    def module_checks(self, name: str) -> ModuleChecks:
        """Return how far the checks of an added model are (providers only).

        Raises NotAllowed, NotFound.
        """
        return self._get(ModuleChecks, f"/modules/{name}/checks")

    def archive_module(self, name: str) -> KnowledgeBase:
        """Let no new search try a model (providers only); its trained models stay.

        Raises NotAllowed, NotFound.
        """
        return self._send(KnowledgeBase, f"/modules/{name}/archive")

    def restore_module(self, name: str) -> KnowledgeBase:
        """Let new searches try an archived model again (providers only).

        Raises NotAllowed, NotFound.
        """
        return self._send(KnowledgeBase, f"/modules/{name}/restore")

    def tenants(self) -> list[Tenant]:
        """Return all tenants in numbers (providers only). Raises NotAllowed."""
        return (self._get(Page[Tenant], "/tenants")).items

    def tenant_limits(self, tenant_id: str) -> TenantLimits:
        """Return what a tenant may use (providers only). Raises NotAllowed, NotFound."""
        return self._get(TenantLimits, f"/tenants/{tenant_id}/limits")

    def limit_tenant(self, tenant_id: str, **limits: float | None) -> TenantLimits:
        """Set all that a tenant may use (providers only): ``priority``, ``devices``, ``seconds``,
        ``storage`` (bytes), ``applications``; what is left out or None has no limit. Raises
        NotAllowed, NotFound, InvalidInput.
        """
        wish = made_request(TenantLimits, **limits)
        response = self._transport.request(
            "PUT",
            f"{API}/tenants/{tenant_id}/limits",
            repeatable=True,
            json=wish.model_dump(mode="json"),
        )
        return read_answer(TenantLimits, response)

    def settings(self) -> list[Setting]:
        """Return the settings in force with their origin (providers only). Raises NotAllowed."""
        return (self._get(Page[Setting], "/settings")).items

    def storage(self) -> Storage:
        """Return what is used and free, in bytes (providers only). Raises NotAllowed."""
        return self._get(Storage, "/storage")

    def audit(self, *, before: str | None = None, limit: int = 50) -> Page[AuditEvent]:
        """Return one page of what happened to all tenants, newest first (providers only). Raises
        NotAllowed.

        Send its ``next`` as ``before`` for what happened earlier.
        """
        return self._get(Page[AuditEvent], "/audit", before=before, limit=limit)
