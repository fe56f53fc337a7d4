"""How a column of pictures, tensors or graphs is read: from the rows of a request, and from tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from easeml.data.rows.faults import Findings
from easeml.data.rows.places import Place
from easeml.data.types import cells
from easeml.schema import Node, Schema

if TYPE_CHECKING:
    import pyarrow as pa

_FORMS = {
    "image": "Give the bytes of a picture file, as base64 text in JSON of the shape SHAPE",
    "tensor": "Give nested lists of numbers of the shape SHAPE"
    " (of series also a zip file of CSV files, one each)",
    "graph": 'Give an object as {"node": {"field": [...]}, "links": [["node", 0, "node", 1]]}',
}


class CellColumn:
    """A column of pictures, tensors or graphs."""

    labels: tuple[str, ...] = ()

    def __init__(self, name: str, kind: str, node: Node, schema: Schema):
        self.name = name
        self.kind = kind
        self.node = node
        self.schema = schema

    def from_cells(self, rows: list[Mapping[str, Any]], findings: Findings) -> Any:
        """Return the column from JSON rows."""
        found = []
        for number, row in enumerate(rows):
            found.append(self._of_row(f"row {number}", row, findings))
        return cells.object_array(found)

    def _of_row(self, where: str, row: Mapping[str, Any], findings: Findings) -> Any:
        value = row.get(self.name)
        if value is not None:
            return self._cell(where, partial(cells.from_json, self.kind, value), findings)
        said = "the value is missing" if self.name in row else "the column is not there"
        return self._fail(where, said, findings)

    def from_table(self, table: pa.Table, findings: Findings, place: Place) -> Any:
        """Return the column from a table; ``place`` names a row."""
        read, given = self._given(table, findings)
        found = []
        for row, value in enumerate(given):
            found.append(self._cell(place(row), partial(read, value), findings))
        return cells.object_array(found)

    def _given(
        self, table: pa.Table, findings: Findings
    ) -> tuple[Callable[[Any], Any], Iterable[Any]]:
        """What reads a cell of the column, and what it reads of each row."""
        if table.schema.get_field_index(self.name) < 0:
            self._fail("the rows", "the column is not there", findings)
            return _same, ()
        column = table.column(self.name)
        report = cells.report_of(table.schema.field(self.name))
        if report is None:
            return self._written, column.to_pylist()
        if report.type != self.kind:
            self._fail("the rows", f"it holds {report.type}s", findings)
            return _same, ()
        return _same, cells.from_arrow(self.kind, column)

    def is_missing(self, value: Any) -> bool:
        """Whether a JSON value stands for a missing one."""
        return value is None

    def number_given(self, table: pa.Table) -> int:
        """Return how many rows of a table have a value."""
        return table.num_rows

    def _written(self, text: str) -> Any:
        """The cell that a text of a table stands for: JSON, or the bytes of a picture as base64."""
        if self.kind == "image":
            return cells.from_json("image", text)
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise cells.BadCell(f"is not JSON ({error})") from error
        return cells.from_json(self.kind, value)

    def _cell(self, where: str, read: Callable[[], Any], findings: Findings) -> Any:
        try:
            return cells.check(self.kind, read(), self.node, self.schema)
        except cells.BadCell as error:
            return self._fail(where, f"the value {error}", findings)

    def _fail(self, where: str, problem: str, findings: Findings) -> None:
        remedy = _FORMS[self.kind].replace("SHAPE", cells.shown(self.node.dim))
        findings.fault_of_cell(problem, f"{problem}.", where, self.name, f"{remedy}.")


def _same(cell: Any) -> Any:
    return cell
