"""Having a program run in a container: by this process, or by the keeper of a confined one.

A confined process can start nothing that is less confined than it is, and an engine has to be. So it
is given, before it is confined, a connection to its keeper (``keeper``), which stays outside, knows
no data but the files that it is sent, and starts containers of the images that it was told.
"""

import os
import shutil
import socket
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from easeml.errors import EasemlError
from easeml.modules.programs import Ended, Limits

from . import images, running, wire

MADE = ("memory", "output")
"""The folders in which programs leave what they make."""

_one_at_a_time = threading.Lock()


@dataclass(frozen=True, slots=True)
class _Kept:
    """How this process reaches its keeper, and what it does where no container can be started."""

    connection: socket.socket
    when_lost: Callable[[], object]


_keepers: list[_Kept] = []  # one, where this process has one


def use(keeper: socket.socket, when_lost: Callable[[], object] = int) -> None:
    """Let this process's programs be run by its keeper from now on.

    ``when_lost`` is called where the keeper has gone, or the engine starts nothing.
    """
    _keepers[:] = [_Kept(keeper, when_lost)]


def forget() -> None:
    """Let this process start containers itself again."""
    _keepers.clear()


def run(
    image: str,
    place: Path,
    program: str,
    arguments: list[str],
    limits: Limits,
    told: Callable[[bytes], None],
    by_entry: bool = False,
) -> Ended:
    """Run a program of an image with the files of ``place``; what it made is there afterwards.

    ``image``: as modules name it (``images.named_in``). Raises as ``running.run``.
    """
    if not _keepers:
        name = images.loaded(image)
        return running.run(name, place, program, arguments, limits, told, by_entry=by_entry)
    kept = _keepers[0]
    wish = {"image": image, "program": program, "arguments": arguments, "limits": asdict(limits)}
    wish["by_entry"] = by_entry
    with _one_at_a_time:
        try:
            return _ask(kept.connection, wish, place, told)
        except (EOFError, OSError) as error:
            kept.when_lost()
            raise running.NotStarted("The process that starts containers has gone.") from error
        except running.NotStarted:
            kept.when_lost()
            raise


def _ask(
    keeper: socket.socket, wish: wire.Message, place: Path, told: Callable[[bytes], None]
) -> Ended:
    wire.send(keeper, wish, place, _files_of(place))
    for name in MADE:
        shutil.rmtree(place / name)
        (place / name).mkdir()
    has_asked = False
    while True:
        answer = wire.receive(keeper, place)
        if "ended" in answer:
            return Ended(**answer["ended"])
        if "not-started" in answer:
            raise running.NotStarted(answer["not-started"])
        if "error" in answer:
            raise EasemlError(answer["error"], where="containers", remedy=answer["remedy"])
        told(answer["line"].encode())
        if not has_asked and (place / ENOUGH).exists():
            has_asked = True
            wire.tell(keeper, {"enough": True})


ENOUGH = "enough"
"""The file by which ``train`` is asked to end with what it has."""


def _files_of(place: Path) -> list[str]:
    found = []
    for folder, _, names in os.walk(place):
        for name in names:
            found.append((Path(folder) / name).relative_to(place).as_posix())
    return sorted(found)
