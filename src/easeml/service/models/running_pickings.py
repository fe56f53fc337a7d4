"""The pickings that run, as a scheduler follows them: those of applications at rest cost nothing."""

from easeml.service.models import pickings
from easeml.store import Store, Transaction

_HEARD = 500  # events that are read at once


class RunningPickings:
    """Which pickings run: read once, and then heard of by the event that each begins with."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ids: set[str] | None = None  # of applications; None: nobody has looked
        self._seen = 0  # number of the newest event that was heard

    def move_on(self) -> None:
        """Take what tasks found, and compare again where people have answered."""
        with self._store.read() as tx:
            ids = self._running(tx)
            logs = tx.unscoped().request_logs.by_id(id=sorted(ids)) if ids else {}
        for id in sorted(ids):
            log = logs.get(id)
            if log is None or log.picking is None or not log.picking.rows:
                ids.discard(id)
            else:
                pickings.move_one_on(self._store, log)

    def look_anew(self) -> None:
        """Read all the next time: an older easeml beside this one tells nobody what begins."""
        self._ids = None

    def _running(self, tx: Transaction) -> set[str]:
        if self._ids is None:
            self._seen = tx.events.last()
            logs = tx.unscoped().request_logs.list(limit=None)
            self._ids = {log.id for log in logs if log.picking is not None and log.picking.rows}
        while heard := tx.events.next_of_kinds(
            None, [pickings.BEGUN], after=self._seen, limit=_HEARD
        ):
            self._seen = heard[-1].seq
            self._ids.update(event.subject for event in heard)
        return self._ids
