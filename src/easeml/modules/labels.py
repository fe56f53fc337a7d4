"""Labels of which a row may have several: how they are chosen, given the chance of each.

A label is said where its chance reaches a threshold of its own (``thresholds``). Where every row
that was learned from has a label, a row gets the likeliest one if no other reaches its threshold.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.data.types.label_lists import told

from .temperature import LEAST, softened

_Numbers = NDArray[np.float64]
_EVEN = 0.5


@dataclass(frozen=True, slots=True)
class LabelChoice:
    """``names`` (k,) of the labels and a threshold in [0, 1] of each. ``at_least_one``: no row is
    without a label. ``separator``: what stands between labels in the user's table.
    """

    names: tuple[str, ...]
    thresholds: tuple[float, ...]
    at_least_one: bool
    separator: str = "; "

    @classmethod
    def learn(cls, node: Mapping[str, Any], answers: _Numbers) -> "LabelChoice":
        """Return the choice of what is more likely than not, of training rows (rows, k)."""
        names = tuple(node["labels"])
        every_row = bool(answers.any(axis=1).all())
        return cls(names, (_EVEN,) * len(names), every_row, node.get("separator", ""))

    def chosen(self, chances: _Numbers) -> _Numbers:
        """Return which labels rows get (rows, k), 1 or 0, given their chances (rows, k)."""
        said = chances >= np.asarray(self.thresholds)
        return self.filled(said.astype(np.float64), chances)

    def filled(self, said: _Numbers, chances: _Numbers) -> _Numbers:
        """Return ``said`` (rows, k) with the likeliest label in empty rows, if one is to be."""
        if not self.at_least_one:
            return said
        empty = np.flatnonzero(~said.any(axis=1))
        made = said.copy()
        made[empty, chances[empty].argmax(axis=1)] = 1.0
        return made

    def with_thresholds(self, thresholds: Sequence[float] | None) -> "LabelChoice":
        """Return the choice with other thresholds; None: it stays as it is."""
        if thresholds is None:
            return self
        return replace(self, thresholds=tuple(thresholds))

    def named(self, values: _Numbers) -> list[list[str]]:
        """Return the names of the labels that rows (rows, k) have."""
        names = np.array(self.names, dtype=object)
        return [names[row > 0].tolist() for row in values]

    def written(self, values: _Numbers) -> list[str]:
        """Return the labels of rows (rows, k) as cells of the user's table have them."""
        return [told(names, self.separator) for names in self.named(values)]

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "names": list(self.names),
            "thresholds": list(self.thresholds),
            "at_least_one": self.at_least_one,
            "separator": self.separator,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any] | None) -> "LabelChoice | None":
        """Read what ``to_json`` gave; None of None."""
        if document is None:
            return None
        names, thresholds = tuple(document["names"]), tuple(document["thresholds"])
        return cls(names, thresholds, document["at_least_one"], document["separator"])


@dataclass(frozen=True, slots=True)
class SaidLabels:
    """The chances (rows, k) of labels, and how labels are chosen by them."""

    chances: _Numbers
    choice: LabelChoice


def at_temperature(chances: _Numbers, temperature: float) -> _Numbers:
    """Return the chances of labels at a temperature: each against that of not having the label."""
    pairs = softened(both_ways(np.clip(chances, LEAST, 1 - LEAST)), temperature)
    return pairs[:, 1].reshape(chances.shape)


def both_ways(chances: _Numbers) -> _Numbers:
    """Return chances (rows, k) as (rows * k, 2): of not having a label, and of having it."""
    having = chances.reshape(-1)
    return np.column_stack([1 - having, having])
