# Made from ../_async/scheduling.py by scripts/unasync.py: change that file, then run the script.
"""The scheduler's view of all tenants, and what other policies would have done."""

from easeml.client._sync.calls import Calls
from easeml.contract.resources import Page
from easeml.contract.scheduling import Replay, SchedulerView, Step


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

    def replay(self, *, policy: str | None = None) -> Replay:
        """Return what ``policy`` would have done with the tasks that were run.

        Raises InvalidInput, NotReady.
        """
        return self._get(Replay, "/scheduler/replay", policy=policy)

    def simulate(
        self,
        *,
        policy: str | None = None,
        against: str | None = None,
        tenants: int | None = None,
        devices: int | None = None,
        seed: int | None = None,
    ) -> Replay:
        """Return what two policies do with the invented work of 1 to 20 tenants.

        Raises InvalidInput.
        """
        wanted = {
            "policy": policy,
            "against": against,
            "tenants": tenants,
            "devices": devices,
            "seed": seed,
        }
        return self._get(Replay, "/scheduler/simulation", **wanted)
