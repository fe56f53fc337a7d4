"""What a trace shows: tracks of bars, all on the database's clock."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from easeml.tracing.clocks import Exchange, exchanges_of
from easeml.tracing.lines import CodeLine, ProcessTrace, Trace

_OFF = -1


@dataclass(frozen=True, slots=True)
class Bar:
    """A step, or a function that ran: seconds of the epoch, and how many others it is in.

    ``module``: of a function; empty for a step.
    """

    name: str
    begin: float
    end: float
    depth: int
    module: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Track:
    """The bars of one thread, or the steps of one."""

    process: str
    pid: int
    name: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """All tracks.

    ``error``: seconds by which the clock of a process may be off the database's at most; None: one
    goes by its machine's clock, and nobody knows. ``looks``: at the code that ran.
    """

    tracks: tuple[Track, ...]
    error: float | None
    looks: int

    @property
    def begin(self) -> float:
        """When the first bar begins; 0 without any."""
        return min((bar.begin for bar in self._bars), default=0.0)

    @property
    def end(self) -> float:
        """When the last bar ends; 0 without any."""
        return max((bar.end for bar in self._bars), default=0.0)

    @property
    def _bars(self) -> Iterator[Bar]:
        for track in self.tracks:
            yield from track.bars


def timeline_of(trace: Trace) -> Timeline:
    """Return the tracks of a trace: of each process its steps, then the code of each thread."""
    exchanges = exchanges_of(trace.processes)
    tracks: list[Track] = []
    for process, exchange in zip(trace.processes, exchanges, strict=True):
        tracks += _steps(process, exchange)
        tracks += _code(process, exchange)
    return Timeline(tuple(tracks), _error(exchanges), trace.looks)


def _error(exchanges: Sequence[Exchange]) -> float | None:
    """Return the largest error of a clock; None where one of them is not known."""
    largest = 0.0
    for exchange in exchanges:
        if exchange.error is None:
            return None
        largest = max(largest, exchange.error)
    return largest


def _steps(process: ProcessTrace, exchange: Exchange) -> list[Track]:
    """Return the steps of each thread of a process."""
    offset = exchange.offset
    by_thread: dict[str, list[Bar]] = {}
    for span in process.spans:
        bar = Bar(span.name, span.begin + offset, span.end + offset, span.depth)
        by_thread.setdefault(span.thread, []).append(bar)
    tracks = []
    for thread in sorted(by_thread):
        tracks.append(_track(process, "steps", by_thread[thread]))
    return tracks


def _track(process: ProcessTrace, name: str, bars: Sequence[Bar]) -> Track:
    """Return bars of a process in the order in which they began, those around others first."""
    in_order = sorted(bars, key=lambda bar: (bar.begin, bar.depth))
    return Track(process.process.name, process.process.pid, name, tuple(in_order))


def _code(process: ProcessTrace, exchange: Exchange) -> list[Track]:
    """Return the code that ran in each thread of a process."""
    looks: dict[str, list[tuple[float, int]]] = {}
    for line in process.samples:
        looks.setdefault(line.thread, []).extend(zip(line.times, line.stacks, strict=True))
    stacks = {place: line.frames for place, line in enumerate(process.stacks)}
    stacks[_OFF] = []
    tracks = []
    for thread, seen in looks.items():
        bars = _nested(sorted(seen), stacks, process.codes, exchange.offset)
        if bars:
            tracks.append(_track(process, thread, bars))
    return tracks


class _Open:
    """The functions that run, from the outermost; those that end become bars."""

    def __init__(self, codes: Sequence[CodeLine], offset: float):
        self._codes = codes
        self._offset = offset
        self._open: list[tuple[int, float]] = []
        self.bars: list[Bar] = []

    def become(self, stack: Sequence[int], since: float) -> None:
        """Let ``stack`` be what runs since then; what both stacks begin with goes on."""
        same = 0
        for (number, _), other in zip(self._open, stack, strict=False):
            if number != other:
                break
            same += 1
        self._end(same, since)
        self._open += [(number, since) for number in stack[same:]]

    def _end(self, kept: int, now: float) -> None:
        while len(self._open) > kept:
            number, begin = self._open.pop()
            code = self._codes[number]
            bar = Bar(
                code.name,
                begin + self._offset,
                now + self._offset,
                depth=len(self._open),
                module=code.module,
                line=code.number,
            )
            self.bars.append(bar)


def _nested(
    seen: Sequence[tuple[float, int]],
    stacks: Mapping[int, Sequence[int]],
    codes: Sequence[CodeLine],
    offset: float,
) -> list[Bar]:
    """Return a bar for each function, as long as looks one after another saw it.

    A look tells of the time since the look before: code that keeps the interpreter to itself holds
    the look up, and is what is seen at last.
    """
    running = _Open(codes, offset)
    for (before, _), (_, place) in pairwise(seen):
        running.become(stacks[place], before)
    if seen:
        last, _ = seen[-1]
        running.become([], last)
    return running.bars
