# Made from ../_async/scheduling.py by scripts/unasync.py: change that file, then run the script.
"""The scheduler's view of all tenants, and what other policies would have done."""

from easeml.client._sync.calls import Calls
from easeml.contract.resources import Page
from easeml.contract.scheduling import SchedulerView, Step


class Scheduling(Calls):
    """Who waits for what, and why; other tenants by number, unless one runs the service."""

    def scheduler(self, *, span: float | None = None) -> SchedulerView:
        """Return devices, queue, tenants and losses, now and during the last ``span`` seconds."""
        return self._get(SchedulerView, "/scheduler", span=span)

    def scheduler_decisions(
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
        return self._get(Page[Step], path, **asked)
