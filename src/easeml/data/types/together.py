"""Several columns that are one answer: yes or no each, or a number each.

A row of such columns is a cell of one more column: the labels of those that say yes, or a tensor of
their numbers. In a column of yes and no an empty cell is a no.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from easeml.data.errors import DatasetError, did_you_mean
from easeml.data.types import values as v
from easeml.data.types.cells import object_array, reported, tensor_report, to_arrow
from easeml.data.types.column_report import ColumnReport
from easeml.data.types.label_lists import JSON, LABELS, MOST_LABELS, told
from easeml.data.types.text_tables import column_text, row_place
from easeml.schema import Node

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_YES = frozenset({"1", "yes", "y", "true", "t", "x", "ja", "oui", "si", "sí"})
_NO = frozenset({"0", "no", "n", "false", "f", "nein", "non"})
_SHOWN_NAMES = 3


def joined_report(reports: Mapping[str, ColumnReport], names: Sequence[str]) -> ColumnReport:
    """Return what one column of the answers of several is, by the reports of these.

    Raises ``DatasetError`` where they are neither all yes or no nor all numbers.
    """
    _check_names(reports, names)
    parts = [reports[name] for name in names]
    about: dict[str, Any] = {"parts": list(names), "format": "", "dim": [len(names)]}
    name = _name(names)
    if all(map(_is_yes_or_no, parts)):
        separator = JSON if any(";" in one for one in names) else ";"
        yes = sum(map(_share_of_yes, parts))
        content = {**about, "labels": list(names), "separator": separator, "mean": round(yes, 2)}
        said = f"Yes or no of {len(names)} columns together; an empty cell is a no."
        return ColumnReport(name, LABELS, "input", distinct=2, evidence=said, content=content)
    _check_numbers(parts)
    content = {**about, "format": parts[0].format}
    said = f"Numbers of {len(names)} columns together."
    return ColumnReport(name, "tensor", "input", distinct=2, evidence=said, content=content)


def with_joined(table: pa.Table, node: Node) -> pa.Table:
    """Return a table with the column that several are together, as ``node`` says; others as they are.

    Without all of these columns, and where there are none, it stays as it is. Raises
    ``DatasetError`` for a cell that is neither yes nor no, or no number.
    """
    import pyarrow as pa

    is_there = set(node.parts) <= set(table.column_names)
    if not node.parts or not is_there or node.label in table.column_names:
        return table
    if node.labels:
        texts = _label_texts(table, node)
        return table.append_column(node.label, pa.array(texts, pa.string()))
    numbers = [_numbers_of(table, name, node.format) for name in node.parts]
    cells = [row.copy() for row in _stacked(numbers)]
    report = tensor_report(node.label, cells)
    field, array = reported(report, to_arrow("tensor", object_array(cells)))
    return table.append_column(field, array)


def with_joined_value(row: Mapping[str, Any], node: Node) -> Mapping[str, Any]:
    """Return a row of JSON with the value that several columns are together, where all are there."""
    is_there = all(row.get(name) is not None for name in node.parts)
    if not node.parts or not is_there or node.label in row:
        return row
    values = [row[name] for name in node.parts]
    if node.labels:
        is_yes = map(_says_yes, map(str, values))
        values = [name for name, yes in zip(node.parts, is_yes, strict=True) if yes]
    return {**row, node.label: values}


def _check_names(reports: Mapping[str, ColumnReport], names: Sequence[str]) -> None:
    unknown = [name for name in names if name not in reports]
    if unknown:
        raise DatasetError(
            f"there is no column '{unknown[0]}'.",
            remedy=did_you_mean(unknown[0], reports),
        )
    if len(set(names)) < 2 or len(set(names)) < len(names) or len(names) > MOST_LABELS:
        raise DatasetError(
            f"2 to {MOST_LABELS} different columns can be predicted together.",
            where="together",
            remedy="Name each target once.",
        )


def _check_numbers(parts: Sequence[ColumnReport]) -> None:
    for part in parts:
        if part.type != "number":
            raise DatasetError(
                f"together with others a target is a number, or yes or no in all; it is {part.type}.",
                where=f"column '{part.name}'",
                remedy="Predict it by an application of its own: leave 'together' out.",
            )
        if part.missing or part.format != parts[0].format:
            raise DatasetError(
                "numbers that are predicted together are there in each row, written alike.",
                where=f"column '{part.name}'",
                remedy="Fill its empty cells, leave these rows out, or predict it alone.",
            )


def _name(names: Sequence[str]) -> str:
    shown = [*names[:_SHOWN_NAMES]]
    more = len(names) - len(shown)
    if more:
        shown.append(f"{more} more")
    return " + ".join(shown)


def _is_yes_or_no(report: ColumnReport) -> bool:
    words = [v.plain_number(text).lower() for text in (report.classes or report.examples)]
    return 1 <= report.distinct <= 2 and set(words) <= _YES | _NO


def _share_of_yes(report: ColumnReport) -> float:
    counts = dict(report.distribution.get("values", []))
    total = sum(counts.values())
    yes = sum(count for text, count in counts.items() if _says_yes(str(text)))
    return (1 - report.missing) * yes / max(total, 1)


def _says_yes(text: str) -> bool:
    return v.plain_number(text).lower() in _YES


def _label_texts(table: pa.Table, node: Node) -> list[str]:
    """The labels of each row as a text."""
    said = [_yes_of(table, name) for name in node.parts]
    texts = []
    for row in _stacked(said):
        names = [node.parts[place] for place in row.nonzero()[0]]
        texts.append(told(names, node.separator))
    return texts


def _yes_of(table: pa.Table, name: str) -> np.ndarray:
    """Which rows of a column say yes. Raises ``DatasetError`` for what is neither yes nor no."""
    import numpy as np

    encoded = column_text(table, name).dictionary_encode()
    words = [v.plain_number(text).lower() for text in encoded.dictionary.to_pylist()]
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    known = _YES | _NO | v.MISSING
    is_bad = np.array([word not in known for word in words], dtype=bool)[codes]
    _check(name, is_bad, "it is neither yes nor no.")
    return np.array([word in _YES for word in words], dtype=bool)[codes]


def _numbers_of(table: pa.Table, name: str, form: str) -> np.ndarray:
    made = v.to_numbers(v.plain(column_text(table, name), "number", form))
    _check(name, made.bad | made.missing, "it is no number.")
    return made.values


def _check(name: str, is_bad: np.ndarray, said: str) -> None:
    if is_bad.any():
        place = row_place(int(is_bad.argmax()))
        raise DatasetError(said, where=f"column '{name}', {place}", remedy="Correct the value.")


def _stacked(columns: Sequence[np.ndarray]) -> np.ndarray:
    import numpy as np

    return np.stack(columns, axis=1)


def without_parts(reports: Sequence[ColumnReport], joined: ColumnReport) -> list[ColumnReport]:
    """Return reports with the joined one in the place of the first of its columns."""
    parts = joined.content["parts"]
    kept = [joined if report.name == parts[0] else report for report in reports]
    return [report for report in kept if report.name not in parts]
