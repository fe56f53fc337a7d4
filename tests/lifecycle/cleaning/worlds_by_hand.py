"""The oracle: all worlds, one by one."""

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from easeml.lifecycle.cleaning import Incomplete


def vote(distances: Sequence[float], labels: Sequence[Any], k: int) -> Any:
    """The label of the k nearest: smaller index first among equals, smallest label first among
    equal votes.
    """
    nearest = sorted(range(len(distances)), key=lambda i: (distances[i], i))[:k]
    votes = Counter(labels[i] for i in nearest)
    return min(votes, key=lambda label: (-votes[label], label))


def all_worlds(
    rows: Incomplete, x: Sequence[float], k: int
) -> Iterator[tuple[tuple[int, ...], float, Any]]:
    """Yield every world: its choice of candidates, its probability, and the label that it gives to
    x.
    """
    far = [
        [sum((a - b) ** 2 for a, b in zip(c, x, strict=True)) for c in rows.candidates_of(i)]
        for i in range(len(rows))
    ]
    labels = rows.labels.tolist()
    for choice in itertools.product(*[range(size) for size in rows.sizes]):
        share = math.prod(float(rows.weights_of(i)[j]) for i, j in enumerate(choice))
        yield choice, share, vote([far[i][j] for i, j in enumerate(choice)], labels, k)


def count(rows: Incomplete, x: Sequence[float], k: int) -> dict[Any, int]:
    """How many worlds give each label."""
    found = Counter(label for _, _, label in all_worlds(rows, x, k))
    return {label: found[label] for label in rows.classes.tolist()}


def shares(
    rows: Incomplete, x: Sequence[float], k: int, known: tuple[int, int] | None = None
) -> list[float]:
    """The probability of each label, given that row ``known[0]`` is its candidate ``known[1]``."""
    found: Counter[Any] = Counter()
    for choice, share, label in all_worlds(rows, x, k):
        if known is None or choice[known[0]] == known[1]:
            found[label] += share
    total = sum(found.values())
    return [found[label] / total for label in rows.classes.tolist()]


def bits(parts: Sequence[float]) -> float:
    """Entropy."""
    return -sum(p * math.log2(p) for p in parts if p > 0)


def gain(rows: Incomplete, x: Sequence[float], k: int, row: int) -> float:
    """Bits that knowing a row takes off the entropy of the label of x, on average."""
    after = sum(
        float(p) * bits(shares(rows, x, k, (row, j))) for j, p in enumerate(rows.weights_of(row))
    )
    return bits(shares(rows, x, k)) - after


def random_rows(
    generator: np.random.Generator, *, most_rows: int = 6, classes: int = 4
) -> tuple[Incomplete, np.ndarray]:
    """Small rows on a coarse grid, so that ties abound, and a point."""
    n, width = int(generator.integers(1, most_rows + 1)), int(generator.integers(1, 3))
    candidates = [
        generator.integers(0, 5, (int(generator.integers(1, 4)), width)) for _ in range(n)
    ]
    weights = [generator.random(len(block)) + 0.01 for block in candidates]
    rows = Incomplete.of(candidates, generator.integers(0, classes, n), weights)
    return rows, generator.integers(0, 5, width).astype(float)
