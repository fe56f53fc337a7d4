"""An environment on a machine: a virtual environment with the packages of its file, and no others."""

import json
import re
import shutil
import tempfile
import venv
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from easeml.errors import Conflict, InvalidInput, NotFound

from .requirements import interpreter

ABOUT = "environment.json"
"""What an environment says of itself: ``interpreter`` and ``packages``."""
PACKAGES = "packages"
"""The folder of packages, in the file of an environment."""
BY_DIGEST = "environment-sha256:"
_NAMED = re.compile(rb"environment-sha256:[0-9a-f]{64}")

_used: dict[str, Path] = {}  # by this process


def named_in(text: bytes) -> set[str]:
    """Return the environments that a module's text, or any document around it, names."""
    return {one.decode() for one in _NAMED.findall(text)}


def is_environment(reference: str) -> bool:
    """Whether programs run in an environment by this name, not in a container."""
    return reference.startswith(BY_DIGEST)


def lay_out(reference: str, folder: Path, fetch: Callable[[Path], object]) -> Path:
    """Lay out an environment below ``folder``, if it is not there yet; return where it is.

    ``fetch`` is called with the path to which it is to write the file. Raises ``Conflict`` for an
    environment of another Python, ``InvalidInput`` for a file that is none.
    """
    target = folder / reference.removeprefix(BY_DIGEST)
    if target.exists():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=folder, prefix="new-"))
    try:
        fetch(made / "file")
        unpack(made / "file", made / "whole")
        try:
            (made / "whole").rename(target)
        except OSError:  # another process was faster
            if not target.exists():
                raise
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return target


def unpack(file: Path, target: Path) -> None:
    """Make a virtual environment of the file of one, which every user may read. Raises as
    ``lay_out``."""
    try:
        with zipfile.ZipFile(file) as packed:
            _check_entries(packed.infolist(), file.stat().st_size)
            _check_interpreter(json.loads(packed.read(ABOUT)))
            packed.extractall(target)  # before there are links that a name could lead through
    except (zipfile.BadZipFile, KeyError, ValueError, RecursionError) as error:
        raise InvalidInput(
            f"This is not an environment of packages: {error}", where=ABOUT
        ) from error
    venv.EnvBuilder(symlinks=True, with_pip=False).create(target)
    (site,) = target.glob("lib/python*/site-packages")
    site.rmdir()
    (target / PACKAGES).rename(site)
    for path in [target, *target.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)


def _check_entries(entries: Sequence[zipfile.ZipInfo], size: int) -> None:
    """Raise ``InvalidInput`` for what is no file of a package, and for more than was stored.

    ``size``: bytes of the file. It holds everything as it is, so a machine gives no more of its disk
    than the tenant was charged for.
    """
    for entry in entries:
        if not entry.filename.startswith((ABOUT, f"{PACKAGES}/")):
            raise InvalidInput(f"{entry.filename} is not a file of a package.", where=ABOUT)
        if entry.compress_type != zipfile.ZIP_STORED:
            raise InvalidInput(f"{entry.filename} is compressed.", where=ABOUT)
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > size:
        raise InvalidInput(
            f"It unpacks to {unpacked:,} bytes, more than the {size:,} that are stored.",
            where=ABOUT,
        )


def _check_interpreter(about: Any) -> None:
    """Raise ``InvalidInput`` for no description, ``Conflict`` for one of another Python."""
    if not isinstance(about, dict) or not isinstance(about.get("interpreter"), str):
        raise InvalidInput("This is not an environment of packages.", where=ABOUT)
    if about["interpreter"] != interpreter():
        raise Conflict(
            f"Its packages are for {about['interpreter']}; this machine has {interpreter()}.",
            where="requirements.txt",
            remedy="Let all machines have the same Python, and add the module again.",
        )


def use(places: Mapping[str, str]) -> None:
    """Let programs of this process run in environments that are laid out: name -> folder."""
    _used.update({reference: Path(folder) for reference, folder in places.items()})


def folder_of(reference: str) -> Path:
    """Return where an environment is that this process may use. Raises ``NotFound``."""
    if reference not in _used:
        raise NotFound("The packages of the module are not on this machine.", where=reference)
    return _used[reference]
