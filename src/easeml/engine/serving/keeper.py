"""The keeper of the containers of a serving child, seen from the predictor."""

import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path


class ContainerKeeper:
    """A process outside of the child's confinement that starts containers for it, and no others.

    It ends when the child does, as the other end of its connection closes.
    """

    def __init__(self, connection: socket.socket, allowed: Path):
        """Start it. ``connection``: its end; ``allowed``: a file that the child cannot write, with
        the images that it may run.
        """
        self._allowed = allowed
        self._images: dict[str, str] = {}
        self._guard = threading.Lock()
        allowed.write_text("", "utf-8")
        descriptor = connection.fileno()
        command = [sys.executable, "-P", "-m", "easeml.modules.containers.keeper"]
        self._process = subprocess.Popen(
            [*command, str(descriptor), str(allowed)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[descriptor],
            start_new_session=True,
        )
        connection.close()

    def allow(self, images: Mapping[str, str]) -> None:
        """Let it run images, too: their names -> what the engine calls them."""
        with self._guard:
            self._images.update(images)
            lines = [f"{image} {name}\n" for image, name in self._images.items()]
            partial = self._allowed.with_suffix(".part")
            partial.write_text("".join(lines), "utf-8")
            partial.replace(self._allowed)

    def wait(self) -> None:
        """Wait until it has ended its containers and itself; the child has to be gone."""
        self._process.wait()
