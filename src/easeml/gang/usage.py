"""What processes of a job used, and which settings that suggests (pure)."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from signal import Signals

from pydantic import BaseModel

from .plan import Job, Member, Role

_STEP = 10_000_000  # bytes: what is suggested is a multiple of it
_ROOM = 1.5  # times what was used at most
_CLOSE = 0.9  # a share of a limit that is nearly all of it
_FAR_TOO_MUCH = 4  # times what is suggested


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process used from its start to its end.

    ``code``: its exit code; below 0, the number of the signal that ended it. ``seconds`` went by;
    ``cpu_seconds`` the processor worked for it and those that it waited for; ``memory``: the
    most bytes that it was seen with, as a limit counts them. Linux counts what a process held
    before it became its program, so less than easeml itself holds, some 40 MB, cannot be told.
    """

    member: Member
    attempt: int
    code: int
    seconds: float
    cpu_seconds: float
    memory: int

    @property
    def ended(self) -> str:
        """Say how it ended: an exit code, or the signal that ended it."""
        if self.code < 0:
            return Signals(-self.code).name
        return f"exit code {self.code}"

    @property
    def cores(self) -> float:
        """How many cores were busy in the mean."""
        return self.cpu_seconds / self.seconds if self.seconds else 0.0


class Needs(BaseModel):
    """The most that one process of a role used, over all runs: bytes, and cores in the mean."""

    memory: int = 0
    cores: float = 0.0


def needs_after(before: Mapping[str, Needs], usages: Iterable[Usage]) -> dict[str, Needs]:
    """Return the needs by role after more processes have ended."""
    needs = dict(before)
    for one in usages:
        known = needs.get(one.member.role, Needs())
        needs[one.member.role] = Needs(
            memory=max(known.memory, one.memory), cores=max(known.cores, one.cores)
        )
    return needs


def suggestions(job: Job, needs: Mapping[str, Needs]) -> tuple[str, ...]:
    """Return a sentence for each role whose limit of memory should be set, or set otherwise."""
    found = []
    for name, role in job.roles.items():
        if name in needs and (said := _suggestion(role, needs[name].memory)):
            found.append(f"roles.{name}: {said}")
    return tuple(found)


def megabytes(count: float) -> str:
    """Say bytes as a file of a job may: 320MB."""
    return f"{math.ceil(count / 1e6)}MB"


def _suggestion(role: Role, used: int) -> str | None:
    fitting = math.ceil(used * _ROOM / _STEP) * _STEP
    setting = f'memory = "{megabytes(fitting)}"'
    if role.memory is None:
        return f"a process used at most {megabytes(used)}; {setting} would stop one that runs away."
    if used > role.memory * _CLOSE:
        return f"a process used {megabytes(used)} of {megabytes(role.memory)}; {setting} has room."
    if role.memory > fitting * _FAR_TOO_MUCH:
        return f"a process used at most {megabytes(used)}; {setting} is enough."
    return None
