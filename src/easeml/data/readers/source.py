"""The bytes of one table file, on disk or in memory, and what format they are in."""

from __future__ import annotations

import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from easeml.data.errors import DatasetError, refusing

LARGEST = 4 << 30  # bytes after decompression
_HEAD = 1 << 16
_MARKS = {  # by which a file is told, whatever its name is
    "parquet": re.compile(rb"\APAR1"),
    "arrow": re.compile(rb"\AARROW1"),
    "arrow stream": re.compile(rb"\A\xff\xff\xff\xff"),
    "npy": re.compile(rb"\A\x93NUMPY"),
    "excel": re.compile(rb"\A\xd0\xcf\x11\xe0"),
    "pdf": re.compile(rb"\A%PDF"),
    "html": re.compile(
        rb"(?i)\A(\xef\xbb\xbf)?\s*(<\?xml[^>]*>\s*)?(<!--[^>]*>\s*)?<(!doctype html|html|table)\b"
    ),
    "series": re.compile(rb"(?im)^\s*@(problemname|timestamps|univariate|serieslength)\b"),
    "arff": re.compile(rb"(?im)^\s*@relation\b"),
}
_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".arff": "arff",
    ".ts": "series",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
}
_JSON = re.compile(rb"[\xef\xbb\xbf \t\r\n]*(\{[\"} ]|\[\{)")
_OF_WORKBOOK = re.compile(r"xl/|content\.xml\Z")  # of Excel, or of OpenDocument
_ARRAY = re.compile(r"[^/]+\.npy")
_NO_GZIP = (gzip.BadGzipFile, zlib.error)
_NO_ZIP = (zipfile.BadZipFile, OSError, ValueError, NotImplementedError)
_Stream = IO[bytes] | gzip.GzipFile


@dataclass(frozen=True)
class Source:
    """A file: its path, or its bytes.

    ``name`` is the user's name of it, for messages and for its ending.
    """

    name: str
    path: Path | None = None
    data: bytes = b""
    header: bool | None = None  # of a text table; None: found out
    table: int | None = None  # of several in the file, from 1; None: found out

    def open(self) -> IO[bytes]:
        """Open it for reading. Raises DatasetError."""
        try:
            return io.BytesIO(self.data) if self.path is None else self.path.open("rb")
        except OSError as error:
            raise DatasetError(
                f"cannot be read: {error.strerror}.",
                where=str(self.path),
            ) from error

    def head(self) -> bytes:
        """The first bytes, unpacked if they are gzip."""
        with self.open() as file:
            data = file.read(_HEAD)
        with suppress(zlib.error):  # of what is not gzip
            return zlib.decompressobj(wbits=31).decompress(data, _HEAD)
        return data

    @contextmanager
    def unpacked(self) -> Iterator[_Stream]:
        """Open it for reading, unpacked if it is gzip.

        Raises DatasetError, also later, for a damaged file.
        """
        with self.open() as file:
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            damaged = "the gzip file is damaged ({error})."
            with (
                refusing(EOFError, "the gzip file is cut off.", self.name, "Send it again."),
                refusing(_NO_GZIP, damaged, self.name, "Pack it again."),
            ):
                yield gzip.GzipFile(fileobj=file) if packed else file

    def lines(self, longest: int = LARGEST) -> Generator[bytes]:
        """Its lines, unpacked, one at a time; one of more than ``longest`` bytes comes cut, one byte
        longer.

        Raises DatasetError for a damaged or too large file.
        """
        return self._parts(lambda file, most: file.readline(min(longest + 1, most)))

    def blocks(self, size: int = 1 << 20) -> Generator[bytes]:
        """Its bytes, unpacked, in blocks of ``size``.

        Raises DatasetError for a damaged or too large file.
        """
        return self._parts(lambda file, most: file.read(min(size, most)))

    def read(self) -> bytes:
        """All bytes, unpacked. Raises DatasetError for a damaged or too large file."""
        return b"".join(self.blocks(1 << 26))

    def _parts(self, read: Callable[[_Stream, int], bytes]) -> Generator[bytes]:
        size = 0
        with self.unpacked() as file:
            is_packed = isinstance(file, gzip.GzipFile)
            while part := read(file, LARGEST + 1):
                size += len(part)
                if is_packed:
                    check_unpacked(size, self.name)
                yield part


def check_unpacked(size: int, where: str) -> None:
    """Raise ``DatasetError`` where so many bytes come out of a file that is packed."""
    if size > LARGEST:
        raise DatasetError(f"it unpacks to more than {LARGEST >> 30} GiB.", where=where)


def format_of(source: Source) -> str:
    """The format by the first bytes, else by the ending, else ``csv``."""
    head = source.head()
    if head.startswith(b"PK\x03\x04"):
        return _zip_format(source)
    for form, mark in _MARKS.items():
        if mark.search(head):
            return form

    suffix = Path(source.name.lower().removesuffix(".gz")).suffix
    by_content = "json" if _JSON.match(head) else "csv"
    return _SUFFIXES.get(suffix, by_content)


def _zip_format(source: Source) -> str:
    """What a zip file is: a workbook, arrays, or an archive of files."""
    names = _names_in_zip(source)
    if any(map(_OF_WORKBOOK.match, names)):
        return "excel"
    are_arrays = bool(names) and all(map(_ARRAY.fullmatch, names))
    return "npz" if are_arrays else "zip"


def _names_in_zip(source: Source) -> list[str]:
    """The names of the files in an archive. Raises DatasetError for a damaged or too large one."""
    damaged = "the zip file is damaged ({error})."
    with (
        refusing(_NO_ZIP, damaged, source.name, "Pack it again."),
        source.open() as file,
        zipfile.ZipFile(file) as archive,
    ):
        members = archive.infolist()
    check_unpacked(sum(member.file_size for member in members), source.name)
    return [member.filename for member in members]
