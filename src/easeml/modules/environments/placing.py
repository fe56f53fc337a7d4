"""An environment on a machine: a virtual environment with the packages of its file, and no others."""

import json
import re
import shutil
import tempfile
import venv
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from easeml.errors import Conflict, InvalidInput, NotFound

from .requirements import interpreter

ABOUT = "environment.json"
"""What an environment says of itself: ``interpreter`` and ``packages``."""
PACKAGES = "packages"
"""The folder of packages, in the file of an environment."""
BY_DIGEST = "environment-sha256:"
_NAMED = re.compile(rb"environment-sha256:[0-9a-f]{64}")
_LARGEST = 8 * 2**30  # bytes that the packages may unpack to

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
            _check(json.loads(packed.read(ABOUT)), packed.infolist())
            packed.extractall(target)  # before there are links that a name could lead through
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise InvalidInput(f"This is no environment of packages: {error}", where=ABOUT) from error
    venv.EnvBuilder(symlinks=True, with_pip=False).create(target)
    (site,) = target.glob("lib/python*/site-packages")
    site.rmdir()
    (target / PACKAGES).rename(site)
    for path in [target, *target.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)


def _check(about: Mapping[str, str], entries: Sequence[zipfile.ZipInfo]) -> None:
    strange = [
        one.filename for one in entries if not one.filename.startswith((ABOUT, f"{PACKAGES}/"))
    ]
    if strange:
        raise InvalidInput(f"{strange[0]} is no file of a package.", where=ABOUT)
    size = sum(one.file_size for one in entries)
    if about["interpreter"] != interpreter():
        raise Conflict(
            f"Its packages are for {about['interpreter']}; this machine has {interpreter()}.",
            where="requirements.txt",
            remedy="Let all machines have the same Python, and add the module again.",
        )
    if size > _LARGEST:
        raise InvalidInput(f"It unpacks to {size:,} bytes.", where=ABOUT)


def use(places: Mapping[str, str]) -> None:
    """Let programs of this process run in environments that are laid out: name -> folder."""
    _used.update({reference: Path(folder) for reference, folder in places.items()})


def folder_of(reference: str) -> Path:
    """Return where an environment is that this process may use. Raises ``NotFound``."""
    if reference not in _used:
        raise NotFound("The packages of the module are not on this machine.", where=reference)
    return _used[reference]
