"""The scheduler's view of all tenants, and what other policies would have done."""

from easeml.client._async.calls import AsyncCalls
from easeml.contract.resources import Page
from easeml.contract.scheduling import SchedulerView, Step


class AsyncScheduling(AsyncCalls):
    """Who waits for what, and why; other tenants by number, unless one runs the service."""

    async def scheduler(self, *, span: float | None = None) -> SchedulerView:
        """Return devices, queue, tenants and losses, now and during the last ``span`` seconds."""
        return await self._get(SchedulerView, "/scheduler", span=span)

    async def scheduler_decisions(
        self,
        *,
        application: str | None = None,
        after: int = 0,
        latest: int | None = None,
        limit: int = 50,
    ) -> Page[Step]:
        """Return the decisions that follow number ``after``, at most ``limit``, with the scores
        behind each.

        ``application``: id or name of the one that they are for; ``latest``: only the newest.
        """
        path = "/scheduler/decisions"
        asked = {"application": application, "after": after, "latest": latest, "limit": limit}
        return await self._get(Page[Step], path, **asked)
