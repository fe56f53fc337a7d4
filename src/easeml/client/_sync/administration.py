# Made from ../_async/administration.py by scripts/unasync.py; change that file and run the script again.
"""The knowledge base; and what a provider sees of his service."""

from easeml.client._sync.calls import Calls
from easeml.contract.administration import AuditEvent, Setting, Storage, Tenant
from easeml.contract.knowledge import KnowledgeBase
from easeml.contract.resources import Page


class Administration(Calls):
    """What can be plugged in, and how the service is doing."""

    def knowledge_base(self) -> KnowledgeBase:
        """Return all modules, where they fit, and how they have done."""
        return self._get(KnowledgeBase, "/modules")

    def tenants(self) -> list[Tenant]:
        """Return all tenants in numbers (providers only). Raises NotAllowed."""
        return (self._get(Page[Tenant], "/tenants")).items

    def settings(self) -> list[Setting]:
        """Return the settings in force with their origin (providers only). Raises NotAllowed."""
        return (self._get(Page[Setting], "/settings")).items

    def storage(self) -> Storage:
        """Return what is used and free, in bytes (providers only). Raises NotAllowed."""
        return self._get(Storage, "/storage")

    def audit(self, *, before: str | None = None, limit: int = 50) -> Page[AuditEvent]:
        """Return one page of what happened to all tenants, newest first (providers only). Raises NotAllowed.

        Send its ``next`` as ``before`` for what happened earlier.
        """
        return self._get(Page[AuditEvent], "/audit", before=before, limit=limit)
