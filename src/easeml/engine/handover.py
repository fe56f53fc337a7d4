"""How an easeml that runs on a home is asked for an upgrade, and what it hands to the next one.

Old and new versions meet here: whatever changes in this file has to be understood by both. The
files lie in the home, whose owner alone can write there.
"""

import fcntl
import json
import os
import secrets
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from easeml.errors import Conflict, TimedOut
from easeml.folders import whole_file

READY = "ready"
"""Said by a new ``prefork`` whose controller answers."""
WAITS = "waits"
"""Said by one that changes the database: it waits until the old one has ended."""
CHANGED = "changed"
"""Said by that one once the database has its form: the old one cannot go on."""
GO = "go"
"""What one that waits is told then."""

DRAIN_SECONDS = 60.0
"""In which requests under way are answered."""

_REQUEST, _ANSWER, _ASKING = "upgrade.json", "upgraded.json", "upgrade.lock"
_CHANNEL = "EASEML_SUCCEEDS"
_HANDED = "EASEML_HANDED_OVER"
_TAKEN_WITHIN = 10.0  # seconds: a supervisor looks for requests many times a second
_LONGEST_WORD = 64  # bytes


@dataclass(frozen=True)
class Asked:
    """A request for an upgrade: ``python`` is the interpreter of the new version."""

    id: str
    python: str


@dataclass(frozen=True)
class Answer:
    """What came of a request: the version that runs now, or why the old one goes on."""

    id: str
    version: str = ""
    error: str = ""


def ask(home: Path) -> str:
    """Ask the easeml that runs on a home to give way to this one; return the id of the request."""
    asked = Asked(secrets.token_hex(8), sys.executable)
    _write(home / _REQUEST, asdict(asked))
    return asked.id


@contextmanager
def only_one(home: Path) -> Iterator[None]:
    """Let nobody else ask meanwhile: there is one request, and one answer.

    Raises ``Conflict`` where somebody does.
    """
    with (home / _ASKING).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Conflict(
                "Another easeml upgrade of this home is under way.",
                where=str(home),
                remedy="Try again when it has ended.",
            ) from None
        yield


def is_waiting(home: Path, request: str) -> bool:
    """Has nobody taken the request yet?"""
    return _read(home / _REQUEST).get("id") == request


def take_back(home: Path, request: str) -> None:
    """Ask for nothing any more."""
    if is_waiting(home, request):
        (home / _REQUEST).unlink(missing_ok=True)


def take(home: Path) -> Asked | None:
    """Return what was asked since the last time, and None where nothing was."""
    path = home / _REQUEST
    if not path.exists():
        return None
    found = _read(path)
    path.unlink(missing_ok=True)  # who asked may have taken it back
    if not found.keys() >= {"id", "python"}:
        return None
    return Asked(str(found["id"]), str(found["python"]))


def answer(home: Path, answer: Answer) -> None:
    """Say what came of a request."""
    _write(home / _ANSWER, asdict(answer))


def answer_to(home: Path, request: str) -> Answer | None:
    """Return what came of a request, None as long as that is open."""
    found = _read(home / _ANSWER)
    if found.get("id") != request:
        return None
    return Answer(request, str(found.get("version")), str(found.get("error")))


@dataclass(frozen=True)
class Handed:
    """What a supervisor hands to the one that it becomes: numbers of open files, and the id of the
    ``prefork`` that runs already.
    """

    request: str
    lock: int
    listeners: Sequence[int]
    prefork: int

    def as_environment(self) -> dict[str, str]:
        """Return the variable that carries it."""
        return {_HANDED: json.dumps(asdict(self))}

    @staticmethod
    def of_this() -> "Handed | None":
        """Return what was handed to this program, None where it was started as usual."""
        said = os.environ.pop(_HANDED, "")
        return Handed(**json.loads(said)) if said else None


class Channel:
    """A connection between a supervisor and a ``prefork`` of the next version: single words."""

    def __init__(self, end: socket.socket):
        self._end = end

    @classmethod
    def of_this(cls) -> "Channel | None":
        """Return the one that a supervisor gave to this program, None where it replaces nobody."""
        said = os.environ.pop(_CHANNEL, "")
        if not said:
            return None
        os.set_inheritable(int(said), False)
        return cls(socket.socket(fileno=int(said)))

    @classmethod
    def pair(cls) -> "tuple[Channel, Channel]":
        """Return both ends."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        return cls(ours), cls(theirs)

    @property
    def descriptor(self) -> int:
        """The number of this end."""
        return self._end.fileno()

    def as_environment(self) -> dict[str, str]:
        """Return the variable that tells a program which end it inherits."""
        return {_CHANNEL: str(self.descriptor)}

    def say(self, word: str) -> None:
        """Tell the other side."""
        with suppress(OSError):  # it has ended, which who waits for it sees
            self._end.send(word.encode())

    def hear(self, seconds: float | None = None) -> str | None:
        """Return the next word, "" where the other side has ended, None if none came in time."""
        self._end.settimeout(seconds)
        try:
            return self._end.recv(_LONGEST_WORD).decode()
        except TimeoutError:
            return None
        except OSError:
            return ""

    def close(self) -> None:
        """Close this end."""
        self._end.close()


def wait_for_answer(
    home: Path, request: str, seconds: float, is_there: Callable[[], bool]
) -> Answer | None:
    """Return what came of a request; None where nobody took it. Whatever comes of it, it is taken
    back where nobody took it.

    ``is_there``: is the one that was asked there still? Raises ``TimedOut`` where the answer does
    not come in time, ``Conflict`` where nobody is there to give it.
    """
    try:
        return _waited_for(home, request, time.monotonic() + seconds, is_there)
    finally:
        take_back(home, request)


def _waited_for(
    home: Path, request: str, latest: float, is_there: Callable[[], bool]
) -> Answer | None:
    taken_by = time.monotonic() + _TAKEN_WITHIN
    while (found := answer_to(home, request)) is None:
        now = time.monotonic()
        if now > taken_by and is_waiting(home, request):
            return None
        if not is_there():
            raise Conflict("easeml has ended meanwhile.", remedy="Start it again: easeml up")
        if now > latest:
            raise TimedOut("The upgrade is not over yet; it goes on.")
        time.sleep(0.1)
    return found


def _write(path: Path, values: Mapping[str, object]) -> None:
    with whole_file(path) as part:
        part.write_text(json.dumps(values), "utf-8")


def _read(path: Path) -> dict[str, object]:
    found: object = None
    with suppress(OSError, ValueError):
        found = json.loads(path.read_text("utf-8"))
    return found if isinstance(found, dict) else {}
