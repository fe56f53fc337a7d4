"""Clocks of processes and machines, put on the database's.

The processes of a machine share its monotonic clock. One that reaches the database asks it for the
time: the answer was given between the question and its arrival, so half of this time is the most
by which the clocks can be set wrongly (Cristian, Probabilistic clock synchronization, 1989).
tensorflow-tracing (Hashemi et al., OpML 2019) aligns the processes of a training likewise.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from easeml.tracing.lines import ClockLine, ProcessLine, ProcessTrace

_QUESTIONS = 3
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Exchange:
    """What to add to a monotonic clock for the database's, and by how much that may be wrong.

    Both in seconds; ``error`` None: the machine's own clock was believed.
    """

    offset: float
    error: float | None


def boot_id() -> str:
    """Return what names this run of the machine: processes with the same share a clock."""
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return ""


def exchange(
    database_time: Callable[[], float], clock: Callable[[], float] = time.monotonic
) -> ClockLine:
    """Ask for the database's time a few times; return the quickest answer."""
    answers = []
    for _ in range(_QUESTIONS):
        sent = clock()
        database = database_time()
        answers.append(ClockLine(sent=sent, received=clock(), database=database))
    return min(answers, key=_round_trip)


def exchanges_of(processes: Sequence[ProcessTrace]) -> list[Exchange]:
    """Return how the clock of each process is set, in their order.

    A process that asked nothing itself goes by the quickest answer on its machine, and by its
    machine's clock where nobody asked.
    """
    answers: dict[str, list[ClockLine]] = {}
    for process in processes:
        answers.setdefault(process.process.boot, []).extend(process.clocks)
    exchanges = []
    for process in processes:
        of_machine = answers[process.process.boot]
        exchanges.append(_setting(process.process, of_machine))
    return exchanges


def _setting(process: ProcessLine, answers: Sequence[ClockLine]) -> Exchange:
    """Return how a clock is set; ``answers``: those of its machine."""
    if not answers or not process.boot:
        return Exchange(process.wall - process.monotonic, None)
    quickest = min(answers, key=_round_trip)
    middle = (quickest.sent + quickest.received) / 2
    return Exchange(quickest.database - middle, _round_trip(quickest) / 2)


def _round_trip(answer: ClockLine) -> float:
    return answer.received - answer.sent
