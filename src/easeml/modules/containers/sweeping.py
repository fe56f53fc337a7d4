"""Containers that are left over: who started them was killed before it could end them."""

import os
import re
from pathlib import Path

from .engines import engine

_OWNER = "easeml.owner"
_PLACE = "easeml.machine"
_OWNED = re.compile(r"easeml\.owner[:=](?P<pid>\d+)\.(?P<start>\d+)")  # as either engine shows it
_STARTED_AT = 19  # place of a process's start time after its name, in /proc/PID/stat


def labels() -> list[str]:
    """Return the labels of a container that this process starts: who it is, and where."""
    return [f"{_OWNER}={os.getpid()}.{_start_of(os.getpid())}", f"{_PLACE}={_machine()}"]


def sweep() -> int:
    """End the containers whose owners are gone; return how many there were.

    Those of other machines, or of other spaces of process numbers, are left alone. Raises
    ``Conflict`` where no engine works.
    """
    using = engine()
    mine = ["--filter", f"label={_PLACE}={_machine()}"]
    listed = using.call(["ps", "--all", *mine, "--format", "{{.ID}} {{.Labels}}"])
    swept = 0
    for line in listed.splitlines():
        container = line.partition(" ")[0]
        owner = _OWNED.search(line)
        if owner is not None and _start_of(int(owner["pid"])) == owner["start"]:
            continue
        using.call(["rm", "--force", "--volumes", container])
        swept += 1
    return swept


def _machine() -> str:
    """Return what process numbers are counted in: this start of the machine, and its namespace."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    space = Path("/proc/self/ns/pid").stat().st_ino
    return f"{boot}.{space}"


def _start_of(pid: int) -> str:
    """Return when a process started, by the kernel's clock; empty where there is none."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    return told.rpartition(")")[2].split()[_STARTED_AT]
