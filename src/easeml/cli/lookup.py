"""The one that somebody means, among those that there are."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from easeml.errors import EasemlError

T = TypeVar("T")


def first_that(is_it: Callable[[T], object], rows: Iterable[T], otherwise: EasemlError) -> T:
    """Return the first of the rows that is meant. Raises ``otherwise`` where there is none."""
    for one in rows:
        if is_it(one):
            return one
    raise otherwise


def first_holding(sentences: Mapping[str, object]) -> str:
    """Return the first of the sentences that holds; empty where none does."""
    return next(filter(sentences.get, sentences), "")
