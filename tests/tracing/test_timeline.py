"""From lines of processes to bars on one clock, and to Chrome's format."""

import json
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from easeml.tracing import chrome_trace, exchange, read_trace, timeline_of
from easeml.tracing.lines import (
    ClockLine,
    CodeLine,
    Line,
    ProcessLine,
    SamplesLine,
    SpanLine,
    StackLine,
    written,
)

small = st.floats(0, 1)


def process(name: str, boot: str = "a", monotonic: float = 0.0, wall: float = 0.0) -> ProcessLine:
    return ProcessLine(name=name, pid=7, boot=boot, monotonic=monotonic, wall=wall)


def text(*lines: Line) -> bytes:
    return b"".join(map(written, lines))


@given(
    offsets=st.lists(st.floats(0, 1e6), min_size=2, max_size=3),
    there=st.lists(small, min_size=9, max_size=9),
    back=st.lists(small, min_size=9, max_size=9),
    moment=st.floats(0, 1e5),
)
def test_clocks_of_machines_are_aligned_to_half_a_round_trip(offsets, there, back, moment) -> None:
    """Machines whose clocks began at other times all note one moment; ways there and back differ."""
    lines: list[Line] = []
    for number, offset in enumerate(offsets):
        now = [moment + offset]
        ways = iter(list(zip(there, back, strict=True))[3 * number :])

        def database(now=now, offset=offset, ways=ways) -> float:
            to, fro = next(ways)
            answered = now[0] + to - offset
            now[0] += to + fro
            return answered

        answer = exchange(database, lambda now=now: now[0])
        lines += [process(f"worker {number}", boot=str(number)), answer]
        lines += [process(f"task {number}", boot=str(number))]  # asks nothing itself
        lines += [SpanLine(name="it", begin=moment + offset, end=moment + offset)]
    found = timeline_of(read_trace(text(*lines)))
    assert found.error is not None
    for track in found.tracks:
        assert abs(track.bars[0].begin - moment) <= found.error + 1e-6


def test_a_machine_that_asked_nobody_goes_by_its_own_clock_and_says_so() -> None:
    asked = [process("worker"), ClockLine(sent=1.0, received=1.0, database=101.0)]
    alone = [process("task", boot="b", monotonic=5.0, wall=105.5)]
    found = timeline_of(
        read_trace(text(*asked, *alone, SpanLine(name="it", begin=6.0, end=7.0))),
    )
    assert found.error is None
    assert (found.begin, found.end) == (106.5, 107.5)


stacks = st.lists(st.integers(0, 3), max_size=4)
looks = st.lists(st.tuples(st.integers(1, 9), st.one_of(st.none(), stacks)), max_size=30)


@given(looks)
def test_a_function_has_the_time_of_the_looks_that_saw_it(seen) -> None:
    """Against the plain sum: a look tells of the time since the look before; None: it was off."""
    kinds = sorted({tuple(stack) for _, stack in seen if stack is not None})
    lines: list[Line] = [process("task")]
    lines += [CodeLine(name=f"f{number}", module="m", number=1) for number in range(4)]
    lines += [StackLine(frames=list(stack)) for stack in kinds]
    times, places = [0.0], [-1]
    expected: Counter[tuple[str, int]] = Counter()
    for seconds, stack in seen:
        times.append(times[-1] + seconds)
        places.append(-1 if stack is None else kinds.index(tuple(stack)))
        for depth, number in enumerate(stack or []):
            expected[f"f{number}", depth] += seconds
    lines.append(SamplesLine(thread="MainThread", times=times, stacks=places))
    tracks = timeline_of(read_trace(text(*lines))).tracks
    found: Counter[tuple[str, int]] = Counter()
    for track in tracks:
        for bar in track.bars:
            found[bar.name, bar.depth] += round(bar.end - bar.begin)
    assert found == expected


def test_chrome_gets_complete_events_in_microseconds_that_lie_within_each_other() -> None:
    lines = [process("task"), CodeLine(name="outer", module="m", number=3)]
    lines += [CodeLine(name="inner", module="m", number=9)]
    lines += [StackLine(frames=[0]), StackLine(frames=[0, 1])]
    lines += [SamplesLine(thread="MainThread", times=[1.0, 1.5, 2.0], stacks=[-1, 1, 0])]
    document = json.loads(chrome_trace(timeline_of(read_trace(text(*lines))), task="t"))
    events = {event["name"]: event for event in document["traceEvents"] if event["ph"] == "X"}
    assert (events["outer"]["ts"], events["outer"]["dur"]) == (0, 1_000_000)
    assert (events["inner"]["ts"], events["inner"]["dur"]) == (0, 500_000)
    assert events["inner"]["args"] == {"module": "m", "line": 9}
    assert document["otherData"]["task"] == "t"


good = text(
    process("task"),
    CodeLine(name="f", module="m", number=1),
    StackLine(frames=[0]),
    SamplesLine(thread="t", times=[1.0, 2.0], stacks=[0, 0]),
    SpanLine(name="s", begin=0.0, end=1.0),
)


@given(st.lists(st.tuples(st.integers(0, len(good) - 1), st.binary(max_size=3)), max_size=8))
def test_what_a_body_spoils_is_passed_over(changes) -> None:
    spoilt = bytearray(good)
    for place, content in changes:
        spoilt[place : place + len(content)] = content
    json.loads(chrome_trace(timeline_of(read_trace(bytes(spoilt)))))


def test_numbers_that_point_nowhere_are_passed_over() -> None:
    lines = [
        StackLine(frames=[5]),
        SamplesLine(thread="t", times=[1.0], stacks=[3]),
        SamplesLine(thread="t", times=[1.0, 2.0], stacks=[-1]),
        SpanLine(name="s", begin=2.0, end=1.0),
    ]
    assert timeline_of(read_trace(text(process("task"), *lines))).tracks == ()
    assert read_trace(text(*lines)).processes == ()
