"""Tables out: to the formats that hold them, and what they are as Croissant metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
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

_FORMULA = r"^[=+\-@\t\r]."  # a sign alone is a label
_NUMBER = (  # as people write them in any country: -1.5, -1,5, -1.234,5, -1 234,5, -5 %
    r"^([+\-]?[.,]?\d[\d.,']*([eE][+\-]?\d+)?|-\d{1,3}([ \x{a0}\x{202f}]\d{3})+([.,]\d+)?) ?%?$"
)
FORMATS = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".jsonl", ".arff")


def typed_table(table: pa.Table, reports: list[ColumnReport]) -> pa.Table:
    """Return a table of text with the types of its reports.

    These are float64, dictionary, string and timestamp[us].
    """
    import pyarrow as pa

    columns = {}
    for report in reports:
        text = column_text(table, report.name)
        columns[report.name] = _typed_column(text, report)
    return pa.table(columns)


def _typed_column(text: pa.Array, report: ColumnReport) -> pa.Array:
    """A column of text with the type of its report; what cannot be read is missing."""
    array = v.plain(text, report.type, report.format, report.missing_codes)
    return _TYPED.get(report.type, _present)(array, report)


def _numbers(array: pa.Array, _: ColumnReport) -> pa.Array:
    import pyarrow as pa

    numbers = v.to_numbers(array)
    return pa.array(numbers.values, mask=numbers.missing | numbers.bad)


def _times(array: pa.Array, report: ColumnReport) -> pa.Array:
    import pyarrow as pa

    times = v.to_timestamps(array, report.format)
    return pa.array(times.values, pa.timestamp("us"))


def _labels(array: pa.Array, report: ColumnReport) -> pa.Array:
    return _present(array, report).dictionary_encode()


def _present(array: pa.Array, report: ColumnReport) -> pa.Array:
    """The texts, with nulls where there is no value."""
    import pyarrow as pa

    missing = pa.array(v.missing_mask(array, report.type))
    return arrow_compute().if_else(missing, pa.scalar(None, pa.string()), array)


_TYPED = {"number": _numbers, "timestamp": _times, "category": _labels}
"""What types a column, by the type of its report; others stay text."""


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
    with_cells = [name for name, kind in kinds.items() if kind in CELLS]
    if with_cells:
        raise DatasetError(
            "it holds more than single values.",
            where=f"column '{with_cells[0]}'",
            remedy="Only tables of numbers, categories, text and times can be written.",
        )


def write_typed(path: str | Path, typed: pa.Table, *, escape_formulas: bool = True) -> None:
    """Write a table of numbers, dictionaries, text and timestamps; raises like ``write_table``.

    ``escape_formulas``: in .csv and .tsv, text that a spreadsheet would run as a formula (it starts
    with =, +, -, @, tab or return) gets an apostrophe in front.
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        raise DatasetError(
            f"{path.suffix!r} cannot be written.",
            where=str(path),
            remedy=f"One of {', '.join(FORMATS)}.",
        )
    if path.exists():
        raise DatasetError(
            "there is something already.", where=str(path), remedy="Name a new file."
        )
    write = _WRITERS.get(path.suffix)
    if write is not None:
        write(typed, path)
        return
    plain = _plain(typed)
    _write_delimited(without_formulas(plain) if escape_formulas else plain, path)


def _write_parquet(typed: pa.Table, path: Path) -> None:
    from pyarrow import parquet

    parquet.write_table(typed, path)


def _write_arrow(typed: pa.Table, path: Path) -> None:
    from pyarrow import feather

    feather.write_feather(typed, str(path), compression="uncompressed")


def _write_json_lines(typed: pa.Table, path: Path) -> None:
    _plain(typed).to_pandas().to_json(
        path, orient="records", lines=True, force_ascii=False, date_format="iso"
    )


def _write_arff(typed: pa.Table, path: Path) -> None:
    path.write_text(_arff(typed), encoding="utf-8")


def _write_delimited(plain: pa.Table, path: Path) -> None:
    from pyarrow import csv

    delimiter = "\t" if path.suffix == ".tsv" else ","
    csv.write_csv(plain, path, csv.WriteOptions(delimiter=delimiter))


_WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    ".parquet": _write_parquet,
    ".arrow": _write_arrow,
    ".feather": _write_arrow,
    ".jsonl": _write_json_lines,
    ".arff": _write_arff,
}


def without_formulas(table: pa.Table) -> pa.Table:
    """Return the table with an apostrophe before what a spreadsheet would run: names and texts.

    Texts that are numbers stay as they are.
    """
    import pyarrow as pa

    columns = []
    for column in table.columns:
        is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        columns.append(_guarded(column) if is_text else column)
    names = _guarded(pa.array(table.column_names, pa.string())).to_pylist()
    return pa.table(columns, names)


def _guarded(texts: Any) -> Any:
    compute = arrow_compute()
    starts = compute.match_substring_regex(texts, _FORMULA)
    is_number = compute.match_substring_regex(texts, _NUMBER)
    runs = compute.and_not(starts, is_number)
    return compute.if_else(runs, compute.replace_substring_regex(texts, "^", "'"), texts)


def _plain(table: pa.Table) -> pa.Table:
    """The table with strings in place of dictionaries."""
    import pyarrow as pa

    fields = []
    for field in table.schema:
        is_category = pa.types.is_dictionary(field.type)
        fields.append(field.with_type(pa.string()) if is_category else field)
    return table.cast(pa.schema(fields))


def _arff(typed: pa.Table) -> str:
    import arff

    attributes = []
    columns = []
    for name, column in zip(typed.column_names, _plain(typed).columns, strict=True):
        values = column.to_pylist()
        attributes.append((name, _arff_type(typed.column(name).type, values)))
        columns.append(list(map(_arff_cell, values)))
    rows = list(zip(*columns, strict=True))
    return arff.dumps({"relation": "table", "attributes": attributes, "data": rows})


def _arff_type(kind: pa.DataType, values: list[Any]) -> str | list[str]:
    """The type of a column in ARFF: a category is the list of its labels."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return sorted(set(values) - {None})
    is_number = pa.types.is_floating(kind) or pa.types.is_integer(kind)
    return "NUMERIC" if is_number else "STRING"


def _arff_cell(value: Any) -> Any:
    """A cell as ARFF has it: times as ISO 8601 text."""
    return value.isoformat() if isinstance(value, date) else value
