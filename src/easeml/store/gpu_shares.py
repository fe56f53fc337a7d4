"""Which GPU a task gets a share of, by the memory that it is believed to need."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

WHOLE = 0
"""Asks for a GPU that no other task has: for tasks of which nothing is known yet."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU, or a slice of one that the hardware keeps apart; all sizes in bytes.

    ``id``: as CUDA names it. ``foreign``: what programs have that are no tasks. ``shares``: of the
    tasks that run on it.
    """

    id: str
    memory: int
    foreign: int = 0
    shares: tuple[int, ...] = ()

    @property
    def room(self) -> int:
        """What all tasks together may have."""
        return max(0, self.memory - self.foreign)

    @property
    def free(self) -> int:
        """What no task has."""
        return max(0, self.room - sum(self.shares))


def granted(asked: int, gpu: Gpu) -> int:
    """Return the bytes that a task would have there; 0: it does not fit.

    ``asked``: bytes, or ``WHOLE``.
    """
    wanted = asked
    if asked == WHOLE:
        wanted = gpu.room
    if wanted > gpu.free:
        return 0
    return wanted


def place(asked: int, gpus: Sequence[Gpu]) -> Gpu | None:
    """Return the GPU that a task gets: the fullest that has room; None where none has.

    Who asks for a whole one gets the largest.
    """
    fitting = [gpu for gpu in gpus if granted(asked, gpu)]
    fitting.sort(key=attrgetter("free", "id"), reverse=asked == WHOLE)
    return next(iter(fitting), None)


def without_kept(oldest: int, gpus: Sequence[Gpu]) -> list[Gpu]:
    """Return the GPUs that others may have while a task waits that asks for ``oldest``.

    Where it fits nowhere yet, the one with the most free memory that could hold it is kept for it.
    Else tasks with small shares would pass it for ever.
    """
    if place(oldest, gpus) is not None:
        return list(gpus)
    able = [gpu for gpu in gpus if granted(oldest, replace(gpu, shares=()))]
    kept = max(able, key=attrgetter("free", "id"), default=None)
    return [gpu for gpu in gpus if gpu is not kept]
