"""Rows of a request that come as files: pictures, series, a zip of them or of a data set, arrays."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Sequence
from email.parser import BytesParser
from email.policy import HTTP
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError
from easeml.data.readers.by_class import PICTURES, TEXTS, picture_table, series_table, text_table
from easeml.data.readers.easeml_dataset import is_easeml
from easeml.data.readers.file_tree import Tree, open_tree
from easeml.data.readers.read import table_from_bytes
from easeml.data.readers.samples_table import read_dataset
from easeml.data.readers.series_files import SERIES
from easeml.data.readers.source import Source, format_of

if TYPE_CHECKING:
    import pyarrow as pa

Files = Sequence[tuple[str, bytes]]  # names, contents
_MAGIC = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\0", b"MM\0*", b"P5", b"P6")


def files_of(body: bytes, content_type: str) -> Files:
    """Return the files of a request: those of its parts, or its body.

    Raises DatasetError if there is none.
    """
    kind = content_type.partition(";")[0].strip().lower()
    if kind != "multipart/form-data":
        name = "body.png" if kind.startswith("image/") else "body"
        return [(name, body)]

    found = _files_of_parts(body, content_type)
    if not found:
        raise DatasetError(
            "there is no file.",
            where="the parts",
            remedy="Send each file as a part with a filename.",
        )
    return found


def _files_of_parts(body: bytes, content_type: str) -> list[tuple[str, bytes]]:
    """The parts of a body that have a filename."""
    header = b"Content-Type: " + content_type.encode() + b"\r\n\r\n"
    message = BytesParser(policy=HTTP).parsebytes(header + body)
    found = []
    for part in message.iter_parts():
        name = part.get_filename()
        content = part.get_payload(decode=True)
        if name and isinstance(content, bytes):
            found.append((name, content))
    return found


def table_of_files(
    files: Files, labels: Collection[str], *, are_series: bool = False
) -> tuple[pa.Table, list[str]]:
    """Return the table of the rows in some files, and their names where each is a file.

    Pictures below folders named like ``labels`` have these as their labels. ``are_series``: whether
    a row is a series, as also a single CSV file in a zip file then is. Raises DatasetError.
    """
    name, content = files[0]
    if len(files) > 1 or _is_picture(name, content):
        tree = _tree_of(files)
        return _samples(tree, [*tree.files], ())
    if format_of(Source(name, data=content)) == "zip":
        return _table_of_zip(name, content, labels, 1 if are_series else 2)
    return table_from_bytes(content, name), []


def pictures_sent(body: bytes, content_type: str, most: int) -> list[tuple[str, bytes]]:
    """Return the names and bytes of the pictures of a request, in the order of its answers.

    They are not looked into. Raises DatasetError where the request is of anything else, or its
    pictures have more than ``most`` bytes together.
    """
    files = files_of(body, content_type)
    name, content = files[0]
    if len(files) > 1 or _is_picture(name, content):
        return _read_pictures(_tree_of(files), most)
    if format_of(Source(name, data=content)) != "zip" or is_easeml(content):
        raise _other_files()
    with open_tree(content) as tree:
        return _read_pictures(tree, most)


def _other_files() -> DatasetError:
    return DatasetError("there are other files than pictures.")


def _read_pictures(tree: Tree, most: int) -> list[tuple[str, bytes]]:
    samples = list(filter(_is_sample, tree.files))
    if not min(map(_is_picture_file, samples), default=False):
        raise _other_files()
    found = []
    for name in samples:
        content = tree.read(name, most)
        most -= len(content)
        found.append((name, content))
    return found


def _table_of_zip(
    name: str, content: bytes, labels: Collection[str], least: int
) -> tuple[pa.Table, list[str]]:
    """The table of a data set, of the samples that a zip file holds, or of its table.

    ``least``: how many CSV files are series.
    """
    if is_easeml(content):
        return read_dataset(content, name), []
    with open_tree(content) as tree:
        samples = list(filter(_is_sample, tree.files)) or _series(tree, least)
        if samples:
            return _samples(tree, samples, labels)
    return table_from_bytes(content, name), []


def _is_sample(name: str) -> bool:
    return name.lower().endswith((*PICTURES, *TEXTS))


def _is_series(name: str) -> bool:
    return name.lower().endswith(SERIES)


def _series(tree: Tree, least: int) -> list[str]:
    """The CSV files, where there are so many at least: fewer are tables."""
    found = list(filter(_is_series, tree.files))
    return found if len(found) >= least else []


def _is_picture(name: str, content: bytes) -> bool:
    return content.startswith(_MAGIC) or _is_picture_file(name)


def _is_picture_file(name: str) -> bool:
    return name.lower().endswith(PICTURES)


def _tree_of(files: Files) -> Tree:
    """The files by name; one whose name came before has its number in its name."""
    openers = {}
    for number, (name, content) in enumerate(files, 1):
        own = f"{name} ({number})" if name in openers else name
        openers[own] = partial(io.BytesIO, content)
    return Tree("", openers, ())


def _suffix(name: str) -> str:
    return PurePosixPath(name).suffix.lower()


def _reader_of(names: list[str]) -> Callable[..., pa.Table]:
    """What reads these files, which are of one kind; pictures may have any ending."""
    suffixes = set(map(_suffix, names))
    if suffixes <= {*SERIES}:
        return series_table
    return text_table if suffixes <= {*TEXTS} else picture_table


def _samples(tree: Tree, names: list[str], labels: Collection[str]) -> tuple[pa.Table, list[str]]:
    """The table of samples, with labels if every one is below a folder named like one."""
    folders = [PurePosixPath(name).parent.name for name in names]
    table = _reader_of(names)(tree, list(zip(names, folders, strict=True)))
    if not set(folders) <= set(labels):
        table = table.drop_columns(["label"])
    return table, names
