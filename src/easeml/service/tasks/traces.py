"""What the attempts of a task did, where it was traced."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from easeml.contract.states import AttemptState
from easeml.contract.task_views import TaskTrace, TraceBar, TraceTrack
from easeml.errors import NotFound
from easeml.service.access.caller import Caller
from easeml.service.tasks.logs import read_kept, read_plain
from easeml.store import Store
from easeml.store.records import Attempt, Task
from easeml.store.shapes import given
from easeml.tracing import (
    LARGEST_TRACE,
    TRACE,
    Bar,
    Recorder,
    Timeline,
    Track,
    chrome_trace,
    exchange,
    read_trace,
    timeline_of,
)

_MOST_BARS = 300  # of a track, in a picture
_THINNEST = 1 / 1000  # of the whole, in a picture
_DEEPEST = 12


def chrome(
    store: Store, work: Path, caller: Caller, task_id: str, *, attempt: int | None = None
) -> bytes:
    """Return what an attempt did in Chrome's trace format; ``attempt`` None: the newest traced.

    ``work``: the folder with the work folders of the workers. Raises ``NotFound``.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        task = tables.tasks.get(task_id)
        wanted = given(number=attempt)
        attempts = tables.attempts.list(task_id=task.id, limit=None, **wanted)
    found = _newest(store, work, task, attempts)
    if found is None:
        raise NotFound(
            "The task was not traced.",
            where=task_id,
            remedy="Switch the trace on while it waits or runs: easeml task trace ID --on.",
        )
    number, timeline = found
    return chrome_trace(timeline, task=task_id, attempt=number)


def picture(store: Store, work: Path, task: Task, attempts: Sequence[Attempt]) -> TaskTrace | None:
    """Return what a picture shows of the newest attempt that was traced; None without any."""
    found = _newest(store, work, task, attempts)
    if found is None:
        return None
    number, timeline = found
    shortest = _THINNEST * (timeline.end - timeline.begin)
    tracks = [_shown(track, shortest) for track in timeline.tracks]
    return TaskTrace(
        attempt=number,
        tracks=[track for track in tracks if track.bars],
        looks=timeline.looks,
        clock_error=timeline.error,
    )


def _newest(
    store: Store, work: Path, task: Task, attempts: Sequence[Attempt]
) -> tuple[int, Timeline] | None:
    for attempt in sorted(attempts, key=lambda one: -one.number):
        content = _noted(store, work, task, attempt)
        if content:
            timeline = timeline_of(read_trace(content))
            queue = _queue(task, attempt)
            return attempt.number, replace(timeline, tracks=(queue, *timeline.tracks))
    return None


def _noted(store: Store, work: Path, task: Task, attempt: Attempt) -> bytes:
    """Return what an attempt noted of itself; nothing where it was not traced."""
    if attempt.state != AttemptState.RUNNING:
        return read_kept(store, attempt.tenant_id, attempt.trace, 0, LARGEST_TRACE)
    noted = read_plain(work / attempt.process_id / attempt.id / TRACE, 0, LARGEST_TRACE)
    if not noted:
        return b""
    # Its worker tells the database's time at the end; until then this process does.
    return Recorder("controller").text(exchange(partial(_time, store))) + noted


def _time(store: Store) -> float:
    with store.read() as tx:
        return tx.now()


def _queue(task: Task, attempt: Attempt) -> Track:
    """Return what the database knows of an attempt."""
    bars = []
    if attempt.number == 1:
        bars.append(Bar("waits", task.created, attempt.started, depth=0))
    if attempt.finished is not None:
        name = f"attempt {attempt.number}"
        bars.append(Bar(name, attempt.started, attempt.finished, depth=0))
    return Track("database", 0, "queue", tuple(bars))


def _shown(track: Track, shortest: float) -> TraceTrack:
    """Return the longest bars of a track, without the frames that all its code runs in."""
    outer = _frames_around(track.bars)
    bars = []
    for bar in track.bars:
        depth = bar.depth - outer
        is_seen = bar.end - bar.begin >= shortest
        if is_seen and 0 <= depth < _DEEPEST:
            bars.append(replace(bar, depth=depth))
    bars.sort(key=lambda bar: bar.begin - bar.end)
    kept = sorted(bars[:_MOST_BARS], key=lambda bar: (bar.begin, bar.depth))
    return TraceTrack(process=track.process, name=track.name, bars=list(map(_bar, kept)))


def _bar(bar: Bar) -> TraceBar:
    return TraceBar(name=bar.name, begin=bar.begin, end=bar.end, depth=bar.depth, module=bar.module)


def _frames_around(bars: Sequence[Bar]) -> int:
    """Return how many functions all others of a track run in, which so tell nothing."""
    counts = Counter(bar.depth for bar in bars if bar.module)
    depth = 0
    while counts[depth] == 1 and counts[depth + 1]:
        depth += 1
    return depth
