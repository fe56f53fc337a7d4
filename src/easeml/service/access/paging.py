"""Cursor paging: lists are ordered by id, and a cursor is the last id seen."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from easeml.contract.resources import Page
from easeml.errors import InvalidInput
from easeml.ids import is_id
from easeml.store import Rows

R = TypeVar("R")
T = TypeVar("T")

LARGEST_PAGE = 500


def page_records(
    rows: Rows[R], after: str | None, limit: int, *, newest_first: bool = False, **equals: Any
) -> tuple[list[R], str | None]:
    """Return a page of records and the cursor of the next page.

    At most ``limit`` records follow the cursor; the next cursor is None at the end.

    Raises ``InvalidInput`` for a limit outside 1 to ``LARGEST_PAGE``, and for a cursor that is none
    of this list.
    """
    if not 1 <= limit <= LARGEST_PAGE:
        raise InvalidInput(f"A page holds 1 to {LARGEST_PAGE} items, not {limit}.", where="limit")
    found = rows.list(after=after, limit=limit + 1, newest_first=newest_first, **equals)
    if after is not None:
        known = found or rows.list(limit=1, **equals)
        _check_cursor(after, known[:1])
    if len(found) <= limit:
        return found, None
    records = found[:limit]
    return records, getattr(records[-1], "id")  # noqa: B009


def no_cursor(after: str) -> InvalidInput:
    """Return the error of a cursor that no page of a list gave."""
    return InvalidInput(
        f"{after!r} is no cursor of this list.",
        where="after",
        remedy="Send `next` of the page before; for the first page leave it out.",
    )


def _check_cursor(after: str, some: Sequence[Any]) -> None:
    """Raise ``InvalidInput`` for a cursor that is no id of a record such as ``some``.

    The record whose id it is may be gone by now.
    """
    kind = after.partition("_")[0]
    is_of_kind = all(record.id.partition("_")[0] == kind for record in some)
    if not is_id(after) or not is_of_kind:
        raise no_cursor(after)


def next_offset(skip: int, limit: int, total: int) -> str | None:
    """Return the cursor after ``limit`` items beyond ``skip``; None at the end of ``total``."""
    if skip + limit < total:
        return str(skip + limit)
    return None


def offset_of(after: str | None) -> int:
    """Return how many items are before a page: what ``next_offset`` gave, and 0 for the first."""
    if after:
        return int(after)
    return 0


def page_of(
    rows: Rows[R], show: Callable[[R], T], after: str | None, limit: int, **equals: Any
) -> Page[T]:
    """Return a page of ``rows``, each record shown by ``show``; raises like ``page_records``."""
    records, following = page_records(rows, after, limit, **equals)
    return Page(items=list(map(show, records)), next=following)
