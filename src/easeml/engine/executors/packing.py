"""Files and folders as one file that travels: packed where they were written, laid out elsewhere.

Whoever packs reads what programs of others left, and follows no link. Whoever unpacks writes below
its folder only.
"""

import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from easeml import folders

PIECE = 16 * 2**20
"""Bytes that are sent at once."""


def pack(paths: Iterable[Path], into: IO[bytes]) -> None:
    """Write files and folders, each by its own name, to an open file; it is then at its start."""
    with tarfile.open(fileobj=into, mode="w") as archive:
        for path in paths:
            archive.add(path, path.name)
    into.seek(0)


def pieces(file: IO[bytes]) -> Iterator[bytes]:
    """Give the rest of a file, piece by piece."""
    while piece := file.read(PIECE):
        yield piece


def unpack(packed: IO[bytes], folder: Path) -> None:
    """Lay out in ``folder`` what was packed.

    Raises ``tarfile.TarError`` for what would lie, or lead, outside of it, and for files of devices.
    """
    packed.seek(0)
    with tarfile.open(fileobj=packed, mode="r") as archive:
        folders.unpack(archive, folder)
