"""What a hostile body might try, each an attack that succeeds where nothing stops it.

An attack returns what it got; it raises ``OSError`` or the like where it is stopped. The file ``do``
names it, ``target`` is a path that it is after, ``pid`` a process.
"""

import ctypes
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from easeml.contract.tasks import TaskResult
from easeml.engine import task_main

_libc = ctypes.CDLL(None, use_errno=True)


def run(folder: Path) -> TaskResult:
    """Try the attack that the file ``do`` names, and tell what came of it."""
    attack = ATTACKS[(folder / "do").read_text().strip()]
    try:
        got = attack(folder)
    except Exception as error:
        result = TaskResult(ok=True, value={"stopped": f"{type(error).__name__}: {error}"})
    else:
        result = TaskResult(ok=True, value={"got": str(got)})
    task_main.write_result(folder, result)
    return result


def _target(folder: Path) -> Path:
    return Path((folder / "target").read_text())


def _pid(folder: Path) -> int:
    return int((folder / "pid").read_text())


def _checked(answer: int) -> int:
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer


def connect(folder: Path) -> object:
    return socket.create_connection(("127.0.0.1", _pid(folder)), timeout=5).getpeername()


def send_datagram(folder: Path) -> object:
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9))


def listen(folder: Path) -> object:
    return socket.create_server(("127.0.0.1", 0)).getsockname()


def connect_to_unix_socket(folder: Path) -> object:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(_target(folder)))
        return "connected"


def read_file(folder: Path) -> object:
    return _target(folder).read_text()


def list_folder(folder: Path) -> object:
    return list(_target(folder).parent.iterdir())


def read_through_symlink(folder: Path) -> object:
    (folder / "link").symlink_to(_target(folder))
    return (folder / "link").read_text()


def read_through_hard_link(folder: Path) -> object:
    (folder / "hard").hardlink_to(_target(folder))
    return (folder / "hard").read_text()


def write_file(folder: Path) -> object:
    return (_target(folder).parent / "planted").write_text("x")


def remove_file(folder: Path) -> object:
    return _target(folder).unlink()


def truncate_file(folder: Path) -> object:
    return os.truncate(_target(folder), 0)


def plant_code(folder: Path) -> object:
    planted = Path(task_main.__file__).with_name("planted_by_an_attack.py")
    planted.write_text("x = 1")
    planted.unlink()
    return planted


def read_environment_of_another(folder: Path) -> object:
    return Path(f"/proc/{_pid(folder)}/environ").read_bytes()


def read_own_environment(folder: Path) -> object:
    secret = os.environ.get("TEST_DATABASE_PASSWORD")
    if secret is None:
        raise KeyError("TEST_DATABASE_PASSWORD")
    return secret


def read_memory_of_another(folder: Path) -> object:
    return Path(f"/proc/{_pid(folder)}/mem").open("rb").name


def trace_another(folder: Path) -> object:
    return _checked(_libc.ptrace(16, _pid(folder), 0, 0))  # PTRACE_ATTACH


def signal_another(folder: Path) -> object:
    return os.kill(_pid(folder), 0)


def fork(folder: Path) -> object:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    return os.waitpid(pid, 0)


def start_program(folder: Path) -> object:
    return subprocess.check_output([sys.executable, "-c", "print(1)"])


def mount(folder: Path) -> object:
    return _checked(_libc.mount(b"none", str(folder).encode(), b"tmpfs", 0, None))


def new_user_namespace(folder: Path) -> object:
    return _checked(_libc.unshare(0x10000000))


def use_io_uring(folder: Path) -> object:
    return _checked(_libc.syscall(425, 8, ctypes.create_string_buffer(120)))


def make_device(folder: Path) -> object:
    return os.mknod(folder / "disk", 0o600 | 0o060000, os.makedev(8, 0))


def change_limits_of_another(folder: Path) -> object:
    return resource.prlimit(_pid(folder), resource.RLIMIT_NOFILE)


def set_clock(folder: Path) -> object:
    import time

    return time.clock_settime(time.CLOCK_REALTIME, time.time())


def use_descriptors_left_open(folder: Path) -> object:
    found = []
    for descriptor in range(3, 256):
        try:
            found.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        except FileNotFoundError:
            continue
    own = ("/dev/null", str(folder))
    files = [path for path in found if path.startswith("/") and not path.startswith(own)]
    if not files:
        raise FileNotFoundError("no file is open")
    return files


def kill_own_threads_stay(folder: Path) -> object:
    """No attack: what honest bodies do has to go on working."""
    numbers: list[int] = []
    threads = [threading.Thread(target=numbers.append, args=(one,)) for one in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    signal.raise_signal(signal.SIGCHLD)
    import numpy as np

    (folder / "outputs").mkdir(exist_ok=True)
    np.save(folder / "outputs" / "array.npy", np.linalg.inv(np.eye(50) * 2))
    return sum(numbers)


ATTACKS: dict[str, Callable[[Path], object]] = {
    name.replace("_", "-"): one
    for name, one in list(globals().items())
    if callable(one) and getattr(one, "__module__", "") == __name__ and not name.startswith("_")
}
del ATTACKS["run"]
