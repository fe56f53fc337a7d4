"""Tables out: to the formats that hold them, and what they are as Croissant metadata."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.data.errors import DatasetError
from easeml.data.types import values as v
from easeml.data.types.arrow import arrow_compute
from easeml.data.types.cells import CELLS
from easeml.data.types.column_report import ColumnReport
from easeml.data.types.text_tables import column_text

if TYPE_CHECKING:
    import pyarrow as pa

_FORMULA = r"^([=+\-@\t\r])"
FORMATS = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".jsonl", ".arff")


def typed_table(table: pa.Table, reports: list[ColumnReport]) -> pa.Table:
    """Return a table of text with the types of its reports.

    These are float64, dictionary, string and timestamp[us].
    """
    import pyarrow as pa

    columns = []
    for report in reports:
        array = v.plain(
            column_text(table, report.name), report.type, report.format, report.missing_codes
        )
        if report.type == "number":
            numbers = v.to_numbers(array)
            columns.append(pa.array(numbers.values, mask=numbers.missing | numbers.bad))
        elif report.type == "timestamp":
            columns.append(
                pa.array(v.to_timestamps(array, report.format).values, pa.timestamp("us"))
            )
        else:
            missing = pa.array(v.missing_mask(array, report.type))
            text = arrow_compute().if_else(missing, pa.scalar(None, pa.string()), array)
            columns.append(text.dictionary_encode() if report.type == "category" else text)
    return pa.table(columns, [report.name for report in reports])


def write_table(
    path: str | Path,
    table: pa.Table,
    reports: list[ColumnReport],
    *,
    escape_formulas: bool = True,
) -> None:
    """Write a table of text, typed by its reports, in the format of the ending: one of ``FORMATS``.

    ``escape_formulas``: see ``write_typed``.

    Raises: DatasetError: for another ending, if there is a file already, or if a column holds more
        than single values.
    """
    refuse_cells({report.name: report.type for report in reports})
    write_typed(path, typed_table(table, reports), escape_formulas=escape_formulas)


def refuse_cells(kinds: Mapping[str, str]) -> None:
    """Raise DatasetError if a column (name -> type) holds pictures, tensors or graphs.

    No table file holds those.
    """
    held = [name for name, kind in kinds.items() if kind in CELLS]
    if held:
        remedy = "Only tables of numbers, categories, text and times can be written."
        raise DatasetError(
            "it holds more than single values.",
            where=f"column '{held[0]}'",
            remedy=remedy,
        )


def write_typed(path: str | Path, typed: pa.Table, *, escape_formulas: bool = True) -> None:
    """Write a table of numbers, dictionaries, text and timestamps; raises like ``write_table``.

    ``escape_formulas``: in .csv and .tsv, text that a spreadsheet would run as a formula (it starts
    with =, +, -, @, tab or return) gets an apostrophe in front.
    """
    from pyarrow import csv, feather, parquet

    path = Path(path)
    if path.suffix not in FORMATS:
        raise DatasetError(
            f"{path.suffix!r} cannot be written.",
            where=str(path),
            remedy=f"One of {', '.join(FORMATS)}.",
        )
    if path.exists():
        raise DatasetError(
            "there is something already.",
            where=str(path),
            remedy="Name a new file.",
        )
    if path.suffix == ".parquet":
        parquet.write_table(typed, path)
    elif path.suffix in (".arrow", ".feather"):
        feather.write_feather(typed, str(path), compression="uncompressed")
    elif path.suffix == ".jsonl":
        _plain(typed).to_pandas().to_json(
            path,
            orient="records",
            lines=True,
            force_ascii=False,
            date_format="iso",
        )
    elif path.suffix == ".arff":
        path.write_text(_arff(typed), encoding="utf-8")
    else:
        delimiter = "\t" if path.suffix == ".tsv" else ","
        plain = _plain(typed)
        if escape_formulas:
            plain = _without_formulas(plain)
        csv.write_csv(plain, path, csv.WriteOptions(delimiter=delimiter))


def _without_formulas(table: pa.Table) -> pa.Table:
    """The table with an apostrophe before text, and before names, that a spreadsheet would run."""
    import pyarrow as pa

    columns = [
        arrow_compute().replace_substring_regex(column, _FORMULA, r"'\1")
        if pa.types.is_string(column.type)
        else column
        for column in table.columns
    ]
    names = [re.sub(_FORMULA, r"'\1", name) for name in table.column_names]
    return pa.table(columns, names)


def _plain(table: pa.Table) -> pa.Table:
    """The table with strings in place of dictionaries."""
    import pyarrow as pa

    kinds = [
        pa.string() if pa.types.is_dictionary(field.type) else field.type for field in table.schema
    ]
    return table.cast(
        pa.schema([field.with_type(kind) for field, kind in zip(table.schema, kinds, strict=True)])
    )


def _arff(typed: pa.Table) -> str:
    import arff
    import pyarrow as pa

    def kind(field: pa.Field) -> Any:
        if pa.types.is_dictionary(field.type):
            return sorted(set(table.column(field.name).drop_null().to_pylist()))
        return (
            "NUMERIC"
            if pa.types.is_floating(field.type) or pa.types.is_integer(field.type)
            else "STRING"
        )

    table = _plain(typed)
    rows = [
        [value.isoformat() if hasattr(value, "isoformat") else value for value in row]
        for row in zip(*(column.to_pylist() for column in table.columns), strict=True)
    ]
    attributes = [(field.name, kind(field)) for field in typed.schema]
    return arff.dumps({"relation": "table", "attributes": attributes, "data": rows})
