"""Images for tests, and whether this machine runs them: written here, without a registry."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

import session_files
from easeml.errors import EasemlError
from easeml.export.image_files import interpreter
from easeml.modules.containers import engines, images, trial

REPOSITORY = "localhost/easeml-tests"
PYTHON = "/opt/python/bin/python3"
"""Where the image of ``python_image`` has its Python."""
_FOR_SMALL_SANDBOXES = """\
[containers]
default_ulimits = ["nofile=20000:20000", "nproc=30000:30000"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "none"
"""
VARIABLES = {
    "PYTHONHOME": "/opt/python",
    "LD_LIBRARY_PATH": "/opt/system",
    "PATH": "/opt/python/bin",
}
"""The environment of this Python in an image."""
OF_SHELL = {"PATH": "/bin"}


def needs_containers() -> None:
    """Skip the test, and say why, where this machine runs no containers; fail in CI."""
    reason = why_none()
    if reason and os.environ.get("CI"):
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)


@cache
def why_none() -> str:
    """Return why this machine runs no containers, nothing where it does.

    Root in a sandbox with few rights needs another runtime and fewer default limits than podman
    takes by itself: these are tried as well.
    """
    if not shutil.which("podman") and not shutil.which("docker"):
        return "containers need podman (and runc) or docker: install them"
    reason = _tried()
    if reason and "CONTAINERS_CONF" not in os.environ:
        path = session_files.new_folder() / "containers.conf"
        path.write_text(_FOR_SMALL_SANDBOXES)
        os.environ["CONTAINERS_CONF"] = str(path)
        engines.engine.cache_clear()
        reason = _tried()
    return reason


def _tried() -> str:
    try:
        trial.run()
    except EasemlError as error:
        return str(error)
    return ""


@cache
def python_image() -> Path:
    """Return the tar file of an image with this Python and its standard library, and nothing else."""
    path = session_files.new_folder() / "python.tar"
    trial.write_image(path, python_files(), VARIABLES)
    return path


@cache
def python_files() -> dict[str, bytes]:
    """Return the files of this Python and its standard library, by their names in an image."""
    files = {}
    for name, path in interpreter(()).items():
        if path.suffix != ".a":
            files[name] = path.read_bytes()
    return files


@cache
def shell_image() -> Path:
    """Return the tar file of an image with a shell, awk and sleep, and what they link to."""
    path = session_files.new_folder() / "shell.tar"
    trial.write_image(path, shell_files(("sh", "awk", "sleep")), OF_SHELL)
    return path


def shell_files(programs: Sequence[str]) -> dict[str, bytes]:
    """Return the files of programs of this machine in an image, and of what they link to."""
    files = {}
    for name in programs:
        found = shutil.which(name)
        assert found is not None
        files[f"bin/{name}"] = Path(found).resolve()
    files |= _libraries(list(files.values()))
    return {name: path.read_bytes() for name, path in files.items()}


def _libraries(programs: list[Path]) -> dict[str, Path]:

    told = subprocess.run(["ldd", *map(str, programs)], capture_output=True, text=True, check=True)
    found = re.findall(r"(/\S+) \(0x", told.stdout)
    return {path.lstrip("/"): Path(path) for path in found}


def reference(image: Path) -> str:
    """Have the engine hold an image for programs of this process; return how modules name it."""
    images.provide_file(image, REPOSITORY)
    return f"{images.BY_DIGEST}{images.digest_of_file(image)}"


def base_of_this_machine() -> tuple[str, list[str]]:
    """Return an image for builds by podman that has ``python``, ``pip`` and ``apt-get``, and the mounts by
    which these are this machine's own: nothing is fetched, and an image of nothing but text is made.

    What a step wants has to be here already, in the version that it names: ``pip`` knows no index, and
    ``apt-get`` does not install. easeml itself is not there.
    """
    packages = sysconfig.get_path("purelib")
    python = Path(sys.executable).resolve()
    programs = {
        "python": f'exec {python} "$@"',
        "pip": f'exec {python} -m pip "$@"',
        "apt-get": 'test "$1" = update || exec /usr/bin/apt-get --simulate "$@"',
    }
    files = {f"own/bin/{name}": f"#!/bin/sh\n{does}\n".encode() for name, does in programs.items()}
    for folder in ("tmp", "etc/apt", "var/lib/apt/lists/partial", "var/cache/apt/archives/partial"):
        files[f"{folder}/.keep"] = b""
    variables = {
        "PATH": "/own/bin:/usr/bin:/bin",
        "PYTHONPATH": packages,
        "PIP_NO_INDEX": "1",
        "PIP_BREAK_SYSTEM_PACKAGES": "1",  # Debian's Python refuses what Docker's does; all is here
    }
    image = session_files.new_folder() / "base.tar"
    trial.write_image(image, files, variables)
    images.provide_file(image, REPOSITORY)
    system = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/var/lib/dpkg", "/etc/alternatives")
    mounts = []
    for folder in (*filter(os.path.exists, system), sys.base_prefix, packages):
        mounts += ["--volume", f"{folder}:{folder}:ro"]
    return f"{REPOSITORY}:{images.digest_of_file(image)}", mounts


def shebang(runtime: str) -> str:
    """Return the first line of a program in Python."""
    return f"#!{PYTHON if runtime == 'container' else sys.executable}\n"
