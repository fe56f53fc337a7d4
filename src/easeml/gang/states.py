"""When the processes of a job start, end and start again (pure): events in, one command out."""

from dataclasses import dataclass, field, replace
from enum import StrEnum

from .plan import Job, Member


@dataclass(frozen=True, slots=True)
class Exited:
    """A process ended. ``code``: its exit code; below 0, the number of the signal that ended it."""

    member: Member
    code: int

    def follow(self, state: "State") -> "tuple[State, Command]":
        """Return the state after a process ended, and what that means for the others."""
        state = _without(state, self)
        if not state.running:
            return _after_attempt(state)
        if state.is_ending:
            return state, Command.WAIT
        if state.has_failed or state.runs_background_only:
            return replace(state, is_ending=True), Command.ASK
        return state, Command.WAIT


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The person wants the job to end."""

    def follow(self, state: "State") -> "tuple[State, Command]":
        """Return the state after the person asked for the end of the job."""
        asked = replace(state, is_ending=True, is_interrupted=True)
        if state.is_ending:
            return asked, Command.KILL  # who asks twice does not want to wait for the grace
        return asked, Command.ASK


@dataclass(frozen=True, slots=True)
class Overdue:
    """The processes of an attempt were asked to end, and their time for it is over."""

    attempt: int

    def follow(self, state: "State") -> "tuple[State, Command]":
        """Return the same state: those that still run in that attempt are to be killed."""
        if state.is_ending and self.attempt == state.attempt:
            return state, Command.KILL
        return state, Command.WAIT


Event = Exited | Interrupted | Overdue


class Command(StrEnum):
    """What is to be done after an event. ``ask``: to end; ``finish``: nothing runs any more."""

    WAIT = "wait"
    START = "start"
    ASK = "ask"
    KILL = "kill"
    FINISH = "finish"


class Ending(StrEnum):
    """How a job ended."""

    DONE = "done"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Death:
    """The process that ended an attempt, since it died first."""

    member: Member
    code: int
    attempt: int


@dataclass(frozen=True, slots=True)
class State:
    """Where a job stands.

    ``running``: processes that have not ended. ``is_ending``: all of them were asked to end.
    ``deaths``: who died first in each attempt in which one did.
    """

    job: Job
    attempt: int = 1
    running: frozenset[Member] = field(default_factory=frozenset)
    is_ending: bool = False
    is_interrupted: bool = False
    deaths: tuple[Death, ...] = ()

    @property
    def has_failed(self) -> bool:
        """Did a process die in this attempt?"""
        if not self.deaths:
            return False
        return self.deaths[-1].attempt == self.attempt

    @property
    def ending(self) -> Ending:
        """How the job ended, once nothing runs."""
        if self.is_interrupted:
            return Ending.INTERRUPTED
        if self.has_failed:
            return Ending.FAILED
        return Ending.DONE

    @property
    def runs_background_only(self) -> bool:
        """Does nothing run any more but what the job does not wait for?"""
        return all(map(self.job.is_background, self.running))


def begin(job: Job) -> State:
    """Return the state of a job whose processes are about to be started."""
    return State(job, running=frozenset(job.members))


def follow(state: State, event: Event) -> tuple[State, Command]:
    """Return the state after an event, and what is to be done.

    After ``START`` all processes of the new state's ``attempt`` are to be started; after ``ASK``
    and ``KILL`` all that run are meant.
    """
    return event.follow(state)


def _without(state: State, event: Exited) -> State:
    """Return the state without a process that ended, which may have died."""
    running = state.running - {event.member}
    # What ends because it was asked to has not died.
    if event.code == 0 or state.is_ending:
        return replace(state, running=running)
    death = Death(event.member, event.code, state.attempt)
    return replace(state, running=running, deaths=(*state.deaths, death))


def _after_attempt(state: State) -> tuple[State, Command]:
    """Return what follows when nothing runs any more: another attempt, or the end."""
    if state.is_interrupted or not state.has_failed:
        return state, Command.FINISH
    if state.attempt > state.job.restarts:
        return state, Command.FINISH
    again = State(
        state.job,
        attempt=state.attempt + 1,
        running=frozenset(state.job.members),
        deaths=state.deaths,
    )
    return again, Command.START
