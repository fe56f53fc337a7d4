"""Doubtful cells of a stored version, looked at without loading its relation."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError

if TYPE_CHECKING:
    from easeml.data.versions.browsing import Files


@dataclass(frozen=True)
class DoubtfulCell:
    """A cell, its text as it is, and what it could be with probabilities, the likeliest first."""

    row: int
    column: str
    given: str
    source: str
    candidates: tuple[tuple[str, float], ...]

    @property
    def doubt(self) -> float:
        """How likely something else is right than what stands there."""
        return 1.0 - sum(weight for value, weight in self.candidates if value == self.given)


def doubtful_cells(files: Files, known: Collection[tuple[int, str]] = ()) -> list[DoubtfulCell]:
    """Return the doubtful cells, the most doubtful first, without those that are ``known``.

    ``files``: of a folder that the task wrote, with ``cells.arrow``. Raises DatasetError.
    """
    from pyarrow import ipc

    if "cells.arrow" not in files:
        raise DatasetError("there are no doubtful cells in these files.", where="doubts")
    with ipc.open_file(files["cells.arrow"]) as file:
        lines = file.read_all().to_pylist()
    candidates: dict[tuple[int, str], list[dict]] = {}
    for line in lines:
        candidates.setdefault((line["row"], line["column"]), []).append(line)
    found = [_cell(told) for place, told in candidates.items() if place not in known]
    return sorted(found, key=lambda cell: (-cell.doubt, cell.row, cell.column))


def _cell(candidates: list[dict]) -> DoubtfulCell:
    """The cell of which the lines of a table tell, a candidate a line."""
    ranked = sorted(candidates, key=itemgetter("weight"), reverse=True)
    first = ranked[0]
    options = tuple((line["value"], line["weight"]) for line in ranked)
    return DoubtfulCell(first["row"], first["column"], first["given"], first["source"], options)


def write_cells(path: Path, cells: Iterable[DoubtfulCell]) -> None:
    """Write doubtful cells as a CSV file: a line a candidate."""
    import pyarrow as pa

    from easeml.data.versions.table_files import write_typed

    schema = pa.schema(
        [
            ("row", pa.int64()),
            ("column", pa.string()),
            ("given", pa.string()),
            ("value", pa.string()),
            ("weight", pa.float64()),
            ("source", pa.string()),
        ]
    )
    lines = []
    for cell in cells:
        for value, weight in cell.candidates:
            line = (cell.row, cell.column, cell.given, value, weight, cell.source)
            lines.append(dict(zip(schema.names, line, strict=True)))
    write_typed(path, pa.Table.from_pylist(lines, schema))
