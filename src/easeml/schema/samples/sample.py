"""Samples of the language's own kind, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

Labels = tuple[str, ...]
Instance = tuple[str, int]  # node, index from 0
SampleLinks = frozenset[tuple[Instance, Instance]]


class Tensor(Protocol):
    """An array, or the shape of one whose numbers were not read."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        ...


@dataclass(frozen=True, slots=True)
class TensorShape:
    """The shape of a tensor whose numbers were not read."""

    shape: tuple[int, ...]


Value = Tensor | Labels  # of a non-singleton: the first axis, or the place, is the instance
Values = Mapping[str, Value]


@dataclass(frozen=True)
class Sample:
    """One sample. ``values``: of a singleton its value, of a non-singleton a mapping of its fields.

    ``links`` None: nothing was said about links, and instances form a chain in their order.
    """

    values: Mapping[str, Value | Values]
    links: SampleLinks | None = None


@dataclass(frozen=True)
class Samples:
    """A data set: the labels of each class, and samples by id."""

    classes: Mapping[str, Labels]
    samples: Mapping[str, Sample]
