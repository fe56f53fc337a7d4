"""The files of a folder, tar or zip file alike: by path, read one at a time.

An archive is never unpacked under the names in it.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import stat
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import filterfalse
from pathlib import Path, PurePosixPath
from typing import IO

from easeml.data.errors import DatasetError, refusing
from easeml.data.readers.source import LARGEST, check_unpacked

_Opener = Callable[[], IO[bytes]]
FolderFiles = dict[str, str]  # path inside a folder -> path in the tree

BROKEN = (  # what the libraries raise for files that are not what they should be
    OSError, EOFError, RuntimeError, ValueError, zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError,
    struct.error,
)  # fmt: skip
_PACKED = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open, b"\xfd7zXZ": lzma.open}  # by first bytes
_ZIP_FILE = "zip file"  # the name of one that is given as bytes
_HIDDEN = re.compile(r"(^|/)\.(?!links\.csv\Z)")


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

    def files_in(self, root: str) -> list[str]:
        """The names of the files right in ``root``."""
        return self._files_by_folder.get(root, [])

    def folders_in(self, root: str) -> list[str]:
        """The names of the folders right in ``root``."""
        return self._folders_by_folder.get(root, [])

    @cached_property
    def _files_by_folder(self) -> dict[str, list[str]]:
        return _names_by_folder(self.files)

    @cached_property
    def _folders_by_folder(self) -> dict[str, list[str]]:
        return _names_by_folder(self.folders)

    def read(self, path: str, most: int = LARGEST) -> bytes:
        """The bytes of a file.

        Raises ``DatasetError`` where there are more than ``most``, or it cannot be read.
        """
        with refusing(BROKEN, "cannot be read: {error}.", path), self.files[path]() as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise DatasetError(
                f"it is larger than {most:,} bytes.",
                where=path,
            )
        return data


def _names_by_folder(paths: Iterable[str]) -> dict[str, list[str]]:
    """The last parts of paths by their other parts, which are empty or end in ``/``."""
    names = defaultdict(list)
    for path in paths:
        folder, slash, name = path.rpartition("/")
        names[folder + slash].append(name)
    return names


@contextmanager
def open_tree(path: str | Path | bytes) -> Iterator[Tree]:
    """Open a folder, a tar file (plain, gzip, bzip2, xz), a zip file, or the bytes of one.

    The files are readable inside the context. Hidden files are left out, but for ``.links.csv``.
    Where all of an archive is in one folder, that is the root.

    Raises:
        DatasetError: if it is none of these, or holds links, devices or paths that lead out of it.
    """
    place = _ZIP_FILE if isinstance(path, bytes) else str(path)
    remedy = "Give a folder, or a tar or zip file of one."
    with ExitStack() as stack:
        with refusing(BROKEN, "cannot be read: {error}.", place, remedy):
            tree = _tree_at(path, stack)
        yield tree


def _tree_at(path: str | Path | bytes, stack: ExitStack) -> Tree:
    """The tree of a folder or an archive, whose files the stack closes."""
    if isinstance(path, bytes):
        return _without_wrapper(_visible(_ZIP_FILE, *_zip(io.BytesIO(path), stack)))

    path = Path(path)
    if path.is_dir():
        return _visible(path.name, *_folder(path))
    read = _zip if zipfile.is_zipfile(path) else _tar
    return _without_wrapper(_visible(path.name, *read(path, stack)))


def _visible(name: str, files: Mapping[str, _Opener], folders: Sequence[str]) -> Tree:
    """The tree without hidden files; a folder of a file is there though no member says so."""
    shown = {}
    every = set(folders)
    for path, opener in sorted(files.items()):
        if not _is_hidden(path):
            shown[path] = opener
            every.update(map(str, PurePosixPath(path).parents))

    visible = sorted(filterfalse(_is_hidden, every))  # without ".", which is hidden as well
    return Tree(name, shown, tuple(visible))


def _is_hidden(path: str) -> bool:
    """Whether a part of a path begins with a dot; not so a file of links without a name."""
    return _HIDDEN.search(path) is not None


def _without_wrapper(tree: Tree) -> Tree:
    """The tree inside the only folder of an archive.

    A folder with values or links of its own is a sample, and no wrapper.
    """
    root = f"{next(iter(tree.folders_in('')), '')}/"
    if not _is_wrapper(tree, root):
        return tree
    files = {path.removeprefix(root): opener for path, opener in tree.files.items()}
    folders = [path.removeprefix(root) for path in tree.folders if path.startswith(root)]
    return Tree(tree.name, files, tuple(folders))


def _is_wrapper(tree: Tree, root: str) -> bool:
    """Whether a folder is alone, and holds nothing but folders and what speaks of them."""
    is_alone = len(tree.folders_in("")) == 1 and not tree.files_in("")
    is_of_samples = all(map(_is_description, tree.files_in(root)))
    return is_alone and is_of_samples and root not in ("train/", "val/")


def _is_description(name: str) -> bool:
    """Whether a file speaks of the samples beside it."""
    return name.endswith(".class.txt") or name.upper().startswith("README")


def _folder(root: Path) -> tuple[dict[str, _Opener], list[str]]:
    files: dict[str, _Opener] = {}
    folders: list[str] = []
    for entry in root.rglob("*"):
        name = _printable(entry.relative_to(root).as_posix())
        kind = entry.lstat().st_mode
        if stat.S_ISDIR(kind):
            folders.append(name)
        elif stat.S_ISREG(kind):
            files[name] = partial(entry.open, "rb")
        else:
            _check_hidden(name)
    return files, folders


def _check_hidden(name: str) -> None:
    """Refuse what is neither file nor folder, unless it is hidden and left out anyway."""
    if not _is_hidden(name):
        raise DatasetError(
            "expected files and folders only, found a link or device.",
            where=name,
        )


def _zip(source: Path | io.BytesIO, stack: ExitStack) -> tuple[dict[str, _Opener], list[str]]:
    archive = stack.enter_context(zipfile.ZipFile(source))
    files: dict[str, _Opener] = {}
    folders: list[str] = []
    for member in archive.infolist():
        name = _inside(member.filename)
        if member.filename.endswith("/"):
            folders.append(name)
        else:
            files[name] = partial(archive.open, member)
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
            files[name] = partial(_extracted, archive, member)
        else:
            _check_hidden(name)
    return files, folders


def _plain(path: Path, stack: ExitStack) -> Path:
    """The tar file itself, or a temporary one with what is packed in it."""
    with path.open("rb") as file:
        head = file.read(6)
    for mark, opener in _PACKED.items():
        if head.startswith(mark):
            out = stack.enter_context(tempfile.NamedTemporaryFile(suffix=".tar"))  # noqa: SIM115  the stack closes it
            with opener(path, "rb") as packed:
                _copy(packed, out, path.name)
            return Path(out.name)
    return path


def _copy(packed: IO[bytes], out: IO[bytes], name: str) -> None:
    size = 0
    while block := packed.read(1 << 20):
        size += out.write(block)
        check_unpacked(size, name)
    out.flush()


def _extracted(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    found = archive.extractfile(member)
    if found is None:
        raise OSError("it is not a file")
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
