"""The one error of this room, and the likely spelling of a name that is not there."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import filterfalse

from easeml.errors import InvalidInput


class DatasetError(InvalidInput):
    """The data cannot be used as it is."""


@contextmanager
def refusing(
    errors: type[Exception] | tuple[type[Exception], ...],
    message: str,
    where: str,
    remedy: str = "",
    longest: int | None = None,
) -> Iterator[None]:
    """Raise ``DatasetError`` for what a library raises of data that it cannot read.

    ``{error}`` in ``message`` stands for what the library says, of which ``longest`` characters are
    told. A ``DatasetError`` goes through as it is.
    """
    try:
        yield
    except DatasetError:
        raise
    except errors as error:
        said = message.replace("{error}", str(error)[:longest])
        raise DatasetError(said, where=where, remedy=remedy) from error


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A remedy for an unknown ``name``: its likely spelling among ``known``, or what there is."""
    known = list(known)
    by_lower = dict(zip(map(str.lower, known), known, strict=True))
    close = get_close_matches(name.lower(), list(by_lower), n=1, cutoff=0.6)
    if close:
        return f"Did you mean '{by_lower[close[0]]}'?"
    quoted = list(map("'{}'".format, known))
    return f"There are: {first_of(quoted, 20)}."


def respelt(given: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Return what names mean that are ``known`` but for case, spaces and signs; each is meant once.

    Names that are known as they are, and meanings that are given as well, are left out.
    """
    given, known = dict.fromkeys(given), dict.fromkeys(known)
    absent = list(filterfalse(given.__contains__, known))
    by_letters = dict(zip(map(_letters, absent), absent, strict=True))
    unknown = list(filterfalse(known.__contains__, given))
    meanings = map(by_letters.get, map(_letters, unknown))
    by_meaning = dict(zip(meanings, unknown, strict=True))
    by_meaning.pop(None, None)
    return {name: str(meaning) for meaning, name in by_meaning.items()}


def told_respelt(meant: Mapping[str, str]) -> str:
    """Say in a sentence which names are meant as which; see ``respelt``."""
    pairs = list(map("'{}' is '{}'".format, meant, meant.values()))
    told = first_of(pairs, 20)
    return f"names of columns match only if case, spaces and signs are ignored: {told}."


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def first_of(words: Sequence[str], most: int, more: str = " and more") -> str:
    """Some words with commas; of many the first, and that there are ``more``."""
    text = ", ".join(words[:most])
    if len(words) <= most:
        return text
    return text + more


def shown(value: object) -> str:
    """A value as it may stand in a message: quoted, and not longer than 60 characters."""
    text = str(value)
    return repr(text if len(text) <= 60 else text[:57] + "...")


def told_setting(column: str, kind: str) -> str:
    """Return how a type is set, to be pasted into a shell: ``--set 'Length (mm)=text'``."""
    return f"--set {shlex.quote(f'{column}={kind}')}"
