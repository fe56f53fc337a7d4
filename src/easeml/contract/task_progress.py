"""How a task tells how far it is: by lines of what it prints, which pages and commands read."""

import re

_LINE = re.compile(r"^(\d[\d,]{0,30}) of (\d[\d,]{0,30}) rows$", re.MULTILINE)


def progress_line(done: int, rows: int) -> str:
    """Return the line that says how many rows are done."""
    return f"{done:,} of {rows:,} rows"


def has_moved(before: int, done: int, rows: int) -> bool:
    """Tell whether so much was done that it is worth a line: the next hundredth of all."""
    return 100 * done // rows > 100 * before // rows


def share_done(printed: str) -> float | None:
    """Return the share (0 to 1) that the last such line in ``printed`` tells; None without any."""
    found = _LINE.findall(printed)
    if not found:
        return None
    done, rows = found[-1]
    return min(1.0, _number(done) / max(1, _number(rows)))


def _number(digits: str) -> int:
    return int(digits.replace(",", ""))
