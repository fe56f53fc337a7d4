"""ARFF, the format of Weka and OpenML, dense or sparse."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from easeml.data.errors import DatasetError
from easeml.data.readers.encoding import encoding_of
from easeml.data.readers.source import Source
from easeml.data.types.text_tables import check_names
from easeml.data.types.values import number_text

if TYPE_CHECKING:
    import pyarrow as pa

_DATE = re.compile(r"(?i)^(\s*@attribute\s+(?:'[^']*'|\"[^\"]*\"|\S+)\s+)date\b.*$")
_COMMENT = re.compile(r"(?i)^(\s*@attribute\s.*\})\s*%.*$")  # behind the labels of an attribute
_CATEGORY = {"type": "category"}
_NUMBER = {"type": "number"}
_TOLD = {"REAL": _NUMBER, "NUMERIC": _NUMBER, "INTEGER": _NUMBER}
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
        batches = list(_batches(found["data"], schema))
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
    return pa.schema(map(_field, names, kinds), metadata={"usual target": names[-1]})


def _batches(data: Iterable[list[object]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows, as many as are held at once."""
    import pyarrow as pa

    rows = iter(data)
    at_once = max(1, _CELLS // len(schema))
    while some := list(islice(rows, at_once)):
        columns = []
        for column in zip(*some, strict=True):
            texts = list(map(_text, column))
            columns.append(pa.array(texts, pa.string()))
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _not_arff(said: str, name: str, lines: _Lines) -> DatasetError:
    return DatasetError(
        f"this is not ARFF: {said}.",
        where=f"{name}, line {lines.number}",
        remedy="Correct it, or save CSV.",
    )


def _field(name: str, kind: object) -> pa.Field:
    import pyarrow as pa

    told = _CATEGORY if isinstance(kind, list) else _TOLD.get(str(kind).upper())
    return pa.field(name, pa.string(), metadata=told)


def _text(value: object) -> str:
    return _WRITERS.get(type(value), _plain)(value)


def _plain(value: object) -> str:
    return str(value).strip()


_WRITERS: dict[type, Callable[[Any], str]] = {type(None): lambda _: "", float: number_text}
"""How the parser's values are written as cells, by their types; others are text."""
