"""A process that was forked: it ends when the one that started it does, and has a name of its own;
and whether a process is there.
"""

import ctypes
import os
import signal
import sys
from contextlib import suppress

_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent ends (Linux; elsewhere nothing happens)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def name_process(name: str) -> None:
    """Let ``ps -e`` and ``top`` show this process as ``name``, of which they show 15 characters
    (Linux; elsewhere nothing happens).
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_NAME, name.encode())


def is_there(pid: int) -> bool:
    """Is there a process with this id, of whomever?"""
    try:
        with suppress(PermissionError):  # it is there, and somebody else's
            os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
