"""What traced processes write: lines of JSON, each a record of its own.

All times are seconds of the machine's monotonic clock, which the processes of one machine share
until it starts anew. A body's lines are the body's word: they are read within limits, and what is
no line is passed over.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

LARGEST_TRACE = 16 * 2**20
"""Bytes of a trace that are kept of one attempt."""

_MOST_FRAMES = 200
Name = Annotated[str, Field(max_length=300)]
Seconds = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]
Place = Annotated[int, Field(ge=0, le=2**31)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ProcessLine(_Line):
    """The process that writes the lines after this one.

    ``boot`` names the run of its machine; ``monotonic`` and ``wall`` are its two clocks, read
    together.
    """

    line: Literal["process"] = "process"
    name: Name
    pid: Place
    boot: Name
    monotonic: Seconds
    wall: Seconds


class ClockLine(_Line):
    """A question for the database's time: asked at ``sent``, answered at ``received``."""

    line: Literal["clock"] = "clock"
    sent: Seconds
    received: Seconds
    database: Seconds


class SpanLine(_Line):
    """A step, and how many steps it is in."""

    line: Literal["span"] = "span"
    name: Name
    begin: Seconds
    end: Seconds
    depth: Annotated[int, Field(ge=0, le=50)] = 0
    thread: Name = ""


class CodeLine(_Line):
    """A function that was met. Its number is its place among the code lines of its process."""

    line: Literal["code"] = "code"
    name: Name
    module: Name
    number: Annotated[int, Field(ge=0, le=10**8)]  # of its first line in its file


class StackLine(_Line):
    """Functions by number, the outermost first."""

    line: Literal["stack"] = "stack"
    frames: Annotated[list[Place], Field(max_length=_MOST_FRAMES)]


class SamplesLine(_Line):
    """Looks at one thread: when, and which stack ran; -1: sampling was off until then."""

    line: Literal["samples"] = "samples"
    thread: Name
    times: Annotated[list[Seconds], Field(max_length=10_000)]
    stacks: Annotated[list[Annotated[int, Field(ge=-1, le=2**31)]], Field(max_length=10_000)]

    @property
    def looks(self) -> int:
        """How many times the thread was looked at."""
        return len(self.stacks) - self.stacks.count(-1)


Line = ProcessLine | ClockLine | SpanLine | CodeLine | StackLine | SamplesLine
_LINE: TypeAdapter[Line] = TypeAdapter(Annotated[Line, Field(discriminator="line")])


def written(line: Line) -> bytes:
    """Return a line as it stands in a file."""
    return line.model_dump_json().encode() + b"\n"


@dataclass(slots=True)
class ProcessTrace:
    """The lines of one process."""

    process: ProcessLine
    clocks: list[ClockLine] = field(default_factory=list)
    spans: list[SpanLine] = field(default_factory=list)
    codes: list[CodeLine] = field(default_factory=list)
    stacks: list[StackLine] = field(default_factory=list)
    samples: list[SamplesLine] = field(default_factory=list)

    def add(self, line: Line) -> None:
        """Keep a line of this process, if it makes sense after those before."""
        match line:
            case ClockLine() if line.sent <= line.received:
                self.clocks.append(line)
            case SpanLine() if line.begin <= line.end:
                self.spans.append(line)
            case CodeLine():
                self.codes.append(line)
            case StackLine() if _all_below(line.frames, len(self.codes)):
                self.stacks.append(line)
            case SamplesLine() if self._fits(line):
                self.samples.append(line)

    def _fits(self, line: SamplesLine) -> bool:
        """Tell whether a line has a time for each stack, and names known stacks only."""
        if len(line.times) != len(line.stacks):
            return False
        return _all_below(line.stacks, len(self.stacks))


def _all_below(places: Sequence[int], count: int) -> bool:
    """Tell whether all places are among the first ``count``."""
    return max(places, default=-1) < count


@dataclass(frozen=True, slots=True)
class Trace:
    """What the processes of an attempt wrote."""

    processes: tuple[ProcessTrace, ...] = ()

    @property
    def looks(self) -> int:
        """How many times the code was looked at."""
        samples = chain.from_iterable(process.samples for process in self.processes)
        return sum(line.looks for line in samples)


def read_trace(content: bytes) -> Trace:
    """Return what stands in the first ``LARGEST_TRACE`` bytes; other lines are passed over."""
    processes: list[ProcessTrace] = []
    for text in content[:LARGEST_TRACE].splitlines():
        try:
            line = _LINE.validate_json(text)
        except ValidationError:
            continue
        if isinstance(line, ProcessLine):
            processes.append(ProcessTrace(line))
        elif processes:
            processes[-1].add(line)
    return Trace(tuple(processes))
