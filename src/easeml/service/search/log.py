"""The log of decisions in the store: written by the scheduler, read to replay it."""

import json
from collections.abc import Iterator, Sequence
from operator import eq
from typing import NamedTuple

from easeml.search.decision_log import Change, Decided, decisions_of, preemptions_of
from easeml.store import Transaction
from easeml.store.records import SearchChanges


class Replayed(NamedTuple):
    """How many decisions a log has, and how many of them its own policy makes again."""

    decisions: int
    identical: int


def append(tx: Transaction, epoch: int, number: int, changes: Sequence[Change]) -> None:
    """Add a part to the log of the scheduler that leads with ``epoch``; it is its ``number``-th.

    Raises ``Conflict`` if this part is there.
    """
    text = json.dumps(changes, separators=(",", ":"), allow_nan=False)
    tx.search_changes.add(SearchChanges(_id(epoch, number), epoch, text))


def epochs(tx: Transaction) -> list[int]:
    """Return the epochs of all schedulers that wrote a log, in order."""
    return sorted(tx.search_changes.count_by("epoch"))


def changes_of(tx: Transaction, epoch: int) -> Iterator[Change]:
    """Give the changes that the scheduler of an epoch wrote, from its start."""
    for part in parts_of(tx, epoch):
        yield from part


def parts_of(tx: Transaction, epoch: int, skip: int = 0) -> list[list[Change]]:
    """Return the parts of the log of an epoch, in order, without the first ``skip``."""
    after = _id(epoch, skip - 1) if skip else None
    found = tx.search_changes.list(epoch=epoch, after=after, limit=None)
    return list(map(_changes, found))


def decisions(tx: Transaction, epoch: int) -> Iterator[Decided]:
    """Give the decisions of an epoch, each with what the policy saw."""
    return decisions_of(changes_of(tx, epoch))


def replayed(tx: Transaction) -> Replayed:
    """Decide everything again, each time from what policy or rule saw, and compare."""
    count = identical = 0
    for epoch in epochs(tx):
        for decided in decisions(tx, epoch):
            count += len(decided.choices)
            identical += sum(map(eq, decided.choices, decided.again()))
        for preempted in preemptions_of(changes_of(tx, epoch)):
            count += 1
            identical += preempted.again() == preempted.chosen
    return Replayed(count, identical)


def _changes(part: SearchChanges) -> list[Change]:
    return [Change(*change) for change in json.loads(part.changes)]


def _id(epoch: int, number: int) -> str:
    return f"{epoch:010d}.{number:010d}"
