"""Bodies that take without end, run by the executor in place of easeml's own. The file ``do`` names one.

Each is bounded, so that a machine survives where nothing stops it.
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path

from easeml.contract.tasks import RESULT, TaskResult

_LONG = 30.0  # seconds
_MOST = 4 * 2**30  # bytes
_PIECE = b"x" * 2**20


def run(folder: Path) -> TaskResult:
    """Do what the file ``do`` names, in spite of errors, and then wait to be ended."""
    FLOODS[(folder / "do").read_text()](folder)
    time.sleep(_LONG)
    return TaskResult(ok=True)


def fill_one_file(folder: Path) -> None:
    with (folder / "big").open("wb") as file, suppress(OSError):
        for _ in range(_MOST // len(_PIECE)):
            file.write(_PIECE)


def fill_many_files(folder: Path) -> None:
    for number in range(200):
        (folder / str(number)).write_bytes(_PIECE)


def fill_its_temporary_folder(folder: Path) -> None:
    (folder / "tmp").mkdir(exist_ok=True)
    fill_many_files(folder / "tmp")


def fill_with_names(folder: Path) -> None:
    for number in range(20_000):
        (folder / str(number)).touch()


def nest_folders(folder: Path) -> None:
    os.chdir(folder)
    for _ in range(2_500):
        Path("d").mkdir()
        os.chdir("d")


def hide_a_folder(folder: Path) -> None:
    (folder / "hidden").mkdir(0o300)
    fill_many_files(folder / "hidden")


def print_without_end(folder: Path) -> None:
    for _ in range(_MOST // len(_PIECE)):
        with suppress(OSError):
            os.write(1, _PIECE)


def start_processes(folder: Path) -> None:
    """Each child waits, so that the machine has to do with their number alone."""
    for _ in range(600):
        if os.fork() == 0:
            time.sleep(_LONG)
            os._exit(0)


def start_processes_that_start_processes(folder: Path) -> None:
    for _ in range(10):  # 1024 at most
        os.fork()


def take_all_memory(folder: Path) -> None:
    held = [bytearray(_PIECE) for _ in range(1024)]
    assert held


def bring_a_long_result(folder: Path) -> None:
    with (folder / RESULT).open("wb") as file:
        for _ in count():
            if file.tell() > 8 * 2**20:
                break
            file.write(_PIECE)
    os._exit(0)


def bring_a_pipe_as_result(folder: Path) -> None:
    os.mkfifo(folder / RESULT)
    os._exit(0)


FLOODS: dict[str, Callable[[Path], None]] = {
    name.replace("_", "-"): one
    for name, one in list(globals().items())
    if callable(one) and getattr(one, "__module__", "") == __name__ and name != "run"
}
