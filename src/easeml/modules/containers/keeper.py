"""The keeper of a confined process: starts containers for it, and ends them when it has gone.

It reads nothing of what it hands to and fro but names and sizes. Killed with -9, the process it
keeps containers for closes the connection, and the container ends at once; should the keeper be
killed, its container is swept away (``sweeping``), or ends at its own limit.
"""

import os
import select
import signal
import socket
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from easeml.errors import EasemlError, InvalidInput
from easeml.folders import paths_below, temporary_folder
from easeml.modules import checkpoints
from easeml.modules.checkpoints import Kept
from easeml.modules.programs import LARGEST_OUTPUT, Ended, Limits

from . import asking, running, wire

Names = Callable[[], Mapping[str, str]]


def fork(names: Mapping[str, str]) -> socket.socket:
    """Start the keeper of this process, which has one thread; return the connection to it.

    ``names``: the images that it may run -> what the engine calls them.
    """
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        _stand_alone(theirs)
        try:
            serve(theirs, lambda: names)
        finally:
            os._exit(0)
    theirs.close()
    return ours


def _stand_alone(connection: socket.socket) -> None:
    """Leave the session that is killed with the process, and everything else that was open."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    kept = connection.fileno()
    os.closerange(3, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))


def serve(connection: socket.socket, names: Names) -> None:
    """Run what is asked for, one call after the other, until the other end closes."""
    while True:
        with temporary_folder("container-") as made:
            place = made / "own"
            place.mkdir()
            try:
                _serve_one(connection, names, place)
            except (EOFError, OSError):
                return


def _serve_one(connection: socket.socket, names: Names, place: Path) -> None:
    wish = wire.receive(connection, place)
    for name in ("module", "data", checkpoints.FOLDER, *asking.MADE):
        (place / name).mkdir(exist_ok=True)
    try:
        ended = _run(connection, names(), wish, place)
        made = _made(place, wish["limits"]["files"])
    except running.NotStarted as error:
        wire.tell(connection, {"not-started": str(error)})
        return
    except EasemlError as error:
        wire.tell(connection, {"error": error.message, "remedy": error.remedy})
        return
    answer = {"code": ended.code, "fault": ended.fault, "said": ended.said}
    wire.send(connection, {"ended": answer}, place, made)


def _run(
    connection: socket.socket, names: Mapping[str, str], wish: dict[str, Any], place: Path
) -> Ended:
    image = wish["image"]
    if image not in names:
        raise InvalidInput("This image does not belong to what is done here.", where=image)
    limits = Limits(**wish["limits"])

    copies = place.parent / "copies"  # the container cannot write there
    kept = Kept(place / checkpoints.FOLDER, copies / checkpoints.FOLDER)

    def told(line: bytes) -> None:
        names = [f"{checkpoints.FOLDER}/{name}" for name in kept.follow()]
        wire.send(connection, {"line": line.decode(errors="replace")}, copies, names)

    def why_stop() -> str:
        readable, _, _ = select.select([connection], [], [], 0)
        if not readable:
            return ""
        if not connection.recv(1, socket.MSG_PEEK):
            return "who asked for it has gone"
        if wire.receive(connection, place).get(asking.ENOUGH):
            (place / asking.ENOUGH).touch()
        return ""

    program, arguments = wish["program"], wish["arguments"]
    by_entry = wish["by_entry"]
    return running.run(names[image], place, program, arguments, limits, told, why_stop, by_entry)


def _made(place: Path, most_files: int) -> list[str]:
    """Return the plain files that a program made. Raises ``EasemlError`` for too many of them or of
    their bytes.

    Links are left out: whoever looks for a file there finds none.
    """
    found = []
    size = 0
    for path in _plain_files(place):
        found.append(path.relative_to(place).as_posix())
        size += path.lstat().st_size
        if size > 2 * LARGEST_OUTPUT or len(found) > most_files:
            raise InvalidInput("The program wrote more than may be kept.")
    return sorted(found)


def _plain_files(place: Path) -> Iterator[Path]:
    for name in asking.MADE:
        folder = place / name
        if folder.is_dir() and not folder.is_symlink():
            yield from filter(_is_plain, paths_below(folder, wire.DEEPEST - 1))


def _is_plain(path: Path) -> bool:
    return stat.S_ISREG(path.lstat().st_mode)


def main(descriptor: int, allowed: Path) -> None:
    """Serve a connection. ``allowed``: a file with a line for each image: its name here, a space,
    and what the engine calls it; it is read at every call.
    """

    def names() -> dict[str, str]:
        lines = allowed.read_text("utf-8").splitlines()
        return dict(line.split(" ", 1) for line in lines)

    serve(socket.socket(fileno=descriptor), names)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
