"""Cursor paging: lists are ordered by id, and a cursor is the last id seen."""

from collections.abc import Callable
from typing import Any, TypeVar

from easeml.contract.resources import Page
from easeml.errors import InvalidInput
from easeml.store import Rows

R = TypeVar("R")
T = TypeVar("T")

LARGEST_PAGE = 500


def page_records(
    rows: Rows[R], after: str | None, limit: int, *, newest_first: bool = False, **equals: Any
) -> tuple[list[R], str | None]:
    """Return a page of records and the cursor of the next page.

    At most ``limit`` records follow the cursor; the next cursor is None at the end.

    Raises ``InvalidInput`` for a limit outside 1 to ``LARGEST_PAGE``.
    """
    if not 1 <= limit <= LARGEST_PAGE:
        raise InvalidInput(f"A page holds 1 to {LARGEST_PAGE} items, not {limit}.", where="limit")
    found = rows.list(after=after, limit=limit + 1, newest_first=newest_first, **equals)
    if len(found) <= limit:
        return found, None
    records = found[:limit]
    return records, getattr(records[-1], "id")  # noqa: B009


def next_offset(skip: int, limit: int, total: int) -> str | None:
    """Return the cursor after ``limit`` items beyond ``skip``; None at the end of ``total``."""
    return str(skip + limit) if skip + limit < total else None


def offset_of(after: str | None) -> int:
    """Return how many items are before a page: what ``next_offset`` gave, and 0 for the first."""
    return int(after) if after else 0


def page_of(
    rows: Rows[R], show: Callable[[R], T], after: str | None, limit: int, **equals: Any
) -> Page[T]:
    """Return a page of ``rows``, each record shown by ``show``; raises like ``page_records``."""
    records, following = page_records(rows, after, limit, **equals)
    return Page(items=list(map(show, records)), next=following)
