"""A table of costs, as a person writes it: a row for what is true, a column for what is said."""

import csv
from pathlib import Path

from easeml.errors import InvalidInput

_WHERE = "--costs"
_FORM = (
    "The first row names the classes that are said, the first column those that are true: "
    "class,bad,good / bad,0,5 / good,1,0."
)


def read_costs_file(path: Path) -> dict[str, dict[str, float]]:
    """Return true label -> said label -> cost of a CSV file.

    Raises ``InvalidInput`` where it cannot be read, is no table of that form, or holds a cell that
    is no number; whether its labels are those of the target is for the service to say.
    """
    head, *rows = _rows_of(path) or [[]]
    if not rows or len(head) < 2:
        raise _refused("The table of costs is empty.")
    labels = head[1:]
    costs: dict[str, dict[str, float]] = {}
    for number, row in enumerate(rows, start=2):
        if len(row) != len(head):
            raise _refused(f"Row {number} has {len(row)} cells, the first has {len(head)}.")
        if row[0] in costs:
            raise _refused(f"{row[0]!r} has two rows.")
        costs[row[0]] = dict(zip(labels, _costs_of(row, number), strict=True))
    if sorted(labels) != sorted(costs):
        raise _refused("The table of costs does not have the same classes as rows and as columns.")
    return costs


def _rows_of(path: Path) -> list[list[str]]:
    """Return the cells of a file, row by row, without those that are empty."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}", where=_WHERE) from error
    lines = csv.reader(text.splitlines())
    rows = [list(map(str.strip, line)) for line in lines]
    return list(filter(any, rows))


def _costs_of(row: list[str], number: int) -> list[float]:
    """Return the numbers after the label of a row, which is the ``number``-th of the file."""
    return [_cost_of(cell, number) for cell in row[1:]]


def _cost_of(cell: str, number: int) -> float:
    try:
        return float(cell)
    except ValueError:
        raise _refused(f"Row {number}: {cell!r} is not a number.") from None


def _refused(message: str) -> InvalidInput:
    return InvalidInput(message, where=_WHERE, remedy=_FORM)
