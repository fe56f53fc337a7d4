"""What is said of missing values: a note a column where they are few, one for all where many."""

from collections.abc import Mapping

_MOST = 3  # columns with a note of their own


def missing_notes(
    counts: Mapping[str, int], done: str, details: Mapping[str, str] | None = None
) -> list[str]:
    """Return notes on columns with missing values; those without have a count of 0.

    ``done``: what is done with the values; ``details``: the same of one column, where it differs.
    """
    found = {name: int(count) for name, count in counts.items() if count}
    if len(found) <= _MOST:
        told = details or {}
        return [
            f"Column {name!r}: {_values(count)}, {told.get(name, done)}."
            for name, count in found.items()
        ]
    most = max(found, key=lambda name: found[name])
    worst = f"most in {most!r} ({found[most]:,})"
    return [f"{len(found)} columns have missing values, {worst}: {done}."]


def _values(count: int) -> str:
    return "1 missing value" if count == 1 else f"{count:,} missing values"
