"""Tables without names: columns are numbered, as the service numbers them."""

import re
from collections.abc import Sequence

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def has_number(cells: Sequence[str]) -> bool:
    """Whether a cell is a number, so that these may be values and not names."""
    return any(_NUMBER.fullmatch(cell.strip()) for cell in cells)


def numbered(cells: Sequence[str]) -> list[str]:
    """Return names for columns that have none."""
    return [f"column {number}" for number in range(1, len(cells) + 1)]


def numbers_of(cells: Sequence[str], delimiter: str) -> bytes:
    """Return the line that a text table without names lacks."""
    return f"{delimiter.join(numbered(cells))}\n".encode()
