"""What easeml sees in one column, and what it proposes to do with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from easeml.data.types import values as v
from easeml.data.types.ranges import in_order_of_ranges
from easeml.schema import Dim

TYPES = ("number", "category", "text", "timestamp", "labels")
WEIGHT = "weight"  # the role of the column that says how much each row counts
NATURES = ("input", "target", "identifier", "constant", "leak", "time", "group")
PROPOSED = "Proposed as the target:"  # what the evidence of a proposed target goes on with
UNSURE_TARGET = "What to predict is not sure"  # how the note on a target that is a guess begins
SUSPICION = " Suspected to leak"  # what the evidence of a leak goes on with
FEW_OF_CLASS = 10  # rows, below which hardly anything is learned or measured of a class
SURE_OF_TARGET = 0.7  # from which on a proposed target is taken without asking


@dataclass(frozen=True)
class ColumnReport:
    """One column. Its JSON is that of ``easeml.contract.datasets.Column``.

    ``type``: number, category, text, timestamp; labels of a target whose rows have several; or, for
    cells that are no single values, image, tensor, graph. ``role``: what is done with it: input,
    target, drop, weight. ``nature``: what it seems to be, one of ``NATURES``; ``confidence`` and
    ``nature_confidence``: how sure, 0 to 1; ``evidence``: sentences that say why. ``missing``:
    share of the rows. ``distinct``: number of
    different values. ``classes``: the labels of a category, and those that a number would have as a
    category where it has few (whole) values. ``format``: how numbers or timestamps are written, as
    in a schema. ``missing_codes``: what the user declared to stand for no value;
    ``suspected_codes``: what seems to, and is a value until the user says so. ``content``: what the
    schema says of an image or tensor, its ``dim``, or of a graph, its nodes, classes and
    constraints; of a text whose cells have several labels, ``labels``, ``separator`` and the
    ``mean`` number a row. ``distribution``: how the values that were looked at are spread, to be drawn.
    ``leaks``: for columns as targets, what shows that this one knows them too well. ``alike``: for
    columns as targets, how much rows with the same value here are alike in them.
    """

    name: str
    type: str
    role: str
    missing: float = 0.0
    distinct: int = 0
    examples: list[str] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    evidence: str = ""
    nature: str = "input"
    confidence: float = 1.0
    nature_confidence: float = 1.0
    format: str = ""
    missing_codes: list[str] = field(default_factory=list)
    suspected_codes: list[str] = field(default_factory=list)
    content: dict[str, Any] = field(default_factory=dict)
    distribution: dict[str, Any] = field(default_factory=dict)
    leaks: dict[str, str] = field(default_factory=dict)
    alike: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return asdict(self)

    @classmethod
    def from_json(cls, obj: Mapping[str, Any]) -> ColumnReport:
        """Read the JSON form."""
        return cls(**obj)


def commonest_share(report: ColumnReport) -> float:
    """How often always guessing the commonest class would be right, 0 to 1; 0 where unknown."""
    found = report.distribution
    counts = [*found.get("counts", []), *dict(found.get("values", [])).values()]
    total = sum(counts) + found.get("others", 0)
    return max(counts, default=0) / max(total, 1)


def class_counts(report: ColumnReport) -> dict[str, int]:
    """Return the rows of each class of a category, as far as they were counted one by one."""
    if report.type != "category":
        return {}
    return dict(report.distribution.get("values", ()))


def dimensions(
    shapes: Sequence[Sequence[int]], variables: Iterable[str]
) -> tuple[list[Dim], list[str]]:
    """The dimensions of arrays of one rank, and what is said of each."""
    import numpy as np

    sizes = np.array(shapes)
    dim: list[Dim] = []
    spans = []
    found = map(_dimension, sizes.min(axis=0).tolist(), sizes.max(axis=0).tolist(), variables)
    for size, span in found:
        dim.append(size)
        spans.append(span)
    return dim, spans


def _dimension(least: int, most: int, variable: str) -> tuple[Dim, str]:
    """A dimension of arrays, and what is said of it: their one size, or a variable for several."""
    if least == most:
        return least, f"{least}"
    return variable, f"{least} to {most}"


def sort_labels(labels: list[str]) -> list[str]:
    """Labels in the order that defines their indices: numbers and ranges of them by size, others
    by code point.
    """
    if v.numeric_labels(tuple(labels)):
        return sorted(labels, key=float)
    return in_order_of_ranges(labels) or sorted(labels)
