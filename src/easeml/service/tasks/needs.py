"""What tasks need of a machine: memory, disk and threads; and which of those that wait fit nowhere.

Nobody is asked. What tasks of a kind took, with the same modules and about as many bytes of inputs,
is measured, and the next ones are placed by it. Until then a task fits everywhere, but for what a
module says below ``[resources]``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from easeml.contract.states import TaskState
from easeml.contract.tasks import TaskResult
from easeml.errors import EasemlError
from easeml.modules import Module
from easeml.service.knowledge import told_modules
from easeml.service.storage import artefact_references
from easeml.service.tasks.kinds import kind_named
from easeml.store import Transaction
from easeml.store.machine_room import Needs, Offer, largest, why_nowhere
from easeml.store.records import NeedsPeak, Task

_MARGIN = 1.2  # times the most that was seen: other data may take a little more
_CLASSES = 64  # of sizes of inputs: by the number of bits of their bytes


@dataclass(frozen=True, slots=True)
class Stuck:
    """A task that waits and fits no machine: its id, its job, its subject, and why."""

    id: str
    job_id: str
    subject: str
    text: str


def asked(tx: Transaction, task: Task) -> Needs:
    """Return what a new task needs. Disk is at least what its inputs have.

    The margin is no reason to wait: it asks for no more memory than some worker offers, where its
    like had no more. A search tries its candidates in any case: one that fails is a result.
    """
    size = _input_bytes(tx, task)
    declared = _declared(task.payload)
    seen = _seen(tx, _group_of(task.payload), size.bit_length())
    believed = declared
    least = declared.memory
    if seen is not None:
        memory = int(seen.memory * _MARGIN)
        disk = int(seen.disk * _MARGIN)
        believed, least = Needs(memory, disk, declared.threads), seen.memory
    if task.candidate_id:
        least = 0
    most = _largest(tx, believed)
    return Needs(
        memory=min(believed.memory, max(least, most.memory)),
        disk=max(believed.disk, size),
        threads=min(believed.threads, most.threads),
    )


def learn(tx: Transaction, task: Task, result: TaskResult) -> None:
    """Note what a task was seen to use, where that is more than of any like it."""
    size = _input_bytes(tx, task).bit_length()
    peak = NeedsPeak(f"{_group_of(task.payload)} {size}", 0, 0)
    known = tx.needs_peaks.find(id=peak.id) or peak
    memory = max(known.memory, result.memory)
    disk = max(known.disk, result.disk)
    if (memory, disk) == (known.memory, known.disk):
        return
    tx.needs_peaks.ensure(peak)
    tx.needs_peaks.update(peak.id, memory=memory, disk=disk)


def most_memory(tx: Transaction, process_id: str) -> int:
    """Return the most bytes of memory that a worker gives to one task."""
    offer = tx.queue.offers().get(process_id, Offer())
    return offer.most().memory


def is_more_elsewhere(tx: Transaction, process_id: str) -> bool:
    """Whether another worker gives a task more memory than that one does."""
    most = _largest(tx, Needs())
    return most.memory > most_memory(tx, process_id)


def stuck(tx: Transaction, **equals: Any) -> list[Stuck]:
    """Return those of the waiting tasks with these values that fit no machine."""
    columns = ("id", "job_id", "subject", "memory", "disk", "threads")
    waiting = tx.unscoped().tasks.pick(*columns, **{**equals, "state": TaskState.WAITING})
    asking: dict[str, Needs] = {}
    names: dict[str, tuple[str, str]] = {}
    for id, job_id, subject, *needs in waiting:
        asking[id] = Needs(*needs)
        names[id] = job_id, subject
    reasons = fitting_nowhere(tx, asking)
    return [Stuck(id, *names[id], text) for id, text in reasons.items()]


def fitting_nowhere(tx: Transaction, asking: Mapping[str, Needs]) -> dict[str, str]:
    """Return those of some tasks, by id, that fit no machine: why, in a sentence."""
    if set(asking.values()) <= {Needs()}:
        return {}
    offers = list(tx.queue.offers().values())
    found: dict[str, str] = {}
    for id, needs in asking.items():
        text = why_nowhere(needs, offers)
        if text:
            found[id] = text
    return found


def _largest(tx: Transaction, otherwise: Needs) -> Needs:
    """Return the most of each that a worker gives to one task; ``otherwise`` where there is none."""
    offers = tx.queue.offers().values()
    most = list(map(Offer.most, offers))
    return largest(most or [otherwise])


def _input_bytes(tx: Transaction, task: Task) -> int:
    """Return the bytes of a task's inputs; 0 where they are not there yet."""
    tables = tx.scoped(task.tenant_id)
    try:
        inputs = kind_named(task.spec_kind).inputs(tables, task)
    except EasemlError:
        return 0
    id_of = partial(artefact_references.id_of, task.tenant_id)
    ids = list(map(id_of, inputs.values()))
    return sum(tables.artefacts.column("size", id=ids))


def _seen(tx: Transaction, group: str, size: int) -> NeedsPeak | None:
    """Return what was seen with inputs of about that size.

    It is that of the nearest size below, or else of the nearest above.
    """
    known = tx.needs_peaks.by_id(id=[f"{group} {other}" for other in range(_CLASSES)])

    def distance(id: str) -> tuple[bool, int]:
        other = int(id.rpartition(" ")[2])
        return other > size, abs(other - size)

    nearest = min(known, key=distance, default="")
    return known.get(nearest)


def _group_of(payload: Mapping[str, Any]) -> str:
    """Return the kind of a task with the names of the modules that it is told, each once."""
    kind = str(payload["kind"])
    return " ".join([kind, *sorted(told_modules.names(payload))])


def _declared(payload: Mapping[str, Any]) -> Needs:
    """Return the most that any module of a task says that it needs."""
    said = list(map(_of, told_modules.modules(payload)))
    return largest([Needs(), *said])


def _of(module: Module) -> Needs:
    """Return what a module says that it needs."""
    resources = module.resources
    return Needs(
        memory=int(resources.get("memory", 0)),
        disk=int(resources.get("disk", 0)),
        threads=int(resources.get("threads", 1)),
    )
