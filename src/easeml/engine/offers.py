"""What a worker offers to tasks, as its machine is now."""

import shutil
from contextlib import suppress
from pathlib import Path

from easeml.contract.tasks import Limits
from easeml.engine.sensors import memory_of_machine
from easeml.settings import Settings
from easeml.store.machine_room import Offer

from .membership import this_host


def offer_of(settings: Settings, limits: Limits) -> Offer:
    """Return what a worker offers. Workers of one home share memory and disk.

    ``limits``: of one attempt. An executor that is no machine of its own places tasks by itself, so
    only these count there.
    """
    each = Offer(memory_each=limits.memory, disk_each=limits.disk, threads=limits.threads)
    if settings.executor != "local":
        return each
    return Offer(
        machine=f"{this_host()} {settings.home}",
        memory=settings.offer_memory or memory_of_machine(),
        disk=_disk(settings.home, settings.offer_disk),
        memory_each=each.memory_each,
        disk_each=each.disk_each,
        threads=each.threads,
    )


def _disk(home: Path, offered: int) -> int | None:
    """Return the bytes that tasks may write: what is free, and at most what is ``offered``."""
    with suppress(OSError):
        free = shutil.disk_usage(home).free
        return min(free, offered or free)
    return None
