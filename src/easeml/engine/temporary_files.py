"""A process's temporary files, below the home: who is killed cannot remove them."""

import os
import tempfile
from pathlib import Path

from easeml.folders import remove_folder
from easeml.parents import is_there

_LONGEST_SOCKET = 100  # bytes of the path of a Unix socket; some systems take 104, Linux 107
_SOCKET_NAME = len("/pymp-xxxxxxxx/listener-xxxxxxxx")  # of what multiprocessing makes


def use_own_folder(home: Path, name: str) -> None:
    """Let this process and its children make their temporary files in a folder of ``name``.

    What the process before left there is removed. The system's folder stays in use where the home
    lies so deep that the path of a socket would be too long.
    """
    folder = home / "tmp" / name
    if len(os.fsencode(folder)) + _SOCKET_NAME > _LONGEST_SOCKET:
        return
    remove_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["TMPDIR"] = str(folder)
    tempfile.tempdir = str(folder)  # the module remembers the one it found first


def name_below(parent: int, name: str) -> str:
    """Return what the folder of a process is called that was forked by the process ``parent``.

    While one easeml takes the place of another, both have a process of each name.
    """
    return f"{parent}/{name}"


def remove_those_below(home: Path, parent: int) -> None:
    """Remove the folders of all processes that were forked by the process ``parent``."""
    remove_folder(home / "tmp" / str(parent))


def sweep(home: Path) -> None:
    """Remove the folders of processes whose parent was killed."""
    for folder in (home / "tmp").glob("*"):
        if folder.name.isdigit() and not is_there(int(folder.name)):
            remove_folder(folder)
