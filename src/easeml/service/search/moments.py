"""Looking back at decisions: what was believed at each, and what its result changed.

A log is gone through once; later questions only go on from there.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Lock
from weakref import WeakKeyDictionary

from easeml.search import Posterior, SearchState
from easeml.search.decision_log import Change, Seen, applied
from easeml.service.search import log
from easeml.store import Store, Transaction

_MOST = 2000  # moments that are kept, the newest


@dataclass
class Moment:
    """What a policy saw when it started ``arm`` of ``job``.

    ``before``, ``after``: the belief in the job just before its result and with it; None until
    then, and where the run failed. ``urgent``: the jobs that it had to choose from; None: all.
    """

    job: str
    arm: int
    seen: Seen
    before: Posterior | None = None
    after: Posterior | None = None
    urgent: list[str] | None = None

    @property
    def choice_from(self) -> SearchState:
        """What there was to choose from."""
        state = self.seen.state
        return state if self.urgent is None else state.only(self.urgent)


@dataclass
class _Walk:
    """How far the log of one leader was read. ``parts``: of it."""

    epoch: int = 0
    parts: int = 0
    seen: Seen = field(default_factory=Seen)
    under_way: dict[tuple[str, int], Moment] = field(default_factory=dict)
    moments: dict[str, Moment] = field(default_factory=dict)
    urgent: list[str] | None = None

    def go_on(self, tx: Transaction) -> None:
        """Read what the log has more, of this leader and of later ones."""
        for epoch in log.epochs(tx):
            if epoch < self.epoch:
                continue
            if epoch > self.epoch:
                self._begin(epoch)
            parts = log.parts_of(tx, epoch, self.parts)
            for changes in parts:
                self._take(changes)
            self.parts += len(parts)

    def _begin(self, epoch: int) -> None:
        """Read the log of a new leader from its start."""
        self.epoch = epoch
        self.parts = 0
        self.seen = Seen()
        self.under_way = {}

    def _take(self, changes: Iterable[Change]) -> None:
        """Go on by some changes."""
        for change in changes:
            if change.kind == "decided":
                self.urgent = change.values.get("urgent")
            if change.kind == "started":
                self._start(**change.values)
            before = self.seen
            self.seen = applied(before, change)
            self._end(before, change)

    def _start(self, job: str, arm: int, task: str) -> None:
        if task in self.moments:
            return  # a later leader takes over what was decided before
        moment = Moment(job, arm, self.seen, urgent=self.urgent)
        self.moments[task] = moment
        self.under_way[job, arm] = moment
        while len(self.moments) > _MOST:
            del self.moments[next(iter(self.moments))]

    def _end(self, before: Seen, change: Change) -> None:
        """Look no longer for the result of a run that has one now, or gets none any more."""
        job = change.values.get("job", "")
        if change.kind == "remove_job":
            self.under_way = {key: one for key, one in self.under_way.items() if key[0] != job}
        if change.kind not in ("observed", "released"):
            return
        moment = self.under_way.pop((job, change.values["arm"]), None)
        if moment is not None and change.kind == "observed":
            moment.before = before.state.job(job).posterior
            moment.after = self.seen.state.job(job).posterior


_walks: WeakKeyDictionary[Store, _Walk] = WeakKeyDictionary()
_lock = Lock()


def moment_of(store: Store, task_id: str) -> Moment | None:
    """Return the moment at which a task was started.

    Returns None where the log does not tell it any more.
    """
    with _lock:
        walk = _walks.setdefault(store, _Walk())
        with store.read() as tx:
            walk.go_on(tx)
        return walk.moments.get(task_id)
