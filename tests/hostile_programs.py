"""What hostile programs of modules try: bounded attacks, each of which would succeed free."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from easeml.errors import EasemlError
from easeml.folders import remove_folder
from easeml.modules import runtimes
from easeml.modules.packed import unpack
from easeml.modules.programs import Limits

PAGE = Path(__file__).parents[1] / "docs" / "threat-model.md"
LIMITS = Limits(seconds=15, memory=128 * 2**20, disk=16 * 2**20, files=1000, printed=2**16)
BEGIN = """\
import ctypes, errno, json, os, socket, sys, time
secret, port, pid = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
libc = ctypes.CDLL(None, use_errno=True)
def succeeds(code):
    if code < 0:
        raise OSError(ctypes.get_errno(), "refused")
def attempt(name, code):
    came_to = "succeeded"
    try:
        exec(code, globals())
    except OSError as error:
        came_to = errno.errorcode.get(error.errno, type(error).__name__)
    except BaseException as error:
        came_to = type(error).__name__
    print(json.dumps({"attack": name, "came_to": came_to}), flush=True)
"""
ATTACKS = {
    "read the files of others": "open(secret).read()",
    "list the folder of others": "os.listdir(os.path.dirname(secret))",
    "write beside the files of others": "open(secret + '.mine', 'w')",
    "plant code in the system": "open('/usr/lib/planted', 'w')",
    "change the kernel": "open('/proc/sys/kernel/core_pattern', 'w').write('x')",
    "open the network": "socket.create_connection(('127.0.0.1', port), 2)",
    "leave the machine": "socket.create_connection(('192.0.2.1', 80), 2)",
    "signal another process": "os.kill(pid, 9)",
    "read the memory of another process": "open(f'/proc/{pid}/mem', 'rb').read(1)",
    "read the environment of another process": "open(f'/proc/{pid}/environ', 'rb').read()",
    "mount": "succeeds(libc.mount(b'none', b'/tmp', b'tmpfs', 0, None))",
    "make a user namespace": "succeeds(libc.unshare(0x10000000))",
    "clone into a user namespace": "succeeds(libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0))",
    "make a device": "os.mknod('disk', 0o60600, os.makedev(8, 0))",
    "trace its parent": "succeeds(libc.ptrace(16, os.getppid(), 0, 0))",
    "fill the disk with one file": "open('big', 'wb').truncate(2**40)",
}
"""All tried by one program, one after the other."""
ALONE = {
    "fork for ever": "for _ in range(1000):\n    if os.fork() == 0:\n        time.sleep(9)\n        os._exit(0)",
    "take all memory": "held = [b'x' * 2**20 for _ in range(400)]",
    "fill the disk with many files": "for i in range(64):\n    open(f'{i}', 'wb').write(b'x' * 2**20)\ntime.sleep(9)",
    "fill the disk with names": "for i in range(2000):\n    open(f'{i}', 'w')\ntime.sleep(9)",
    "nest folders for ever": "for i in range(1500):\n    os.mkdir('d')\n    os.chdir('d')\ntime.sleep(9)",
    "print for ever": "while True:\n    print('flood of words')",
    "hang": "time.sleep(60)",
}
"""Each tried by a program of its own, which may not come to its end."""
ALL = (*ATTACKS, *ALONE)
_HANG_SECONDS = 1.0
_WORDS = {
    "refused": ("EPERM", "EACCES", "EROFS", "ENOSYS"),
    "not there": ("ENOENT", "ESRCH", "ECONNREFUSED", "ENETUNREACH"),
    "ends at a limit": ("EFBIG", "EAGAIN", "ENOMEM", "MemoryError"),
}


def came_to(shebang: str, image: str, folder: Path, arguments: list[str]) -> dict[str, str]:
    """Run all attacks in a runtime, and return what each came to.

    ``arguments``: a file of others, a port on which somebody listens, and a process.
    """
    found = _run(shebang, image, folder, ATTACKS, arguments)
    for name, code in ALONE.items():
        found |= _run(shebang, image, folder, {name: code}, arguments)
    return found


def _run(
    shebang: str, image: str, folder: Path, attacks: Mapping[str, str], arguments: list[str]
) -> dict[str, str]:
    place = folder / "own"
    for name in ("module", "data", "memory", "output"):
        (place / name).mkdir(parents=True)
    unpack({"train": shebang + program(attacks)}, place / "module")
    seconds = _HANG_SECONDS if "hang" in attacks else LIMITS.seconds
    limits = Limits(seconds, LIMITS.memory, LIMITS.disk, LIMITS.files, LIMITS.printed)
    found = dict.fromkeys(attacks, "it did not come to its end")
    lines: list[bytes] = []
    try:
        runtimes.run(place, "train", arguments, limits, lines.append, image)
    except EasemlError as error:
        found = dict.fromkeys(attacks, f"ends at a limit: {error.message}")
    finally:
        remove_folder(place)
    found |= read(lines)
    assert not os.path.lexists(place)
    return found


def program(attacks: Mapping[str, str]) -> str:
    """Return a program in Python that tries attacks, and prints what each came to."""
    return BEGIN + "".join(f"attempt({name!r}, {code!r})\n" for name, code in attacks.items())


def read(lines: Iterable[bytes]) -> dict[str, str]:
    """Return what attacks came to, of the lines that such a program printed."""
    found = {}
    for line in lines:
        if line.startswith(b'{"attack"'):
            told = json.loads(line)
            found[told["attack"]] = told["came_to"]
    return found


def told(column: str) -> dict[str, str]:
    """Return what the page says each attack comes to, in one of its columns."""
    rows = [line.strip("| ").split(" | ") for line in PAGE.read_text().splitlines()]
    first = next(place for place, row in enumerate(rows) if row[0] == "attack by a program")
    place = rows[first].index(column)
    of_attacks = rows[first + 2 : first + 2 + len(ALL)]
    return {row[0]: row[place] for row in of_attacks}


def in_words(came: str) -> str:
    """Return what an attack came to in few words."""
    for words, codes in _WORDS.items():
        if came in codes or came.startswith(words):
            return words
    return came
