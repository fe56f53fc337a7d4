"""Columns that name the rows of a file: by them, rows of two files are put together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import filterfalse
from pathlib import Path

from easeml.cli.output import say_aside
from easeml.errors import InvalidInput

NAMES = ("id", "row", "example", "index", "row_id")
"""Headings of a column of ids. pandas writes its index without a heading, in the first column."""
_WITHOUT_HEADING = ("", "unnamed: 0")


def place_of_ids(headings: Sequence[str]) -> int | None:
    """Return which column of a table names its rows; None where none does.

    A table of one column has values, whatever they are called.
    """
    if len(headings) < 2:
        return None
    names = list(map(str.lower, map(str.strip, headings)))
    if names[0] in _WITHOUT_HEADING:
        return 0
    return next(filter(lambda place: names[place] in NAMES, range(len(names))), None)


def places_by_id(
    wanted: Sequence[str] | None, given: Sequence[str] | None, wanted_of: Path, given_of: Path
) -> list[int | None] | None:
    """Return where the row of each ``wanted`` id stands among the ``given``; None: nowhere.

    ``wanted`` and ``given``: the ids of two files, None where a file has none. Then nothing is
    returned, as the rows can only be compared in their order; where one of the two has ids, that is
    said.

    Raises:
        InvalidInput: naming an id that stands twice, or is not among those wanted.
    """
    if wanted is None or given is None:
        _note_ids_of_one(wanted, given, wanted_of, given_of)
        return None
    known = _places(wanted, wanted_of)
    places = _places(given, given_of)
    strange = list(filterfalse(known.__contains__, places))
    if strange:
        raise InvalidInput(
            f"The row with the id {strange[0]!r} is not in {wanted_of}.",
            where=str(given_of),
            remedy="Give both files the ids of the same rows, or leave the column of ids out of "
            "both: then they are compared in the order of their rows.",
        )
    return list(map(places.get, wanted))


def _note_ids_of_one(
    first: Sequence[str] | None, second: Sequence[str] | None, first_of: Path, second_of: Path
) -> None:
    if first is second:  # neither has any
        return
    named, other = (second_of, first_of) if first is None else (first_of, second_of)
    say_aside(f"{named} names its rows, {other} does not: they are compared in their order.")


def _places(ids: Sequence[str], path: Path) -> dict[str, int]:
    """Return the place of each id; raises InvalidInput where one stands twice, or is empty."""
    places: dict[str, int] = {}
    for place, name in enumerate(ids):
        where = f"{path}, row {place}"
        if not name:
            raise InvalidInput("An id is missing.", where=where, remedy="Name each row.")
        if name in places:
            said = f"The id {name!r} stands there twice."
            raise InvalidInput(said, where=where, remedy="Name each row once.")
        places[name] = place
    return places
