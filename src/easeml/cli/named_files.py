"""Files that somebody names: what cannot be read or written is said, with the name of the file."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from easeml.errors import InvalidInput

_UNREADABLE = "The file cannot be read"
_UNWRITABLE = "The file cannot be written"


def reading(path: Path, said: str = _UNREADABLE) -> AbstractContextManager[None]:
    """Raise ``InvalidInput``, which begins with ``said``, where a block cannot read a file."""
    return _told_failures(path, said)


def writing(path: Path, said: str = _UNWRITABLE) -> AbstractContextManager[None]:
    """Raise ``InvalidInput``, which begins with ``said``, where a block cannot write a file."""
    return _told_failures(path, said)


@contextmanager
def _told_failures(path: Path, said: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InvalidInput(f"{said}: {error.strerror}.", where=str(path)) from error


@contextmanager
def content_of(path: Path) -> Iterator[None]:
    """Let what a block finds wrong with the content of a file begin its place with the file."""
    try:
        yield
    except InvalidInput as error:
        where = ", ".join(filter(None, (str(path), error.where)))
        raise InvalidInput(error.message, where=where, remedy=error.remedy) from error


def read_text(path: Path, said: str = _UNREADABLE, *, encoding: str = "utf-8") -> str:
    """Return the text of a file. Raises ``InvalidInput``, which begins with ``said``."""
    try:
        return path.read_text(encoding)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{said}: {error}.", where=str(path)) from error
