"""Images of modules on this machine: loaded once, by their digest, and removed."""

import fcntl
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from easeml.errors import EasemlError, InvalidInput, NotFound

from . import image_files
from .engines import Engine, engine

BY_DIGEST = "image-sha256:"
BY_NAME = "image-name:"
_NAMED = re.compile(rb"image-sha256:[0-9a-f]{64}|image-name:[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}")
_REWRITE_SECONDS = 900.0
_LISTED_AGAIN = 3  # times that a list of images may fail

_loaded: dict[str, str] = {}  # images of tar files that this process has provided itself


def named_in(text: bytes) -> set[str]:
    """Return the images that the text of a module, or any document around it, names.

    They are ``image-sha256:DIGEST`` of an uploaded tar file, or ``image-name:NAME`` of one that a
    machine holds.
    """
    return {one.decode() for one in _NAMED.findall(text)}


def digest_of(image: str) -> str:
    """Return the digest of the tar file; empty for an image that a machine holds by name."""
    return image.removeprefix(BY_DIGEST) if image.startswith(BY_DIGEST) else ""


def repository(home: Path) -> str:
    """Return the name under which the engine keeps the images of a home, before their digests."""
    own = hashlib.sha256(str(home.resolve()).encode()).hexdigest()[:12]
    return f"localhost/easeml-{own}"


def reference(image: str, own: str) -> str:
    """Return what the engine calls an image. ``own``: the ``repository`` of a home."""
    digest = digest_of(image)
    return f"{own}:{digest}" if digest else image.removeprefix(BY_NAME)


def provide(image: str, own: str, fetch: Callable[[Path], object]) -> str:
    """Have the engine hold an image; return what it calls it.

    ``fetch`` is called, where the image has to be loaded, with the path to which it is to write the
    tar file. Raises ``Conflict`` where no engine works, ``NotFound`` for a name that the machine
    does not hold, ``InvalidInput`` for what is no image.
    """
    using = engine()
    name = reference(image, own)
    if using.holds(name):
        return name
    if not digest_of(image):
        raise NotFound(
            f"{using.name} holds no image {name!r} on this machine.",
            where="runtime.image",
            remedy=f"Fetch it here first ({using.name} pull), or put the image's tar file into the folder.",
        )
    with tempfile.TemporaryDirectory(prefix="image-") as made:
        place = Path(made).resolve()
        # Two that need the same image load it one after the other; the second finds it.
        with (Path(tempfile.gettempdir()) / f"{own.rpartition('/')[2]}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not using.holds(name):
                fetch(place / image_files.GIVEN)
                _load(using, place, name)
    return name


def provide_file(file: Path, own: str) -> None:
    """Have the engine hold the image of a tar file, for the programs of this process.

    Raises as ``provide``.
    """
    image = f"{BY_DIGEST}{digest_of_file(file)}"
    _loaded[image] = provide(image, own, lambda place: shutil.copyfile(file, place))


def digest_of_file(file: Path) -> str:
    """Return the digest of a file's bytes, as an image is named by."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def held(own: str) -> list[str]:
    """Return the digests of the images of a home that the engine holds."""
    start = f"{own}:"
    names = map(str.strip, _listed().splitlines())
    return [name.removeprefix(start) for name in names if name.startswith(start)]


def _listed() -> str:
    """Return the names of all images, a line each.

    Podman lists none while another process removes one: it is asked again.
    """
    asked = ["images", "--format", "{{.Repository}}:{{.Tag}}"]
    for _ in range(_LISTED_AGAIN):
        with suppress(EasemlError):
            return engine().call(asked)
    return engine().call(asked)


def remove(digests: Iterable[str], own: str) -> None:
    """Have the engine forget images of a home; one that runs stays."""
    using = engine()
    for digest in digests:
        name = f"{own}:{digest}"
        if using.holds(name):
            using.call(["rmi", name])


def _load(using: Engine, place: Path, name: str) -> None:
    """Write the image anew in a confined process, load what it wrote, and name it."""
    confined(image_files.__file__, place, name)
    using.call(["load", "--quiet", "--input", str(place / image_files.CLEAN)])


def confined(script: str, place: Path, *arguments: str) -> str:
    """Run a script that confines itself to the folder of an image; return what it prints.

    Raises ``InvalidInput`` with what it says where it fails.
    """
    command = [sys.executable, "-I", script, str(place), *arguments]
    printed = b""
    try:
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_REWRITE_SECONDS,
            env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
            check=False,
        )
        printed, said = ended.stdout, ended.stderr.decode(errors="replace").strip()
        failed = ended.returncode != 0
    except subprocess.TimeoutExpired:
        failed, said = True, f"This image cannot be read within {_REWRITE_SECONDS:g} s."
    if failed:
        remedy = (
            "Write an OCI image as `buildah push IMAGE oci-archive:FILE.tar` or `docker save` does."
        )
        raise InvalidInput(
            said.splitlines()[-1] if said else "This is not an image.",
            where="runtime.image",
            remedy=remedy,
        )
    return printed.decode(errors="replace")


def loaded(image: str) -> str:
    """Return what the engine calls an image that this process has provided, or that has a name.

    Raises ``NotFound``.
    """
    if image in _loaded:
        return _loaded[image]
    if digest_of(image):
        raise NotFound("The image is not on this machine.", where=image)
    return provide(image, "", lambda place: None)
