"""The counting query in exact integers of any size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.cleaning.incomplete import Incomplete, check_k, check_labels, check_points


def count_worlds(
    candidates: Sequence[Any], labels: Sequence[Any], x: Sequence[float], k: int
) -> dict[Any, int]:
    """Count in how many worlds a k-nearest-neighbour classifier gives each label to a point.

    A world takes one candidate of every row. Distance is Euclidean. Ties: of equally far rows the
    one with the smaller index is nearer; of labels with equally many votes the smallest wins. If k
    is larger than the number of rows, all rows vote. Equal candidates of a row count as different
    worlds. Query Q2 of Karlas et al., "Nearest Neighbor Classifiers over Incomplete Information:
    From Certain Answers to Certain Predictions", VLDB 2021, definition 5.

    Args:
        candidates: for each training row its candidate vectors, M_i x D numbers; with D = 1 plain
            numbers will do.
        labels: (N,) label of each row.
        x: (D,) the point; a number if D = 1.
        k: how many neighbours vote, at least 1.

    Returns:
        Label -> number of worlds, in sorted order of labels; the counts sum to the product of all
        M_i.

    Raises:
        InvalidInput: naming what does not fit.
    """
    rows = Incomplete.of(candidates, labels)
    as_row = np.reshape(np.asarray(x, dtype=np.float64), (1, -1))
    point = check_points(as_row, rows.values.shape[1])[0]
    far = np.zeros(len(rows.values))
    for column, coordinate in zip(rows.values.T, point, strict=True):
        # In the order of the compiled scans: equal candidates tie there and here.
        far += (column - coordinate) ** 2
    return _count(np.split(-far, rows.first[1:-1]), rows.labels, check_k(k))


def count_worlds_by_similarity(
    similarity: Sequence[Sequence[float]], labels: Sequence[Any], k: int
) -> dict[Any, int]:
    """As ``count_worlds``, from similarities of any kind.

    ``similarity``: for each row those of its candidates; larger is nearer.
    """
    if not len(similarity) or len(similarity) != len(labels):
        raise InvalidInput(
            f"{len(similarity)} rows have {len(labels)} labels.", remedy="Give one label a row."
        )
    candidates = [np.reshape(np.asarray(row, dtype=np.float64), -1) for row in similarity]
    rows = Incomplete.of(candidates, labels)
    by_row = np.split(rows.values[:, 0], rows.first[1:-1])
    return _count(by_row, check_labels(labels), check_k(k))


def _count(similarity: list[np.ndarray], labels: np.ndarray, k: int) -> dict[Any, int]:
    """Scan all candidates from near to far; count the worlds where each is the k-th nearest."""
    classes, codes = np.unique(labels, return_inverse=True)
    k = min(k, len(similarity))
    sizes = list(map(len, similarity))
    row_of = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((row_of, -np.concatenate(similarity)))
    nearer = _Nearer(sizes, codes.tolist(), len(classes), k)
    counts = [0] * len(classes)
    for row in row_of[order].tolist():
        if nearer.settled():
            break
        rest = nearer.without(row)
        for label, worlds in nearer.worlds_won(row, rest).items():
            counts[label] += worlds
        nearer.add(row, rest)
    return dict(zip(classes.tolist(), counts, strict=True))


class _Nearer:
    """How many rows of each class are nearer than the place of the scan, over all worlds.

    ``products[c]`` is the product over the rows of class c of (M - m) + m z, with m of the row's M
    candidates nearer; rows with m = M are a factor M and one of ``sure[c]``, so that every factor
    can be divided out again exactly.
    """

    def __init__(self, sizes: list[int], labels: list[int], classes: int, k: int):
        self.sizes = sizes
        self.labels = labels
        self.k = k
        self.seen = [0] * len(sizes)
        self.sure = [0] * classes
        self.maybe = [0] * classes
        self.products = [[1] + [0] * (k - 1) for _ in range(classes)]
        for size, label in zip(sizes, labels, strict=True):
            self.products[label][0] *= size

    def settled(self) -> bool:
        """Tell whether k rows are nearer in all worlds."""
        return sum(self.sure) >= self.k

    def without(self, row: int) -> list[int]:
        """Return the product of the row's class without the factor of the row."""
        product = self.products[self.labels[row]]
        far, near = self.sizes[row] - self.seen[row], self.seen[row]
        return _without(product, far, near)

    def worlds_won(self, row: int, rest: list[int]) -> dict[int, int]:
        """Return, by label, the worlds that it wins with a candidate of this row as k-th nearest.

        ``rest`` is what ``without`` returns for the row.
        """
        y = self.labels[row]
        others_near = sum(self.sure) + sum(self.maybe) - (self.seen[row] > 0)
        if others_near < self.k - 1:
            return {}
        tallies: dict[int, list[int]] = {}
        constant = 1
        for label, product in enumerate(self.products):
            if label == y:
                tallies[label] = self._tally(self.sure[label] + 1, rest)  # with its own vote
            elif self.sure[label] + self.maybe[label]:
                tallies[label] = self._tally(self.sure[label], product)
            else:
                constant *= product[0]  # no row of it is near: it only multiplies worlds
        return {label: constant * _wins(tallies, label, self.k) for label in tallies}

    def _tally(self, sure: int, product: list[int]) -> list[int]:
        """Return the worlds with 0 to k votes: ``sure`` ones, and those that ``product`` counts."""
        tally = [0] * sure + product + [0] * (self.k + 1)
        return tally[: self.k + 1]

    def add(self, row: int, rest: list[int]) -> None:
        """Count one more candidate of a row as nearer; ``rest`` as for ``worlds_won``."""
        label, size = self.labels[row], self.sizes[row]
        if self.seen[row] > 0:
            self.maybe[label] -= 1
        self.seen[row] += 1
        seen = self.seen[row]
        if seen == size:
            self.sure[label] += 1
            self.products[label] = [size * value for value in rest]
            return
        self.maybe[label] += 1
        # rest, times (size - seen) + seen z
        shifted = [0, *rest[:-1]]
        product = []
        for far, near in zip(rest, shifted, strict=True):
            product.append((size - seen) * far + seen * near)
        self.products[label] = product


def _without(product: list[int], far: int, near: int) -> list[int]:
    """Divide a polynomial by far + near z; exact, since that is one of its factors."""
    rest = [product[0] // far]
    for value in product[1:]:
        rest.append((value - near * rest[-1]) // far)
    return rest


def _wins(tallies: dict[int, list[int]], winner: int, k: int) -> int:
    """Count the worlds in which no class beats the winner.

    Without listing tallies: see ``vote_tallies``.
    """
    total = 0
    for votes in range(1, k + 1):
        worlds = tallies[winner][votes]
        if worlds:
            total += worlds * _worlds_of_others(tallies, winner, votes, k - votes)
    return total


def _worlds_of_others(tallies: dict[int, list[int]], winner: int, votes: int, left: int) -> int:
    """Count the worlds in which the others share ``left`` votes, and none beats the winner's."""
    product = [1]
    for label, tally in tallies.items():
        if label == winner:
            continue
        most = votes if label > winner else votes - 1
        product = _times(product, tally[: most + 1], left)
    return product[left] if left < len(product) else 0


def _times(left: list[int], right: list[int], degree: int) -> list[int]:
    """Multiply two polynomials, cut above ``degree``."""
    out = [0] * min(len(left) + len(right) - 1, degree + 1)
    for i, a in enumerate(left):
        if not a:
            continue  # most coefficients are 0
        for j, b in enumerate(right[: len(out) - i]):
            out[i + j] += a * b
    return out
