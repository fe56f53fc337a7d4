"""What a hostile body might try, each an attack that succeeds where nothing stops it.

An attack returns what it got; it raises ``OSError`` or the like where it is stopped. The file ``do``
names it, ``target`` is a path that it is after, ``pid`` a process.
"""

import ctypes
import os
import resource
import shutil
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


def send_to_unix_socket(folder: Path) -> object:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        return sender.sendto(b"x", str(_target(folder)))


def send_to_unix_socket_by_a_pair(folder: Path) -> object:
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with one, other:
        return one.sendto(b"x", str(_target(folder)))


def open_netlink(folder: Path) -> object:
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).getsockname()


def change_mode(folder: Path) -> object:
    _target(folder).chmod(0o777)
    return _changed(_target(folder).stat().st_mode & 0o777 == 0o777)


def change_mode_of_code(folder: Path) -> object:
    """Of what it may read: the descriptor is open already."""
    with Path(task_main.__file__).open("rb") as file:
        before = os.fstat(file.fileno()).st_mode & 0o777
        os.fchmod(file.fileno(), before ^ 0o100)
        after = os.fstat(file.fileno()).st_mode & 0o777
        os.fchmod(file.fileno(), before)
    return _changed(before != after)


def change_owner(folder: Path) -> object:
    os.chown(_target(folder), 12345, 12345)
    return _changed(_target(folder).stat().st_uid == 12345)


def change_times(folder: Path) -> object:
    os.utime(_target(folder), (1, 1))
    return _changed(_target(folder).stat().st_mtime == 1)


def _changed(has_changed: bool) -> str:
    if not has_changed:
        raise PermissionError("nothing was done")
    return "changed"


def rename_file(folder: Path) -> object:
    return _target(folder).rename(folder / "stolen").read_text()


def replace_file(folder: Path) -> object:
    (folder / "mine").write_text("mine")
    return (folder / "mine").replace(_target(folder))


def make_folder(folder: Path) -> object:
    return (_target(folder).parent / "planted").mkdir()


def read_through_root_of_another(folder: Path) -> object:
    return Path(f"/proc/{_pid(folder)}/root{_target(folder)}").read_text()


def list_descriptors_of_another(folder: Path) -> object:
    return list(Path(f"/proc/{_pid(folder)}/fd").iterdir())


def watch_folder(folder: Path) -> object:
    watch = _checked(_libc.inotify_init1(0))
    return _checked(_libc.inotify_add_watch(watch, bytes(_target(folder).parent), 0x100))


def watch_all_files(folder: Path) -> object:
    return _checked(_libc.syscall(300, 0, 0))  # fanotify_init


def keep_shared_memory(folder: Path) -> object:
    memory = _checked(_libc.shmget(0, 4096, 0o1600))
    _libc.shmctl(memory, 0, None)  # IPC_RMID
    return memory


def keep_message_queue(folder: Path) -> object:
    queue = _checked(_libc.msgget(0, 0o1600))
    _libc.msgctl(queue, 0, None)
    return queue


def use_memory_that_no_limit_counts(folder: Path) -> object:
    return os.write(os.memfd_create("hidden"), b"x" * 4096)


def keep_key(folder: Path) -> object:
    return _checked(_libc.syscall(248, b"user", b"easeml-test", b"x", 1, -2))  # add_key


def leave_session(folder: Path) -> object:
    """So that a process outlives the end of its task."""
    pid = os.fork()
    if pid == 0:
        os.setsid()
        os._exit(0)
    return os.waitpid(pid, 0)


def signal_parent(folder: Path) -> object:
    return os.kill(os.getppid(), 0)


def signal_everybody(folder: Path) -> object:
    return os.kill(-1, 0)


def slow_another_down(folder: Path) -> object:
    now = os.getpriority(os.PRIO_PROCESS, _pid(folder))
    return os.setpriority(os.PRIO_PROCESS, _pid(folder), now)


def tie_another_to_cores(folder: Path) -> object:
    return os.sched_setaffinity(_pid(folder), os.sched_getaffinity(_pid(folder)))


def read_memory_of_another_by_call(folder: Path) -> object:
    return _checked(_libc.process_vm_readv(_pid(folder), None, 0, None, 0, 0))


def take_descriptor_of_another(folder: Path) -> object:
    return _checked(_libc.syscall(438, os.pidfd_open(_pid(folder)), 0, 0))  # pidfd_getfd


def join_namespace_of_another(folder: Path) -> object:
    with Path(f"/proc/{_pid(folder)}/ns/net").open() as space:
        return _checked(_libc.setns(space.fileno(), 0))


def raise_own_limits(folder: Path) -> object:
    most = resource.getrlimit(resource.RLIMIT_DATA)[1]
    return resource.setrlimit(resource.RLIMIT_DATA, (most, most * 2))


def become_another_user(folder: Path) -> object:
    return os.setuid(12345)


def change_root(folder: Path) -> object:
    return os.chroot(folder)


def open_kernel_setting(folder: Path) -> object:
    return Path("/proc/sys/kernel/core_pattern").open("r+").name


def read_kernel_log(folder: Path) -> object:
    return _checked(_libc.klogctl(3, ctypes.create_string_buffer(100), 100))


def name_the_machine(folder: Path) -> object:
    return socket.sethostname(socket.gethostname())


def mount_by_new_calls(folder: Path) -> object:
    return _checked(_libc.syscall(430, b"tmpfs", 0))  # fsopen


def stop_at_page_faults(folder: Path) -> object:
    return _checked(_libc.syscall(323, 0))  # userfaultfd


def change_personality(folder: Path) -> object:
    return _checked(_libc.personality(0x0400000))  # READ_IMPLIES_EXEC


def call_by_another_abi(folder: Path) -> object:
    return _checked(_libc.syscall(0x40000000 | 39))  # getpid of x32


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

    (folder / "new").touch()
    (folder / "new").write_text("x")
    (folder / "new").touch()
    shutil.copy2(folder / "new", folder / "copy")
    (folder / "parts").mkdir()
    shutil.copytree(folder / "parts", folder / "tree")
    assert (folder / "copy").read_text() == "x"
    (folder / "outputs").mkdir(exist_ok=True)
    np.save(folder / "outputs" / "array.npy", np.linalg.inv(np.eye(50) * 2))
    return sum(numbers)


ATTACKS: dict[str, Callable[[Path], object]] = {
    name.replace("_", "-"): one
    for name, one in list(globals().items())
    if callable(one) and getattr(one, "__module__", "") == __name__ and not name.startswith("_")
}
del ATTACKS["run"]
