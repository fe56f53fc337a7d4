"""The container engine of this machine: podman, or docker where there is no podman that works."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from easeml.errors import Conflict, EasemlError

_PROBES = {  # what answers only where containers can be started
    "podman": ("info", "--format", "{{.Version.Version}}"),
    "docker": ("version", "--format", "{{.Server.Version}}"),
}
_SECONDS = 600.0  # of a call that is no program of a module; loading an image takes the longest
_SAID = 1000  # letters of what an engine says that are shown
_INSTALL = (
    "Install podman (on Debian: apt-get install podman runc) or docker; `easeml doctor` tells more."
)


@dataclass(frozen=True, slots=True)
class Engine:
    """A program that runs containers. ``name``: podman or docker; ``version``: its own."""

    name: str
    program: str
    version: str

    @property
    def is_podman(self) -> bool:
        """Whether it is podman, which knows a few limits more."""
        return self.name == "podman"

    def call(self, arguments: Sequence[str], where: str = "containers") -> str:
        """Return what a command of the engine prints. Raises ``EasemlError`` where it fails."""
        code, printed = _answer(self.program, arguments)
        if code != 0:
            raise EasemlError(f"{self.name} {arguments[0]} failed: {printed[-_SAID:]}", where=where)
        return printed

    def holds(self, image: str) -> bool:
        """Whether an image of this name is on this machine."""
        code, _ = _answer(self.program, ["image", "inspect", "--format", "{{.Id}}", image])
        return code == 0


@cache
def engine() -> Engine:
    """Return the engine of this machine. Raises ``Conflict`` where none works."""
    found, reasons = _look()
    if found is None:
        text = "; ".join(reasons) or "neither podman nor docker is installed"
        raise Conflict(
            f"This machine cannot run containers: {text}.", where="containers", remedy=_INSTALL
        )
    return found


def described() -> str:
    """Return what runs containers on this machine, or why nothing does, in a sentence."""
    try:
        using = engine()
    except Conflict as error:
        return error.message
    return f"{using.name} {using.version}"


def environment() -> dict[str, str]:
    """Return what an engine is told of this process's environment: no secrets of a service."""
    kept = ("PATH", "HOME", "XDG_RUNTIME_DIR", "TMPDIR", "LANG", "DOCKER_HOST", "DOCKER_CONFIG")
    found = {}
    for name, value in os.environ.items():
        if name in kept or name.startswith(("CONTAINERS_", "CONTAINER_")):
            found[name] = value
    return found


def _look() -> tuple[Engine | None, list[str]]:
    """Return the first engine that answers, and why those before it do not."""
    reasons = []
    for name, probe in _PROBES.items():
        program = shutil.which(name)
        if program is None:
            continue
        code, said = _answer(program, probe)
        if code == 0:
            return Engine(name, program, said.strip()), reasons
        last_line = (said.strip() or "it does not answer").splitlines()[-1]
        reasons.append(f"{name} does not work ({last_line[:_SAID]})")
    return None, reasons


def _answer(program: str, arguments: Sequence[str]) -> tuple[int, str]:
    """Return exit code and output of a call; what an engine prints is never much."""
    with tempfile.TemporaryFile() as printed:
        try:
            code = subprocess.run(
                [program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                env=environment(),
                cwd=Path("/"),
                timeout=_SECONDS,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            return 1, f"it did not end within {_SECONDS:g} s"
        except OSError as error:
            return 1, f"it cannot be started: {error.strerror}"
        printed.seek(0)
        return code, printed.read().decode(errors="replace")
