"""What the kernel takes from a child before it runs a body: Landlock, seccomp, an empty environment.

Levels ``user`` and ``sandbox`` take more, by a user id and by namespaces (``easeml.namespaces``).

Linux on x86-64 only. Landlock limits which files may be opened
(https://docs.kernel.org/userspace-api/landlock.html), seccomp which system calls may be made
(``easeml.seccomp``). Neither needs privileges, and neither can be undone by the child.
"""

import ctypes
import os
import platform
import struct
import sys
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from easeml import namespaces
from easeml.errors import Conflict
from easeml.seccomp import Starting, restrict_calls

Isolation = Literal["none", "process", "user", "sandbox"]
"""Levels, each of which refuses what the one before it refuses, and more (docs/threat-model.md)."""

_libc = ctypes.CDLL(None, use_errno=True)

# Landlock: system calls (the same on all architectures), and rights by the kernel's ABI version.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH = 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_FIRST_RIGHTS = (1 << 13) - 1
_LATER_RIGHTS = {2: 1 << 13, 3: 1 << 14, 5: 1 << 15}  # refer, truncate, ioctl on devices
_BIND_TCP, _CONNECT_TCP = 1, 2  # from version 4
_SCOPES = 3  # abstract Unix sockets and signals, from version 6
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _LATER_RIGHTS[3] | _LATER_RIGHTS[5]

_PR_SET_NO_NEW_PRIVS = 38

# What a body may read beside Python and its packages.
_READABLE = (
    "/usr", "/lib", "/lib64", "/bin",
    "/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types", "/etc/fonts", "/etc/nsswitch.conf",
    "/etc/alternatives", "/etc/R",
    "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/filesystems", "/sys/devices/system",
)  # fmt: skip
_READABLE_OF_SELF = ("stat", "statm", "status", "maps", "cgroup")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
_VARIABLES = ("PATH", "LANG", "LANGUAGE", "TZ")
_PREFIXES = (
    "LC_", "OMP_", "OPENBLAS_", "MKL_", "NUMEXPR_", "LOKY_", "NUMBA_", "ARROW_", "PYTHON",
    "CUDA_", "EASEML_GPU_",
)  # fmt: skip


def check_available(home: Path, isolation: Isolation = "process") -> None:
    """Raise ``Conflict``, with the reason, where children cannot be confined so on this machine.

    ``home``: the folder that they must not read; it may not lie in one that Python needs. A level
    beyond ``process`` is tried by a child, as no kernel tells beforehand. Call it while there is
    one thread.
    """
    if isolation == "none":
        return
    reason = why_unavailable() or _why_exposed(home) or _why_refused(isolation)
    if reason:
        raise Conflict(
            f"Tasks cannot be confined to level {isolation} on this machine: {reason}.",
            where="isolation",
            remedy=_REMEDIES[isolation],
        )


def why_unavailable() -> str:
    """Return why processes cannot be confined on this machine; empty where they can."""
    machine = platform.machine()
    if (sys.platform, machine) != ("linux", "x86_64"):
        return f"it is {sys.platform} on {machine}, not Linux on x86-64"
    if _landlock_version() < 1:
        return "its kernel has no Landlock"
    return ""


def _why_exposed(home: Path) -> str:
    """Return why children would read ``home``; empty where they would not."""
    place = home.resolve()
    for path in _readable_folders():
        if place.is_relative_to(path):
            return f"the home lies in {path}, which Python reads"
    return ""


def _why_refused(isolation: Isolation) -> str:
    """Return what of a level beyond ``process`` is refused here; empty where nothing is."""
    if isolation == "process":
        return ""
    if isolation == "user" and os.geteuid() != 0:
        return "only root can give children a user id of their own"
    failure = _tried(isolation)
    return f"the system refuses it ({failure})" if failure else ""


def confine(
    folder: Path,
    starting: Starting = Starting.NOTHING,
    isolation: Isolation = "process",
    reads: Iterable[Path] = (),
    *,
    network: bool = False,
    devices: Sequence[Path] = (),
    user: int = 0,
) -> None:
    """Take from this process, for ever, what a body does not need.

    It keeps its work ``folder`` to read and write, and Python, its packages, a few system files and
    the folders ``reads`` to read. It has no network and no capabilities, starts no programs and no
    processes (threads it may) beyond what ``starting`` says, signals and traces no others, and its
    environment is empty of secrets. Files of ``folder`` are executed only where it may start
    something. Call it while there is one thread. With ``network`` it may connect to others, at
    level ``process``. ``devices``: files of devices that it needs beside the usual ones, such as
    those of a GPU.

    At level ``user`` it becomes a user of its own without capabilities, who owns ``folder`` and
    sees no other files than those it may open. At ``sandbox`` it goes on in a child, with a
    network, process numbers, names and shared memory of its own, and this process ends as that one
    does. ``user``: what ``enter_ahead`` returned, where that was called before.

    With ``Starting.PROGRAMS`` it may signal what it started; before Linux 6.12 also others of its
    user. What it starts inherits the rest, and may confine itself further.
    """
    os.chdir(folder)
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    _empty_environment(temporary)
    if isolation in ("user", "sandbox"):
        _leave_system(folder, temporary, isolation, reads, devices, user)
    else:
        namespaces.give_up_capabilities()
    if _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise _failed("no_new_privs")
    _restrict_files(folder, starting, reads, devices, network=network)
    restrict_calls(starting, network=network)


def enter_ahead() -> int:
    """Do what level ``sandbox`` does that needs no folder; return the user id that is to be taken.

    It goes on in a child, as ``confine`` does: whoever waits for work calls it before.
    """
    user = namespaces.FIRST_USER + os.getpid()  # it is number 1 afterwards
    namespaces.enter_namespaces()
    return user


def _leave_system(
    folder: Path,
    temporary: Path,
    isolation: Isolation,
    reads: Iterable[Path],
    devices: Sequence[Path],
    user: int,
) -> None:
    seen = [*map(Path, _DEVICES), *devices]
    readable = readable_places() | {path: path.resolve() for path in reads}
    view = namespaces.View(folder, temporary, readable, seen)
    if isolation == "user":
        user = namespaces.FIRST_USER + os.getpid()
        namespaces.enter_mounts()
    elif not user:
        user = enter_ahead()
    namespaces.see_only(view, own_processes=isolation == "sandbox")
    namespaces.become_user(user, folder)


def _tried(isolation: Isolation) -> str:
    """Return what was refused to a child that confined itself; empty where nothing was."""
    told, tells = os.pipe()
    with tempfile.TemporaryDirectory() as folder:
        child = os.fork()
        if child == 0:
            _try(Path(folder).resolve(), isolation, tells)
        os.close(tells)
        with os.fdopen(told) as said:
            answer = said.read()
        os.waitpid(child, 0)
    if answer == _REACHED:
        return ""
    return answer or "the child ended"


def _try(folder: Path, isolation: Isolation, tells: int) -> None:
    """Tell whether this process can confine itself, and end."""
    answer = _REACHED
    try:
        confine(folder, isolation=isolation)
        next(Path(os.__file__).parent.iterdir())  # Python has to be readable still
    except BaseException as error:  # whatever it is, the level is not reached
        answer = str(error) or type(error).__name__
    os.write(tells, answer.encode())
    os._exit(0)


_REACHED = "reached"
_REMEDIES = {
    "process": "Start with --isolation none, if what people upload and add is trusted.",
    "user": "Start easeml as root, in a container with the capability SYS_ADMIN, or demand less: "
    "--isolation process.",
    "sandbox": "Allow user namespaces (sysctl user.max_user_namespaces, "
    "kernel.unprivileged_userns_clone), start easeml as root, or demand less: "
    "--isolation process.",
}


def _failed(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}")


def _empty_environment(temporary: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if _keeps_variable(name)}
    os.environ.clear()
    os.environ.update(kept, HOME=str(temporary), TMPDIR=str(temporary))
    tempfile.tempdir = str(temporary)  # it may have been looked up before


def _keeps_variable(name: str) -> bool:
    return name in _VARIABLES or name.startswith(_PREFIXES)


def _landlock_version() -> int:
    """Return the version of Landlock's interface; below 1 where there is none."""
    return _libc.syscall(_CREATE_RULESET, None, 0, _VERSION_FLAG)


def _restrict_files(
    folder: Path,
    starting: Starting,
    reads: Iterable[Path],
    devices: Sequence[Path],
    *,
    network: bool,
) -> None:
    version = _landlock_version()
    rights = _rights_of(version)
    ruleset = _new_ruleset(version, rights, network=network)
    for path in _readable_folders():
        _allow(ruleset, path, _READ_FILE | _READ_DIR | _EXECUTE)
    for path in reads:
        _allow(ruleset, path, _READ_FILE | _READ_DIR)
    for name in _READABLE_OF_SELF:
        _allow(ruleset, Path(f"/proc/{os.getpid()}/{name}"), _READ_FILE)
    for device in _DEVICES:
        _allow(ruleset, Path(device), _READ_FILE | _WRITE_FILE)
    for device in devices:
        _allow(ruleset, device, rights & (_READ_FILE | _WRITE_FILE | _LATER_RIGHTS[5]))
    of_folder = rights if starting.granted else rights & ~_EXECUTE
    _allow(ruleset, folder, of_folder)
    _allow(ruleset, folder / "tmp", of_folder)  # is found as /tmp as well where that is its own
    if _libc.syscall(_RESTRICT_SELF, ruleset, 0):
        raise _failed("landlock_restrict_self")
    os.close(ruleset)


def _rights_of(version: int) -> int:
    """Return the rights to files that a version of Landlock knows and so can refuse."""
    rights = _FIRST_RIGHTS
    for since, right in _LATER_RIGHTS.items():
        if version >= since:
            rights |= right
    return rights


def _new_ruleset(version: int, rights: int, *, network: bool) -> int:
    """Return the descriptor of a set of rules that grants nothing yet, but to connect."""
    refused = _BIND_TCP if network else _BIND_TCP | _CONNECT_TCP
    on_network = refused if version >= 4 else 0
    scopes = _SCOPES if version >= 6 else 0
    attributes = struct.pack("QQQ", rights, on_network, scopes)
    size = {1: 8, 2: 8, 3: 8, 4: 16, 5: 16}.get(version, 24)
    ruleset = _libc.syscall(_CREATE_RULESET, attributes, size, 0)
    if ruleset < 0:
        raise _failed("landlock_create_ruleset")
    return ruleset


def _readable_folders() -> list[Path]:
    """Return what Python, its packages and the system's libraries lie in."""
    return list(dict.fromkeys(readable_places().values()))


@cache
def readable_places() -> dict[Path, Path]:
    """Return where a body may read, by the path that it uses, and without symbolic links.

    A process that waits to be told its work calls this before, as it takes some milliseconds.
    """
    found = {}
    importable = filter(None, sys.path)  # the folder of work is there as an empty text
    for path in (sys.prefix, sys.base_prefix, *importable, *_READABLE):
        named = Path(path).absolute()
        if named.exists():
            found[named] = named.resolve()
    return found


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
