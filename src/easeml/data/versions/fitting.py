"""Do the rows of another table fit a schema?

All differences, with their places, or the typed columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from easeml.data.errors import did_you_mean, shown
from easeml.data.types import values as v
from easeml.data.types.cells import CELLS, BadCell, check, from_arrow, object_array, report_of
from easeml.data.types.declared_columns import kind_of, kinds_of
from easeml.data.types.text_tables import column_text
from easeml.schema import Node, Schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pyarrow as pa

_SHOWN_CELLS = 3  # of each kind of fault in a column
_SHOWN_CLASSES = 10
_ANOTHER_TYPE = (
    0.5  # share of unreadable cells from which the column, and not its cells, is at fault
)


@dataclass(frozen=True)
class Fitted:
    """``columns``: typed as in frames, inputs and target.

    ``differences``: sentences, none where the rows fit.
    """

    columns: dict[str, Any]
    differences: list[str]


def fit_table(table: pa.Table, schema_in: Schema, schema_out: Schema, *, answers: bool) -> Fitted:
    """Convert a table of text to the types of the schemas.

    ``answers`` False: the target may be absent; a row without a target value fits in any case.
    """
    inputs = kinds_of(schema_in)
    target, target_kind = next(iter(kinds_of(schema_out).items()))
    differences = _unknown_columns(table, [*inputs, target, *schema_in.dropped])
    columns = {}
    for name, kind in inputs.items():
        columns[name] = _column(table, name, kind, schema_in, differences)
    if answers and target not in table.column_names:
        differences.append(
            f"column '{target}', the target, is missing (rows without it can be fed as pool)."
        )
    else:
        columns[target] = _column(table, target, target_kind, schema_out, differences, gaps=True)
    return Fitted(columns, differences)


def _unknown_columns(table: pa.Table, known: Sequence[str]) -> list[str]:
    """Say which columns are not among the known ones, and what they may have been meant as."""
    absent = [name for name in known if name not in table.column_names]
    said = []
    for name in table.column_names:
        if name in known:
            continue
        meant = did_you_mean(name, absent) if absent else ""
        said.append(f"column '{name}' is not one of the data. {meant}".strip())
    return said


def _column(
    table: pa.Table,
    name: str,
    kind: str,
    schema: Schema,
    differences: list[str],
    *,
    gaps: bool = False,
) -> Any:
    """The typed column; missing values where it is absent, which is no fault where ``gaps`` may be."""
    if kind in CELLS:
        return _cell_column(table, name, kind, schema, differences, gaps)
    node = schema.columns[name]
    return _value_column(table, name, node, schema, gaps or node.optional, differences)


def _cell_column(
    table: pa.Table, name: str, kind: str, schema: Schema, differences: list[str], gaps: bool
) -> Any:
    if name not in table.column_names:
        if not gaps:
            differences.append(f"column '{name}' is missing.")
        return object_array([None] * table.num_rows)
    report = report_of(table.schema.field(name))
    if report is None or report.type != kind:
        differences.append(
            f"column '{name}' was {kind}, and is {'a plain value' if report is None else report.type}."
        )
        return object_array([None] * table.num_rows)
    found, node = (
        from_arrow(kind, table.column(name)),
        schema.columns.get(name, next(iter(schema.nodes.values()))),
    )
    faults = []
    for row, cell in enumerate(found):
        try:
            check(kind, cell, node, schema)
        except BadCell as error:
            faults.append(f"row {row}, column '{name}': the value {error}.")
    differences += faults[:_SHOWN_CELLS]
    if len(faults) > _SHOWN_CELLS:
        differences.append(f"column '{name}': {len(faults) - _SHOWN_CELLS} more such cells.")
    return found


def _value_column(
    table: pa.Table, name: str, node: Node, schema: Schema, optional: bool, differences: list[str]
) -> Any:
    import pyarrow as pa

    labels = schema.labels(node.name) if node.type == "category" else ()
    if name in table.column_names:
        text = column_text(table, name)
    else:
        text = pa.array([""] * table.num_rows, pa.string())
        if not optional:
            differences.append(f"column '{name}' is missing.")
            optional = True
    kind = kind_of(node)
    array = v.plain(text, kind, node.format, node.missing)
    made = v.convert(array, kind, labels, node.format)
    if made.missing.any() and not optional:
        differences += _cells(name, made.missing, "has no value, and no row lacked one before")
    if made.bad.any():
        differences += _bad(name, kind, node, text, made, labels)
    return made.values


def _bad(
    name: str,
    kind: str,
    node: Node,
    text: pa.Array,
    made: v.Converted,
    labels: tuple[str, ...],
) -> list[str]:
    first = shown(text[int(made.bad.argmax())].as_py())
    if kind == "category":
        listed = ", ".join(labels[:_SHOWN_CLASSES]) + (
            " and more" if len(labels) > _SHOWN_CLASSES else ""
        )
        return _new_classes(name, text, made.bad, listed)
    form = f" written like {node.format}" if node.format else ""
    there = len(made.bad) - int(made.missing.sum())
    if made.bad.sum() > _ANOTHER_TYPE * there:
        row = int(made.bad.argmax())
        return [
            f"column '{name}' was {kind}{form}, and is not: {first} in row {row}, {_count(made.bad)} of {there}."
        ]
    return _cells(name, made.bad, f"is no {kind}{form}", text)


def _new_classes(name: str, text: pa.Array, bad: np.ndarray, listed: str) -> list[str]:
    found: dict[str, int] = {}
    for row in bad.nonzero()[0]:
        found.setdefault(text[int(row)].as_py(), int(row))
        if len(found) > _SHOWN_CELLS:
            break
    named = list(found.items())[:_SHOWN_CELLS]
    made = [
        f"row {row}, column '{name}': {shown(value)} is not one of its classes ({listed})."
        for value, row in named
    ]
    more = ["and more"] if len(found) > _SHOWN_CELLS else []
    return made + [f"column '{name}': {one} new classes, in {_count(bad)} rows." for one in more]


def _cells(name: str, faulty: np.ndarray, what: str, text: pa.Array | None = None) -> list[str]:
    rows = faulty.nonzero()[0]
    made = []
    for row in rows[:_SHOWN_CELLS]:
        value = "" if text is None else f"{shown(text[int(row)].as_py())} "
        made.append(f"row {int(row)}, column '{name}': {value}{what}.")
    if len(rows) > _SHOWN_CELLS:
        made.append(f"column '{name}': {len(rows) - _SHOWN_CELLS} more such cells.")
    return made


def _count(mask: np.ndarray) -> int:
    return int(mask.sum())
