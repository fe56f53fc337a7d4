"""ARFF, the format of Weka and OpenML, dense or sparse."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from easeml.data._csv import decoded
from easeml.data._errors import DatasetError
from easeml.data._source import Source
from easeml.data._typed import check_names

if TYPE_CHECKING:
    import pyarrow as pa

_DATE = re.compile(r"(?im)^(\s*@attribute\s+(?:'[^']*'|\"[^\"]*\"|\S+)\s+)date\b.*$")
_TOLD = {"REAL": "number", "NUMERIC": "number", "INTEGER": "number"}


def read_arff(source: Source) -> pa.Table:
    """Read an ARFF file; nominal attributes are categories, dates are told from their text.

    Raises:
        DatasetError: with the line, if it is not ARFF.
    """
    import arff
    import pyarrow as pa

    text, _ = decoded(source.read(), source.name)
    text = _DATE.sub(r"\1string", text)
    sparse = re.search(r"(?im)^@data\s*(?:\s*%.*\n|\s*\n)*\s*\{", text) is not None
    try:
        found = arff.loads(text, return_type=arff.LOD if sparse else arff.DENSE)
    except (arff.ArffException, ValueError, IndexError, KeyError, TypeError, StopIteration) as error:
        raise DatasetError(
            f"this is not ARFF: {error}", where=source.name, remedy="Correct it, or save CSV."
        ) from error
    if not found["data"]:
        raise DatasetError("there is no row.", where=source.name, remedy="Send a file with rows below @data.")
    names = check_names([name for name, _ in found["attributes"]], source.name)
    kinds = [kind for _, kind in found["attributes"]]
    rows = [_dense(row, kinds) for row in found["data"]] if sparse else found["data"]
    told = ["category" if isinstance(kind, list) else _TOLD.get(str(kind).upper(), "") for kind in kinds]
    fields = [
        pa.field(name, pa.string(), metadata={"type": kind} if kind else None)
        for name, kind in zip(names, told, strict=True)
    ]
    columns = [pa.array([_text(row[i]) for row in rows], pa.string()) for i in range(len(names))]
    return pa.table(columns, schema=pa.schema(fields))


def _dense(row: dict[int, object], kinds: list[object]) -> list[object]:
    """A sparse row in full: what is not said is zero, or the first of the nominal values."""
    return [row.get(i, kind[0] if isinstance(kind, list) else 0) for i, kind in enumerate(kinds)]


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value).strip()
