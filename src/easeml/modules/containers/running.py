"""A call of a program in a container of its own, which is gone when the call returns.

It has no network, no capabilities and no way to new ones, a file system that it cannot write, a user
id of its own, and limits of memory, processes, time and what it writes. The folder of the call is all
that it shares with this machine.
"""

import os
import secrets
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from easeml.errors import EasemlError
from easeml.folders import temporary_folder
from easeml.modules import gpu_share
from easeml.modules.programs import Ended, Limits, watched
from easeml.namespaces import FIRST_USER

from . import devices, sweeping, syscalls
from .engines import Engine, engine, environment

WORK = "/work"
"""Where a program finds the folder of its call."""
OWN = "/module"
"""Where an image has its programs."""
MOST_PROCESSES = 256


class NotStarted(RuntimeError):
    """The engine did not start a container: no fault of the module; another attempt may do better."""


_ENGINE_FAILED = 125  # exit code of podman and docker themselves
_TRIES = 3  # to remove a container
_BACKSTOP = 60  # seconds after its limit in which a container ends though nobody watches it
_FROM_SIGNAL = 128
_TEMPORARY = "/tmp:rw,noexec,nosuid,nodev,size=64m,mode=1777"  # noqa: S108 within the container
_LARGEST_FILE = 256 * 2**20


def run(
    name: str,
    place: Path,
    program: str,
    arguments: list[str],
    limits: Limits,
    told: Callable[[bytes], None],
    why_stop: Callable[[], str] = str,
    by_entry: bool = False,
) -> Ended:
    """Run ``/module/PROGRAM`` of the image that the engine calls ``name``, or the file of ``place``.

    ``by_entry``: what the image starts by itself is given the name of the program instead, and begins
    in the image's own folder.

    ``place`` becomes ``/work``, which it may write; it belongs to the container's user until the
    call ends. The others are those of ``programs.watched``. Raises ``Conflict`` where no engine
    works, ``NotStarted`` where it does not start the container.
    """
    using = engine()
    container = f"easeml-{secrets.token_hex(8)}"
    with temporary_folder("run-") as notes:
        started = notes / "started"  # the engine writes it when there is a container
        command = [using.program, "run", "--rm", "--name", container, "--cidfile", str(started)]
        command += _confined(using, _give_away(place), limits, notes)
        mount = f"{place}:{WORK}:rw"
        if using.is_podman:
            mount += ",nosuid,nodev"
        command += ["--volume", mount]
        if by_entry:
            command += [name, program, *arguments]
        else:
            path = _path_of(place, program)
            command += ["--workdir", WORK, "--entrypoint", path, name, *arguments]
        fault = "it was not watched to its end"
        try:
            ended = watched(command, environment(), place, limits, told, why_stop)
            fault = ended.fault
        finally:
            if fault:  # only the engine's client was killed
                _remove(using, container)
        has_started = started.exists()
    if ended.code == _ENGINE_FAILED and not has_started:
        raise NotStarted(
            f"{using.name} did not start the container: {ended.said} "
            "`easeml doctor` tells whether this machine can run containers."
        )
    return _told(ended, limits)


def _remove(using: Engine, container: str) -> None:
    """Remove a container that may run. What ends by itself at this very moment is no error: the
    engine, which removes it then as well, is asked again.
    """
    command = ["rm", "--force", "--volumes", container]
    for _ in range(_TRIES - 1):
        with suppress(EasemlError):
            using.call(command)
            return
    using.call(command)


def _path_of(place: Path, program: str) -> str:
    """Return where a program is: in the folder beside ``module.toml``, or in the image."""
    is_in_folder = (place / "module" / program).is_file()
    return f"{WORK}/module/{program}" if is_in_folder else f"{OWN}/{program}"


def _told(ended: Ended, limits: Limits) -> Ended:
    """Return an end with signals as those of a process, and a hint where memory ran out."""
    code = _FROM_SIGNAL - ended.code if ended.code > _FROM_SIGNAL else ended.code
    is_out_of_memory = code == -signal.SIGKILL and not ended.fault
    hint = f"It may take {limits.memory:,} bytes of memory." if is_out_of_memory else ""
    return Ended(code, ended.fault, f"{hint}\n{ended.said}".strip())


def _give_away(place: Path) -> str:
    """Return the user of a container, ``UID:GID``, and make the folder theirs.

    Root gives every call an id of its own, so that limits of processes count one call. Whoever is
    not root goes on as they are.
    """
    if os.geteuid() != 0:
        return f"{os.geteuid()}:{os.getegid()}"
    number = FIRST_USER + os.getpid()
    for folder, _, names in os.walk(place):
        os.chown(folder, number, number)
        for name in names:
            os.chown(Path(folder) / name, number, number, follow_symlinks=False)
    return f"{number}:{number}"


def _confined(using: Engine, user: str, limits: Limits, notes: Path) -> list[str]:
    """Return the options that take everything from a container but its folder.

    ``notes``: a folder for what the engine is to read.
    """
    threads = os.environ.get("OMP_NUM_THREADS", "1")
    options = ["--pull", "never", "--network", "none", "--hostname", "module", "--read-only"]
    options += ["--tmpfs", _TEMPORARY, "--shm-size", "64m"]
    options += ["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", user]
    options += ["--memory", str(limits.memory), "--memory-swap", str(limits.memory)]
    options += ["--pids-limit", str(MOST_PROCESSES), "--ulimit", "nofile=1024:1024"]
    options += ["--ulimit", "core=0:0", "--ulimit", f"fsize={_LARGEST_FILE}:{_LARGEST_FILE}"]
    if os.geteuid() == 0:  # otherwise it would count all processes of the user who runs easeml
        options += ["--ulimit", f"nproc={MOST_PROCESSES}:{MOST_PROCESSES}"]
    if limits.gpu == "needed" or (limits.gpu and devices.are_there()):
        options += devices.options(using, gpu_share.here())
    options += ["--log-driver", "none", "--no-healthcheck", "--stop-timeout", "0"]
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        options += ["--env", f"{variable}={threads}"]
    options += ["--env", "HOME=/tmp", "--env", "PYTHONDONTWRITEBYTECODE=1"]
    for label in sweeping.labels():
        options += ["--label", label]
    if using.is_podman:
        calls = notes / "seccomp.json"
        calls.write_text(syscalls.profile())
        options += ["--security-opt", f"seccomp={calls}"]
        options += ["--read-only-tmpfs=false", "--image-volume", "ignore", "--http-proxy=false"]
        options += ["--timeout", str(int(limits.seconds) + _BACKSTOP)]
        if os.geteuid() != 0:
            options += ["--userns", "keep-id"]
    return options
