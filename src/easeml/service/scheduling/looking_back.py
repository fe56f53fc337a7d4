"""One decision, with all that was seen when it was made."""

from collections.abc import Sequence

import numpy as np

from easeml.contract.scheduling import (
    Believed,
    DecisionView,
    Device,
    DeviceTask,
    OtherPolicy,
    Searching,
)
from easeml.contract.states import BelievedState, Lane
from easeml.errors import NotFound
from easeml.search import Posterior, SearchJob, installed_policies
from easeml.service.access.caller import Caller
from easeml.service.access.tenant_view import TenantView
from easeml.service.scheduling import decisions
from easeml.service.scheduling.sentences import sentence
from easeml.service.scheduling.timelines import device_task, was_running
from easeml.service.search.moments import Moment, moment_of
from easeml.store import Store, Transaction
from easeml.store.records import Decision

_SHOWN = 4  # candidates of a search, by gain a second
_ALL_OF_ONE = 30  # where there is only one search to show
_LEAST = 1.0  # seconds after a decision that are shown
_AROUND = 30.0  # seconds of the devices' work before and after


def show(store: Store, caller: Caller, number: int) -> DecisionView:
    """Return decision ``number`` of all tenants, with what was believed then.

    The beliefs are those before and after its result.

    What every policy would have chosen is told, too. Raises ``NotFound``.
    """
    with store.read() as tx:
        found = tx.unscoped().decisions.list(skip=max(0, number - 1), limit=1)
        if number < 1 or not found:
            raise NotFound("There is no such decision.", where=f"decision {number}")
        decision = found[0]
        view = TenantView.of(tx, caller)
        (step,) = decisions.page(store, caller, after=number - 1, limit=1).items
        searches: list[Searching] = []
        others: list[OtherPolicy] = []
        moment = moment_of(store, decision.task_id)
        if moment is not None:
            searches = _searches(tx, view, moment)
            others = _others(tx, view, moment)
        devices, timeline = _devices(tx, view, decision)
        return DecisionView(
            step=step,
            count=tx.unscoped().decisions.count(),
            searches=searches,
            others=others,
            devices=devices,
            timeline=timeline,
            since=decision.created - _AROUND,
            until=min(decision.created + _AROUND, max(tx.now(), decision.created + _LEAST)),
        )


def _searches(tx: Transaction, view: TenantView, moment: Moment) -> list[Searching]:
    """Return the searches in the order in which their tenants came; the same at every decision."""
    jobs = list(moment.seen.state.jobs.values())
    applications = decisions.applications_of(tx, moment.seen.state.jobs)
    most = _ALL_OF_ONE if len(jobs) == 1 else _SHOWN
    found = []
    for job in sorted(jobs, key=lambda one: (view.place(one.tenant), one.name)):
        application = applications[job.name]
        sees = view.sees(job.tenant)
        searching = Searching(
            tenant=view.name(job.tenant),
            place=view.place(job.tenant),
            own=view.is_own(job.tenant),
            application=application.name if sees else "",
            application_id=application.id if view.is_own(job.tenant) else "",
            best=job.best,
            chosen=job.name == moment.job,
            candidates=_believed(job, moment, most, names_shown=sees),
            of=len(job.arms),
        )
        found.append(searching)
    return found


def _believed(job: SearchJob, moment: Moment, most: int, *, names_shown: bool) -> list[Believed]:
    """Return the candidates of a job that matter most, the most gain a second first."""
    rates = job.gains / job.costs
    shown = set(job.startable[np.argsort(-rates[job.startable])][:most].tolist())
    shown.update(job.running)
    if job.name == moment.job:
        shown.add(moment.arm)
    arms = np.array(sorted(shown, key=lambda arm: -rates[arm]), dtype=int)
    means, variances = job.believed.about(arms)
    after = _after(job, moment, arms)
    found = []
    for place, arm in enumerate(arms.tolist()):
        mean_after, sd_after = after[place]
        name = job.arms[arm].name if names_shown else f"candidate {place + 1}"
        believed = Believed(
            name=name,
            state=_state(job, arm, moment),
            mean=float(means[place]),
            sd=float(np.sqrt(variances[place])),
            cost=float(job.costs[arm]),
            gain=float(job.gains[arm]),
            mean_after=mean_after,
            sd_after=sd_after,
        )
        found.append(believed)
    return found


def _after(
    job: SearchJob, moment: Moment, arms: np.ndarray
) -> Sequence[tuple[float | None, float | None]]:
    """Return mean and standard deviation of arms with the result of the decision, if it is there."""
    posterior: Posterior | None = moment.after
    if job.name != moment.job or posterior is None:
        return [(None, None)] * arms.size
    means, variances = posterior.about(arms)
    return list(zip(means.tolist(), np.sqrt(variances).tolist(), strict=True))


def _state(job: SearchJob, arm: int, moment: Moment) -> BelievedState:
    if (job.name, arm) == (moment.job, moment.arm):
        return BelievedState.CHOSEN
    if arm in job.running:
        return BelievedState.RUNNING
    return BelievedState.OPEN


def _others(tx: Transaction, view: TenantView, moment: Moment) -> list[OtherPolicy]:
    """Return what each installed policy would have started, had it seen the same."""
    state = moment.choice_from
    applications = decisions.applications_of(tx, state.jobs)
    found = []
    for name, policy in installed_policies().by_name.items():
        choices = policy.decide(state, 1)
        if not choices:
            found.append(OtherPolicy(policy=name, sentence="it would have waited", same=False))
            continue
        choice = choices[0]
        job = state.job(choice.job)
        sees = view.sees(job.tenant)
        who = applications[job.name].name if sees else view.name(job.tenant)
        candidate = job.arms[choice.arm].name if sees else "a candidate"
        told = sentence(choice.explanation, who, candidate)
        same = (choice.job, choice.arm) == (moment.job, moment.arm)
        found.append(OtherPolicy(policy=name, sentence=told, candidate=candidate, same=same))
    return found


def _devices(
    tx: Transaction, view: TenantView, decision: Decision
) -> tuple[list[Device], list[DeviceTask]]:
    """Return what the devices of the search did around a decision."""
    tables = tx.unscoped()
    since = decision.created - _AROUND
    until = decision.created + _AROUND
    attempts = tables.attempts.list(limit=None)
    around = [one for one in attempts if one.started <= until and was_running(one, since)]
    tasks = tables.tasks.by_id(id=[one.task_id for one in around], lane=Lane.SEARCH)

    device_of: dict[str, int] = {}  # by process, in the order in which they began
    timeline = []
    for attempt in around:
        if attempt.task_id in tasks:
            device = device_of.setdefault(attempt.process_id, len(device_of))
            timeline.append(device_task(attempt, tasks[attempt.task_id], device, view))
    devices = [Device(name=str(number), here=True) for number in range(1, len(device_of) + 1)]
    return devices, timeline
