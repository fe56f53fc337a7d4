"""Training rows of which some could be one of several vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.labels import is_missing


@dataclass(frozen=True)
class Incomplete:
    """Rows with candidate vectors, independent of each other. A *world* takes one candidate a row.

    ``values`` (T, D) float64 holds the candidates row after row, those of row i at
    ``first[i]:first[i + 1]``; ``weights`` (T,) their probabilities, which sum to one in each row;
    ``labels`` (N,) one label a row. Build it with ``Incomplete.of``.
    """

    values: np.ndarray
    first: np.ndarray
    weights: np.ndarray
    labels: np.ndarray

    @classmethod
    def of(
        cls,
        candidates: Sequence[Any],
        labels: Sequence[Any],
        weights: Sequence[Sequence[float]] | None = None,
    ) -> Incomplete:
        """Check and hold rows.

        Args:
            candidates: for each row the vectors that it could be: a sequence of M_i >= 1 vectors of
                D finite numbers (M_i x D). A clean row has one. With D = 1 the vectors may be plain
                numbers.
            labels: (N,) the label of each row: numbers or strings, without missing ones.
            weights: for each row its candidates' probabilities, up to a common factor; None: all
                alike. Candidates of weight zero are left out.

        Raises:
            InvalidInput: naming the row, where candidates, labels or weights do not fit.
        """
        if len(candidates) == 0:
            raise InvalidInput("There are no rows.", remedy="Give at least one training row.")
        if len(labels) != len(candidates):
            raise InvalidInput(
                f"{len(candidates)} rows have {len(labels)} labels.", remedy="Give one label a row."
            )
        given = [None] * len(candidates) if weights is None else weights
        if len(given) != len(candidates):
            raise InvalidInput(f"{len(candidates)} rows have {len(given)} lists of weights.")
        blocks = [_vectors(row, i) for i, row in enumerate(candidates)]
        shares = []
        for i, block in enumerate(blocks):
            _check_width(block, blocks[0], i)
            share = _shares(given[i], len(block), i)
            blocks[i] = block[share > 0]
            shares.append(share[share > 0])
        sizes = list(map(len, blocks))
        return cls(
            values=np.concatenate(blocks),
            first=np.cumsum([0, *sizes]).astype(np.int64),
            weights=np.concatenate(shares),
            labels=check_labels(labels),
        )

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def sizes(self) -> np.ndarray:
        """(N,) how many candidates each row has."""
        return np.diff(self.first)

    @property
    def dirty(self) -> np.ndarray:
        """The rows with more than one candidate."""
        return np.flatnonzero(self.sizes > 1)

    @cached_property
    def classes(self) -> np.ndarray:
        """The labels that occur, sorted; of equal votes the first wins."""
        return np.unique(self.labels)

    def candidates_of(self, row: int) -> np.ndarray:
        """Return the (M, D) candidates of a row."""
        return self.values[self.first[row] : self.first[row + 1]]

    def weights_of(self, row: int) -> np.ndarray:
        """Return the (M,) probabilities of a row's candidates."""
        return self.weights[self.first[row] : self.first[row + 1]]

    def likeliest(self) -> np.ndarray:
        """Return the (N, D) world of the likeliest candidates; the first of equally likely ones."""
        chosen = []
        for row, start in enumerate(self.first[:-1]):
            chosen.append(start + int(np.argmax(self.weights_of(row))))
        return self.values[chosen]

    def with_row(self, row: int, vector: np.ndarray) -> Incomplete:
        """Return the same rows, but with one known to be ``vector`` (D,)."""
        start, end = self.first[row], self.first[row + 1]
        first = self.first.copy()
        first[row + 1 :] -= end - start - 1
        values = np.concatenate(
            [self.values[:start], np.reshape(vector, (1, -1)), self.values[end:]]
        )
        weights = np.concatenate([self.weights[:start], [1.0], self.weights[end:]])
        return Incomplete(values, first, weights, self.labels)


def check_labels(labels: Sequence[Any]) -> np.ndarray:
    """Return labels (N,) as an array that can be sorted.

    Raises:
        InvalidInput: where a label is missing, or they are of types that cannot be compared.
    """
    array = np.asarray(labels)
    if array.ndim != 1:
        raise InvalidInput(f"Labels have {array.ndim} dimensions.", remedy="Give one label a row.")
    absent = list(map(is_missing, array.tolist()))
    if any(absent):
        raise InvalidInput(
            "has no label.",
            where=f"row {absent.index(True)}",
            remedy="Leave rows without a label out.",
        )
    if array.dtype != object:
        return array
    kinds = set(map(type, array.tolist()))
    comparable = len(kinds) == 1 or kinds <= {int, float, bool}
    if not comparable:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise InvalidInput(
            f"Labels are of several types: {names}.",
            remedy="Write all as text or all as numbers.",
        )
    return np.array(array.tolist())


def check_points(points: Any, width: int, name: str = "x") -> np.ndarray:
    """Return points as an (n, width) float64 matrix of finite numbers, or raise InvalidInput."""
    try:
        matrix = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput("is no matrix of numbers.", where=name) from error
    if matrix.ndim != 2 or matrix.shape[1] != width:
        raise InvalidInput(f"has shape {matrix.shape}; expected (n, {width}).", where=name)
    if not np.isfinite(matrix).all():
        raise InvalidInput("holds NaN or infinity.", where=name, remedy="Points must be complete.")
    return matrix


def check_k(k: int) -> int:
    """Return k as an int, or raise InvalidInput."""
    if isinstance(k, bool) or int(k) != k or k < 1:
        raise InvalidInput(f"k is {k}; it must be a whole number of at least 1.")
    return int(k)


def _vectors(row: Any, number: int) -> np.ndarray:
    where = f"row {number}"
    try:
        block = np.asarray(row, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            "its candidates are no vectors of equally many numbers.", where=where
        ) from error
    if block.ndim == 1:
        block = block.reshape(-1, 1)
    if block.ndim != 2 or len(block) == 0:
        raise InvalidInput(
            "has no candidates, or no vectors as candidates.",
            where=where,
            remedy="Give M x D numbers.",
        )
    if not np.isfinite(block).all():
        raise InvalidInput(
            "a candidate holds NaN or infinity.",
            where=where,
            remedy="Give candidates for the cell.",
        )
    return block


def _check_width(block: np.ndarray, first: np.ndarray, number: int) -> None:
    width, expected = block.shape[1], first.shape[1]
    if width != expected:
        raise InvalidInput(
            f"has vectors of {width} numbers, row 0 of {expected}.", where=f"row {number}"
        )


def _shares(weights: Sequence[float] | None, count: int, number: int) -> np.ndarray:
    if weights is None:
        return np.full(count, 1.0 / count)
    share = np.asarray(weights, dtype=np.float64)
    valid = np.isfinite(share) & (share >= 0)
    if share.shape != (count,) or not valid.all() or share.sum() <= 0:
        raise InvalidInput(
            f"weights are not {count} numbers of at least 0 with a positive sum.",
            where=f"row {number}",
        )
    return share / share.sum()
