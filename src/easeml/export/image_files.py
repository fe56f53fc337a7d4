"""The files of this machine that an image needs to run Python: by their names in the image."""

import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

from easeml.errors import InvalidInput

HOME, PACKAGES, SYSTEM = "opt/python", "opt/packages", "opt/system"
"""Where the interpreter, the packages and the system's libraries lie in the image."""

_NEVER_RUN = {"__pycache__", "test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip"}
_OF_NO_USE = {"..", *_NEVER_RUN}  # of a package: nor what it puts beside itself, such as programs
_LIBRARY = re.compile(r"\.so(\.\d+)*$")
_FOUND = re.compile(r"^\s*(\S+) => (/\S+) \(0x", re.MULTILINE)
_LOADER = re.compile(r"^\s*(/\S+) \(0x", re.MULTILINE)


def packages(names: Iterable[str]) -> dict[str, Path]:
    """Return the files of installed distributions and of all that they require, without tests.

    Raises ``InvalidInput`` for one that is not installed.
    """
    files = {}
    for found in _with_requirements(names).values():
        for file in found.files or ():
            path = Path(os.fspath(file.locate()))
            if _OF_NO_USE.isdisjoint(file.parts) and path.is_file():
                files[f"{PACKAGES}/{file.as_posix()}"] = path
    return files


def interpreter(users: Iterable[Path]) -> dict[str, Path]:
    """Return Python, its library, and what these and the libraries among ``users`` link to."""
    program = Path(sys.executable).resolve()
    files = {f"{HOME}/bin/python3": program}
    standard = Path(sysconfig.get_path("stdlib"))
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for path in standard.rglob("*"):
        inside = path.relative_to(standard)
        is_part = inside.parts[0] != "site-packages" and not _NEVER_RUN & set(inside.parts)
        if is_part and path.is_file():
            files[f"{HOME}/lib/{version}/{inside.as_posix()}"] = path
    linked = [path for path in (*files.values(), *users) if _LIBRARY.search(path.name)]
    return files | _system_libraries([program, *linked])


def _system_libraries(files: list[Path]) -> dict[str, Path]:
    """Return the libraries outside of packages that files link to, and the loader in its place.

    Raises ``InvalidInput`` where the system cannot tell.
    """
    own = {path.parent.resolve() for path in files[1:]}  # a link there may lead to the system
    try:
        told = subprocess.run(
            ["ldd", *map(str, files)], capture_output=True, text=True, check=False
        ).stdout
    except OSError as error:
        remedy = "Install it, or export as python; its Dockerfile makes the image."
        raise InvalidInput("The program ldd is needed to write an image.", remedy=remedy) from error
    libraries = {}
    for name, place in _FOUND.findall(told):
        path = Path(place)
        if path.resolve().parent not in own:
            libraries[f"{SYSTEM}/{name}"] = path
    for place in _LOADER.findall(told):
        libraries[place.lstrip("/")] = Path(place)
    return libraries


def _with_requirements(names: Iterable[str]) -> dict[str, Distribution]:
    """Return distributions and what they require, by name."""
    found: dict[str, Distribution] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        key = re.sub(r"[-_.]+", "-", name).lower()
        if key in found:
            continue
        found[key] = _installed(name)
        for line in found[key].requires or ():
            wanted = Requirement(line)
            if wanted.marker is None or wanted.marker.evaluate({"extra": ""}):
                waiting.append(wanted.name)
    return found


def _installed(name: str) -> Distribution:
    try:
        return distribution(name)
    except PackageNotFoundError as error:
        remedy = f"Install it: pip install {name}."
        raise InvalidInput(f"{name} is not installed.", where="export", remedy=remedy) from error
