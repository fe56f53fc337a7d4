"""ARFF, the format of Weka and OpenML, dense or sparse."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError
from easeml.data.readers.encoding import encoding_of
from easeml.data.readers.source import Source
from easeml.data.types.text_tables import check_names

if TYPE_CHECKING:
    import pyarrow as pa

_DATE = re.compile(r"(?i)^(\s*@attribute\s+(?:'[^']*'|\"[^\"]*\"|\S+)\s+)date\b.*$")
_COMMENT = re.compile(r"(?i)^(\s*@attribute\s.*\})\s*%.*$")  # behind the labels of an attribute
_TOLD = {"REAL": "number", "NUMERIC": "number", "INTEGER": "number"}
_CELLS = 1 << 20  # that are held as Python values


def read_arff(source: Source) -> pa.Table:
    """Read an ARFF file, some rows at a time.

    Nominal attributes are categories; dates are told from their text.

    Raises:
        DatasetError: with the line, if it is not ARFF.
    """
    encoding = encoding_of(source)
    with source.unpacked() as file:
        return _table(_Lines(io.TextIOWrapper(file, encoding)), source.name)


class _Lines:
    """The lines of a file for the parser, which knows no dates, with the number of the last one."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = lines
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.number += 1
            yield _COMMENT.sub(r"\1", _DATE.sub(r"\1string", line))


def _table(lines: _Lines, name: str) -> pa.Table:
    import arff
    import pyarrow as pa

    try:
        found = arff.load(lines, return_type=arff.DENSE_GEN)
        names = check_names([attribute for attribute, _ in found["attributes"]], name)
        parts = []
        while rows := list(islice(found["data"], max(1, _CELLS // len(names)))):
            columns = zip(*rows, strict=True)
            parts.append(
                [pa.array([_text(cell) for cell in column], pa.string()) for column in columns]
            )
    except (
        arff.ArffException,
        ValueError,
        IndexError,
        KeyError,
        TypeError,
        StopIteration,
    ) as error:
        told = (
            str(error.message).removesuffix(", at line %d.")
            if isinstance(error, arff.ArffException)
            else error
        )
        raise DatasetError(
            f"this is not ARFF: {told}.",
            where=f"{name}, line {lines.number}",
            remedy="Correct it, or save CSV.",
        ) from error
    if not parts:
        raise DatasetError(
            "there is no row.",
            where=name,
            remedy="Send a file with rows below @data.",
        )
    schema = pa.schema(
        [
            _field(attribute, kind)
            for attribute, (_, kind) in zip(names, found["attributes"], strict=True)
        ],
        metadata={"usual target": names[-1]},
    )
    return pa.Table.from_batches(
        [pa.RecordBatch.from_arrays(part, schema=schema) for part in parts]
    )


def _field(name: str, kind: object) -> pa.Field:
    import pyarrow as pa

    told = "category" if isinstance(kind, list) else _TOLD.get(str(kind).upper())
    return pa.field(name, pa.string(), metadata={"type": told} if told else None)


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value).strip()
