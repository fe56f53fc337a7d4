"""GPUs: which tasks need one, and whether a worker is there that has one.

A model in a container may ask for one (``gpu = true``). A task that trains it is taken by a worker on
a machine that has one, and by no other; its candidates have no chance while there is none.
"""

from collections.abc import Iterable, Iterator
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
from easeml.service.knowledge import knowledge_base
from easeml.store import Transaction

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


def is_needed(payload: Any) -> bool:
    """Whether a task trains a model that asks for a GPU, by the texts of modules in what it is told."""
    texts = [text for text in _texts(payload) if packed.MARK in text]
    return any(knowledge_base.read_added(text).gpu for text in texts)


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


def _texts(payload: Any) -> Iterator[str]:
    """Yield all texts of a JSON document."""
    if isinstance(payload, str):
        yield payload
        return
    inside = payload.values() if isinstance(payload, dict) else payload
    if isinstance(payload, dict | list):
        for one in inside:
            yield from _texts(one)
