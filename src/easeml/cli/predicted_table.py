"""Rows with their predictions, as CSV, JSON lines or Parquet."""

import csv
import io
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.cli.named_files import writing
from easeml.contract.applications import Prediction
from easeml.contract.predictions import as_columns, without_formula
from easeml.decimals import CsvStyle, decimal_sign
from easeml.errors import Conflict
from easeml.folders import whole_file

if TYPE_CHECKING:
    import pyarrow as pa

_JSON_LINES = {".jsonl", ".ndjson"}
_USUAL = CsvStyle()
_WITHOUT_NAME = (["body"], ["body.png"])  # what the service calls a file that was sent alone
_PARQUET = {".parquet", ".pq"}


@dataclass(frozen=True)
class PredictedTable:
    """Columns by name, all of one length; ``style``: of the CSV that was read.

    ``keep_formulas``: CSV has names and texts as they are; see ``without_formula``.
    """

    columns: dict[str, Sequence[Any]]
    style: CsvStyle = _USUAL
    keep_formulas: bool = False

    def with_names(self, answers: Iterable[Prediction]) -> "PredictedTable":
        """Return the same rows with the ids of their requests, and their numbers in these, from 0.

        Feedback reads both by their names, so columns that have these already get others.
        """
        ids: list[str] = []
        numbers: list[int] = []
        for answer in answers:
            count = len(answer.predictions)
            ids += [answer.request_id] * count
            numbers += range(count)
        named = {"request_id": ids, "row": numbers}
        columns: dict[str, Sequence[Any]] = {}
        for name, cells in self.columns.items():
            columns[_unlike(name, {**self.columns, **named}) if name in named else name] = cells
        return replace(self, columns={**columns, **named})

    def as_csv(self) -> str:
        """Return a CSV text; a tensor is written as JSON, a number as the style has it."""
        out = io.StringIO()
        writer = csv.writer(out, delimiter=self.style.delimiter, lineterminator="\n")
        writer.writerow(self._safe(self.columns))
        for row in zip(*self.columns.values(), strict=True):
            cells = self._safe(map(_cell, row))
            writer.writerow(map(self.style.written, cells))
        return out.getvalue()

    def _safe(self, cells: Iterable[Any]) -> Iterable[Any]:
        return cells if self.keep_formulas else map(without_formula, cells)

    def as_json_lines(self) -> str:
        """Return an object a line."""
        out = io.StringIO()
        for row in zip(*self.columns.values(), strict=True):
            cells = dict(zip(self.columns, row, strict=True))
            print(json.dumps(cells, ensure_ascii=False), file=out)
        return out.getvalue()

    def write(self, path: Path) -> None:
        """Write the file that the end of its name tells: ``.jsonl``, ``.parquet``, else CSV.

        Raises ``InvalidInput`` where it cannot be written.
        """
        suffix = path.suffix.lower()
        with writing(path):
            if suffix in _PARQUET:
                self._write_parquet(path)
            elif suffix in _JSON_LINES:
                path.write_text(self.as_json_lines(), encoding="utf-8")
            else:
                path.write_text(self.style.mark + self.as_csv(), encoding="utf-8")

    def _write_parquet(self, path: Path) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        columns = {name: _arrow_column(cells) for name, cells in self.columns.items()}
        parquet.write_table(pa.table(columns), path)


def _arrow_column(cells: Sequence[Any]) -> "pa.Array":
    """Return cells in their own type, or as text: JSON rows may mix numbers and text."""
    import pyarrow as pa

    try:
        return pa.array(cells)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array(list(map(_text, cells)))


def write_as(
    source: Path,
    path: Path | None,
    *,
    keep_formulas: bool = False,
) -> int:
    """Write a Parquet file as the end of a name tells; return how many rows it has.

    ``path`` None: CSV to standard output. A part is held at a time, and the file is there when it
    is whole. ``keep_formulas``: see ``PredictedTable``. Raises ``InvalidInput`` where it cannot be written.
    """
    from easeml.data import TableFormat, as_stream, rows_of

    form = TableFormat.of(path)
    parts = as_stream(source, form, keep_formulas=keep_formulas)
    if path is None:
        sys.stdout.buffer.writelines(parts)
        sys.stdout.flush()
        return rows_of(source)
    with writing(path), whole_file(path) as place, place.open("wb") as file:
        file.writelines(parts)
    return rows_of(source)


def written_to(out: Path | None) -> str:
    """Return how a sentence on predictions ends: with their file, if they are in one."""
    return f" written to {out}" if out else ""


def of_rows(
    header: Sequence[str],
    rows: Sequence[Sequence[Any]],
    prediction: Prediction,
    delimiter: str,
    mark: str = "",
) -> PredictedTable:
    """Return the rows with what was predicted.

    ``header``: the names of their cells. ``mark``: what their file begins with.
    Raises ``Conflict`` where rows and predictions differ in number.
    """
    if len(rows) != len(prediction.predictions):
        raise Conflict(
            f"{len(rows)} rows were sent, and {len(prediction.predictions)} predictions came back."
        )
    columns: dict[str, Sequence[Any]] = {}
    for place, name in enumerate(header):
        columns[_unlike(name, columns)] = [_cell_at(row, place) for row in rows]
    style = CsvStyle(delimiter, decimal_sign(rows), mark)
    return PredictedTable({**columns, **as_columns(prediction, taken=columns)}, style)


def _cell_at(row: Sequence[Any], place: int) -> Any:
    """Return a cell of a row, which may end early: an empty one then."""
    return row[place] if place < len(row) else ""


def of_samples(prediction: Prediction, file: str) -> PredictedTable:
    """Return the names of the samples, or their numbers, with what was predicted.

    ``file``: the name of the one that was sent; a single picture has it.
    """
    names = prediction.names or range(1, len(prediction.predictions) + 1)
    if prediction.names in _WITHOUT_NAME:
        names = [file]
    return PredictedTable({"sample": list(names), **as_columns(prediction, taken=["sample"])})


def _unlike(name: str, taken: dict[str, Sequence[Any]]) -> str:
    """Return a name of a column that is not ``taken``: a header may have one twice."""
    while name in taken:
        name = f"{name}_"
    return name


def _cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list) else value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
