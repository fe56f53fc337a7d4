"""A table of costs, as a person writes it: a row for what is true, a column for what is said."""

import csv
from pathlib import Path

from easeml.errors import InvalidInput

_WHERE = "--costs"
_FORM = (
    "The first row names the classes that are said, the first column those that are true: "
    "class,bad,good / bad,0,5 / good,1,0."
)


def costs_asked(path: Path | None) -> dict[str, dict[str, float]] | None:
    """Return ``read_costs_file`` of a file that was named; None without one."""
    return None if path is None else read_costs_file(path)


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
        true, *cells = row
        if len(row) != len(head):
            raise _refused(f"Row {number} has {len(row)} cells, the first has {len(head)}.")
        if true in costs:
            raise _refused(f"{true!r} has two rows.")
        numbers = [_cost(cell, number) for cell in cells]
        costs[true] = dict(zip(labels, numbers, strict=True))
    if set(labels) != set(costs) or len(set(labels)) != len(labels):
        raise _refused("The table of costs does not have the same classes as rows and as columns.")
    return costs


def _rows_of(path: Path) -> list[list[str]]:
    """Return the cells of a file, row by row, without those that are empty."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}", where=_WHERE) from error
    rows = []
    for line in csv.reader(text.splitlines()):
        cells = [cell.strip() for cell in line]
        if any(cells):
            rows.append(cells)
    return rows


def _cost(cell: str, number: int) -> float:
    try:
        return float(cell)
    except ValueError:
        raise _refused(f"Row {number}: {cell!r} is no number.") from None


def _refused(message: str) -> InvalidInput:
    return InvalidInput(message, where=_WHERE, remedy=_FORM)
