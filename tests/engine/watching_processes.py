"""Is a process there, and waiting for something to happen."""

import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 90.0  # seconds


def alive(pid: int) -> bool:
    """Is there a process of that id that still runs (a zombie does not)?"""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rsplit(")", 1)[1].split()[0] not in "ZX"


def eventually(condition: Callable[[], object]) -> None:
    """Wait until ``condition()`` is true; fail after a generous time."""
    latest = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < latest, "it did not happen"
        time.sleep(0.02)  # what is waited for needs the processor
