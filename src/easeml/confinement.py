"""What the kernel takes from a child before it runs a body: Landlock, seccomp, an empty environment.

Linux on x86-64 only. Landlock limits which files may be opened (https://docs.kernel.org/userspace-api/
landlock.html), seccomp which system calls may be made (https://docs.kernel.org/userspace-api/
seccomp_filter.html). Neither needs privileges, and neither can be undone by the child.
"""

import ctypes
import errno
import os
import platform
import struct
import sys
import tempfile
from collections.abc import Iterable
from enum import Enum
from pathlib import Path

from easeml.errors import Conflict

_libc = ctypes.CDLL(None, use_errno=True)

# Landlock: system calls (the same on all architectures), and rights by the kernel's ABI version.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH = 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_FIRST_RIGHTS = (1 << 13) - 1
_LATER_RIGHTS = {2: 1 << 13, 3: 1 << 14, 5: 1 << 15}  # refer, truncate, ioctl on devices
_NETWORK_RIGHTS = 3  # bind and connect by TCP, from version 4
_SCOPES = 3  # abstract Unix sockets and signals, from version 6
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _LATER_RIGHTS[3] | _LATER_RIGHTS[5]

# seccomp: the numbers of system calls on x86-64.
_ARCHITECTURE = 0xC000003E
_OTHER_ABI = 0x40000000  # of x32, whose calls have numbers of their own
_SOCKET, _CLONE, _CLONE3, _KILL, _TGKILL, _PRLIMIT = 41, 56, 435, 62, 234, 302
_AF_UNIX = 1
_CLONE_THREAD = 0x00010000
_REFUSED = {
    "connect": 42, "accept": 43, "bind": 49, "listen": 50, "accept4": 288,
    "fork": 57, "vfork": 58, "execve": 59, "execveat": 322,
    "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "pidfd_getfd": 438,
    "tkill": 200, "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297, "pidfd_send_signal": 424,
    "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "unshare": 272, "setns": 308,
    "open_by_handle_at": 304, "mknod": 133, "mknodat": 259,
    "init_module": 175, "finit_module": 313, "delete_module": 176, "kexec_load": 246,
    "bpf": 321, "perf_event_open": 298, "userfaultfd": 323,
    "keyctl": 250, "add_key": 248, "request_key": 249,
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "reboot": 169, "swapon": 167, "settimeofday": 164, "clock_settime": 227,
}  # fmt: skip
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL_PROCESS, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16  # in struct seccomp_data
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _FILTER = 38, 22, 2

_STARTING = ("fork", "vfork", "execve", "execveat")  # calls that make processes and programs


class Starting(Enum):
    """What a confined process may start."""

    NOTHING = "threads only"
    PROGRAMS = "programs beside it, confined as it is or more"
    ANOTHER = "another program in its own place, and no process beside it"

    @property
    def granted(self) -> frozenset[str]:
        """Names of the system calls that are not refused for it."""
        if self is Starting.PROGRAMS:
            return frozenset(_STARTING)
        if self is Starting.ANOTHER:
            return frozenset({"execve"})
        return frozenset()


# What a body may read beside Python and its packages.
_READABLE = (
    "/usr", "/lib", "/lib64", "/bin",
    "/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types", "/etc/fonts", "/etc/nsswitch.conf",
    "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/filesystems", "/sys/devices/system",
)  # fmt: skip
_READABLE_OF_SELF = ("stat", "statm", "status", "maps", "cgroup")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
_VARIABLES = ("PATH", "LANG", "LANGUAGE", "TZ")
_PREFIXES = ("LC_", "OMP_", "OPENBLAS_", "MKL_", "NUMEXPR_", "LOKY_", "NUMBA_", "ARROW_", "PYTHON")


def check_available(home: Path) -> None:
    """Raise ``Conflict``, with the reason, where children cannot be confined on this machine.

    ``home``: the folder that they must not read; it may not lie in one that Python needs.
    """
    reason = why_unavailable()
    if reason:
        raise _unavailable(reason)
    for path in _readable_folders():
        if home.resolve().is_relative_to(path):
            raise _unavailable(f"the home lies in {path}, which Python reads")


def why_unavailable() -> str:
    """Return why processes cannot be confined on this machine; empty where they can."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return f"it is {sys.platform} on {platform.machine()}, not Linux on x86-64"
    if _landlock_version() < 1:
        return "its kernel has no Landlock"
    return ""


def confine(folder: Path, starting: Starting = Starting.NOTHING) -> None:
    """Take from this process, for ever, what a body does not need.

    It keeps its work ``folder`` to read and write, and Python, its packages and a few system files
    to read. It has no network, starts no programs and no processes (threads it may) beyond what
    ``starting`` says, signals and traces no others, and its environment is empty of secrets. Files
    of ``folder`` are executed only where it may start something. Call it while there is one thread.

    With ``Starting.PROGRAMS`` it may signal what it started; before Linux 6.12 also others of its
    user. What it starts inherits the rest, and may confine itself further.
    """
    os.chdir(folder)
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    _empty_environment(temporary)
    if _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise _failed("no_new_privs")
    _restrict_files(folder, starting)
    _restrict_calls(starting)


def _unavailable(reason: str) -> Conflict:
    return Conflict(
        f"Tasks cannot be confined on this machine: {reason}.",
        where="isolation",
        remedy="Start with --isolation none, if what people upload and add is trusted.",
    )


def _failed(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}")


def _empty_environment(temporary: Path) -> None:
    kept = {}
    for name, value in os.environ.items():
        if name in _VARIABLES or name.startswith(_PREFIXES):
            kept[name] = value
    os.environ.clear()
    os.environ.update(kept, HOME=str(temporary), TMPDIR=str(temporary))
    tempfile.tempdir = str(temporary)  # it may have been looked up before


def _landlock_version() -> int:
    """Return the version of Landlock's interface; below 1 where there is none."""
    return _libc.syscall(_CREATE_RULESET, None, 0, _VERSION_FLAG)


def _restrict_files(folder: Path, starting: Starting) -> None:
    version = _landlock_version()
    rights = _FIRST_RIGHTS
    for since, right in _LATER_RIGHTS.items():
        if version >= since:
            rights |= right
    network = _NETWORK_RIGHTS if version >= 4 else 0
    scopes = _SCOPES if version >= 6 else 0
    attributes = struct.pack("QQQ", rights, network, scopes)
    size = {1: 8, 2: 8, 3: 8, 4: 16, 5: 16}.get(version, 24)
    ruleset = _libc.syscall(_CREATE_RULESET, attributes, size, 0)
    if ruleset < 0:
        raise _failed("landlock_create_ruleset")
    for path in _readable_folders():
        _allow(ruleset, path, _READ_FILE | _READ_DIR | _EXECUTE)
    for name in _READABLE_OF_SELF:
        _allow(ruleset, Path(f"/proc/{os.getpid()}/{name}"), _READ_FILE)
    for device in _DEVICES:
        _allow(ruleset, Path(device), _READ_FILE | _WRITE_FILE)
    of_folder = rights if starting.granted else rights & ~_EXECUTE
    _allow(ruleset, folder, of_folder)
    if _libc.syscall(_RESTRICT_SELF, ruleset, 0):
        raise _failed("landlock_restrict_self")
    os.close(ruleset)


def _readable_folders() -> list[Path]:
    """Return what Python, its packages and the system's libraries lie in."""
    of_python = [sys.prefix, sys.base_prefix, *sys.path]
    found = dict.fromkeys(Path(path).resolve() for path in (*of_python, *_READABLE) if path)
    return [path for path in found if path.exists()]


def _allow(ruleset: int, path: Path, rights: int) -> None:
    if not path.exists():
        return
    if not path.is_dir():
        rights &= _ON_FILES
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    rule = struct.pack("=Qi", rights, descriptor)
    refused = _libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
    os.close(descriptor)
    if refused:
        raise _failed(f"landlock_add_rule for {path}")


def _restrict_calls(starting: Starting) -> None:
    program = b"".join(_filter(os.getpid(), starting))
    buffer = ctypes.create_string_buffer(program, len(program))
    length = len(program) // 8  # bytes of an instruction
    described = struct.pack("HxxxxxxQ", length, ctypes.addressof(buffer))
    if _libc.prctl(_PR_SET_SECCOMP, _FILTER, described, 0, 0):
        raise _failed("seccomp")


def _filter(own_pid: int, starting: Starting) -> Iterable[bytes]:
    """Give the instructions of the filter, each of 8 bytes (struct sock_filter)."""
    yield _step(_LOAD, _ARCHITECTURE_AT)
    yield _step(_JUMP_EQUAL, _ARCHITECTURE, skip_if=1)
    yield _step(_RETURN, _KILL_PROCESS)
    yield _step(_LOAD, _NUMBER_AT)
    yield _step(_JUMP_AT_LEAST, _OTHER_ABI, skip_if_not=1)
    yield _refuse(errno.EPERM)
    for name, number in _REFUSED.items():
        if name in starting.granted:
            continue
        yield _step(_JUMP_EQUAL, number, skip_if_not=1)
        yield _refuse(errno.EPERM)
    # Where clone3 is not there, the C library uses clone, whose flags can be looked at.
    yield _step(_JUMP_EQUAL, _CLONE3, skip_if_not=1)
    yield _refuse(errno.ENOSYS)
    if starting is not Starting.PROGRAMS:
        yield from _only_where(_CLONE, _JUMP_ANY_BIT, (_CLONE_THREAD,))
        yield from _only_where(_KILL, _JUMP_EQUAL, (own_pid,))
    yield from _only_where(_SOCKET, _JUMP_EQUAL, (_AF_UNIX,))
    yield from _only_where(_TGKILL, _JUMP_EQUAL, (own_pid,))
    yield from _only_where(_PRLIMIT, _JUMP_EQUAL, (0, own_pid))
    yield _step(_RETURN, _ALLOW)


def _only_where(number: int, test: int, values: tuple[int, ...]) -> Iterable[bytes]:
    """Refuse a call unless its first argument passes the test with one of the values."""
    yield _step(_JUMP_EQUAL, number, skip_if_not=len(values) + 3)
    yield _step(_LOAD, _FIRST_ARGUMENT_AT)
    for left, value in enumerate(reversed(values)):
        yield _step(test, value, skip_if=len(values) - left)
    yield _refuse(errno.EPERM)
    yield _step(_RETURN, _ALLOW)


def _refuse(number: int) -> bytes:
    return _step(_RETURN, _ERROR | number)


def _step(code: int, value: int, *, skip_if: int = 0, skip_if_not: int = 0) -> bytes:
    return struct.pack("HBBI", code, skip_if, skip_if_not, value)
