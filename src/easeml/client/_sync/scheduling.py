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

    def scheduler_steps(self, *, after: int = 0, limit: int = 50) -> Page[Step]:
        """Return the decisions that follow number ``after``, at most ``limit``, with the scores
        behind each.
        """
        return self._get(Page[Step], "/scheduler/steps", after=after, limit=limit)
