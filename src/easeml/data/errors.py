"""The one error of this room, and the likely spelling of a name that is not there."""

from collections.abc import Iterable
from difflib import get_close_matches

from easeml.errors import InvalidInput


class DatasetError(InvalidInput):
    """The data cannot be used as it is."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A remedy for an unknown ``name``: its likely spelling among ``known``, or what there is."""
    known = list(known)
    by_lower = {item.lower(): item for item in known}
    close = get_close_matches(name.lower(), list(by_lower), n=1, cutoff=0.6)
    if close:
        return f"Did you mean '{by_lower[close[0]]}'?"
    shown = ", ".join(f"'{item}'" for item in known[:20])
    more = " and more" if len(known) > 20 else ""
    return f"There are: {shown}{more}."


def shown(value: object) -> str:
    """A value as it may stand in a message: quoted, and not longer than 60 characters."""
    text = str(value)
    return repr(text if len(text) <= 60 else text[:57] + "...")
