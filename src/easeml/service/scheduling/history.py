"""What the log of decisions tells of the past.

It is read to tell what another policy would have done.
"""

from dataclasses import dataclass

from easeml.contract.states import AttemptState, Lane
from easeml.search.simulator import Recorded, recorded
from easeml.service.search import log
from easeml.store import Store, Transaction


@dataclass(frozen=True, slots=True)
class History:
    """The searches of a log.

    It has the most ``devices`` that worked at once, and how many of its decisions its own policy
    makes again.
    """

    searches: Recorded
    devices: int
    replayed: log.Replayed


def read(store: Store) -> History:
    """Return the history of all tenants. Raises ``NotReady`` where no search has a result."""
    with store.read() as tx:
        logs = [log.changes_of(tx, epoch) for epoch in log.epochs(tx)]
        return History(recorded(logs), _most_devices(tx), log.replayed(tx))


def _most_devices(tx: Transaction) -> int:
    """Return how many tasks of the search ran at once, at most."""
    tables = tx.unscoped()
    searched = set(tables.tasks.column("id", lane=Lane.SEARCH))
    changes: list[tuple[float, int]] = []
    ended = [AttemptState.DONE, AttemptState.FAILED]  # a lost one ends when it is missed
    attempts = tables.attempts.pick("task_id", "started", "finished", state=ended)
    for task, started, finished in attempts:
        if task in searched:
            changes += [(started, 1), (finished, -1)]
    running = most = 0
    for _, change in sorted(changes):
        running += change
        most = max(most, running)
    return max(1, most)
