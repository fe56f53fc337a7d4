"""Notes of transforms: one a column where they are few, one for all of a kind where many."""

from collections.abc import Mapping

_MOST = 3  # columns with a note of their own


def column_notes(told: Mapping[str, str], together: str) -> list[str]:
    """Return notes on columns.

    ``told``: what follows the name of each in a note of its own; ``together``: what follows their
    number in a note on all of them.
    """
    if len(told) <= _MOST:
        return [f"Column {name!r}{said}." for name, said in told.items()]
    names = ", ".join(map(repr, list(told)[:_MOST]))
    return [f"{len(told):,} columns {together}: {names}, ..."]


def missing_notes(
    counts: Mapping[str, int], done: str, details: Mapping[str, str] | None = None
) -> list[str]:
    """Return notes on columns with missing values; those without have a count of 0.

    ``done``: what is done with the values; ``details``: the same of one column, where it differs.
    """
    found = {name: int(count) for name, count in counts.items() if count}
    if len(found) <= _MOST:
        special = details or {}
        told = {
            name: f": {_values(count)}, {special.get(name, done)}" for name, count in found.items()
        }
        return column_notes(told, "")
    most = max(found, key=lambda name: found[name])
    worst = f"most in {most!r} ({found[most]:,})"
    return [f"{len(found):,} columns have missing values, {worst}: {done}."]


def _values(count: int) -> str:
    return "1 missing value" if count == 1 else f"{count:,} missing values"
