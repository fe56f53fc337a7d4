"""The folder of a module as a zip file: its texts, read within bounds and never unpacked to disk."""

import io
import zipfile
import zlib

from easeml.contract.knowledge import LARGEST_MODULE
from easeml.errors import InvalidInput, TooLarge

LARGEST_ZIP = 2**20  # bytes; the texts of a folder are far fewer
DESCRIPTION = "module.toml"
_MOST = 1000  # entries that are looked at, folders and hidden files among them
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError)
_PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others may ask for gigabytes to be read
_WHERE = "the zip file"


def read(content: bytes) -> dict[str, str]:
    """Return the texts in a zip file by name: of the one folder in it, or of its own top.

    Hidden files are left out, and what macOS puts beside a folder. Raises ``TooLarge`` above
    ``LARGEST_ZIP``, or ``LARGEST_MODULE`` unpacked; ``InvalidInput`` for what is no zip file, has no
    ``module.toml``, or has other files than texts beside it.
    """
    if len(content) > LARGEST_ZIP:
        raise TooLarge(
            f"The zip file of a module has at most {LARGEST_ZIP:,} bytes.",
            where=_WHERE,
            remedy="Bring the folder itself where it has an image in it.",
        )
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _texts(archive)
    except _UNREADABLE as error:
        remedy = "Pack the folder anew, without a password."
        raise InvalidInput(f"It cannot be read: {error}", where=_WHERE, remedy=remedy) from error


def _texts(archive: zipfile.ZipFile) -> dict[str, str]:
    entries = archive.infolist()
    if len(entries) > _MOST:
        raise TooLarge(f"It has more than {_MOST} files.", where=_WHERE)
    shown = [entry for entry in entries if _is_shown(entry.filename)]
    folder = _folder_of(shown)
    left = LARGEST_MODULE
    texts = {}
    for entry in shown:
        name = _name_in(folder, entry.filename)
        content = _content(archive, entry, left + 1)
        left -= len(content)
        if left < 0:
            raise TooLarge(f"A module's folder has at most {LARGEST_MODULE:,} bytes.", where=_WHERE)
        texts[name] = _text(entry.filename, content)
    return texts


def _name_in(folder: str, path: str) -> str:
    """Return the name of a file that lies in the folder itself. Raises ``InvalidInput``."""
    name = path.removeprefix(folder)
    if {"/", "\\"}.isdisjoint(name):
        return name
    raise InvalidInput(
        "This lies in a folder of its own.",
        where=path,
        remedy=f"Put all files beside {DESCRIPTION}.",
    )


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int) -> bytes:
    """Return at most so many bytes of a file; what it says of its size is not believed."""
    if entry.compress_type not in _PLAIN:
        remedy = "Pack the folder with the usual compression (deflate)."
        raise InvalidInput("This is packed in another way.", where=entry.filename, remedy=remedy)
    with archive.open(entry) as file:
        return file.read(most)


def _is_shown(path: str) -> bool:
    """Whether an entry is a file that is not hidden, nor lies in a hidden folder."""
    folders_and_name = path.split("/")
    parts = {*folders_and_name} - {".."}
    is_hidden = any(part.startswith((".", "__MACOSX")) for part in parts)
    is_folder = folders_and_name[-1] == ""  # its path ends with a slash
    return not is_folder and not is_hidden


def _folder_of(entries: list[zipfile.ZipInfo]) -> str:
    """Return the folder in which the description lies, with its slash. Raises ``InvalidInput``."""
    for entry in entries:
        folder, slash, name = entry.filename.rpartition("/")
        if name == DESCRIPTION:
            return folder + slash
    remedy = "Make a folder to begin with: easeml module init PATH."
    raise InvalidInput(f"There is no {DESCRIPTION} in it.", where=_WHERE, remedy=remedy)


def _text(path: str, content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        remedy = "Take it out: the files of a module are texts."
        raise InvalidInput("This file is not text.", where=path, remedy=remedy) from error
