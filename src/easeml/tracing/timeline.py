"""What a trace shows: tracks of bars, all on the database's clock."""

from collections.abc import Sequence
from dataclasses import dataclass

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
        return min((bar.begin for track in self.tracks for bar in track.bars), default=0.0)

    @property
    def end(self) -> float:
        """When the last bar ends; 0 without any."""
        return max((bar.end for track in self.tracks for bar in track.bars), default=0.0)


def timeline_of(trace: Trace) -> Timeline:
    """Return the tracks of a trace: of each process its steps, then the code of each thread."""
    exchanges = exchanges_of(trace.processes)
    tracks: list[Track] = []
    for process, exchange in zip(trace.processes, exchanges, strict=True):
        tracks += _steps(process, exchange)
        tracks += _code(process, exchange)
    return Timeline(tuple(tracks), _error(exchanges), trace.looks)


def _error(exchanges: Sequence[Exchange]) -> float | None:
    known = [one.error for one in exchanges if one.error is not None]
    return max(known, default=0.0) if len(known) == len(exchanges) else None


def _steps(process: ProcessTrace, exchange: Exchange) -> list[Track]:
    threads = sorted({span.thread for span in process.spans})
    tracks = []
    for thread in threads:
        bars = [
            Bar(span.name, span.begin + exchange.offset, span.end + exchange.offset, span.depth)
            for span in process.spans
            if span.thread == thread
        ]
        bars.sort(key=lambda bar: (bar.begin, bar.depth))
        tracks.append(Track(process.process.name, process.process.pid, "steps", tuple(bars)))
    return tracks


def _code(process: ProcessTrace, exchange: Exchange) -> list[Track]:
    looks: dict[str, list[tuple[float, int]]] = {}
    for line in process.samples:
        looks.setdefault(line.thread, []).extend(zip(line.times, line.stacks, strict=True))
    stacks = [tuple(line.frames) for line in process.stacks]
    tracks = []
    for thread, seen in looks.items():
        bars = _nested(sorted(seen), stacks, process.codes, exchange.offset)
        if bars:
            tracks.append(Track(process.process.name, process.process.pid, thread, tuple(bars)))
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
    stacks: Sequence[tuple[int, ...]],
    codes: Sequence[CodeLine],
    offset: float,
) -> list[Bar]:
    """Return a bar for each function, as long as looks one after another saw it.

    A look tells of the time since the look before: code that keeps the interpreter to itself holds
    the look up, and is what is seen at last.
    """
    running = _Open(codes, offset)
    before: float | None = None
    for now, place in seen:
        if before is not None:
            running.become(() if place == _OFF else stacks[place], before)
        before = now
    if before is not None:
        running.become((), before)
    return sorted(running.bars, key=lambda bar: (bar.begin, bar.depth))
