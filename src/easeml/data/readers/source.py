"""The bytes of one table file, on disk or in memory, and what format they are in."""

from __future__ import annotations

import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from easeml.data.errors import DatasetError

LARGEST = 4 << 30  # bytes after decompression
_HEAD = 1 << 16
_MARKS = {  # by which a file is told, whatever its name is
    "parquet": re.compile(rb"\APAR1"),
    "arrow": re.compile(rb"\AARROW1"),
    "arrow stream": re.compile(rb"\A\xff\xff\xff\xff"),
    "npy": re.compile(rb"\A\x93NUMPY"),
    "excel": re.compile(rb"\A\xd0\xcf\x11\xe0"),
    "pdf": re.compile(rb"\A%PDF"),
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
}
_JSON = re.compile(rb"[\xef\xbb\xbf \t\r\n]*(\{[\"} ]|\[\{)")
_OF_WORKBOOK = re.compile(r"xl/|content\.xml\Z")  # of Excel, or of OpenDocument
_ARRAY = re.compile(r"[^/]+\.npy")
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
        if not data.startswith(b"\x1f\x8b"):
            return data
        try:
            return zlib.decompressobj(wbits=31).decompress(data, _HEAD)
        except zlib.error:
            return data

    @contextmanager
    def unpacked(self) -> Iterator[_Stream]:
        """Open it for reading, unpacked if it is gzip.

        Raises DatasetError, also later, for a damaged file.
        """
        with self.open() as file:
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            try:
                yield gzip.GzipFile(fileobj=file) if packed else file
            except EOFError as error:
                raise DatasetError(
                    "the gzip file is cut off.",
                    where=self.name,
                    remedy="Send it again.",
                ) from error
            except (gzip.BadGzipFile, zlib.error) as error:
                raise DatasetError(
                    f"the gzip file is damaged ({error}).",
                    where=self.name,
                    remedy="Pack it again.",
                ) from error

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
            while part := read(file, LARGEST + 1):
                size += len(part)
                if size > LARGEST and isinstance(file, gzip.GzipFile):
                    raise DatasetError(
                        f"it unpacks to more than {LARGEST >> 30} GiB.",
                        where=self.name,
                    )
                yield part


def format_of(source: Source) -> str:
    """The format by the first bytes, else by the ending, else ``csv``."""
    head = source.head()
    if head.startswith(b"PK\x03\x04"):
        return _zip_format(source)
    for form, mark in _MARKS.items():
        if mark.search(head):
            return form

    suffix = Path(source.name.lower().removesuffix(".gz")).suffix
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    return "json" if _JSON.match(head) else "csv"


def _zip_format(source: Source) -> str:
    """What a zip file is: a workbook, arrays, or an archive of files."""
    names = _names_in_zip(source)
    if any(map(_OF_WORKBOOK.match, names)):
        return "excel"
    are_arrays = bool(names) and all(map(_ARRAY.fullmatch, names))
    return "npz" if are_arrays else "zip"


def _names_in_zip(source: Source) -> list[str]:
    """The names of the files in an archive. Raises DatasetError for a damaged or too large one."""
    try:
        with source.open() as file, zipfile.ZipFile(file) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise DatasetError(
            f"the zip file is damaged ({error}).",
            where=source.name,
            remedy="Pack it again.",
        ) from error
    size = sum(member.file_size for member in members)
    if size > LARGEST:
        raise DatasetError(
            f"it unpacks to more than {LARGEST >> 30} GiB.",
            where=source.name,
        )
    return [member.filename for member in members]
