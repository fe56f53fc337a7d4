"""How a target is read whose rows have several labels: from rows of requests, and from tables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from easeml.data.rows.cell_column import CellColumn
from easeml.data.rows.faults import Findings
from easeml.data.rows.places import Place
from easeml.data.types import cells
from easeml.data.types.label_lists import array_of, labels_in, labels_of_value
from easeml.data.types.text_tables import column_text

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


class LabelColumn(CellColumn):
    """A column of which each row has any number of labels; in tables an empty cell has none."""

    def _of_row(self, where: str, row: Mapping[str, Any], findings: Findings) -> Any:
        return self._cell(where, partial(self._of_value, row.get(self.name)), findings)

    def from_table(self, table: pa.Table, findings: Findings, place: Place) -> Any:
        """Return the column from a table; ``place`` names a row."""
        found = []
        for row, text in enumerate(column_text(table, self.name).to_pylist()):
            found.append(self._cell(place(row), partial(self._of_text, text), findings))
        return cells.object_array(found)

    def _of_value(self, value: Any) -> np.ndarray:
        return array_of(labels_of_value(value, self.node.separator), self.node.labels)

    def _of_text(self, text: str) -> np.ndarray:
        return array_of(labels_in(text, self.node.separator), self.node.labels)

    def _fail(self, where: str, problem: str, findings: Findings) -> None:
        labels = ", ".join(self.node.labels[:10])
        remedy = f"Give labels as a list in JSON, or as cells of the table have them; of: {labels}."
        findings.fault_of_cell(problem, f"{problem}.", where, self.name, remedy)
