"""Files of checked rows: which row, and its right label."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.data import read_table
from easeml.errors import InvalidInput
from easeml.lifecycle.labels import as_number, class_name
from easeml.optional import if_known

if TYPE_CHECKING:
    import numpy as np

_DIGITS_SHOWN = 4  # of a number in a list that is printed
_OF_THE_LIST = {"label", "suggestion", "chance", "wrong", "flagged", "check"}


def read_checked(path: Path, target: str, rows: np.ndarray, labels: np.ndarray) -> dict[int, Any]:
    """Return the right labels that a file tells, by the places of their rows.

    Lines without a label were not checked. Labels are compared as classes or numbers, however they
    are written.

    Args:
        path: a table file with the columns 'row' and that of the target.
        target: the column of the right labels.
        rows: (n,) the numbers of the rows that have a label.
        labels: (n,) what these are: texts, or floats.

    Raises:
        InvalidInput: where a column is missing, a row has no label in the table or two right ones
            in the file, or a label is none.
    """
    table = read_table(path)
    _check_columns(table.column_names, target, path)
    places = {float(row): place for place, row in enumerate(rows)}
    names = None if labels.dtype == float else {class_name(label): label for label in labels}
    found: dict[int, Any] = {}
    for row, text in zip(table["row"].to_pylist(), table[target].to_pylist(), strict=True):
        if not text:
            continue
        number = as_number(row)
        place = if_known(number, places.get)
        if place is None:
            raise InvalidInput(f"No row {row} has a label.", where=str(path))
        where = f"{path}, row {row}"
        label = _number(text, labels[place], where) if names is None else _class(text, names, where)
        if found.setdefault(place, label) != label:
            raise InvalidInput(
                "The file says two right labels.", where=where, remedy="Leave one line a row."
            )
    return found


def _check_columns(columns: list[str], target: str, path: Path) -> None:
    for column in ("row", target):
        if column not in columns:
            raise InvalidInput(
                f"There is no column '{column}'.",
                where=str(path),
                remedy=f"Write the columns 'row' and '{target}', the right label.",
            )
    if target in _OF_THE_LIST and "check" in columns:
        # The list has the labels as they are: those that nobody looked at would count as right.
        raise InvalidInput(
            f"This is the list itself, whose column '{target}' does not tell what was checked.",
            where=str(path),
            remedy=f"Write only 'row' and '{target}', and only the rows that were checked.",
        )


def _class(text: str, names: Mapping[str | None, Any], where: str) -> Any:
    name = class_name(text)
    if name in names:
        return names[name]
    known = ", ".join(sorted(map(str, names.values()))[:20])
    raise InvalidInput(f"{text!r} is not a label.", where=where, remedy=f"Labels: {known}.")


def _number(text: str, label: float, where: str) -> float:
    """Return the number that a text says: the label itself, where it is that in the text's digits.

    Fewer digits than are printed do not say that the label is right.
    """
    import math

    number = as_number(text)
    if number is None or not math.isfinite(number):
        raise InvalidInput(f"{text!r} is not a number.", where=where)
    mantissa = text.lower().split("e")[0]
    written = sum(map(str.isdigit, mantissa.lstrip("+-0.")))
    digits = max(_DIGITS_SHOWN, written)
    return label if float(f"{label:.{digits}g}") == number else number
