"""In which encoding a text file is: UTF-8, UTF-16 with a mark, else Windows or ISO Latin 1."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from itertools import chain
from pathlib import Path

from easeml.data.errors import DatasetError
from easeml.data.readers.source import Source

_ENCODINGS = ("utf-8-sig", "cp1252", "latin-1")
OTHER_ENCODINGS = frozenset({"cp1252", "latin-1", "utf-16"})
"""Those of programs that do not take a text for UTF-8 unless it begins with a mark."""
_NOT_TEXT = {  # what files of these names are, which those that are whole show by their bytes
    ".parquet": "Parquet",
    ".feather": "Arrow",
    ".arrow": "Arrow",
    ".xlsx": "Excel",
    ".xls": "Excel",
    ".ods": "OpenDocument",
    ".npy": "NumPy",
    ".npz": "NumPy",
    ".pdf": "PDF",
    ".zip": "zip",
}
_MARKS = {  # the first bytes of files that hold tables of another kind
    b"SQLi": "an SQLite database, and no",
    b"$FL2": "a file of SPSS, and no",
    b"<sta": "a file of Stata, and no",
    b"\x89HDF": "an HDF5 file, and no",
}
_TAIL = 1 << 16  # characters of the end of a text that are held back
_UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def decoded(data: bytes, name: str) -> tuple[str, str]:
    """The text of a file and its encoding. Raises DatasetError for binary data."""
    for encoding in _candidates(data):
        with suppress(UnicodeDecodeError):
            text = data.decode(encoding)
            if "\0" in text:
                break
            return text, encoding
    raise _no_text(name, data)


def encoding_of(source: Source) -> str:
    """The encoding of a file that is not held as a whole. Raises DatasetError for binary data."""
    for encoding in _candidates(source.head()):
        decoder = codecs.getincrementaldecoder(encoding)()
        with suppress(UnicodeDecodeError):
            if any("\0" in decoder.decode(block) for block in source.blocks()):
                break
            decoder.decode(b"", final=True)
            return encoding
    raise _no_text(source.name, source.head())


class Utf8File(io.RawIOBase):
    """A text file in another encoding, read as UTF-8 without a mark, a block at a time.

    ``begun``, ``ended``: what is kept of how the text begins, and of its last characters. Raises
    DatasetError and UnicodeDecodeError while it is read.
    """

    def __init__(
        self,
        source: Source,
        encoding: str,
        begun: Callable[[str], str] = str,
        ended: Callable[[str], str] = str,
    ):
        self._blocks = _utf8_blocks(_texts(source, encoding, begun), ended)
        self._left = memoryview(b"")

    def readable(self) -> bool:
        """It is to be read."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Fill the buffer as far as the block goes; return how many bytes came, 0 at the end."""
        if not self._left:
            self._left = memoryview(next(self._blocks, b""))
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count

    def close(self) -> None:
        """Close the file that is read."""
        self._blocks.close()
        super().close()


def _utf8_blocks(texts: Generator[str], ended: Callable[[str], str]) -> Generator[bytes]:
    """The text in blocks that are not empty, the last characters as ``ended`` keeps them."""
    held = ""
    with closing(texts):
        for text in texts:
            held += text
            if len(held) > 2 * _TAIL:
                yield held[:-_TAIL].encode()
                held = held[-_TAIL:]
    kept = ended(held)
    if kept:
        yield kept.encode()


def _texts(source: Source, encoding: str, begun: Callable[[str], str]) -> Generator[str]:
    """The text in pieces that are not empty."""
    decoder = codecs.getincrementaldecoder(encoding)()
    has_begun = False
    with closing(source.blocks()) as blocks:
        for block in chain(blocks, [b""]):
            text = decoder.decode(block, final=not block)
            if not has_begun:
                text = begun(text)
            if text:
                has_begun = True
                yield text


def _candidates(start: bytes) -> tuple[str, ...]:
    return ("utf-16",) if start.startswith(_UTF_16_MARKS) else _ENCODINGS


def _no_text(name: str, start: bytes) -> DatasetError:
    suffix = Path(name.lower()).suffix
    if suffix in _NOT_TEXT:
        return DatasetError(
            f"this is no whole {_NOT_TEXT[suffix]} file: it is damaged, or was cut off.",
            where=name,
            remedy="Write it again, and send all of it.",
        )
    what = _MARKS.get(start[:4], "not a")
    return DatasetError(
        f"this is {what} text table.", where=name, remedy="Save the table as CSV (UTF-8)."
    )
