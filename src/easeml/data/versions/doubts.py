"""Doubtful cells of a stored version, looked at without loading its relation."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError

if TYPE_CHECKING:
    from easeml.data.versions.browsing import Files

_TITLES = {
    "row": "int64",
    "column": "string",
    "given": "string",
    "value": "string",
    "weight": "float64",
    "source": "string",
}


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
    told: dict[tuple[int, str], list[dict]] = {}
    for line in lines:
        told.setdefault((line["row"], line["column"]), []).append(line)
    found = []
    for place, candidates in told.items():
        if place in known:
            continue
        ranked = sorted(candidates, key=lambda line: -line["weight"])
        options = tuple((line["value"], line["weight"]) for line in ranked)
        first = ranked[0]
        found.append(DoubtfulCell(*place, first["given"], first["source"], options))
    return sorted(found, key=lambda cell: (-cell.doubt, cell.row, cell.column))


def write_cells(path: Path, cells: Iterable[DoubtfulCell]) -> None:
    """Write doubtful cells as a CSV file: a line a candidate."""
    import pyarrow as pa

    from easeml.data.versions.table_files import write_typed

    lines = []
    for cell in cells:
        for value, weight in cell.candidates:
            lines.append((cell.row, cell.column, cell.given, value, weight, cell.source))
    columns = list(zip(*lines, strict=True)) or [() for _ in _TITLES]
    made = {}
    for (name, kind), values in zip(_TITLES.items(), columns, strict=True):
        made[name] = pa.array(values, getattr(pa, kind)())
    write_typed(path, pa.table(made))
