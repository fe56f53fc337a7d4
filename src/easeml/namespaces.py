"""A process's own user id, view of the files, network and process numbers (Linux).

See namespaces(7), mount_namespaces(7), user_namespaces(7) and pivot_root(2). What is given up here
cannot be had again. Call these functions while there is one thread.
"""

import ctypes
import os
import signal
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from easeml.parents import die_with_parent

FIRST_USER = 0x7000_0000
"""A child's user id is this and its process id: above all ids that systems give to people."""

_libc = ctypes.CDLL(None, use_errno=True)
_NEW_MOUNTS, _NEW_NAMES, _NEW_IPC = 0x00020000, 0x04000000, 0x08000000
_NEW_USER, _NEW_PIDS, _NEW_NETWORK = 0x10000000, 0x20000000, 0x40000000
_READ_ONLY, _NO_SETUID, _NO_DEVICES, _NO_PROGRAMS = 1, 2, 4, 8  # the same in both interfaces
_BIND, _RECURSIVE, _PRIVATE = 4096, 16384, 1 << 18
_MOUNT_SETATTR = 442  # a system call, from Linux 5.12 on; Landlock came with 5.13
_HERE, _ALL_BELOW = -100, 0x8000
_PIVOT_ROOT = 155
_DETACH = 2
_TEMPORARY = Path("/tmp")  # noqa: S108  in the new root it is a folder of the process
_CAPABILITIES_VERSION = 0x20080522
_DROP_FROM_BOUND = 24
_LAST_CAPABILITY = 63


@dataclass(frozen=True, slots=True)
class View:
    """What a process sees of the files: all else is not there.

    ``folder`` it may write, with ``temporary`` in it, which is its ``/tmp``. ``readable``:
    what it reads, by the path that it uses, each without symbolic links. ``devices``: files of
    devices.
    """

    folder: Path
    temporary: Path
    readable: Mapping[Path, Path]
    devices: Iterable[Path]


def enter_namespaces() -> None:
    """Get a network, process numbers, names and shared memory of its own, in a child.

    The process that called waits, does nothing else, and ends as its child does: this returns in
    the child only, which ends with it. Where this is not root, a user namespace allows it.
    """
    wanted = _NEW_MOUNTS | _NEW_NETWORK | _NEW_PIDS | _NEW_IPC | _NEW_NAMES
    user, group = os.geteuid(), os.getegid()
    if user != 0:
        wanted |= _NEW_USER
    _check(_libc.unshare(wanted), "unshare")
    if user != 0:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    child = os.fork()
    if child == 0:
        die_with_parent()
        return
    _end_as(child)


def enter_mounts() -> None:
    """Get mounts of its own: what is mounted from now on is seen by nobody else (as root)."""
    _check(_libc.unshare(_NEW_MOUNTS), "unshare")


def see_only(view: View, *, own_processes: bool) -> None:
    """Exchange the root folder for one with nothing but a view.

    ``own_processes``: this process has process numbers of its own, and sees these in ``/proc``.
    """
    _check(_libc.mount(None, b"/", None, _RECURSIVE | _PRIVATE, None), "mount /")
    sources = _opened(view)
    root = view.temporary  # covered with the new root until that takes the place of the old
    _mount("tmpfs", root, "tmpfs", _NO_SETUID | _NO_DEVICES, "mode=755,size=1m")
    for target, source in sources.items():
        _bind(source, root, target, view)
    for named, path in view.readable.items():
        if named != path:
            _link(root, named, path)
    _make_proc(root, own_processes=own_processes)
    _restrict(root, _READ_ONLY, recursively=False)
    os.chdir(root)
    _check(_libc.syscall(_PIVOT_ROOT, b".", b"."), "pivot_root")
    _check(_libc.umount2(b".", _DETACH), "umount")
    os.chdir(view.folder)


def become_user(number: int, folder: Path) -> None:
    """Become a user and a group of this number, who owns ``folder`` and has no capabilities.

    A process that is not root keeps its user: it loses its capabilities only.
    """
    if os.geteuid() == 0:
        _give(folder, number)
        _lower_bound()
        os.setgroups([])
        os.setresgid(number, number, number)
        os.setresuid(number, number, number)
    give_up_capabilities()
    die_with_parent()  # who changes their user is no longer asked to


def give_up_capabilities() -> None:
    """Give up what root may beyond others; no program that is started later has it either."""
    if os.geteuid() == 0:
        _lower_bound()
    header = struct.pack("Ii", _CAPABILITIES_VERSION, 0)
    _check(_libc.capset(header, bytes(24)), "capset")


def _lower_bound() -> None:
    for capability in range(_LAST_CAPABILITY + 1):
        _libc.prctl(_DROP_FROM_BOUND, capability, 0, 0, 0)  # unknown ones are refused


def _opened(view: View) -> dict[Path, int]:
    """Return descriptors of what a view shows, by path; of nested folders the outer one."""
    shown: dict[Path, Path] = {}
    proc = Path("/proc")  # is made anew
    for path in sorted(set(view.readable.values()), key=_depth):
        outer = {path, *path.parents}
        if outer.isdisjoint([proc, *shown]):
            shown[path] = path
    shown |= {path: path for path in view.devices}
    shown |= {_TEMPORARY: view.temporary, view.folder.resolve(): view.folder}
    outer_first = sorted(shown, key=_depth)
    return {target: os.open(shown[target], os.O_PATH | os.O_CLOEXEC) for target in outer_first}


def _depth(path: Path) -> int:
    return len(path.parts)


def _bind(source: int, root: Path, target: Path, view: View) -> None:
    opened = Path(f"/proc/self/fd/{source}")
    place = root / target.relative_to("/")
    if opened.is_dir():
        place.mkdir(parents=True, exist_ok=True)
    else:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    writable = target in (_TEMPORARY, view.folder.resolve())
    _mount(str(opened), place, None, _BIND if writable else _BIND | _RECURSIVE)
    os.close(source)
    if target in view.devices:
        _restrict(place, _NO_SETUID | _NO_PROGRAMS, recursively=False)
        return
    only_read = 0 if writable else _READ_ONLY
    _restrict(place, _NO_SETUID | _NO_DEVICES | only_read, recursively=not writable)


def _link(root: Path, named: Path, path: Path) -> None:
    """Let a name that leads through symbolic links lead to the same place in the new root."""
    place = root / named.relative_to("/")
    if os.path.lexists(place):
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(path)


def _make_proc(root: Path, *, own_processes: bool) -> None:
    place = root / "proc"
    place.mkdir(exist_ok=True)
    if own_processes:
        _mount("proc", place, "proc", _NO_SETUID | _NO_DEVICES | _NO_PROGRAMS)
    else:
        _mount("/proc", place, None, _BIND | _RECURSIVE)


def _mount(source: str, place: Path, kind: str | None, flags: int, options: str = "") -> None:
    of_kind = kind.encode() if kind else None
    target = os.fsencode(place)
    refused = _libc.mount(source.encode(), target, of_kind, flags, options.encode() or None)
    _check(refused, f"mount {place}")


def _restrict(place: Path, attributes: int, *, recursively: bool) -> None:
    """Set attributes of a mount, and of those below it, that cannot be taken back."""
    described = struct.pack("QQQQ", attributes, 0, 0, 0)
    how = _ALL_BELOW if recursively else 0
    path = os.fsencode(place)
    refused = _libc.syscall(_MOUNT_SETATTR, _HERE, path, how, described, len(described))
    _check(refused, f"mount_setattr {place}")


def _give(folder: Path, user: int) -> None:
    """Let a user own a folder and what is in it; symbolic links are not followed."""
    os.chown(folder, user, user)
    for place, folders, files in os.walk(folder):
        for name in folders + files:
            os.lchown(Path(place) / name, user, user)


def _end_as(child: int) -> None:
    """Wait for a child and end with its exit code, or by the signal that ended it."""
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        os._exit(code)
    if -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)


def _check(answer: int, what: str) -> None:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
