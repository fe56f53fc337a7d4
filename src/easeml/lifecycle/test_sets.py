"""Which test set is this? Its rows, and the labels that were known when it was first used.

A promise about a test set is about its rows, whatever file or configuration names them. A
``TestSet`` recognises them later: after more labels came, in another order, or as a part of
another set.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.labels import class_names

SAMPLED = 256
"""So many ids are kept, to find the set again in a part of it or in a larger one."""
ENOUGH_LABELS = 20
"""Without ids, so many equal labels in equal places are no chance."""


class Relation(Enum):
    """How a file of labels relates to a known test set."""

    SAME = "same"
    CHANGED = "changed"
    OVERLAPS = "overlaps"
    OTHER = "other"


@dataclass(frozen=True)
class TestSet:
    """The identity of a test set of ``rows`` examples.

    ``ids`` is a digest of the rows' ids, in order (empty: there are none); ``sample`` are digests
    of the ids that come first by digest. ``known`` marks the labels that existed (packed bits), and
    ``labels`` is a digest of those.
    """

    __test__ = False

    rows: int
    ids: str
    sample: tuple[str, ...]
    known: str
    labels: str

    def relation(self, labels: Sequence[Any], ids: Sequence[str] | None) -> Relation:
        """Return how the rows of a file, with its labels (None where missing), relate to this set.

        CHANGED: the same rows, but a label that was known is another one or missing. OVERLAPS: not
        the same rows, but some of them.
        """
        if ids is not None and self.ids:
            return self._relation_by_ids(labels, ids)
        return self._relation_by_labels(labels)

    def _relation_by_ids(self, labels: Sequence[Any], ids: Sequence[str]) -> Relation:
        if digest(ids) == self.ids:
            return Relation.SAME if self._fits(labels) else Relation.CHANGED
        met = set(self.sample).intersection(map(_short, ids))
        return Relation.OVERLAPS if met else Relation.OTHER

    def _relation_by_labels(self, labels: Sequence[Any]) -> Relation:
        """Without ids, many equal labels in equal places tell: of the rows that come first."""
        if len(labels) < self.rows or self._count() < ENOUGH_LABELS:
            return Relation.OTHER
        if not self._fits(labels[: self.rows]):
            return Relation.OTHER
        return Relation.SAME if len(labels) == self.rows else Relation.OVERLAPS

    def could_be(self, labels: Sequence[Any]) -> bool:
        """Tell whether labels may be of this set: as many rows, and those known are as they were."""
        return len(labels) == self.rows and self._fits(labels)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values, from which ``TestSet.from_json`` makes the same."""
        return {**vars(self), "sample": list(self.sample)}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> TestSet:
        """Return the test set that ``to_json`` wrote."""
        return cls(**{**document, "sample": tuple(document["sample"])})

    def _fits(self, labels: Sequence[Any]) -> bool:
        if len(labels) != self.rows:
            return False
        kept = class_names(labels)
        kept[~unpacked(self.known, self.rows)] = None
        return digest(kept.tolist()) == self.labels

    def _count(self) -> int:
        return int(unpacked(self.known, self.rows).sum())


def identify(labels: Sequence[Any], ids: Sequence[str] | None) -> TestSet:
    """Return the identity of a test set: labels in order (None where missing), and ids if any."""
    names = class_names(labels)
    known = np.array([name is not None for name in names], dtype=bool)
    name_of_ids = ""
    sample: tuple[str, ...] = ()
    if ids is not None:
        name_of_ids = digest(ids)
        sample = tuple(sorted(map(_short, ids))[:SAMPLED])
    return TestSet(
        rows=len(names),
        ids=name_of_ids,
        sample=sample,
        known=packed(known),
        labels=digest(labels),
    )


def digest(values: Sequence[Any]) -> str:
    """Return a name of a sequence of values, the same however their numbers are written."""
    text = "\x1e".join(name or "" for name in class_names(values))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def packed(mask: np.ndarray) -> str:
    """Return a mask (N,) as text."""
    return base64.b64encode(zlib.compress(np.packbits(mask).tobytes(), 9)).decode()


def unpacked(text: str, size: int) -> np.ndarray:
    """Return the mask (N,) that ``packed`` wrote.

    Raises:
        InvalidInput: if the text is no mask of this size.
    """
    try:
        bits = np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype=np.uint8)
        return np.unpackbits(bits, count=size).astype(bool)
    except (ValueError, zlib.error) as error:
        raise InvalidInput(
            "The marks of the labelled examples cannot be read.", where="ledger"
        ) from error


def _short(each: Any) -> str:
    return hashlib.sha256(str(each).encode()).hexdigest()[:12]
