"""Threads for uploads, shared fairly: what one tenant lets stand still leaves slots for the others."""

from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter, to_thread

from easeml.errors import NotReady

T = TypeVar("T")
_OF_ALL = 64  # uploads at once: each has a thread, that mostly waits for bytes
_OF_TENANT = 4
MOST_HERE, MOST_OF_TENANT = 10_000, 1000
"""Requests that have a slot or wait for one: each holds some 40 kB, with what came of its body."""


class TenantSlots:
    """Runs calls in threads, a few of each tenant at once."""

    def __init__(self) -> None:
        self._all = CapacityLimiter(_OF_ALL)
        self._of_tenant: dict[str, CapacityLimiter] = {}
        self._here: Counter[str] = Counter()

    async def run(self, tenant_id: str, call: Callable[[], T]) -> T:
        """Return ``call()`` from a thread, when it is the tenant's turn.

        Raises ``NotReady`` where too many wait already.
        """
        self._check_room(tenant_id)
        self._here[tenant_id] += 1
        own = self._of_tenant.setdefault(tenant_id, CapacityLimiter(_OF_TENANT))
        try:
            async with own:
                return await to_thread.run_sync(call, limiter=self._all)
        finally:
            self._leave(tenant_id)

    def _leave(self, tenant_id: str) -> None:
        """Count one less; a tenant of whom nothing is here is forgotten."""
        self._here -= Counter([tenant_id])
        if tenant_id not in self._here:
            del self._of_tenant[tenant_id]

    def _check_room(self, tenant_id: str) -> None:
        if self._here.total() >= MOST_HERE or self._here[tenant_id] >= MOST_OF_TENANT:
            raise NotReady(
                "Too many uploads wait already.", where="uploads", remedy="Send it again shortly."
            )
