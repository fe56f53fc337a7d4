"""The scheduler: one leader that decides, over the jobs of all tenants, what is trained next."""

from collections.abc import Callable, Sequence

import structlog

from easeml.contract.states import TASKS_UNDER_WAY, JobState, Lane
from easeml.errors import Conflict, Fenced
from easeml.ids import new_id
from easeml.modules import Module, Registry
from easeml.search import Decision, Policy
from easeml.search.optimizers import Optimizer, optimizer_named
from easeml.search.preemption import LeastDelay, rule_named
from easeml.service.administration import kept_settings
from easeml.service.knowledge import gpus, knowledge_base
from easeml.service.models import ensembling, promotion, refitting
from easeml.service.search import (
    candidates,
    job_states,
    log,
    proposals,
    training_tasks,
)
from easeml.service.tasks import needs
from easeml.settings import Settings
from easeml.store import Store, Transaction
from easeml.store.records import Event

from .chosen_settings import Choices
from .device_speeds import follow_paces
from .housekeeping import live_workers
from .leadership import Leadership
from .rested_searches import RestedSearches, under_way
from .search_mirror import SearchMirror
from .upkeep import Upkeep
from .urgent import UrgentWork

_TASKS_A_WORKER = 2  # one that runs and one ahead, so that no device waits for a decision
_EVENTS_AT_ONCE = 500
_PUT_AWAY_OR_BACK = {"module.archived", "module.restored"}
_MAY_PROMOTE = ("task.done", "task.failed", "job.resting", "job.stopped")
_log = structlog.get_logger()


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
        optimizer: Optimizer | Module | None = None,
        settings: Settings | None = None,
    ):
        """``optimizer``: of configurations; easeml's own by default.

        ``settings``: with them policy and optimizer may be others, which the database keeps.
        """
        self._choices = Choices(settings, policy, optimizer or optimizer_named())
        self._store = store
        self._installed = registry
        rule = rule_named(settings.preemption if settings else LeastDelay.name)
        self._urgent = UrgentWork(store, rule, lease_seconds)
        self._lease_seconds = lease_seconds
        self._leadership = Leadership(store, holder or new_id("proc"), lease_seconds)
        self._epoch = 0  # of the lease whose searches are mirrored
        self._upkeep = Upkeep(store, self._leadership, lease_seconds, settings)
        self._mirror = SearchMirror(policy, registry)
        self._parts = 0  # of the log that this leader has written
        self._seq = 0
        self._failed: set[str] = set()
        self._again: set[str] = set()
        self._rested = RestedSearches()

    def step(self) -> None:
        """Follow what changed and decide for free devices; as a stand-by, only try to become the
        leader.
        """
        try:
            if not self._lead():
                return
            self._start_jobs()
            changed, finished = self._changes()
            self._for_each(changed, self._sync)
            self._for_each(finished, self._promote)
            self._for_each(changed, self._note_progress)
            self._hurry_who_was_raised()
            self._leadership.keep()
            self._decide()
            self._make_room()
        except Fenced:
            return  # the next step tries to lead again

    @property
    def looks_at_rested(self) -> bool:
        """Are there searches at rest that this leader has not looked at yet?"""
        return self._rested.are_left

    def has_news(self) -> bool:
        """Did anything happen since the last step that may change what is decided?

        Most commits are heartbeats, or say what this leader wrote itself, or that a task began,
        which frees no device: steps for these would take most of its time.
        """
        with self._store.read() as tx:
            if self._seq == 0:  # it does not lead yet
                return tx.events.last() != 0
            events = tx.events.after(self._seq, limit=_EVENTS_AT_ONCE)
        if not all(map(self._is_expected, events)):
            return True
        if events:
            self._seq = events[-1].seq
        return False

    def keep_house(self) -> None:
        """Do the regular duties of a leader; let the next step try again what failed for a job."""
        self._again, self._failed = self._failed, set()
        if not self._leadership.is_held:
            return
        self._again.update(self._rested.next())
        with self._store.read() as tx:
            self._again.update(self._mirror.move_to(tx.now()))
            self._follow_gpus(tx)
            self._mirror.follow_terms(tx, self._mirror.tenants)
        try:
            self._write_costs()
            self._upkeep.look(self._mirror)
            self._write_log()
        except Fenced:
            return  # the next step tries to lead again

    def _follow_gpus(self, tx: Transaction) -> None:
        """Look at all searches again where a first worker with a GPU came, or the last one went."""
        has_gpu = gpus.workers(tx) > 0
        if has_gpu == self._mirror.has_gpu:
            return
        self._rested.take(tx)
        self._again.update(self._mirror.follow_gpus(has_gpu))

    def _write_costs(self) -> None:
        """Write what waiting candidates are believed to cost by now."""
        costs = self._mirror.take_costs()
        if not costs:
            return
        with self._leadership.write() as tx:
            candidates.write_costs(tx, costs)

    def step_down(self) -> None:
        """Let a stand-by lead at once."""
        self._leadership.release()

    def _lead(self) -> bool:
        """Lead, or go on to; a new leader mirrors the searches from the beginning."""
        if not self._leadership.take():
            return False
        if self._leadership.epoch != self._epoch:
            self._epoch = self._leadership.epoch
            _log.info("leading", epoch=self._epoch)
            with self._store.read() as tx:
                registry = knowledge_base.current(tx, self._installed)
                self._mirror = SearchMirror(self._choices.policy(tx), registry)
                self._mirror.move_to(tx.now())
            self._parts = 0
            self._seq = 0
        return True

    def _start_jobs(self) -> None:
        with self._store.read() as tx:
            preparing = tx.unscoped().jobs.count(state=JobState.PREPARING)
        if preparing:
            with self._leadership.write() as tx:
                job_states.start_ready_jobs(tx, self._mirror.registry, self._mirror.costs(tx))

    def _changes(self) -> tuple[list[str], list[str]]:
        """Return the ids of jobs that changed, and of those for which a task, or the search, ended,
        since the last time.

        A new leader takes all of them; those that had come to rest, one after the other.
        """
        with self._store.read() as tx:
            if self._seq == 0:
                self._seq = tx.events.last()
                self._rested.take(tx)
                open_jobs = under_way(tx)
                return open_jobs, open_jobs
            events = tx.events.after(self._seq, limit=_EVENTS_AT_ONCE)
            self._follow_providers(tx, {event.kind for event in events})
        if events:
            self._seq = events[-1].seq
        again, self._again = self._again, set()
        changed = [event.job_id for event in events if self._is_news(event)]
        ended = [event.job_id for event in events if event.job_id and event.kind in _MAY_PROMOTE]
        # Each job once, those that failed before first.
        return list(dict.fromkeys([*again, *changed])), list(dict.fromkeys([*again, *ended]))

    def _follow_providers(self, tx: Transaction, kinds: set[str]) -> None:
        """Take over other modules and another policy, as events of these kinds tell."""
        if kinds & {"module.ready", *_PUT_AWAY_OR_BACK}:
            self._mirror.follow_registry(knowledge_base.current(tx, self._installed))
        if kept_settings.EVENT in kinds:
            self._mirror.follow_policy(self._choices.policy(tx))
        if kinds & _PUT_AWAY_OR_BACK:  # every search that has it tries it no more, or again
            running = tx.unscoped().jobs.column("id", state=JobState.RUNNING)
            self._again |= set(running)

    def _is_news(self, event: Event) -> bool:
        """May the search of the event's job have to be looked at?

        That a task starts is no news, nor that one waits which this scheduler has written.
        """
        return bool(event.job_id) and not self._is_expected(event)

    def _is_expected(self, event: Event) -> bool:
        """Does it tell that a task began, or that one waits which this scheduler has written?"""
        if event.kind != "task.waiting":
            return event.kind == "task.running"
        return self._mirror.knows_task(event.job_id, event.subject)

    def _sync(self, job_id: str) -> None:
        with self._store.read() as tx:
            self._mirror.sync(tx, tx.unscoped().jobs.get(job_id))

    def _promote(self, job_id: str) -> None:
        with self._leadership.write() as tx:
            job = tx.unscoped().jobs.get(job_id)
            promotion.consider(tx, job.application_id)
            promotion.look_at_the_end(tx, job)

    def _note_progress(self, job_id: str) -> None:
        if not self._mirror.knows(job_id):
            return
        with self._leadership.write() as tx:
            if proposals.add_proposals(
                tx,
                self._mirror.registry,
                self._choices.optimizer(tx, self._mirror.registry),
                job_id,
                self._mirror.state,
                self._mirror.costs(tx),
            ):
                return  # the next step follows, with what was added
            job = job_states.update_progress(tx, job_id, self._mirror.state)
            ensembling.request(tx, job)
            refitting.request(tx, self._mirror.registry, job)
            is_settled = job_states.note_whether_settled(tx, job)
        if is_settled:
            self._mirror.let_rest(job)
        elif job.state != JobState.RUNNING:
            self._mirror.hold(job_id)

    def _hurry_who_was_raised(self) -> None:
        """Let what tenants of a raised priority have in the queue go first."""
        if not (self._urgent.is_on and self._mirror.raised):
            return
        with self._leadership.write() as tx:
            self._urgent.hurry(tx, self._mirror)

    def _decide(self) -> None:
        with self._store.read() as tx:
            self._again.update(self._mirror.move_to(tx.now()))
            if not self._mirror.state.waiting:
                return
            free = self._free_devices(tx)
        free -= self._decide_urgent()
        if free > 0 and self._mirror.follow_costs():
            follow_paces(self._store, self._leadership, self._mirror.pace)
        while free > 0:
            choices = self._mirror.decide(free)
            if not choices:
                return
            written = sum(map(self._write, choices))
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
        changes = self._mirror.unwritten
        with self._leadership.write() as tx:
            for task in chosen:
                tx.queue.ask_to_end(task)
            log.append(tx, self._epoch, self._parts, changes)
        self._noted(len(changes))

    def _write(self, choice: Decision, *, urgent: bool = False) -> bool:
        """Write one decision; False (and the job is held until its next change) if it could not be."""
        task = None
        changes = self._mirror.unwritten
        cost = float(self._mirror.state.job(choice.job).costs[choice.arm])
        try:
            with self._leadership.write() as tx:
                task = training_tasks.write_decision(
                    tx,
                    self._mirror.registry,
                    choice,
                    choice.policy,
                    self._epoch,
                    cost,
                    urgent=urgent,
                )
                log.append(tx, self._epoch, self._parts, changes)
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
        if all(change.kind == "set_now" for change in changes):
            return
        with self._leadership.write() as tx:
            log.append(tx, self._epoch, self._parts, changes)
        self._noted(len(changes))

    def _noted(self, count: int) -> None:
        self._mirror.written(count)
        self._parts += 1

    def _free_devices(self, tx: Transaction) -> int:
        taken = {"lane": Lane.SEARCH, "state": TASKS_UNDER_WAY}
        if not self._mirror.has_gpu:
            taken["gpu"] = False  # what waits for a GPU keeps no other device busy
        under_way = tx.unscoped().tasks.count(**taken)
        # Nor does what fits no machine.
        under_way -= len(needs.stuck(tx, lane=Lane.SEARCH))
        workers = live_workers(tx, self._lease_seconds)
        return _TASKS_A_WORKER * workers - under_way

    def _for_each(self, job_ids: Sequence[str], action: Callable[[str], None]) -> None:
        for job_id in job_ids:
            self._leadership.keep()
            self._guarded(job_id, action)

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
