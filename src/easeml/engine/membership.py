"""How a process makes itself known in the store, and how others see that it has ended."""

import os
import socket
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from easeml.contract.states import ProcessKind, ProcessState
from easeml.engine.gpus import SETTLED, FoundGpu, noted
from easeml.engine.logs import return_to_log_file
from easeml.engine.sensors import Felt
from easeml.ids import new_id
from easeml.parents import is_there
from easeml.store import Store, Transaction
from easeml.store.machine_room import Offer
from easeml.store.records import Process
from easeml.store.shapes import SeenGpus, given

NO_OFFER = Offer()
HEARTBEAT_SECONDS = 3.0  # every beat is a commit


def register(
    store: Store,
    kind: ProcessKind,
    address: str = "",
    device: str = "",
    *,
    gpu: bool = False,
    gpus: Sequence[FoundGpu] = (),
    offer: Offer = NO_OFFER,
    certificate: str = "",
    secret: str = "",
    domain: str = "",
) -> Process:
    """Add this process to the store as running and return its record.

    ``device``: the kind of a worker's device; ``gpu``: whether it gives containers one; ``gpus``:
    those of which it gives shares; ``offer``: what it has for tasks.
    ``certificate``, ``secret``: of a predictor that answers other machines; ``domain``: what fails
    together with this machine.
    """
    with store.write() as tx:
        return tx.processes.add(
            Process(
                new_id("proc"),
                kind,
                os.getpid(),
                this_host(),
                address=address,
                heartbeat=tx.now(),
                device=device,
                gpu=gpu,
                gpus=_seen(tx, gpus),
                offer=offer,
                certificate=certificate,
                secret=secret,
                domain=domain,
            )
        )


def beat(
    tx: Transaction,
    process_id: str,
    felt: Felt | None = None,
    gpus: Sequence[FoundGpu] = (),
    offer: Offer | None = None,
) -> None:
    """Say that the process is still there, and what its machine feels where that was looked at.

    ``gpus``: those of which a worker gives shares, ``offer``: what it has for tasks, as they are
    now.
    """
    return_to_log_file()  # what libraries print does not look where it goes
    seen: dict[str, Any] = {} if felt is None else asdict(felt)
    seen |= given(offer=offer)
    seen["gpus"] = _seen(tx, gpus, process_id)
    tx.processes.note(process_id, heartbeat=tx.now(), state=ProcessState.RUNNING, **seen)


def _seen(tx: Transaction, gpus: Sequence[FoundGpu], process_id: str = "") -> SeenGpus:
    """Return what is said of GPUs; ``process_id``: of who said it before."""
    if not gpus:
        return SeenGpus()
    before = tx.processes.column("gpus", id=process_id)
    ids = list(map(attrgetter("id"), gpus))
    return noted(gpus, before, tx.queue.gpus_held_lately(ids, SETTLED))


def sign_off(store: Store, process_id: str) -> None:
    """Give back what the process was working on and mark it as ended."""
    with store.write() as tx:
        tx.queue.release(process_id)
        tx.processes.update(process_id, state=ProcessState.ENDED)


class Signs(NamedTuple):
    """What tells whether a process is there: fields of its record."""

    host: str
    pid: int
    heartbeat: float


def has_ended(process: Process | Signs, now: float, silence: float) -> bool:
    """Is the process gone?

    Known at once for one of this host, else after ``silence`` seconds without heartbeat.
    """
    if now - process.heartbeat > silence:
        return True
    return process.host == this_host() and not is_there(process.pid)


@cache
def this_host() -> str:
    """Return a name for the set of processes that share process ids with this one (host, boot,
    namespace).
    """
    if sys.platform != "linux":
        return socket.gethostname()
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{socket.gethostname()} {boot} {Path('/proc/self/ns/pid').readlink()}"
