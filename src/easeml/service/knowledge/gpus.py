"""GPUs: which tasks use one and how much of it, and whether a worker is there that has one.

A model in a container may ask for one (``gpu = true``). A task that trains it is taken by a worker on
a machine that has one, and by no other; its candidates have no chance while there is none. Networks
of the zoo use one where there is one.

What a model takes of a GPU is not known at first: its task gets a whole one, and is measured.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from easeml.contract.states import (
    FINISHED_TASKS,
    TASKS_UNDER_WAY,
    ModuleState,
    ProcessKind,
    ProcessState,
)
from easeml.errors import Conflict
from easeml.modules import Module, packed
from easeml.service.knowledge import knowledge_base, told_modules
from easeml.store import Transaction
from easeml.store.gpu_shares import WHOLE
from easeml.store.records import GpuPeak, Task

_MARGIN = 1.2  # times the most that was seen: other data may take a little more
_AHEAD = 2  # tasks under way for each worker: one that runs, and one that waits for it
_REMEDY = (
    "Start a worker on a machine with one that is described to containers "
    "(nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml), or leave gpu out of module.toml."
)


def workers(tx: Transaction) -> int:
    """Return how many workers with a GPU run and take tasks."""
    there = {"kind": ProcessKind.WORKER, "state": ProcessState.RUNNING, "draining": False}
    return tx.processes.count(gpu=True, **there)


def has_room(tx: Transaction) -> bool:
    """Whether another task that needs a GPU would soon get one."""
    under_way = tx.unscoped().tasks.count(gpu=True, state=TASKS_UNDER_WAY)
    return under_way < _AHEAD * workers(tx)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a task asks for.

    ``needed``: it cannot do without a GPU; ``memory``: bytes of one, ``WHOLE``, or None: it uses
    none.
    """

    needed: bool
    memory: int | None


def asked(tx: Transaction, payload: Any) -> Asked:
    """Return what a task asks for, by the models that it is told to train."""
    using = _using(payload)
    if not using:
        return Asked(False, None)
    needed = any(map(attrgetter("gpu"), using))
    if len(using) > 1:
        return Asked(needed, WHOLE)  # what they take together was not measured
    memory = _believed(tx, using[0])
    if memory > max(_sizes(tx), default=memory):
        memory = WHOLE  # more than that nobody has
    return Asked(needed, memory)


def learn(tx: Transaction, task: Task, peak: int) -> None:
    """Note the most bytes of a GPU that a task was seen to have, where it trained one model."""
    using = _using(task.payload)
    if not peak or len(using) != 1:
        return
    name = using[0].name
    tx.gpu_peaks.ensure(GpuPeak(name, 0))
    if peak > tx.gpu_peaks.get(name).memory:
        tx.gpu_peaks.update(name, memory=peak)


def would_wait(tx: Transaction, model: Module) -> bool:
    """Whether a task of a model would wait long for a GPU."""
    if model.gpu:
        return not has_room(tx)
    sizes = _sizes(tx)
    if not sizes or not model.uses_gpu:
        return False
    asked = tx.unscoped().tasks.count_by("gpu_memory", state=TASKS_UNDER_WAY)
    asked.pop(None, 0)
    return asked.total() >= _AHEAD * len(sizes)


def _sizes(tx: Transaction) -> list[int]:
    """Return the bytes of the GPUs of which workers give shares, once for each worker."""
    there = {"kind": ProcessKind.WORKER, "state": ProcessState.RUNNING, "draining": False}
    told = tx.processes.column("gpus", **there)
    return [gpu.memory for gpus in told for gpu in gpus.seen]


def _believed(tx: Transaction, module: Module) -> int:
    """Return the bytes that a model is believed to take: what was seen, and a little more."""
    known = tx.gpu_peaks.find(id=module.name)
    if known is None:
        return int(module.resources.get("gpu_memory", WHOLE))
    return int(known.memory * _MARGIN)


def _using(payload: Any) -> list[Module]:
    """Return the models that a task is told of which use a GPU, each once."""
    return [module for module in told_modules.modules(payload) if module.uses_gpu]


def check(tx: Transaction, module: Module) -> None:
    """Raise ``Conflict`` for a new model that asks for a GPU where none could try it."""
    if module.gpu and not workers(tx):
        raise Conflict(
            "The module asks for a GPU, and no worker has one.",
            where="module.toml: runtime.gpu",
            remedy=_REMEDY,
        )


def asking_models(tx: Transaction) -> list[str]:
    """Return the names of the models that ask for one."""
    sources = tx.module_marks.column("source", state=ModuleState.READY)
    concerned = [source for source in sources if packed.MARK in source]
    return [module.name for module in map(knowledge_base.read_added, concerned) if module.gpu]


def left(tx: Transaction, job_ids: Iterable[str]) -> dict[str, str]:
    """Return, of searches, what a candidate that was not tried waits for; in a sentence by job.

    None waits where a worker has a GPU.
    """
    asked = list(job_ids)
    names = asking_models(tx) if asked and not workers(tx) else []
    if not names:
        return {}
    tables = tx.unscoped()
    tried = set(tables.tasks.column("candidate_id", job_id=asked, state=FINISHED_TASKS))
    found = {}
    for candidate_id, job_id, model in tables.candidates.pick(
        "id", "job_id", "model", job_id=asked, model=names
    ):
        if candidate_id not in tried:
            found[job_id] = f"{model} is left, which needs a GPU, and no worker has one. {_REMEDY}"
    return found
