"""Compiled bytecode for an image: without it each start of a container compiles all that it imports."""

from collections.abc import Mapping
from importlib.util import cache_from_source
from pathlib import Path, PurePosixPath

_HEADER = 16  # bytes: what Python it is of, flags, and by which the source is known (PEP 552)
_UNCHECKED = (1).to_bytes(4, "little") + bytes(8)  # flags, and a digest that nobody asks for
_BY_TIME = bytes(4)


def bytecode(files: Mapping[str, Path], folder: Path) -> dict[str, Path]:
    """Return the bytecode that this machine has of source files, by its name in the image.

    Files of an image have no times, by which usual bytecode is matched with its source. So it is
    written once more, into ``folder``, as what Python takes as it is: no source changes in an image.
    """
    folder.mkdir()
    made: dict[str, Path] = {}
    for name, source in files.items():
        if source.suffix != ".py":
            continue
        cached = Path(cache_from_source(str(source.resolve())))
        code = _code_of(source, cached)
        if code is None:
            continue
        place = folder / f"{len(made)}.pyc"
        place.write_bytes(code)
        own = PurePosixPath(cache_from_source(name)).name  # the source may be a link to another
        made[f"{PurePosixPath(name).parent}/__pycache__/{own}"] = place
    return made


def _code_of(source: Path, cached: Path) -> bytes | None:
    """Return the content of a bytecode file for an image; None where there is none of this source."""
    if not cached.exists():
        return None
    content = cached.read_bytes()
    facts = source.stat()
    known_by = int(facts.st_mtime).to_bytes(4, "little") + facts.st_size.to_bytes(4, "little")
    if content[4:_HEADER] != _BY_TIME + known_by:
        return None
    return content[:4] + _UNCHECKED + content[_HEADER:]
