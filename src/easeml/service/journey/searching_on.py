"""Searching on, as a remedy: what limits a search is raised, or what else holds it is told."""

from datetime import UTC, datetime

from easeml.contract.jobs import JobLimits as AskedLimits
from easeml.contract.reports import FollowedRemedy
from easeml.contract.states import ENDED_JOBS, JobState
from easeml.service.access.caller import Caller
from easeml.service.knowledge import rules
from easeml.service.search import jobs, waiting
from easeml.service.search.waiting import WaitsFor
from easeml.store import Store
from easeml.store.records import Application, Job
from easeml.store.shapes import JobLimits

_MORE_TASKS = 20
_MORE_SECONDS = 600.0
_NO_LIMIT_OF_ITS_OWN = (WaitsFor.GAIN, WaitsFor.GPU, WaitsFor.QUOTA)
_LEFT_OUT = (
    "Models that fit are left out of it, and may be right more often; they are let in on the page "
    "of its models: {models}."
)
_UNLIMITED = "The search has no limits: it goes on by itself while it expects to find more."
_UNTIL = (
    "The search goes on until its deadline, and has no other limit. "
    "A later one: easeml job limit ID --deadline"
)
_MOVED = "The deadline of the search had passed or was near: it ends in 10 minutes now."
_RAISED = "The search may try more; its limits are changed: easeml job limit ID --max-tasks N"


def search_on(store: Store, caller: Caller, application: Application) -> FollowedRemedy:
    """Give the search more of what limits it, and let it go on where it was paused.

    A deadline moves only where too little time is left. Where no limit of the search holds it,
    nothing is changed, and what does is told. So are models that its owner left out: they may be
    the ones that are right more often.
    """
    followed = _more_time(store, caller, application)
    with store.read() as tx:
        others = rules.left_out(tx, application)
    if not others:
        return followed
    told = f"{followed.told} {_LEFT_OUT.format(models=', '.join(others))}"
    return followed.model_copy(update={"told": told, "left_out": others})


def _more_time(store: Store, caller: Caller, application: Application) -> FollowedRemedy:
    with store.read() as tx:
        now = tx.now()
        job = jobs.current(tx.scoped(caller.tenant_id), application.id)
        reason = None if job is None else waiting.reasons(tx, [job]).get(job.id)
    if job is None or job.state in ENDED_JOBS:
        return _told(
            "The search has ended for good. New rows begin another: easeml app feed ID FILE"
        )
    if reason is not None and reason.waits_for in _NO_LIMIT_OF_ITS_OWN:
        return _told(f"More time would not help: no limit of the search holds it. {reason.text}")

    is_paused = job.state == JobState.PAUSED
    if is_paused:
        jobs.resume(store, caller, job.id)
    more = _more_of(job.limits, now)
    if more == job.limits:
        unchanged = {True: _UNLIMITED, False: _UNTIL}[job.limits == JobLimits()]
        paused = "It was paused. " * is_paused
        return _told(f"{paused}{unchanged}", done=is_paused)
    _set(store, caller, job, more)
    moved = f" {_MOVED}" * (more.deadline != job.limits.deadline)
    return _told(f"{_RAISED}{moved}", done=True)


def give_time(store: Store, caller: Caller, application: Application) -> str:
    """Move a deadline that has passed or is near, and say so; empty where there is none.

    A search on the next version of the data begins with the limits of the one before, so it would
    rest at once.
    """
    with store.read() as tx:
        now = tx.now()
        job = jobs.current(tx.scoped(caller.tenant_id), application.id)
    if job is None or job.state in ENDED_JOBS:
        return ""
    limits = job.limits
    later = _later(limits.deadline, now)
    if later == limits.deadline:
        return ""
    _set(store, caller, job, JobLimits(limits.tasks, limits.seconds, later))
    return _MOVED


def _told(text: str, *, done: bool = False) -> FollowedRemedy:
    return FollowedRemedy(kind="search", told=text, done=done)


def _more_of(limits: JobLimits, now: float) -> JobLimits:
    """Return limits with more of each that there is."""
    return JobLimits(
        tasks=None if limits.tasks is None else limits.tasks + _MORE_TASKS,
        seconds=None if limits.seconds is None else limits.seconds + _MORE_SECONDS,
        deadline=_later(limits.deadline, now),
    )


def _later(deadline: float | None, now: float) -> float | None:
    """Return a deadline that leaves time for what may be spent more."""
    return None if deadline is None else max(deadline, now + _MORE_SECONDS)


def _set(store: Store, caller: Caller, job: Job, limits: JobLimits) -> None:
    ends = None if limits.deadline is None else datetime.fromtimestamp(limits.deadline, UTC)
    wish = AskedLimits(max_tasks=limits.tasks, max_seconds=limits.seconds, deadline=ends)
    jobs.set_limits(store, caller, job.id, wish)
