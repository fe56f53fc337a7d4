"""What is found in a document: tables and text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST_CELLS = 1_000_000
"""Of a document; more are refused."""


@dataclass(frozen=True)
class FoundTable:
    """``rows``: texts. ``names``: how many rows from the first hold names; None: it does not say.

    ``place``: where it begins in the document, such as ``page 3``.
    """

    rows: list[list[str]]
    place: str
    names: int | None = None

    @property
    def width(self) -> int:
        """How many columns it has."""
        return max(map(len, self.rows), default=0)

    @property
    def size(self) -> int:
        """How many of its cells have something in them."""
        return sum(len(row) - row.count("") for row in self.rows)


@dataclass(frozen=True)
class TextBlock:
    """A paragraph, a heading or another block. ``place``: the page, or the heading above it."""

    place: str
    text: str


@dataclass(frozen=True)
class Document:
    """Tables in their order, and text. ``places``: what the places of text are called."""

    tables: list[FoundTable]
    blocks: list[TextBlock]
    places: str


def one_line(texts: Sequence[str]) -> str:
    """Return parts of a text as one, with single blanks."""
    return " ".join(" ".join(texts).split())
