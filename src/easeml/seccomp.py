"""Which calls of the system a confined process may make: a filter of the kernel (Linux on x86-64).

See https://docs.kernel.org/userspace-api/seccomp_filter.html. All is allowed but what is named
here: what reaches other processes, the network, the machine's settings, or files in a way that
Landlock does not look at.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Iterable
from enum import Enum

_libc = ctypes.CDLL(None, use_errno=True)

_ARCHITECTURE = 0xC000003E
_OTHER_ABI = 0x40000000  # of x32, whose calls have numbers of their own
_SOCKET, _SOCKETPAIR, _CLONE, _CLONE3 = 41, 53, 56, 435
_KILL, _TGKILL, _PRLIMIT = 62, 234, 302
_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
_CLONE_THREAD = 0x00010000
_CLONE_NAMESPACES = 0x7E020000
_REFUSED = {
    "connect": 42, "accept": 43, "bind": 49, "listen": 50, "accept4": 288,
    "fork": 57, "vfork": 58, "execve": 59, "execveat": 322, "setsid": 112, "setpgid": 109,
    "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "pidfd_getfd": 438,
    "process_madvise": 440, "process_mrelease": 448, "kcmp": 312,
    "migrate_pages": 256, "move_pages": 279,
    "tkill": 200, "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297, "pidfd_send_signal": 424,
    "setpriority": 141, "ioprio_set": 251,
    "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "unshare": 272, "setns": 308,
    "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432,
    "fspick": 433, "mount_setattr": 442, "quotactl": 179, "quotactl_fd": 443,
    "open_by_handle_at": 304, "name_to_handle_at": 303, "mknod": 133, "mknodat": 259,
    "inotify_add_watch": 254, "fanotify_init": 300, "acct": 163,
    "init_module": 175, "finit_module": 313, "delete_module": 176,
    "kexec_load": 246, "kexec_file_load": 320,
    "bpf": 321, "perf_event_open": 298, "userfaultfd": 323,
    "keyctl": 250, "add_key": 248, "request_key": 249,
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "memfd_create": 319, "memfd_secret": 447,
    "shmget": 29, "shmat": 30, "shmctl": 31, "semget": 64, "semop": 65, "semctl": 66,
    "semtimedop": 220, "msgget": 68, "msgsnd": 69, "msgrcv": 70, "msgctl": 71,
    "mq_open": 240, "mq_unlink": 241,
    "reboot": 169, "swapon": 167, "swapoff": 168, "sethostname": 170, "setdomainname": 171,
    "settimeofday": 164, "clock_settime": 227, "adjtimex": 159, "clock_adjtime": 305,
    "iopl": 172, "ioperm": 173, "syslog": 103, "vhangup": 153, "personality": 135,
}  # fmt: skip
_ANSWERED_AS_DONE = {
    "chmod": 90, "fchmod": 91, "fchmodat": 268, "fchmodat2": 452,
    "chown": 92, "fchown": 93, "lchown": 94, "fchownat": 260,
    "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190, "setxattrat": 463,
    "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199, "removexattrat": 466,
    "file_setattr": 469,
}  # fmt: skip
"""What changes whom a file belongs to, and who may open it.

Landlock does not look at these calls, so they would reach all files of the user. Nothing is done,
and success is told: who copies a file calls them, and a refusal would fail the copy."""
_TIMES_AT = {132: 1, 235: 1, 261: 2, 280: 2}  # utime, utimes, futimesat, utimensat
"""Likewise what sets times, by the argument that names them. Without one the time is now: whoever
asks that makes a new file where the answer is an error, and none where it is success."""
_OF_ITSELF_ONLY = (144, 142, 203, 314)  # sched_setscheduler, -param, -affinity, -attr: 0 is oneself
_STREAMS = tuple(kind | flags for kind in (1, 5) for flags in (0, 0x800, 0x80000, 0x80800))
"""Kinds of pairs of sockets. A pair of datagrams could send to any socket that has a name."""
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL_PROCESS, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16  # in struct seccomp_data
_ARGUMENT_BYTES = 8
_PR_SET_SECCOMP, _FILTER = 22, 2


class Starting(Enum):
    """What a confined process may start."""

    NOTHING = "threads only"
    PROGRAMS = "programs beside it, confined as it is or more"
    ANOTHER = "another program in its own place, and no process beside it"

    @property
    def granted(self) -> frozenset[str]:
        """Names of the system calls that are not refused for it."""
        return _GRANTED[self]


_GRANTED = {
    Starting.NOTHING: frozenset[str](),
    Starting.PROGRAMS: frozenset({"fork", "vfork", "execve", "execveat"}),
    Starting.ANOTHER: frozenset({"execve"}),
}


def restrict_calls(starting: Starting, *, network: bool) -> None:
    """Refuse this process, for ever, calls that a body does not need.

    ``network``: it may connect to others. Call it with ``no_new_privs`` set, while there is one
    thread. Raises ``OSError``.
    """
    program = b"".join(_filter(os.getpid(), starting, network=network))
    buffer = ctypes.create_string_buffer(program, len(program))
    length = len(program) // 8  # bytes of an instruction
    described = struct.pack("HxxxxxxQ", length, ctypes.addressof(buffer))
    if _libc.prctl(_PR_SET_SECCOMP, _FILTER, described, 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")


def _filter(own_pid: int, starting: Starting, *, network: bool) -> Iterable[bytes]:
    """Give the instructions of the filter, each of 8 bytes (struct sock_filter)."""
    yield _step(_LOAD, _ARCHITECTURE_AT)
    yield _step(_JUMP_EQUAL, _ARCHITECTURE, skip_if=1)
    yield _step(_RETURN, _KILL_PROCESS)
    yield _step(_LOAD, _NUMBER_AT)
    yield _step(_JUMP_AT_LEAST, _OTHER_ABI, skip_if_not=1)
    yield _answer(errno.EPERM)
    granted = starting.granted | {"connect"} if network else starting.granted
    for name, number in _REFUSED.items():
        if name not in granted:
            yield from _answered(number, errno.EPERM)
    for number in _ANSWERED_AS_DONE.values():
        yield from _answered(number, 0)
    for number, argument in _TIMES_AT.items():
        yield from _answered_as_done_with(number, argument)
    # Where clone3 is not there, the C library uses clone, whose flags can be looked at.
    yield from _answered(_CLONE3, errno.ENOSYS)
    if starting is Starting.PROGRAMS:
        yield from _never_with(_CLONE, _CLONE_NAMESPACES)
    else:
        yield from _only_where(_CLONE, _JUMP_ANY_BIT, (_CLONE_THREAD,))
        yield from _only_where(_KILL, _JUMP_EQUAL, (own_pid,))
    families = (_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK) if network else ()
    yield from _only_where(_SOCKET, _JUMP_EQUAL, families)
    yield from _only_where(_SOCKETPAIR, _JUMP_EQUAL, _STREAMS, argument=1)
    yield from _only_where(_TGKILL, _JUMP_EQUAL, (own_pid,))
    yield from _only_where(_PRLIMIT, _JUMP_EQUAL, (0, own_pid))
    for number in _OF_ITSELF_ONLY:
        yield from _only_where(number, _JUMP_EQUAL, (0,))
    yield _step(_RETURN, _ALLOW)


def _answered(number: int, error: int) -> Iterable[bytes]:
    """Answer a call by an error, 0 for none, without making it."""
    yield _step(_JUMP_EQUAL, number, skip_if_not=1)
    yield _answer(error)


def _answered_as_done_with(number: int, argument: int) -> Iterable[bytes]:
    """Answer a call as done where an argument is given, and refuse it else."""
    yield _step(_JUMP_EQUAL, number, skip_if_not=4)
    yield _step(_LOAD, _ARGUMENTS_AT + _ARGUMENT_BYTES * argument)
    yield _step(_JUMP_EQUAL, 0, skip_if=1)
    yield _answer(0)
    yield _answer(errno.EPERM)


def _only_where(
    number: int, test: int, values: tuple[int, ...], argument: int = 0
) -> Iterable[bytes]:
    """Refuse a call unless one of its arguments passes the test with one of the values."""
    yield _step(_JUMP_EQUAL, number, skip_if_not=len(values) + 3)
    yield _step(_LOAD, _ARGUMENTS_AT + _ARGUMENT_BYTES * argument)
    for left, value in enumerate(reversed(values)):
        yield _step(test, value, skip_if=len(values) - left)
    yield _answer(errno.EPERM)
    yield _step(_RETURN, _ALLOW)


def _never_with(number: int, bits: int) -> Iterable[bytes]:
    """Refuse a call whose first argument has any of the bits."""
    yield _step(_JUMP_EQUAL, number, skip_if_not=4)
    yield _step(_LOAD, _ARGUMENTS_AT)
    yield _step(_JUMP_ANY_BIT, bits, skip_if_not=1)
    yield _answer(errno.EPERM)
    yield _step(_RETURN, _ALLOW)


def _answer(error: int) -> bytes:
    return _step(_RETURN, _ERROR | error)


def _step(code: int, value: int, *, skip_if: int = 0, skip_if_not: int = 0) -> bytes:
    return struct.pack("HBBI", code, skip_if, skip_if_not, value)
