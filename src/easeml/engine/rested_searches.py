"""Searches that have come to rest: a new leader looks at each once, a few at a time.

There may be ten thousand of them beside a hundred that run. Nothing waits for this look: it finds
what was written while no scheduler led.
"""

from dataclasses import dataclass, field

from easeml.contract.states import SEARCHED_JOBS, JobState
from easeml.store import Transaction

_A_ROUND = 2  # searches; a look takes some hundredths of a second, in which nothing is decided


@dataclass(slots=True)
class RestedSearches:
    """The searches at rest that have not been looked at yet, by id, the newest last."""

    _left: list[str] = field(default_factory=list)

    @property
    def are_left(self) -> bool:
        """Is there one that was not looked at?"""
        return bool(self._left)

    def take(self, tx: Transaction) -> None:
        """Look at all of them, from the newest on."""
        open_jobs = set(under_way(tx))
        self._left = [id for id in tx.unscoped().jobs.column("id") if id not in open_jobs]

    def next(self) -> list[str]:
        """Return those whose turn it is now."""
        turn = self._left[-_A_ROUND:]
        del self._left[-_A_ROUND:]
        return turn


def under_way(tx: Transaction) -> list[str]:
    """Return the searches that have not settled and have not ended, by id, in order.

    And those at rest of tenants with a quota of device seconds, of which they have spent a part.
    """
    jobs = tx.unscoped().jobs
    not_ended = jobs.column("id", settled=False, state=[JobState.PREPARING, *SEARCHED_JOBS])
    limits = tx.tenants.pick("id", "limits")
    with_quota = [id for id, own in limits if own.seconds is not None]
    counted = jobs.column("id", settled=True, state=JobState.RESTING, tenant_id=with_quota)
    return sorted([*not_ended, *counted])
