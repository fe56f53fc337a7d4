"""What a commit may mean for workers, in words that travel with it.

A word is a lane in which a task waits now, ``ROOM`` or ``ANY``. Workers that a word does not concern
ask the database nothing: there may be a hundred of them.
"""

from collections.abc import Iterable, Mapping, Set

from easeml.contract.states import Lane, TaskState

ROOM = "room"
"""A task ended: what found no room may find some now."""
ANY = "any"
"""Look at everything: a running attempt may have been ended, or asked for something."""

WORDS: Set[str] = frozenset({*map(str, Lane), ROOM, ANY})
NOTHING: Set[str] = frozenset()

# Fields that a worker looks at, or that decide what it can claim.
_LOOKED_AT: Mapping[str, Set[str]] = {
    "tasks": {"state", "lane", "traced", "urgent", "memory", "disk", "threads", "gpu_memory"},
    "attempts": {"state", "asked_to_end"},
    "processes": {"draining"},
}


def of_change(table: str, fields: Iterable[str]) -> Set[str]:
    """Return the words for a change of these fields of a row."""
    looked_at = _LOOKED_AT.get(table, NOTHING)
    return NOTHING if looked_at.isdisjoint(fields) else {ANY}


def of_rows(table: str, rows: Iterable[Mapping[str, object]]) -> Set[str]:
    """Return the words for new rows."""
    if table != "tasks":
        return NOTHING
    return {str(row["lane"]) for row in rows if row["state"] == TaskState.WAITING}
