"""What a disk may hold after its power was lost: a program's calls, recorded and played again.

``record`` runs a program under ``strace``. ``Disk`` plays its calls, and gives states in which what
was not synced is lost, in part or in whole, in whatever order: only what a call to ``fsync`` or
``fdatasync`` covers is sure to be there. It is stricter than usual file systems: the name of a file
is sure to be there only after its folder was synced, and of each page that was written any number of
whole sectors may be lost (T. S. Pillai and others, All File Systems Are Not Created Equal, OSDI 2014,
section 3).
"""

import random
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

SECTOR = 512
_CALLS = (
    "openat,close,write,pwrite64,pwritev,lseek,fsync,fdatasync,ftruncate,fallocate,"
    "rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat"
)
_LINE = re.compile(r"^\d+ +(\w+)\((.*)\) += (-?\d+)(?:<(.*)>)?")
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_FILE = re.compile(r"^(\d+)<((?:\\x[0-9a-f]{2})*)>")


@dataclass(frozen=True, slots=True)
class Call:
    """A call that went well. ``file``: number of the open file; ``path``, ``to``: absolute."""

    name: str
    path: str
    to: str = ""
    data: bytes = b""
    number: int = 0  # a place in the file, its length, or the result of the call
    file: int = -1
    flags: str = ""


def record(command: Sequence[str], folder: Path) -> list[Call]:
    """Run a program; return its calls on files below a folder, and what it printed (``say``)."""
    trace = folder.with_name(f"{folder.name}.trace")
    strace = [
        "strace",
        "-f",
        "--seccomp-bpf",
        "-y",
        "-xx",
        "-s",
        "10000000",
        "-e",
        f"trace={_CALLS}",
        "-o",
        trace,
    ]
    run = subprocess.run([*strace, *command], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    calls = []
    for line in _whole_lines(trace.read_text()):
        call = _call(line)
        if call is not None and (call.name == "say" or _is_below(call, folder)):
            calls.append(call)
    return calls


def _whole_lines(text: str) -> list[str]:
    """Return the lines of a trace in the order in which calls ended: ``strace`` splits one while
    another thread calls. A file is closed when that begins: its number is free for others then.
    """
    begun: dict[str, str] = {}
    lines = []
    for line in text.splitlines():
        process, _, rest = line.partition(" ")
        if rest.endswith(" <unfinished ...>"):
            begun[process] = line.removesuffix(" <unfinished ...>")
            if rest.lstrip().startswith("close("):
                lines.append(f"{begun[process]}) = 0")
        elif "close resumed>" in rest:
            del begun[process]
        elif " resumed>" in rest:
            lines.append(begun.pop(process) + rest.partition(" resumed>")[2])
        else:
            lines.append(line)
    return lines


def _call(line: str) -> Call | None:
    """Return a call of a line; None for one that failed, or changes nothing."""
    found = _LINE.match(line)
    if found is None or int(found[3]) < 0:
        return None
    name, said, result = found[1], found[2], int(found[3])
    texts = [bytes.fromhex(text.replace("\\x", "")) for text in _TEXT.findall(said)]
    opened = _FILE.match(said)
    if name == "openat":
        flags = said.rpartition('", ')[2]
        return Call("opened", texts[0].decode(), file=result, flags=flags)
    if opened is not None:
        return _on_file(name, said, result, opened, texts)
    paths = [text.decode() for text in texts]
    if name.startswith(("rename", "link")):
        return Call("rename" if name.startswith("rename") else "link", *paths)
    is_folder = "AT_REMOVEDIR" in said
    named = {"unlink": "unlink", "unlinkat": "rmdir" if is_folder else "unlink"}
    return Call(named.get(name, name.removesuffix("at")), paths[0])


def _on_file(
    name: str, said: str, result: int, opened: re.Match[str], texts: list[bytes]
) -> Call | None:
    number = int(opened[1])
    path = bytes.fromhex(opened[2].replace("\\x", "")).decode()
    if number == 1 and name == "write":
        return Call("say", "", data=texts[0]) if path.startswith("pipe:") else None
    if name == "fdatasync":
        name = "fsync"
    data = b"".join(texts)[:result]
    is_placed = name in ("pwrite64", "pwritev", "ftruncate", "fallocate")
    place = int(said.rpartition(", ")[2]) if is_placed else result
    if name == "fallocate":  # as many zeros, from the place before
        start = int(said.split(", ")[-2])
        return Call("pwrite64", path, data=bytes(place), number=start, file=number)
    name = "pwrite64" if name == "pwritev" else name
    return Call(name, path, data=data, number=place, file=number)


def _is_below(call: Call, folder: Path) -> bool:
    inside = f"{folder}/"
    return f"{call.path}/".startswith(inside)


@dataclass(slots=True)
class _Contents:
    """A file: what is sure to be there, and what was changed since."""

    sure: bytearray = field(default_factory=bytearray)
    changes: list[tuple[int, bytes | None]] = field(default_factory=list)  # None: cut there

    def sync(self) -> None:
        self.sure = self.now()
        self.changes = []

    def now(self) -> bytearray:
        made = bytearray(self.sure)
        for place, data in self.changes:
            _change(made, place, data)
        return made

    def after_a_loss(self, lost: random.Random, share: float) -> bytes:
        """Return what may be left: each sector of a change, or a cut, is lost with a chance."""
        made = bytearray(self.sure)
        for place, data in self.changes:
            if data is None:
                if lost.random() >= share:
                    _change(made, place, None)
                continue
            for start in range(0, len(data), SECTOR):
                if lost.random() >= share:
                    _change(made, place + start, data[start : start + SECTOR])
        return bytes(made)


def _change(made: bytearray, place: int, data: bytes | None) -> None:
    if data is None:
        del made[place:]
        made.extend(bytes(place - len(made)))
        return
    made.extend(bytes(max(0, place - len(made))))
    made[place : place + len(data)] = data


class Disk:
    """Plays calls on a folder, all of which was synced."""

    def __init__(self, folder: Path, before: Path):
        """``before``: what was in the folder, in a copy of it."""
        self._root = folder
        self._names: dict[str, _Contents | None] = {str(folder): None}  # None: a folder
        for path in before.rglob("*"):
            contents = None if path.is_dir() else _Contents(bytearray(path.read_bytes()))
            self._names[str(folder / path.relative_to(before))] = contents
        self._sure = dict(self._names)
        self._changes: list[tuple[str, _Contents | None, bool]] = []  # name, what, is it there?
        self._open: dict[tuple[int, str], tuple[_Contents, int]] = {}
        self.said = b""

    def play(self, call: Call) -> None:
        """Do a call."""
        getattr(self, f"_{call.name}")(call)

    def write_after_a_loss(self, folder: Path, seed: int, share: float) -> None:
        """Write what may be left into a new folder. ``share``: how likely it is that a change that
        was not synced is lost; 1: all are.
        """
        lost = random.Random(seed)
        names = dict(self._sure)
        for name, what, is_there in self._changes:
            if lost.random() < share:
                continue
            if is_there:
                names[name] = what
            else:
                names.pop(name, None)
        folder.mkdir()
        written: dict[int, Path] = {}  # files may have several names
        for name in sorted(names):
            place = folder / Path(name).relative_to(self._root)
            contents = names[name]
            if not place.parent.is_dir():
                continue  # the folder that it was in is lost
            if contents is None:
                place.mkdir(exist_ok=True)
            elif id(contents) in written:
                place.hardlink_to(written[id(contents)])
            else:
                place.write_bytes(contents.after_a_loss(lost, share))
                written[id(contents)] = place

    def _say(self, call: Call) -> None:
        self.said += call.data

    def _opened(self, call: Call) -> None:
        if call.path not in self._names:
            self._name(call.path, _Contents())
        contents = self._names[call.path]
        if contents is None:
            return
        if "O_TRUNC" in call.flags:
            contents.changes.append((0, None))
        place = len(contents.now()) if "O_APPEND" in call.flags else 0
        self._open[call.file, call.path] = (contents, place)

    def _close(self, call: Call) -> None:
        self._open.pop((call.file, call.path), None)

    def _lseek(self, call: Call) -> None:
        contents, _ = self._at(call)
        if contents is not None:
            self._open[call.file, call.path] = (contents, call.number)

    def _write(self, call: Call) -> None:
        contents, place = self._at(call)
        if contents is not None:
            contents.changes.append((place, call.data))
            self._open[call.file, call.path] = (contents, place + len(call.data))

    def _pwrite64(self, call: Call) -> None:
        self._change_of(call, call.data)

    def _ftruncate(self, call: Call) -> None:
        self._change_of(call, None)

    def _change_of(self, call: Call, data: bytes | None) -> None:
        contents, _ = self._at(call)
        if contents is not None:
            contents.changes.append((call.number, data))

    def _at(self, call: Call) -> tuple[_Contents | None, int]:
        """Return the contents that an open file has, and the place in them that comes next.

        A file goes by its number and its name: processes have numbers of their own, threads share
        them. One that another process opened, or that was renamed since, goes by its name; a name
        that is gone has none.
        """
        return self._open.get((call.file, call.path)) or (self._names.get(call.path), 0)

    def _fsync(self, call: Call) -> None:
        contents, _ = self._at(call)
        if contents is not None:
            contents.sync()
            return
        waiting = []
        for change in self._changes:  # a folder: the names in it
            name, what, is_there = change
            if str(Path(name).parent) != call.path:
                waiting.append(change)
            elif is_there:
                self._sure[name] = what
            else:
                self._sure.pop(name, None)
        self._changes = waiting

    def _rename(self, call: Call) -> None:
        what = self._names[call.path]
        if what is not None and self._names.get(call.to) is what:
            return  # both name one file: they stay, says POSIX
        self._unname(call.path)
        self._name(call.to, what)

    def _link(self, call: Call) -> None:
        self._name(call.to, self._names[call.path])

    def _unlink(self, call: Call) -> None:
        self._unname(call.path)

    _rmdir = _unlink

    def _mkdir(self, call: Call) -> None:
        self._name(call.path, None)

    def _name(self, path: str, what: _Contents | None) -> None:
        self._names[path] = what
        self._changes.append((path, what, True))

    def _unname(self, path: str) -> None:
        what = self._names.pop(path)
        self._changes.append((path, what, False))
