"""Several columns that are one answer: yes or no each, or a number each.

A row of such columns is a cell of one more column: the labels of those that say yes, or a tensor of
their numbers. In a column of yes and no an empty cell is a no.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import compress, filterfalse
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from easeml.data.errors import DatasetError, did_you_mean
from easeml.data.types import values as v
from easeml.data.types.cells import reported, tensor_report, to_arrow
from easeml.data.types.column_report import ColumnReport
from easeml.data.types.label_lists import JSON, LABELS, MOST_LABELS, SEPARATORS, told
from easeml.data.types.text_tables import column_text, row_place
from easeml.schema import Node

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_YES = frozenset({"1", "yes", "y", "true", "t", "x", "ja", "oui", "si", "sí"})
_NO = frozenset({"0", "no", "n", "false", "f", "nein", "non"})
_SHOWN_NAMES = 3


def joined_report(reports: Sequence[ColumnReport], names: Sequence[str]) -> ColumnReport:
    """Return what one column of the answers of several is, by the reports of all columns.

    Raises ``DatasetError`` where they are neither all yes or no nor all numbers.
    """
    by_name = dict(zip(map(_NAME, reports), reports, strict=True))
    _check_names(by_name, names)
    parts = list(map(by_name.__getitem__, names))
    if all(map(_is_yes_or_no, parts)):
        return _of_labels(parts)
    _check_numbers(parts)
    content = {
        "parts": list(names),
        "format": parts[0].format,
        "dim": [len(names)],
    }
    return ColumnReport(
        _joined_name(names),
        "tensor",
        "input",
        distinct=2,
        evidence=f"Numbers of {len(names)} columns together.",
        content=content,
    )


def without_parts(reports: Sequence[ColumnReport], joined: ColumnReport) -> list[ColumnReport]:
    """Return reports with the joined one in the place of the first of its columns."""
    parts = joined.content["parts"]
    names = list(map(_NAME, reports))
    place = names.index(parts[0])
    others = partial(filterfalse, partial(_is_named, parts))
    return [
        *others(reports[:place]),
        joined,
        *others(reports[place:]),
    ]


def with_joined(table: pa.Table, node: Node) -> pa.Table:
    """Return a table with the column that several are together, as ``node`` says.

    It stays as it is where its target is one column, or some of these are not there. Raises
    ``DatasetError`` for a cell that is neither yes nor no, or no number.
    """
    if not node.parts:
        return table
    is_there = set(node.parts) <= set(table.column_names)
    if not is_there:
        return table
    field, cells = _cells(table, node)
    return table.append_column(field, cells)


def with_joined_value(row: Mapping[str, Any], node: Node) -> Mapping[str, Any]:
    """Return a row of JSON with the value that several columns are together, if all are there."""
    if not node.parts:
        return row
    values = list(map(row.get, node.parts))
    if None in values:
        return row
    if node.labels:
        is_yes = map(_says_yes, map(str, values))
        values = list(compress(node.parts, is_yes))
    return {**row, node.label: values}


def written_out(cells: np.ndarray, node: Node) -> dict[str, Any]:
    """Return the columns of a table whose cells are these answers, arrays of (rows,): texts of
    labels, or what ``with_joined`` has put together: numbers, or 1 for yes and 0 for no.
    """
    import numpy as np

    rows = np.stack(list(cells))
    if node.parts:
        numbers = rows.astype(np.int64) if node.labels else rows
        return dict(zip(node.parts, numbers.T, strict=True))
    names = np.array(node.labels, dtype=object)
    texts = list(map(partial(_told, names, node.separator), rows > 0))
    return {node.label: np.array(texts, dtype=object)}


def _of_labels(parts: Sequence[ColumnReport]) -> ColumnReport:
    """The report of columns of yes and no as labels of which a row may have several."""
    names = list(map(_NAME, parts))
    separator = f"{SEPARATORS[0]} "
    if SEPARATORS[0] in "".join(names):
        separator = JSON
    content = {
        "labels": names,
        "separator": separator,
        "mean": round(sum(map(_share_of_yes, parts)), 2),
        "parts": names,
    }
    return ColumnReport(
        _joined_name(names),
        LABELS,
        "input",
        distinct=2,
        evidence=f"Yes or no of {len(names)} columns together; an empty cell is a no.",
        content=content,
    )


def _check_names(reports: Mapping[str, ColumnReport], names: Sequence[str]) -> None:
    unknown = next(filterfalse(reports.__contains__, names), None)
    if unknown is not None:
        raise DatasetError(
            f"there is no column '{unknown}'.",
            remedy=did_you_mean(unknown, reports),
        )
    different = len(set(names))
    is_possible = different == len(names) in range(2, MOST_LABELS + 1)
    if not is_possible:
        raise DatasetError(
            f"2 to {MOST_LABELS} different columns can be predicted together.",
            where="together",
            remedy="Name each target once.",
        )


def _check_numbers(parts: Sequence[ColumnReport]) -> None:
    other = next(filterfalse(_is_number, parts), None)
    if other is not None:
        raise DatasetError(
            f"together with others a target is a number, or yes or no in all; it is {other.type}.",
            where=f"column '{other.name}'",
            remedy="Predict it by an application of its own: leave 'together' out.",
        )
    gap = next(filter(_MISSING, parts), None)
    if gap is not None:
        raise DatasetError(
            "numbers that are predicted together are there in each row.",
            where=f"column '{gap.name}'",
            remedy="Fill its empty cells, leave these rows out, or predict it alone.",
        )
    forms = set(map(_FORM, parts))
    if len(forms) > 1:
        raise DatasetError(
            f"numbers that are predicted together are written alike: {', '.join(sorted(forms))}.",
            where="together",
            remedy="Write them alike, or predict each alone.",
        )


_NAME, _MISSING, _FORM = attrgetter("name"), attrgetter("missing"), attrgetter("format")


def _joined_name(names: Sequence[str]) -> str:
    shown = list(names[:_SHOWN_NAMES])
    more = len(names) - len(shown)
    if more:
        shown.append(f"{more} more")
    return " + ".join(shown)


def _is_named(names: Sequence[str], report: ColumnReport) -> bool:
    return report.name in names


def _is_number(report: ColumnReport) -> bool:
    return report.type == "number"


def _is_yes_or_no(report: ColumnReport) -> bool:
    texts = [*report.classes, *report.examples]
    is_known = set(map(_word, texts)) <= _YES | _NO
    return is_known and report.distinct in (1, 2)


def _word(text: str) -> str:
    return v.plain_number(text).lower()


def _says_yes(text: str) -> bool:
    return _word(text) in _YES


def _share_of_yes(report: ColumnReport) -> float:
    counts = dict(report.distribution.get("values", []))
    total = sum(counts.values())
    yes = sum(map(counts.__getitem__, filter(_says_yes, counts)))
    return (1 - report.missing) * yes / max(total, 1)


def _cells(table: pa.Table, node: Node) -> tuple[pa.Field, pa.Array]:
    """The column of the answers together: texts of labels, or tensors."""
    import numpy as np
    import pyarrow as pa

    read = _yes_of if node.labels else partial(_numbers_of, form=node.format)
    columns = list(map(partial(read, table), node.parts))
    rows = np.stack(columns, axis=1)
    if node.labels:
        names = np.array(node.parts, dtype=object)
        texts = list(map(partial(_told, names, node.separator), rows))
        return pa.field(node.label, pa.string()), pa.array(texts, pa.string())
    cells = list(rows)
    report = tensor_report(node.label, cells)
    return reported(report, to_arrow("tensor", cells))


def _told(names: np.ndarray, separator: str, has: np.ndarray) -> str:
    """The labels of a row as a text."""
    return told(names[has].tolist(), separator)


def _yes_of(table: pa.Table, name: str) -> np.ndarray:
    """Which rows of a column say yes. Raises ``DatasetError`` for what is neither yes nor no."""
    import numpy as np

    encoded = column_text(table, name).dictionary_encode()
    words = np.array(list(map(_word, encoded.dictionary.to_pylist())), dtype=object)
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    known = [*_YES, *_NO, *v.MISSING]
    _check(name, ~np.isin(words, known)[codes], "it is neither yes nor no.")
    return np.isin(words, list(_YES))[codes]


def _numbers_of(table: pa.Table, name: str, form: str) -> np.ndarray:
    """The numbers of a column. Raises ``DatasetError`` where a row has none."""
    text = v.plain(column_text(table, name), "number", form)
    made = v.to_numbers(text)
    _check(name, made.bad | made.missing, "it is no number.")
    return made.values


def _check(name: str, is_bad: np.ndarray, said: str) -> None:
    if is_bad.any():
        place = row_place(int(is_bad.argmax()))
        raise DatasetError(
            said,
            where=f"column '{name}', {place}",
            remedy="Correct the value.",
        )
