"""Threads for uploads, shared fairly: what one tenant lets stand still leaves slots for the others."""

from collections import defaultdict
from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter, to_thread

T = TypeVar("T")
_OF_ALL = 64  # uploads at once: each has a thread, that mostly waits for bytes
_OF_TENANT = 4


class TenantSlots:
    """Runs calls in threads, a few of each tenant at once."""

    def __init__(self) -> None:
        self._all = CapacityLimiter(_OF_ALL)
        self._of_tenant: defaultdict[str, CapacityLimiter] = defaultdict(
            lambda: CapacityLimiter(_OF_TENANT)
        )

    async def run(self, tenant_id: str, call: Callable[[], T]) -> T:
        """Return ``call()`` from a thread, when it is the tenant's turn."""
        async with self._of_tenant[tenant_id]:
            return await to_thread.run_sync(call, limiter=self._all)
