"""Names of what a ledger is about: a pair of models, and a test set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from easeml.lifecycle.test_sets import digest


def commit_digest(new: Sequence[Any], old: Sequence[Any] | None) -> str:
    """Return a name of a pair of models: a digest of their predictions, in the test set's order."""
    if old is None:
        return digest(new)
    return digest([digest(new), digest(old)])


def test_set_digest(labels: Sequence[Any], ids: Sequence[Any] | None = None) -> str:
    """Return a name of a test set: a digest of the examples' ids, and one of the labels.

    The first is empty where the examples have no ids; the second covers the labels that exist. The
    name is empty where there is neither: such a test set cannot be told from another.
    """
    known = list(map(_without_nan, labels))
    unlabelled = known.count(None) == len(known)
    if ids is None and unlabelled:
        return ""
    name_of_ids = "" if ids is None else digest(ids)
    return f"{name_of_ids}-{digest(known)}"


def is_retired(test_set: str, retired: Sequence[str]) -> bool:
    """Tell whether a test set is retired: the same ids, whatever was labelled since, or the same labels."""
    # A set without a name, or without ids, cannot be recognised by these.
    names = set(retired) - {""}
    known_ids = set(map(_ids_in, names)) - {""}
    return test_set in names or _ids_in(test_set) in known_ids


def _ids_in(test_set: str) -> str:
    """Return the digest of the ids in a test set's name; empty where it has none."""
    return test_set.partition("-")[0]


def _without_nan(value: Any) -> Any:
    """Return a label, or None where it is missing."""
    is_nan = value != value  # noqa: PLR0124
    return None if is_nan else value
