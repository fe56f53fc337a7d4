"""The files of a folder, tar or zip file alike: by path, read one at a time.

An archive is never unpacked under the names in it.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from easeml.data.errors import DatasetError

_Opener = Callable[[], IO[bytes]]
FolderFiles = dict[str, str]  # path inside a folder -> path in the tree

BROKEN = (  # what the libraries raise for files that are not what they should be
    OSError, EOFError, RuntimeError, ValueError, zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError,
    struct.error,
)  # fmt: skip
_LARGEST = 4 << 30  # bytes of one file, and of a decompressed tar


@dataclass(frozen=True)
class Tree:
    """``files``: paths with ``/`` between their parts, sorted, each with what opens it.

    ``folders``: likewise.
    """

    name: str
    files: dict[str, _Opener]
    folders: tuple[str, ...]

    def files_below(self, root: str) -> Iterator[str]:
        """The paths of all files in ``root`` (empty, or ending in ``/``) and its folders."""
        return (path for path in self.files if path.startswith(root))

    def folders_in(self, root: str) -> list[str]:
        """The names of the folders right in ``root``."""
        inside = (path.removeprefix(root) for path in self.folders if path.startswith(root))
        return [name for name in inside if name and "/" not in name]

    def read(self, path: str, most: int = _LARGEST) -> bytes:
        """The bytes of a file.

        Raises ``DatasetError`` where there are more than ``most``, or it cannot be read.
        """
        try:
            with self.files[path]() as file:
                data = file.read(most + 1)
        except BROKEN as error:
            raise DatasetError(
                f"cannot be read: {error}.",
                where=path,
            ) from error
        if len(data) > most:
            raise DatasetError(
                f"it is larger than {most:,} bytes.",
                where=path,
            )
        return data


@contextmanager
def open_tree(path: str | Path | bytes) -> Iterator[Tree]:
    """Open a folder, a tar file (plain, gzip, bzip2, xz), a zip file, or the bytes of one.

    The files are readable inside the context. Hidden files are left out, but for ``.links.csv``.
    Where all of an archive is in one folder, that is the root.

    Raises:
        DatasetError: if it is none of these, or holds links, devices or paths that lead out of it.
    """
    place = "zip file" if isinstance(path, bytes) else str(path)
    with ExitStack() as stack:
        try:
            if isinstance(path, bytes):
                files, folders = _zip(io.BytesIO(path), stack)
            else:
                files, folders = _files_at(Path(path), stack)
        except DatasetError:
            raise
        except BROKEN as error:
            raise DatasetError(
                f"cannot be read: {error}.",
                where=place,
                remedy="Give a folder, or a tar or zip file of one.",
            ) from error
        tree = _visible(Path(place).name, files, folders)
        is_folder = not isinstance(path, bytes) and Path(path).is_dir()
        yield tree if is_folder else _without_wrapper(tree)


def _files_at(path: Path, stack: ExitStack) -> tuple[dict[str, _Opener], list[str]]:
    """What opens each file of a folder, a zip or a tar file, and the folders in it."""
    if path.is_dir():
        return _folder(path)
    if zipfile.is_zipfile(path):
        return _zip(path, stack)
    return _tar(path, stack)


def _visible(name: str, files: Mapping[str, _Opener], folders: Sequence[str]) -> Tree:
    """The tree without hidden files; a folder of a file is there though no member says so."""
    shown = {}
    every = set(folders)
    for path, opener in sorted(files.items()):
        if _hidden(path):
            continue
        shown[path] = opener
        every.update(str(up) for up in PurePosixPath(path).parents)

    every.discard(".")
    visible = sorted(path for path in every if not _hidden(path))
    return Tree(name, shown, tuple(visible))


def _hidden(name: str) -> bool:
    *folders, last = name.split("/")
    if any(part.startswith(".") for part in folders):
        return True
    return last.startswith(".") and last != ".links.csv"


def _without_wrapper(tree: Tree) -> Tree:
    """The tree inside the only folder of an archive.

    A folder with values or links of its own is a sample, and no wrapper.
    """
    tops = tree.folders_in("")
    beside = [name for name in tree.files if "/" not in name]
    if len(tops) != 1 or tops[0] in ("train", "val") or beside:
        return tree

    root = f"{tops[0]}/"
    inside = {name.removeprefix(root): opener for name, opener in tree.files.items()}
    for name in inside:
        is_own = "/" not in name
        is_description = name.endswith(".class.txt") or name.upper().startswith("README")
        if is_own and not is_description:
            return tree

    folders = [name.removeprefix(root) for name in tree.folders if name.startswith(root)]
    return Tree(tree.name, inside, tuple(folders))


def _folder(root: Path) -> tuple[dict[str, _Opener], list[str]]:
    files: dict[str, _Opener] = {}
    folders: list[str] = []
    for entry in root.rglob("*"):
        name = _printable(entry.relative_to(root).as_posix())
        kind = entry.lstat().st_mode
        if stat.S_ISDIR(kind):
            folders.append(name)
        elif stat.S_ISREG(kind):
            files[name] = lambda entry=entry: entry.open("rb")
        elif not _hidden(name):
            raise DatasetError(
                "expected files and folders only, found a link or device.",
                where=name,
            )
    return files, folders


def _zip(source: Path | io.BytesIO, stack: ExitStack) -> tuple[dict[str, _Opener], list[str]]:
    archive = stack.enter_context(zipfile.ZipFile(source))
    files: dict[str, _Opener] = {}
    folders: list[str] = []
    for member in archive.infolist():
        name = _inside(member.filename)
        if member.filename.endswith("/"):
            folders.append(name)
        else:
            files[name] = lambda member=member: archive.open(member)
    return files, folders


def _tar(path: Path, stack: ExitStack) -> tuple[dict[str, _Opener], list[str]]:
    """Members of a tar file.

    A compressed one is decompressed once, to a temporary file, so that seeking is quick.
    """
    archive = stack.enter_context(tarfile.open(_plain(path, stack)))  # noqa: SIM115
    files: dict[str, _Opener] = {}
    folders: list[str] = []
    for member in archive:
        name = _inside(member.name)
        if member.isdir():
            folders.append(name)
        elif member.isreg():
            files[name] = lambda member=member: _extracted(archive, member)
        elif not _hidden(name):
            raise DatasetError(
                "expected files and folders only, found a link or device.",
                where=name,
            )
    return files, folders


def _plain(path: Path, stack: ExitStack) -> Path:
    with path.open("rb") as file:
        head = file.read(6)
    openers = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open, b"\xfd7zXZ": lzma.open}
    found = [opener for mark, opener in openers.items() if head.startswith(mark)]
    if not found:
        return path

    opener = found[0]
    out = stack.enter_context(tempfile.NamedTemporaryFile(suffix=".tar"))  # noqa: SIM115  the stack closes it
    size = 0
    with opener(path, "rb") as packed:
        while block := packed.read(1 << 20):
            size += out.write(block)
            if size > _LARGEST:
                raise DatasetError(
                    f"it unpacks to more than {_LARGEST >> 30} GiB.",
                    where=path.name,
                )
    out.flush()
    return Path(out.name)


def _extracted(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    found = archive.extractfile(member)
    if found is None:
        raise OSError("it is no file")
    return found


def _inside(name: str) -> str:
    """The path without ``./``; none at all is refused, and one that leads out of the archive."""
    if not name:
        raise DatasetError("a file in the archive has no name.")
    path = PurePosixPath(_printable(name).replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        raise DatasetError(
            "a path leads out of the archive.",
            where=name,
        )
    return str(path)


def _printable(name: str) -> str:
    """The name with a sign in place of bytes that are no UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
