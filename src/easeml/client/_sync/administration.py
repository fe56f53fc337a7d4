# Made from ../_async/administration.py by scripts/unasync.py: change that file, then run the script.
"""The knowledge base; and what a provider sees of their service."""

from easeml.client._sync.calls import Calls
from easeml.contract.administration import AuditEvent, Setting, Tenant
from easeml.contract.resources import Page


class Administration(Calls):
    """What can be plugged in, and how the service is doing."""

    def tenants(self) -> list[Tenant]:
        """Return all tenants in numbers (providers only). Raises NotAllowed."""
        return (self._get(Page[Tenant], "/tenants")).items

    def settings(self) -> list[Setting]:
        """Return the settings in force with their origin (providers only). Raises NotAllowed."""
        return (self._get(Page[Setting], "/settings")).items

    def audit(
        self, *, before: str | None = None, limit: int = 50, kind: str = "", person: str = ""
    ) -> Page[AuditEvent]:
        """Return one page of what happened to all tenants, newest first (providers only).

        Send its ``next`` as ``before`` for what happened earlier. ``kind``: of this kind, or of all
        that begin with it, such as user. ``person``: name of a user. Raises NotAllowed, and
        NotFound for a name that nobody has.
        """
        return self._get(
            Page[AuditEvent], "/audit", before=before, limit=limit, kind=kind, person=person
        )
