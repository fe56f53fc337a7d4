"""Files that are there as a whole or not at all; and removing folders in which programs of others
have worked, whatever they left there.
"""

import errno
import os
import secrets
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_OWNER_ONLY = 0o700
_NO_WRITING_BY_OTHERS = 0o755
_OWN = 0o600


def remove_folder(folder: Path) -> None:
    """Remove a folder with all that is in it; what cannot be removed stays, without an error.

    Folders may lie in each other however deep: ``shutil.rmtree`` ends with ``RecursionError``
    where they lie a thousand deep, and a program makes that many in a moment.
    """
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if folder.is_dir() and not folder.is_symlink():
        _flatten(folder)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """Make a temporary folder for as long as the context lasts; give its path without links."""
    made = Path(tempfile.mkdtemp(prefix=prefix)).resolve()
    try:
        yield made
    finally:
        remove_folder(made)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give where to write a file: it takes the place of ``path`` when the block ends.

    Where the block fails, or the process is killed, ``path`` is as it was. What is no file, such as
    a pipe, is written as it is.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    place = path.resolve()  # a link stays one
    part = place.with_name(f"{place.name}.{secrets.token_hex(4)}.part")
    try:
        yield part
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)


def unpack(archive: tarfile.TarFile, folder: Path) -> None:
    """Lay out in ``folder`` what an open archive holds; its files then belong to who unpacks.

    Raises ``tarfile.TarError`` for what would lie, or lead, outside of it, and for files of devices.
    """
    if hasattr(tarfile, "data_filter"):
        archive.extractall(folder, filter="data")
    else:  # Python before 3.11.4: that of Debian 12
        archive.extractall(folder, _harmless(archive))  # noqa: S202


def _harmless(archive: tarfile.TarFile) -> list[tarfile.TarInfo]:
    """Return what an archive holds, if none of it can lead up: no link may name the folder above
    it, so that no way through links does, in whatever order they are laid out.
    """
    members = archive.getmembers()
    for member in members:
        is_link = member.islnk() or member.issym()
        if is_link and _leads_out(member.linkname):
            raise tarfile.ExtractError(f"{member.name!r} is a link to {member.linkname!r}")
        if _leads_out(member.name) or not (is_link or member.isreg() or member.isdir()):
            raise tarfile.ExtractError(f"{member.name!r} is no file or folder within")
        member.uid = os.getuid()
        member.gid = os.getgid()
        member.uname = member.gname = ""
        if member.isdir():
            member.mode = _OWNER_ONLY
        else:
            member.mode = member.mode & _NO_WRITING_BY_OTHERS | _OWN
    return members


def _leads_out(name: str) -> bool:
    return Path(name).is_absolute() or ".." in Path(name).parts


def paths_below(top: Path, deepest: int) -> Iterator[Path]:
    """Give what is in a folder and in those below it: files, links, and folders that lie deeper than
    ``deepest`` folders. Links are not followed.
    """
    waiting = [(top, 1)]
    while waiting:
        folder, depth = waiting.pop()
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        for entry in found:
            if entry.is_dir(follow_symlinks=False) and depth < deepest:
                waiting.append((Path(entry.path), depth + 1))
            else:
                yield Path(entry.path)


def holds_more(top: Path, size: int, entries: int) -> bool:
    """Whether there are more than so many bytes, or files and folders, in and below a folder.

    Folders may lie in each other however deep, so they are walked in a loop; links are not
    followed.
    Where they lie too deep to be named, or one cannot be looked into, the answer is yes.
    """
    waiting = [str(top)]
    while waiting and size >= 0 and entries >= 0:
        try:
            with os.scandir(waiting.pop()) as found:
                for entry in found:
                    entries -= 1
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        size -= entry.stat(follow_symlinks=False).st_size
        except OSError as error:
            if error.errno in (errno.ENAMETOOLONG, errno.EACCES):
                return True
            # else it was taken away
    return size < 0 or entries < 0


def _flatten(top: Path) -> None:
    """Move every folder up until it lies in ``top`` itself."""
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        with suppress(OSError):
            folder.chmod(_OWNER_ONLY)
            for inner in _folders_in(folder):
                place = inner
                if folder != top:
                    place = top / secrets.token_hex(16)
                    inner.rename(place)
                waiting.append(place)


def _folders_in(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:
        return [Path(one.path) for one in entries if one.is_dir(follow_symlinks=False)]
