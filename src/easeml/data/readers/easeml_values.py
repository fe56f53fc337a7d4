"""The files of an ease.ml data set, read and written: tensors, categories, classes and links."""

from __future__ import annotations

import io
import re
import struct
import tokenize
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import filterfalse
from math import prod
from operator import itemgetter
from pathlib import Path
from typing import IO, TYPE_CHECKING

from easeml.data.errors import DatasetError, refusing, shown
from easeml.data.readers.file_tree import Tree
from easeml.schema import Sample, Samples, Tensor, TensorShape, Value

if TYPE_CHECKING:
    import numpy as np

_SUFFIXES = (".ten.npy", ".ten.csv", ".cat.txt", ".class.txt", ".links.csv")
_LINK = re.compile(r"([a-z_][0-9a-z_]*)/([0-9]{1,9})\s+([a-z_][0-9a-z_]*)/([0-9]{1,9})")
_LINE_END = re.compile(r"\r\n|\n|\r")
_NUMBER = re.compile(
    r"\s*[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|nan|inf)\s*", re.IGNORECASE
)
_NO_HEADER = (ValueError, EOFError, OSError, struct.error, SyntaxError, tokenize.TokenError)
_HEADER = 1 << 16  # bytes of an npy file that hold its header
_MOST_TEXT = 1 << 30  # bytes of a text file


def kind_and_name(file: str) -> tuple[str, str]:
    """The suffix that tells what a file is, and the name before it.

    The suffix of any other file is empty.
    """
    if file == "links.csv":
        return ".links.csv", ""
    suffix = next(filter(file.endswith, _SUFFIXES), "")
    return suffix, file.removesuffix(suffix)


def class_labels(tree: Tree, path: str) -> tuple[str, ...]:
    """The labels of a class: lines that are not blank, in their order.

    Raises ``DatasetError`` for one that occurs twice.
    """
    found = tuple(filter(None, _lines(tree, path)))
    twice = [label for label, count in Counter(found).items() if count > 1]
    if twice:
        raise DatasetError(
            f"the label {shown(twice[0])} occurs twice.",
            where=path,
            remedy="Write each label once.",
        )
    if not found:
        raise DatasetError(
            "the class has no label.",
            where=path,
            remedy="Write a label on each line.",
        )
    return found


def labels(tree: Tree, path: str) -> tuple[str, ...]:
    """The labels of a category, one a line; a blank line is an empty label."""
    return tuple(_lines(tree, path))


def links_of(tree: Tree, path: str) -> frozenset[tuple[tuple[str, int], tuple[str, int]]]:
    """The links of a sample: ``node/index node/index`` on each line that is not blank."""
    found = set()
    for number, line in filter(itemgetter(1), enumerate(_lines(tree, path), 1)):
        found.add(_link(line, f"{path}, line {number}"))
    return frozenset(found)


def _link(line: str, where: str) -> tuple[tuple[str, int], tuple[str, int]]:
    ends = _LINK.fullmatch(line)
    if ends is None:
        raise DatasetError(
            f"expected 'node/index node/index', found {shown(line)}.",
            where=where,
            remedy="Indices are numbers from 0.",
        )
    start, i, end, j = ends.groups()
    return (start, int(i)), (end, int(j))


def _lines(tree: Tree, path: str) -> list[str]:
    with refusing(UnicodeDecodeError, "it is not UTF-8 text.", path, "Save it as UTF-8."):
        text = tree.read(path, _MOST_TEXT).decode("utf-8-sig")
    if not text:
        return []
    return _divided(text.removesuffix("\n").removesuffix("\r"))


def _divided(text: str) -> list[str]:
    """The lines of a text as they are read."""
    return list(map(str.strip, _LINE_END.split(text)))


def tensor(tree: Tree, path: str, *, shapes_only: bool) -> Tensor:
    """The array of a tensor file.

    It is float64 in a NumPy file, or numbers with commas between them in CSV without a header.

    One row of a CSV file is a vector, several rows are a matrix. ``shapes_only``: a ``TensorShape``
    instead.
    """
    if path.endswith(".npy"):
        return _npy_shape(tree, path) if shapes_only else _npy(tree, path)
    array = _csv(tree, path)
    return TensorShape(array.shape) if shapes_only else array


def _npy_shape(tree: Tree, path: str) -> TensorShape:
    with tree.files[path]() as file:
        start = io.BytesIO(file.read(_HEADER))
    shape, _, kind = _npy_header(start, path)
    _check_kind(kind, path)
    return TensorShape(shape)


def _check_kind(kind: np.dtype, path: str) -> None:
    import numpy as np

    if kind.newbyteorder("=") != np.float64:
        raise DatasetError(
            f"expected numbers of type float64, found {kind}.",
            where=path,
            remedy="Save it as float64.",
        )


def _npy(tree: Tree, path: str) -> Tensor:
    import numpy as np

    content = io.BytesIO(tree.read(path))
    shape, by_column, kind = _npy_header(content, path)
    _check_kind(kind, path)
    body = content.read()
    if len(body) != 8 * prod(shape):
        raise DatasetError(
            f"expected {prod(shape):,} numbers, found {len(body) / 8:,g}.",
            where=path,
        )
    numbers = np.frombuffer(body, kind).astype(np.float64)
    return numbers.reshape(shape, order="F" if by_column else "C")


def _npy_header(file: IO[bytes], path: str) -> tuple[tuple[int, ...], bool, np.dtype]:
    """The shape, whether columns stand together, and the type; ``file`` is left behind these."""
    import numpy as np

    with refusing(_NO_HEADER, "it is not a NumPy file: {error}.", path):
        if np.lib.format.read_magic(file) == (1, 0):
            return np.lib.format.read_array_header_1_0(file)
        return np.lib.format.read_array_header_2_0(file)


def _csv(tree: Tree, path: str) -> Tensor:
    import numpy as np

    rows = [line.split(",") for line in filter(None, _lines(tree, path))]
    if not rows:
        raise DatasetError(
            "there is no number.",
            where=path,
        )
    width = len(rows[0])
    for number, row in enumerate(rows):
        _check_row(row, width, f"{path}, row {number}")
    array = np.array(rows, dtype=np.float64)
    return array[0] if len(rows) == 1 else array


def _check_row(row: Sequence[str], width: int, where: str) -> None:
    if len(row) != width:
        raise DatasetError(
            f"expected {width} numbers, as in row 0, found {len(row)}.",
            where=where,
        )
    wrong = next(filterfalse(_NUMBER.fullmatch, row), None)
    if wrong is not None:
        raise DatasetError(f"{shown(wrong)} is not a number.", where=where)


def write_samples(folder: Path, samples: Samples) -> None:
    """Write a data set below ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, members in samples.classes.items():
        _write_lines(folder / f"{name}.class.txt", members)
    for name, sample in samples.samples.items():
        _write_sample(folder / name, sample)


def _write_sample(folder: Path, sample: Sample) -> None:
    _write_values(folder, sample.values)
    if sample.links is not None:
        lines = [f"{start}/{i} {end}/{j}" for (start, i), (end, j) in sorted(sample.links)]
        _write_lines(folder / "links.links.csv", lines)


def _write_values(folder: Path, values: Mapping[str, Value | Mapping[str, Value]]) -> None:
    """Write the values of a sample, or the fields of a node with instances."""
    folder.mkdir()
    for name, value in values.items():
        _write_value(folder, name, value)


def _write_value(folder: Path, name: str, value: Value | Mapping[str, Value]) -> None:
    import numpy as np

    if isinstance(value, Mapping):
        _write_values(folder / name, value)
    elif isinstance(value, tuple):
        _write_lines(folder / f"{name}.cat.txt", value)
    elif isinstance(value, np.ndarray):
        np.save(folder / f"{name}.ten.npy", value.astype(np.float64), allow_pickle=False)
    else:
        raise DatasetError(
            "its numbers were not read, only its shape.",
            where=str(folder / name),
        )


def _write_lines(path: Path, lines: Sequence[str]) -> None:
    odd = next(filterfalse(_is_line, lines), None)
    if odd is not None:
        raise DatasetError(
            f"{shown(odd)} cannot stand on a line of its own.",
            where=str(path),
        )
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")


def _is_line(text: str) -> bool:
    """Whether a text is read as it was written: without blanks around it, and on one line."""
    return _divided(text) == [text]
