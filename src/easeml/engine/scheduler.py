"""The scheduler: one leader that decides, over the jobs of all tenants, what is trained next."""

import time
from collections.abc import Callable
from importlib import import_module

import structlog

from easeml.contract.states import SEARCHED_JOBS, TASKS_UNDER_WAY, JobState, Lane, ProcessKind
from easeml.errors import Conflict, Fenced, InvalidInput
from easeml.ids import new_id
from easeml.modules import Registry, load_registry
from easeml.search import Decision, Policy, policy_named
from easeml.search.optimizers import Optimizer, optimizer_named
from easeml.search.preemption import LeastDelay, rule_named
from easeml.service.administration import kept_settings
from easeml.service.administration.readiness import SCHEDULER_LEASE
from easeml.service.applications import deleting
from easeml.service.knowledge import knowledge_base
from easeml.service.models import comparing, ensembling, promotion, refitting
from easeml.service.production import request_log
from easeml.service.search import (
    candidates,
    job_states,
    log,
    proposals,
    spending,
    training_tasks,
    waiting,
)
from easeml.settings import Settings
from easeml.store import Store, Transaction
from easeml.store.records import Event, Lease
from easeml.store.shapes import JobLimits

from .blocked import BlockedSearches
from .housekeeping import give_back_lost_work, live_workers
from .logs import configure_logging
from .membership import HEARTBEAT_SECONDS, beat, register, sign_off
from .search_mirror import SearchMirror
from .signals import Stop
from .starving import StarvingTenants
from .urgent import UrgentWork

_LONGEST_WAIT = 0.2  # seconds until a stop signal is noticed
_TASKS_A_WORKER = 2  # one that runs and one ahead, so that no device waits for a decision
_ROUND_SECONDS = (
    1.0  # between looks that nothing asked for: for work that was lost, for a lease to take
)
_EVENTS_AT_ONCE = 500
_MAY_PROMOTE = ("task.done", "task.failed", "job.resting", "job.stopped")
_SWEEP_SECONDS = 600.0  # between looks for uploads that were given up
_RENEW_BELOW = 0.7  # part of a lease that must be left, or it is renewed
_log = structlog.get_logger()


def run_scheduler(settings: Settings) -> None:
    """Lead, or stand by to lead, until SIGTERM or SIGINT."""
    configure_logging("scheduler")
    stop = Stop.on_signals()
    store = Store.of(settings)
    process = register(store, ProcessKind.SCHEDULER)
    import_module("scipy.stats")  # now, or the first search waits for it, and all writers with it
    policy = policy_named(settings.policy)
    optimizer = optimizer_named(settings.optimizer)
    scheduler = Scheduler(
        store,
        load_registry(),
        policy,
        settings.lease_seconds,
        process.id,
        optimizer,
        settings,
    )
    wakeup = store.wakeup()
    try:
        next_beat = next_round = 0.0
        changed = True
        while not stop.asked:
            if time.monotonic() >= next_beat:
                with store.write() as tx:
                    beat(tx, process.id)
                next_beat = time.monotonic() + min(HEARTBEAT_SECONDS, settings.lease_seconds / 3)
            if time.monotonic() >= next_round:
                scheduler.keep_house()
                next_round = time.monotonic() + _ROUND_SECONDS
                changed = True
            if changed:
                scheduler.step()
            changed = wakeup.wait(_LONGEST_WAIT) and scheduler.has_news()
    finally:
        wakeup.close()
        scheduler.step_down()
        sign_off(store, process.id)
        store.close()


class Scheduler:
    """Acts only while it holds the lease; what it writes checks the lease's epoch in the same
    transaction.
    """

    def __init__(
        self,
        store: Store,
        registry: Registry,
        policy: Policy,
        lease_seconds: float,
        holder: str | None = None,
        optimizer: Optimizer | None = None,
        settings: Settings | None = None,
    ):
        """``optimizer``: of configurations; easeml's own by default.

        ``settings``: with them the policy may be another one, which is kept in the database.
        """
        self._settings = settings
        self._optimizer = optimizer or optimizer_named()
        self._store = store
        self._installed = registry
        self._policy = policy
        rule = rule_named(settings.preemption if settings else LeastDelay.name)
        self._urgent = UrgentWork(store, rule, lease_seconds)
        self._lease_seconds = lease_seconds
        self._holder = holder or new_id("proc")
        self._lease: Lease | None = None
        self._mirror = SearchMirror(policy, registry)
        self._parts = 0  # of the log that this leader has written
        self._seq = 0
        self._failed: set[str] = set()
        self._again: set[str] = set()
        self._blocked = BlockedSearches()
        self._starving = StarvingTenants()
        self._next_sweep = 0.0

    def step(self) -> None:
        """Follow what changed and decide for free devices; as a stand-by, only try to become the
        leader.
        """
        try:
            if not self._lead():
                return
            self._start_jobs()
            changed, finished = self._changes()
            for job_id in changed:
                self._guarded(job_id, self._sync)
            for job_id in finished:
                self._guarded(job_id, self._promote)
            for job_id in changed:
                self._guarded(job_id, self._note_progress)
            self._hurry_who_was_raised()
            self._decide()
            self._make_room()
        except Fenced:
            _log.warning("another scheduler leads now")
            self._lease = None

    def has_news(self) -> bool:
        """Did anything happen since the last step?

        Most commits are heartbeats, which are none of its business.
        """
        with self._store.read() as tx:
            return tx.events.last() != self._seq

    def keep_house(self) -> None:
        """Give back lost work, forget uploads that expired; let the next step try again what failed
        for a job.
        """
        self._again, self._failed = self._failed, set()
        if self._lease is not None:
            self._again.update(self._move_to_now())
            give_back_lost_work(self._store, self._lease_seconds)
            self._stop_what_reached_its_limit()
            self._write_costs()
            self._tell_what_is_blocked()
            self._tell_who_starves()
            self._write_log()
            comparing.move_on(self._store)
            if time.monotonic() >= self._next_sweep:
                self._store.uploads.sweep()
                deleting.erase_old(self._store)
                request_log.forget_old(self._store)
                self._next_sweep = time.monotonic() + _SWEEP_SECONDS

    def _stop_what_reached_its_limit(self) -> None:
        with self._store.read() as tx:
            searched = tx.unscoped().jobs.list(state=SEARCHED_JOBS, limit=None)
        if not any(job.limits != JobLimits() for job in searched):
            return
        try:
            with self._store.write() as tx:
                self._check(tx)
                spending.stop_what_reached_its_limit(tx)
        except Fenced:
            self._lease = None  # the next step tries to lead again

    def _write_costs(self) -> None:
        """Write what waiting candidates are believed to cost by now."""
        costs = self._mirror.take_costs()
        if not costs:
            return
        try:
            with self._store.write() as tx:
                self._check(tx)
                candidates.write_costs(tx, costs)
        except Fenced:
            self._lease = None  # the next step tries to lead again

    def _tell_what_is_blocked(self) -> None:
        with self._store.read() as tx:
            overdue = self._blocked.overdue(waiting.blocked(tx))
        if not overdue:
            return
        with self._store.write() as tx:
            for job_id, reason in overdue.items():
                waiting.tell(tx, job_id, reason)

    def _tell_who_starves(self) -> None:
        """Tell the providers of tenants that wait longer than the policy promises, once a wait."""
        state = self._mirror.state
        news = self._starving.news(state, self._mirror.policy)
        if not news:
            return
        with self._store.write() as tx:
            for tenant, wait in news:
                seconds, steps = state.now - wait.moment, state.step - wait.step
                waiting.tell_of_starvation(tx, tenant, seconds, steps)

    def step_down(self) -> None:
        """Let a stand-by lead at once."""
        if self._lease is not None:
            with self._store.write() as tx:
                tx.leases.release(SCHEDULER_LEASE, self._holder)
            self._lease = None

    def _lead(self) -> bool:
        if self._lease is not None and self._is_fresh(self._lease):
            return True
        with self._store.write() as tx:
            lease = tx.leases.acquire(SCHEDULER_LEASE, self._holder, self._lease_seconds)
        if lease is not None and (self._lease is None or lease.epoch != self._lease.epoch):
            _log.info("leading", epoch=lease.epoch)
            with self._store.read() as tx:
                registry = knowledge_base.current(tx, self._installed)
                self._mirror = SearchMirror(self._policy_in_force(tx), registry)
                self._mirror.move_to(tx.now())
            self._parts = 0
            self._seq = 0
        self._lease = lease
        return lease is not None

    def _policy_in_force(self, tx: Transaction) -> Policy:
        """Return the policy that a provider chose while easeml runs, or the one of the settings."""
        if self._settings is None:
            return self._policy
        chosen = kept_settings.kept(tx, self._settings).get("policy")
        if chosen is None:
            return self._policy
        try:
            return policy_named(chosen)
        except InvalidInput as error:  # a plug-in that brought it is gone
            _log.warning("the policy that was chosen cannot be used", error=str(error))
            return self._policy

    def _is_fresh(self, lease: Lease) -> bool:
        """Is most of the lease still to come?

        Then it is not renewed yet: each look would take the writers' lock.
        """
        with self._store.read() as tx:
            return tx.now() < lease.expires - _RENEW_BELOW * self._lease_seconds

    def _start_jobs(self) -> None:
        with self._store.read() as tx:
            preparing = tx.unscoped().jobs.count(state=JobState.PREPARING)
        if preparing:
            with self._store.write() as tx:
                self._check(tx)
                job_states.start_ready_jobs(tx, self._mirror.registry)

    def _changes(self) -> tuple[list[str], list[str]]:
        """Return the ids of jobs that changed, and of those for which a task, or the search, ended,
        since the last time.

        A new leader takes all of them.
        """
        with self._store.read() as tx:
            if self._seq == 0:
                self._seq = tx.events.last()
                everything = [job.id for job in tx.unscoped().jobs.list(limit=None)]
                return everything, everything
            events = tx.events.after(self._seq, limit=_EVENTS_AT_ONCE)
            if any(event.kind == "module.ready" for event in events):
                self._mirror.registry = knowledge_base.current(tx, self._installed)
            if any(event.kind == kept_settings.EVENT for event in events):
                self._mirror.follow_policy(self._policy_in_force(tx))
        if events:
            self._seq = events[-1].seq
        again, self._again = self._again, set()
        changed = [event.job_id for event in events if self._is_news(event)]
        ended = [event for event in events if event.kind in _MAY_PROMOTE]
        finished = [job_id for event in ended if (job_id := event.job_id)]
        return list(dict.fromkeys([*again, *changed])), list(dict.fromkeys([*again, *finished]))

    def _is_news(self, event: Event) -> bool:
        """May the search of the event's job have to be looked at?

        That a task starts is no news, nor that one waits which this scheduler has written.
        """
        if not event.job_id or event.kind == "task.running":
            return False
        is_own = self._mirror.knows_task(event.job_id, event.subject)
        return not (event.kind == "task.waiting" and is_own)

    def _sync(self, job_id: str) -> None:
        with self._store.read() as tx:
            self._mirror.sync(tx, tx.unscoped().jobs.get(job_id))

    def _promote(self, job_id: str) -> None:
        with self._store.write() as tx:
            self._check(tx)
            job = tx.unscoped().jobs.get(job_id)
            promotion.consider(tx, job.application_id)
            promotion.look_at_the_end(tx, job)

    def _note_progress(self, job_id: str) -> None:
        if not self._mirror.knows(job_id):
            return
        with self._store.write() as tx:
            self._check(tx)
            if proposals.add_proposals(
                tx,
                self._mirror.registry,
                self._optimizer,
                job_id,
                self._mirror.state,
                self._mirror.costs(tx),
            ):
                return  # the next step follows, with what was added
            job = job_states.update_progress(tx, job_id, self._mirror.state)
            ensembling.request(tx, job)
            refitting.request(tx, self._mirror.registry, job)
            job_states.note_whether_settled(tx, job)
        if job.state != JobState.RUNNING:
            self._mirror.hold(job_id)

    def _hurry_who_was_raised(self) -> None:
        """Let what tenants of a raised priority have in the queue go first."""
        if not (self._urgent.is_on and self._mirror.raised):
            return
        with self._store.write() as tx:
            self._check(tx)
            self._urgent.hurry(tx, self._mirror)

    def _decide(self) -> None:
        self._again.update(self._move_to_now())
        if not self._mirror.state.waiting:
            return
        free = self._free_devices() - self._decide_urgent()
        if free > 0:
            self._mirror.follow_costs()
        while free > 0:
            choices = self._mirror.decide(free)
            if not choices:
                return
            written = sum(self._write(choice) for choice in choices)
            free -= written
            if written == len(choices):
                return  # the policy had no more to give, or all devices are taken

    def _decide_urgent(self) -> int:
        """Start what is urgent, though all devices are busy; return how many tasks it is."""
        free = self._urgent.free_devices(self._mirror)
        if free > 0:
            self._mirror.follow_costs()
        written = 0
        while written < free:
            choice = self._mirror.decide_urgent()
            if choice is None or not self._write(choice, urgent=True):
                break
            written += 1
        return written

    def _make_room(self) -> None:
        """Ask tasks to end for urgent ones that wait, as the rule of preemption says."""
        chosen = self._urgent.to_end(self._mirror)
        if not chosen:
            return
        assert self._lease is not None
        changes = self._mirror.unwritten
        with self._store.write() as tx:
            self._check(tx)
            for task in chosen:
                tx.queue.ask_to_end(task)
            log.append(tx, self._lease.epoch, self._parts, changes)
        self._noted(len(changes))

    def _move_to_now(self) -> list[str]:
        with self._store.read() as tx:
            return self._mirror.move_to(tx.now())

    def _write(self, choice: Decision, *, urgent: bool = False) -> bool:
        """Write one decision; False (and the job is held until its next change) if it could not be."""
        assert self._lease is not None
        task = None
        changes = self._mirror.unwritten
        cost = float(self._mirror.state.job(choice.job).costs[choice.arm])
        try:
            with self._store.write() as tx:
                self._check(tx)
                task = training_tasks.write_decision(
                    tx,
                    self._mirror.registry,
                    choice,
                    choice.policy,
                    self._lease.epoch,
                    cost,
                    urgent=urgent,
                )
                log.append(tx, self._lease.epoch, self._parts, changes)
            self._noted(len(changes))
        except Fenced:
            raise
        except Exception:
            _log.exception("decision could not be written", job=choice.job)
        if task is None:
            self._mirror.hold(choice.job)
            return False
        self._mirror.start(choice.job, choice.arm, task.id)
        return True

    def _write_log(self) -> None:
        """Write what changed since the last decision, for those who look at what is seen now."""
        changes = self._mirror.unwritten
        if self._lease is None or all(change.kind == "set_now" for change in changes):
            return
        try:
            with self._store.write() as tx:
                self._check(tx)
                log.append(tx, self._lease.epoch, self._parts, changes)
        except Fenced:
            self._lease = None  # the next step tries to lead again
            return
        self._noted(len(changes))

    def _noted(self, count: int) -> None:
        self._mirror.written(count)
        self._parts += 1

    def _free_devices(self) -> int:
        with self._store.read() as tx:
            under_way = tx.unscoped().tasks.count(lane=Lane.SEARCH, state=TASKS_UNDER_WAY)
        return _TASKS_A_WORKER * live_workers(self._store, self._lease_seconds) - under_way

    def _check(self, tx: Transaction) -> None:
        assert self._lease is not None
        tx.leases.check(SCHEDULER_LEASE, self._holder, self._lease.epoch)

    def _guarded(self, job_id: str, action: Callable[[str], None]) -> None:
        """Run ``action`` for a job; its failure is logged and stops no other job."""
        try:
            action(job_id)
        except Fenced:
            raise
        except Conflict as error:
            _log.info("a job changed meanwhile", job=job_id, error=str(error))
            self._failed.add(job_id)
        except Exception:
            _log.exception("a job could not be served", job=job_id)
            self._failed.add(job_id)
            if self._mirror.knows(job_id):
                self._mirror.hold(job_id)
