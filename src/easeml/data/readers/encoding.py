"""In which encoding a text file is: UTF-8, UTF-16 with a mark, else Windows or ISO Latin 1."""

from __future__ import annotations

import codecs

from easeml.data.errors import DatasetError
from easeml.data.readers.source import Source

_ENCODINGS = ("utf-8-sig", "cp1252", "latin-1")
_UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def decoded(data: bytes, name: str) -> tuple[str, str]:
    """The text of a file and its encoding. Raises DatasetError for binary data."""
    for encoding in _candidates(data):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            break
        return text, encoding
    raise _no_text(name)


def encoding_of(source: Source) -> str:
    """The encoding of a file that is not held as a whole. Raises DatasetError for binary data."""
    for encoding in _candidates(source.head()):
        decoder = codecs.getincrementaldecoder(encoding)()
        try:
            if any("\0" in decoder.decode(block) for block in source.blocks()):
                break
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            continue
        return encoding
    raise _no_text(source.name)


def _candidates(start: bytes) -> tuple[str, ...]:
    return ("utf-16",) if start.startswith(_UTF_16_MARKS) else _ENCODINGS


def _no_text(name: str) -> DatasetError:
    return DatasetError(
        "this is not a text table.", where=name, remedy="Save the table as CSV (UTF-8)."
    )
