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
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}", where=_WHERE) from error
    rows = [row for row in csv.reader(text.splitlines()) if any(cell.strip() for cell in row)]
    if len(rows) < 2 or len(rows[0]) < 2:
        raise InvalidInput("The table of costs is empty.", where=_WHERE, remedy=_FORM)
    labels = [cell.strip() for cell in rows[0][1:]]
    costs: dict[str, dict[str, float]] = {}
    for number, row in enumerate(rows[1:], start=2):
        true = row[0].strip()
        if len(row) != len(rows[0]):
            message = f"Row {number} has {len(row)} cells, the first has {len(rows[0])}."
            raise InvalidInput(message, where=_WHERE, remedy=_FORM)
        if true in costs:
            raise InvalidInput(f"{true!r} has two rows.", where=_WHERE, remedy=_FORM)
        costs[true] = {
            said: _cost(cell, number) for said, cell in zip(labels, row[1:], strict=True)
        }
    if set(labels) != set(costs) or len(set(labels)) != len(labels):
        raise InvalidInput(
            "The table of costs does not have the same classes as rows and as columns.",
            where=_WHERE,
            remedy=_FORM,
        )
    return costs


def _cost(cell: str, number: int) -> float:
    try:
        return float(cell)
    except ValueError:
        message = f"Row {number}: {cell.strip()!r} is no number."
        raise InvalidInput(message, where=_WHERE, remedy=_FORM) from None
