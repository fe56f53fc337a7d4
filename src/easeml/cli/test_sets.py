"""The record of test sets beside their labels: every use of the same rows shares one budget.

A ledger or a meter's file can be deleted or begun anew; the rows remember. One file a folder keeps,
for each test set, its identity and a copy of every ledger and meter that was opened on it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from easeml.cli.ci_files import locked, save_json
from easeml.errors import InvalidInput
from easeml.lifecycle.ci import Ledger, Spent
from easeml.lifecycle.test_sets import Relation, TestSet, identify

FILE = ".easeml-test-sets.json"
_VERSION = 1


@dataclass
class Known:
    """One test set: its identity, and what was done with it.

    ``file`` is the name of the labels' file; ``ledgers`` are documents of ledgers by the digest of
    their configuration; ``meter`` is the document of the meter, if one was opened. ``retired``: the
    file has the labels of another test set by now.
    """

    test_set: TestSet
    file: str
    ledgers: dict[str, dict[str, Any]] = field(default_factory=dict)
    meter: dict[str, Any] | None = None
    retired: bool = False

    def spent_by_others(self, digest: str) -> Spent:
        """Return what all but the ledger of one configuration have given away of the rows."""
        spent = Spent()
        others = {**self.ledgers}
        others.pop(digest, None)
        for ledger in map(Ledger.from_json, others.values()):
            spent = spent.and_also(ledger.given_away())
        if self.meter is not None:
            answers = len(self.meter["edges"]) + 1
            spent = spent.and_also(Spent(nats=len(self.meter["history"]) * math.log(answers)))
        return spent

    @classmethod
    def from_json(cls, entry: dict[str, Any]) -> Known:
        """Return what ``to_json`` wrote."""
        return cls(**{**entry, "test_set": TestSet.from_json(entry["test_set"])})

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**vars(self), "test_set": self.test_set.to_json()}


@dataclass
class Record:
    """The test sets of a folder."""

    path: Path
    sets: list[Known]

    def find(
        self, file: Path, labels: Sequence[Any], ids: Sequence[str] | None, *, new: bool = False
    ) -> Known:
        """Return the entry of the test set in a file of labels; a fresh one where it is not known.

        ``new``: the user says that the file now has another test set.

        Raises:
            InvalidInput: if labels that were known have changed, or the rows are a part of those of
                another test set, or the other way round.
        """
        found = self._same(file, labels, ids, new) or self._continued(file, labels, ids, new)
        if found is not None:
            return found
        fresh = Known(identify(labels, ids), file.name)
        self.sets.append(fresh)
        return fresh

    def _same(
        self, file: Path, labels: Sequence[Any], ids: Sequence[str] | None, new: bool
    ) -> Known | None:
        """Return the entry that has these rows. Raises ``InvalidInput``, as ``find`` does."""
        for known in self.sets:
            relation = known.test_set.relation(labels, ids)
            if relation is Relation.SAME:
                return known
            if relation is Relation.OVERLAPS:
                raise _overlaps(known, file)
            if relation is Relation.CHANGED and not new:
                raise _changed(file)
        return None

    def _continued(
        self, file: Path, labels: Sequence[Any], ids: Sequence[str] | None, new: bool
    ) -> Known | None:
        """Return the entry of a file of that name if these rows go on with it; else retire it."""
        for known in self.sets:
            if known.file != file.name or known.retired:
                continue
            if not new and _continues(known, file, labels, ids):
                return known
            known.retired = True
        return None

    def save(self) -> None:
        """Write the record, all or nothing."""
        document = {"version": _VERSION, "test_sets": list(map(Known.to_json, self.sets))}
        save_json(document, self.path)


def _continues(known: Known, file: Path, labels: Sequence[Any], ids: Sequence[str] | None) -> bool:
    """Tell whether a file goes on with the test set that it had, though its rows do not show it.

    Raises:
        InvalidInput: if it cannot be told from another test set.
    """
    if ids is None and known.test_set.could_be(labels):
        return True
    if not ids or not known.test_set.ids:
        raise _changed(file)
    return False


@contextmanager
def record_beside(labels: Path) -> Iterator[Record]:
    """Give the record of the labels' folder to one process at a time.

    Raises:
        InvalidInput: if the file is no record.
    """
    path = labels.parent / FILE
    with locked(path):
        yield Record(path, _load(path))


def _load(path: Path) -> list[Known]:
    try:
        document = json.loads(path.read_text("utf-8"))
        if document["version"] != _VERSION:
            raise ValueError("another version")
        return list(map(Known.from_json, document["test_sets"]))
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(
            "The record of test sets cannot be read.",
            where=str(path),
            remedy="Restore it from a copy: without it the promises on these labels "
            "cannot be kept.",
        ) from error


def _overlaps(known: Known, file: Path) -> InvalidInput:
    return InvalidInput(
        f"Some of these rows are of the test set that {known.file} had, but not all.",
        where=str(file),
        remedy="Give all rows of that test set, or only rows that it does not have.",
    )


def _changed(file: Path) -> InvalidInput:
    return InvalidInput(
        "Labels that were known when this test set was first used are others now, or missing.",
        where=str(file),
        remedy="Give the same rows in the same order with at least those labels; "
        "for another test set say --new-test-set.",
    )
