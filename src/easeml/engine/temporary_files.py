"""A process's temporary files, below the home: who is killed cannot remove them."""

import os
import tempfile
from pathlib import Path

from easeml.folders import remove_folder

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
