"""Limits of a child process: how much it may use, and how it limits itself before it touches
anything of a user's.
"""

import os
import resource
import signal
import sys

from easeml.contract.tasks import Limits
from easeml.parents import die_with_parent
from easeml.settings import Settings

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)


def thread_environment(threads: int) -> dict[str, str]:
    """Environment variables that cap the thread pools of numerical libraries when these are loaded."""
    return dict.fromkeys(_THREAD_VARIABLES, str(threads))


def parent_environment() -> dict[str, str]:
    """Return the variables of a process that starts others.

    One numerical thread each, but for tasks: where training keeps all cores busy, more would spin
    for each other.
    """
    return {**thread_environment(1), **memory_environment(), **os.environ}


def memory_environment() -> dict[str, str]:
    """Environment variables by which glibc gives the memory of many threads back.

    Each of dozens of threads has an arena of its own by default, and what is free in one serves no
    other thread: the controller grew for as long as it worked.
    """
    return {"MALLOC_ARENA_MAX": "2"}


def cap_threads(threads: int) -> None:
    """Cap the thread pools of this process, whose numerical libraries may be loaded."""
    wanted = thread_environment(threads)
    if os.environ.items() >= wanted.items():
        return  # they were loaded with this cap
    os.environ.update(wanted)
    import pyarrow
    from threadpoolctl import threadpool_limits

    threadpool_limits(threads)
    pyarrow.set_cpu_count(threads)


def limit_child(*, memory: int, threads: int) -> None:
    """Cap this process: ``memory`` bytes of private memory, ``threads`` threads of the numeric
    libraries.

    The process also ends when its parent does, ignores Ctrl-C (its parent decides), and leaves no
    core file.
    """
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":  # elsewhere the limit covers too little or too much
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    cap_threads(threads)


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # systems that cannot tie a process to cores


def task_limits(settings: Settings) -> Limits:
    """Return the limits of an attempt: the cores of this machine are shared between its workers,
    where the settings do not say how many it has.
    """
    threads = settings.task_threads or max(1, _usable_cores() // settings.workers)
    return Limits(
        seconds=settings.task_seconds,
        memory=min(settings.task_memory, settings.offer_memory or settings.task_memory),
        threads=threads,
        disk=min(settings.task_disk, settings.offer_disk or settings.task_disk),
    )
