"""What machines offer to tasks: memory, disk and threads; and which tasks have room there."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter

from easeml.store.shapes import Shape

_GIB = 2**30
_ENDLESS = 2**62  # bytes


@dataclass(frozen=True, slots=True)
class Needs:
    """What a task needs: bytes of memory and of disk, and threads. 0 bytes: it is not known."""

    memory: int = 0
    disk: int = 0
    threads: int = 1

    def within(self, most: "Needs") -> bool:
        """Whether it is no more of anything than ``most``."""
        return (
            self.memory <= most.memory and self.disk <= most.disk and self.threads <= most.threads
        )

    def __add__(self, other: "Needs") -> "Needs":
        """Return what two tasks need of the memory and the disk of one machine."""
        return replace(self, memory=self.memory + other.memory, disk=self.disk + other.disk)


NOTHING = Needs()


@dataclass(frozen=True, slots=True)
class Offer(Shape):
    """What a worker offers. Sizes in bytes; None: it does not say, and nothing is counted.

    ``machine``: what it shares memory and disk with, by name. ``memory``, ``disk``: of all tasks
    there. ``memory_each``, ``disk_each``, ``threads``: of one.
    """

    machine: str = ""
    memory: int | None = None
    disk: int | None = None
    memory_each: int | None = None
    disk_each: int | None = None
    threads: int | None = None

    def most(self, held: Needs = NOTHING) -> Needs:
        """Return what one more task may need, where others need ``held``."""
        memory = _least(self.memory_each, _left(self.memory, held.memory))
        disk = _least(self.disk_each, _left(self.disk, held.disk))
        return Needs(memory, disk, _least(self.threads))


def _left(whole: int | None, held: int) -> int | None:
    return None if whole is None else max(0, whole - held)


def _least(*amounts: int | None) -> int:
    return min((amount for amount in amounts if amount is not None), default=_ENDLESS)


def largest(amounts: Iterable[Needs]) -> Needs:
    """Return the most of each; raises ``ValueError`` for none."""
    there = list(amounts)
    return Needs(
        memory=max(map(attrgetter("memory"), there)),
        disk=max(map(attrgetter("disk"), there)),
        threads=max(map(attrgetter("threads"), there)),
    )


def most_here(
    mine: Offer,
    offers: Iterable[Offer],
    held: Mapping[str, Needs],
    oldest: Needs | None,
) -> Needs:
    """Return what a worker may take now.

    ``offers``: of all workers. ``held``: what the tasks that run need, by machine. ``oldest``: what
    a task needs that others passed for long; where it fits nowhere yet, the machine is kept for it
    that could hold it and has the most memory left. Else small tasks would pass it for ever.
    """
    own = mine.most(held.get(mine.machine, NOTHING))
    if oldest is None or oldest.within(own):
        return own
    left: dict[str, Needs] = {}
    for one in offers:
        if oldest.within(one.most()):
            left[one.machine] = one.most(held.get(one.machine, NOTHING))
    if any(map(oldest.within, left.values())):
        return own
    kept = max(
        left,
        key=lambda machine: (left[machine].memory, machine),
        default=None,
    )
    if kept != mine.machine:
        return own
    return replace(own, memory=0, disk=0)


def why_nowhere(needs: Needs, offers: Iterable[Offer]) -> str:
    """Return why a task could run on none of these workers, also where nothing else runs; empty
    where it could, or where no worker is there.
    """
    there = list(map(Offer.most, offers))
    if not there or any(map(needs.within, there)):
        return ""
    most = largest(there)
    if needs.memory > most.memory:
        asked, had = _size(needs.memory), _size(most.memory)
        return f"It needs {asked} of memory, and no machine offers more than {had}."
    if needs.disk > most.disk:
        asked, had = _size(needs.disk), _size(most.disk)
        return f"It needs {asked} of disk, and no machine has more than {had} free."
    if needs.threads > most.threads:
        asked = needs.threads
        had = most.threads
        return f"It needs {asked} threads, and no device offers more than {had}."
    return "It needs more of memory, disk and threads together than any one machine offers."


def _size(count: int) -> str:
    if count < _GIB:
        return f"{count / 2**20:,.0f} MiB"
    return f"{count / _GIB:,.1f} GiB"
