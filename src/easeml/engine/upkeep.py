"""What the leading scheduler does beside deciding: limits, notices, and what is swept away."""

import time

from easeml.contract.states import TASKS_UNDER_WAY, RolloutWay, TaskGroup
from easeml.service.models import comparing, gates, pickings, watching
from easeml.service.models.running_pickings import RunningPickings
from easeml.service.rollouts import after_release
from easeml.service.search import spending, waiting
from easeml.service.sources import due, forgetting
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.shapes import JobLimits

from .blocked import BlockedSearches
from .housekeeping import give_back_lost_work
from .leadership import Leadership
from .search_mirror import SearchMirror
from .starving import StarvingTenants

_BLOCKED_SECONDS = 5.0  # between looks for blocked searches, which are told after half a minute
_SCHEDULES_SECONDS = 5.0  # between looks for schedules that are due
_SWEEP_SECONDS = 600.0  # between looks for old retrievals, and whether a day has gone by


class Upkeep:
    """The regular duties of the leader, once a round."""

    def __init__(
        self,
        store: Store,
        leadership: Leadership,
        silence: float,
        settings: Settings | None = None,
    ):
        """``silence``: seconds after which a process that says nothing is gone.

        ``settings``: with them schedules are started.
        """
        self._store = store
        self._leadership = leadership
        self._silence = silence
        self._settings = settings
        self._blocked = BlockedSearches()
        self._starving = StarvingTenants()
        self._next_sweep = 0.0
        self._next_schedules = 0.0
        self._next_blocked = 0.0
        self._pickings = RunningPickings(store)

    def look(self, mirror: SearchMirror) -> None:
        """Do what is due. Raises ``Fenced`` where another scheduler leads by now."""
        give_back_lost_work(self._store, self._silence)
        self._stop_what_reached_its_limit()
        self._tell_what_is_blocked()
        self._tell_who_starves(mirror)
        comparing.move_on(self._store)
        self._start_schedules()
        if time.monotonic() >= self._next_sweep:
            self._sweep()
            self._next_sweep = time.monotonic() + _SWEEP_SECONDS

    def _start_schedules(self) -> None:
        if self._settings is None or time.monotonic() < self._next_schedules:
            return
        self._next_schedules = time.monotonic() + _SCHEDULES_SECONDS
        due.start_due(self._store, self._settings)
        self._pickings.move_on()
        comparing.move_on(self._store, [RolloutWay.AFTER])

    def _sweep(self) -> None:
        forgetting.forget_old(self._store)
        after_release.end_due(self._store)
        watching.look_daily(self._store)
        pickings.start_due(self._store)
        gates.go_on_with_free_labels(self._store)
        self._pickings.look_anew()

    def _stop_what_reached_its_limit(self) -> None:
        if not self._has_limits():
            return
        with self._leadership.write() as tx:
            spending.stop_what_reached_its_limit(tx)

    def _has_limits(self) -> bool:
        """Whether a search that trains something, or its tenant, may spend no more than so much."""
        with self._store.read() as tx:
            tables = tx.unscoped()
            training = {"kind": TaskGroup.TRAIN, "state": TASKS_UNDER_WAY}
            ids = set(tables.tasks.column("job_id", **training))
            searched = tables.jobs.list(id=sorted(ids), limit=None)
            tenants = {job.tenant_id for job in searched}
            quotas = tx.tenants.column("limits", id=sorted(tenants))
        if any(job.limits != JobLimits() for job in searched):
            return True
        return any(limits.month_seconds is not None for limits in quotas)

    def _tell_what_is_blocked(self) -> None:
        now = time.monotonic()
        if now < self._next_blocked:
            return
        self._next_blocked = now + _BLOCKED_SECONDS
        with self._store.read() as tx:
            overdue = self._blocked.overdue(waiting.blocked(tx))
        if not overdue:
            return
        with self._leadership.write() as tx:
            for job_id, reason in overdue.items():
                waiting.tell(tx, job_id, reason)

    def _tell_who_starves(self, mirror: SearchMirror) -> None:
        """Tell the providers of tenants that wait longer than the policy promises, once a wait."""
        state = mirror.state
        news = self._starving.news(state, mirror.policy)
        if not news:
            return
        with self._leadership.write() as tx:
            for tenant, wait in news:
                seconds, steps = state.now - wait.moment, state.step - wait.step
                waiting.tell_of_starvation(tx, tenant, seconds, steps)
