"""The state machine of a job: laws that hold whatever ends when."""

from hypothesis import given
from hypothesis import strategies as st

from easeml.gang import Ending, Member, read_job
from easeml.gang.states import (
    Command,
    Event,
    Exited,
    Interrupted,
    Overdue,
    State,
    begin,
    follow,
)

JOB = read_job(
    """
    restarts = 2
    [roles.server]
    command = ["serve"]
    background = true
    [roles.worker]
    command = ["work"]
    count = 2
    """,
    "job.toml",
)
SERVER, FIRST, SECOND = Member("server", 0), Member("worker", 0), Member("worker", 1)


def after(*events: Event) -> tuple[State, list[Command]]:
    """Return the state after events, and what was to be done after each."""
    state = begin(JOB)
    commands = []
    for event in events:
        state, command = follow(state, event)
        commands.append(command)
    return state, commands


def test_the_job_is_done_when_all_but_the_background_are() -> None:
    state, commands = after(Exited(FIRST, 0), Exited(SECOND, 0), Exited(SERVER, -15))
    assert commands == [Command.WAIT, Command.ASK, Command.FINISH]
    assert state.ending == Ending.DONE
    assert state.deaths == ()


def test_when_one_dies_all_end_and_start_again() -> None:
    state, commands = after(
        Exited(FIRST, 0), Exited(SERVER, 3), Overdue(1), Exited(SECOND, -9), Overdue(1)
    )
    assert commands == [Command.WAIT, Command.ASK, Command.KILL, Command.START, Command.WAIT]
    assert state.attempt == 2
    assert state.running == frozenset(JOB.members)
    assert [(death.member, death.code) for death in state.deaths] == [(SERVER, 3)]


def test_an_interrupt_asks_and_a_second_one_kills() -> None:
    state, commands = after(Interrupted(), Interrupted(), *ends(0, -9, 1))
    assert commands[:2] == [Command.ASK, Command.KILL]
    assert commands[-1] == Command.FINISH
    assert state.ending == Ending.INTERRUPTED


def ends(*codes: int) -> list[Event]:
    """Return the ends of all processes, in the order of the file."""
    return [Exited(member, code) for member, code in zip(JOB.members, codes, strict=True)]


@given(st.data())
def test_a_job_always_ends_and_never_starts_what_runs(data: st.DataObject) -> None:
    state, command = begin(JOB), Command.START
    starts = asked = 0
    interrupted = False
    while command != Command.FINISH:
        if command == Command.START:
            starts += 1
            assert state.running == frozenset(JOB.members)
        asked += command == Command.ASK
        running = sorted(state.running, key=str)
        assert running
        exits = st.builds(Exited, st.sampled_from(running), st.sampled_from([0, 0, 1, -9]))
        others = st.sampled_from([Interrupted(), Overdue(state.attempt), Overdue(0)])
        # Ends outnumber the rest, so that the walk is finite.
        event = data.draw(st.one_of(exits, exits, exits, others))
        interrupted = interrupted or isinstance(event, Interrupted)
        before = state
        state, command = follow(state, event)
        if before.is_ending and state.attempt == before.attempt:
            assert command != Command.ASK
    assert state.running == frozenset()
    assert starts == state.attempt <= 1 + JOB.restarts
    assert (state.ending == Ending.INTERRUPTED) == interrupted
    assert len(state.deaths) in (starts - 1, starts)
    if state.ending == Ending.FAILED:
        assert len(state.deaths) == starts == 1 + JOB.restarts
