"""Files that several tests share, which go when the whole session ends.

Workers end without the functions that ``atexit`` would call, so the session removes what they made.
"""

import os
import shutil
import tempfile
from pathlib import Path

_FOLDER = "EASEML_SESSION_FILES"
_OF_TESTS = "PYTEST_DEBUG_TEMPROOT"  # where pytest keeps the files of tests that failed
_MEMORY = Path("/dev/shm")
_GIGABYTE = 1 << 30
_FILES = 4 * _GIGABYTE  # of a whole session at most; it uses less than two
_PROCESSES = 8 * _GIGABYTE  # what tests need beside their files


def begin() -> None:
    """Make the folder of a session; its workers inherit where it is.

    All temporary files lie in it, and in memory where there is room: each of thousands of small
    databases would wait for the disk.
    """
    if _has_room_in_memory():
        os.environ.setdefault(_OF_TESTS, str(_MEMORY))
        os.environ["TMPDIR"] = os.environ[_FOLDER] = _new_folder_in(_MEMORY)
        tempfile.tempdir = None  # what was found before the variable was set
    else:
        os.environ[_FOLDER] = _new_folder_in(None)


def shortest_folder() -> Path:
    """Return the folder for what has a socket, whose path is at most 107 bytes long.

    In memory where all files of the session are: a database is copied there in a tenth of the
    processor time.
    """
    is_in_memory = os.environ.get(_FOLDER, "").startswith(str(_MEMORY))
    return _MEMORY if is_in_memory else Path("/tmp")


def _new_folder_in(place: Path | None) -> str:
    return tempfile.mkdtemp(prefix="easeml-tests-", dir=place)


def _has_room_in_memory() -> bool:
    """Return whether files fit into memory beside processes, and programs may be run from there."""
    if "TMPDIR" in os.environ or not os.access(_MEMORY, os.W_OK):
        return False  # somebody chose a place
    system = os.statvfs(_MEMORY)
    is_large = system.f_bavail * system.f_frsize >= _FILES
    return is_large and not system.f_flag & os.ST_NOEXEC and _free_memory() >= _FILES + _PROCESSES


def _free_memory() -> int:
    """Return the bytes that processes may still take."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith("MemAvailable"))
    return 1024 * int(line.split()[1])


def end() -> None:
    """Remove the folder of the session and all that is in it."""
    shutil.rmtree(os.environ.pop(_FOLDER), ignore_errors=True)


def new_folder() -> Path:
    """Return a new empty folder that lasts as long as the session.

    Benchmarks, which are no session, get one of the system's.
    """
    return Path(tempfile.mkdtemp(dir=os.environ.get(_FOLDER)))


def shared(name: str) -> Path:
    """Return the folder of this name, the same for all workers of a session."""
    folder = Path(os.environ[_FOLDER], name) if _FOLDER in os.environ else new_folder()
    folder.mkdir(exist_ok=True)
    return folder
