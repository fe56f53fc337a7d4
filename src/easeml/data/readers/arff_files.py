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

    wrong = (ValueError, IndexError, KeyError, TypeError, StopIteration)
    try:
        found = arff.load(lines, return_type=arff.DENSE_GEN)
        schema = _schema(found["attributes"], name)
        rows = iter(found["data"])
        batches = []
        while True:
            batch = _batch(rows, schema)
            if batch is None:
                break
            batches.append(batch)
    except arff.ArffException as error:
        said = str(error.message).removesuffix(", at line %d.")
        raise _not_arff(said, name, lines) from error
    except wrong as error:
        raise _not_arff(str(error), name, lines) from error
    if not batches:
        raise DatasetError(
            "there is no row.",
            where=name,
            remedy="Send a file with rows below @data.",
        )
    return pa.Table.from_batches(batches)


def _schema(attributes: list[tuple[str, object]], name: str) -> pa.Schema:
    """The columns with what the file says of their types; the last is the usual target."""
    import pyarrow as pa

    names = check_names([attribute for attribute, _ in attributes], name)
    kinds = [kind for _, kind in attributes]
    fields = [_field(*column) for column in zip(names, kinds, strict=True)]
    return pa.schema(fields, metadata={"usual target": names[-1]})


def _batch(rows: Iterator[list[object]], schema: pa.Schema) -> pa.RecordBatch | None:
    """The next rows, as many as are held at once; None where there is none left."""
    import pyarrow as pa

    some = list(islice(rows, max(1, _CELLS // len(schema))))
    if not some:
        return None
    columns = []
    for column in zip(*some, strict=True):
        texts = [_text(cell) for cell in column]
        columns.append(pa.array(texts, pa.string()))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _not_arff(said: str, name: str, lines: _Lines) -> DatasetError:
    return DatasetError(
        f"this is not ARFF: {said}.",
        where=f"{name}, line {lines.number}",
        remedy="Correct it, or save CSV.",
    )


def _field(name: str, kind: object) -> pa.Field:
    import pyarrow as pa

    told = "category" if isinstance(kind, list) else _TOLD.get(str(kind).upper())
    return pa.field(name, pa.string(), metadata={"type": told} if told else None)


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        is_exact = value.is_integer() and abs(value) < 1e15
        return str(int(value)) if is_exact else repr(value)
    return str(value).strip()
