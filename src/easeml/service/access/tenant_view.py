"""What one may know of other tenants: that they are there, by number."""

from dataclasses import dataclass, field

from easeml.service.access.caller import Caller
from easeml.store import Transaction


@dataclass(frozen=True, slots=True)
class TenantView:
    """How a caller sees tenants: providers all by name, others only themselves."""

    caller: Caller
    names: dict[str, str]
    places: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, tx: Transaction, caller: Caller) -> "TenantView":
        """Return the view of ``caller``.

        Numbers follow the order in which tenants came, so they do not change.
        """
        names: dict[str, str] = dict(tx.tenants.pick("id", "name"))
        places = {id: place for place, id in enumerate(names)}
        if caller.is_provider:
            return cls(caller, names, places)
        numbered = {id: f"tenant {place + 1}" for id, place in places.items()}
        own = names.get(caller.tenant_id, "")
        return cls(caller, {**numbered, caller.tenant_id: own}, places)

    def name(self, tenant_id: str) -> str:
        """Return how the caller knows a tenant."""
        return self.names.get(tenant_id, "a tenant")

    def place(self, tenant_id: str) -> int:
        """Return the tenant's place in the order in which tenants came, from 0."""
        return self.places.get(tenant_id, 0)

    def is_own(self, tenant_id: str) -> bool:
        """Is it the caller's tenant?"""
        return tenant_id == self.caller.tenant_id

    def sees(self, tenant_id: str) -> bool:
        """May they know what the tenant's things are called?"""
        return self.caller.is_provider or self.is_own(tenant_id)
