"""What a forked child does to itself before it runs a body, so that its faults stay its own
(Linux).
"""

import os
import resource
import signal
from multiprocessing import parent_process
from pathlib import Path

from easeml.contract.tasks import Limits
from easeml.parents import die_with_parent

_OPEN_FILES = 4096
_REPORTING = 32 * 2**20  # bytes kept back to report in that memory ran out


def isolate(limits: Limits) -> None:
    """Become a session of its own with no core dumps and at most ``limits``.

    The memory limit is on private memory beyond what the zygote already had (``RLIMIT_DATA``).
    """
    os.setsid()
    die_with_parent()
    parent = parent_process()
    if parent is not None and not parent.is_alive():
        os._exit(1)  # the worker ended before the request to die with it was in force
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    most = min(_OPEN_FILES, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    memory = _private_memory() + limits.memory
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory + _REPORTING))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits.disk, limits.disk))


def free_reserve() -> None:
    """Allow the little more memory that was kept back, to report that it ran out."""
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))


def redirect_output(log: Path) -> None:
    """Append what is printed from now on to a file."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)


def _private_memory() -> int:
    pages = int(
        Path("/proc/self/statm").read_text().split()[5]
    )  # data + stack, what RLIMIT_DATA counts
    return pages * resource.getpagesize()
