"""Sums, counts, means and extremes of a relation's column, as distributions over its worlds.

All of them see a row as a number that counts, or as nothing: where the row does not exist, or its
cell has no value. What is certain is added up once; what is not, is computed exactly where rows are
independent, or where a join repeated candidates but each row has one block. Elsewhere, and where
there are too many different sums, worlds are drawn, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from easeml.relation.blocks import Blocks, offsets
from easeml.relation.blurred import blurred_sum, shifted
from easeml.relation.content import Content, numbers_in, plain_values
from easeml.relation.distributions import (
    DRAWS,
    Distribution,
    distribution_of,
    drawn_distribution,
    largest,
    totals,
)
from easeml.relation.outcomes import is_one_a_row, relevant_blocks, values_of

_CELLS_AT_ONCE = 4_000_000  # candidates drawn at a time


@dataclass(frozen=True)
class _Numbers:
    """Numbers of a column. ``certain`` (n,): those that every world has.

    Group g, whose candidates are ``first[g]:first[g + 1]``, is one or several rows that take the
    same candidate: ``total`` (T,) sums and ``count`` (T,) counts what the candidate brings,
    ``highest`` and ``lowest`` are -infinity and infinity where it brings nothing.
    """

    certain: np.ndarray
    first: np.ndarray
    weight: np.ndarray
    total: np.ndarray
    count: np.ndarray
    highest: np.ndarray
    lowest: np.ndarray


def sum_of(content: Content, column: str) -> Distribution:
    """Return how the sum of a column is distributed; 0 where no row has a value."""
    blocks, numbers = _read(content, column)
    if numbers is None:
        return _drawn(content, column, blocks, np.nansum)
    base = float(numbers.certain.sum())
    if len(numbers.first) == 1:
        return distribution_of(np.array([base]), np.ones(1))
    return _shifted_sum(numbers, base)


def _shifted_sum(numbers: _Numbers, base: float) -> Distribution:
    """Return how the sum of the uncertain numbers is distributed, with ``base`` added.

    Exact where there are few enough different sums, blurred otherwise; mean and variance are exact.
    """
    mean, variance = _moments_of_sum(numbers)
    nothing = np.zeros_like(numbers.count)
    found = totals(numbers.total, nothing, numbers.weight, numbers.first)
    if found is None:
        blurred = blurred_sum(numbers.total, numbers.weight, numbers.first, mean, variance)
        return shifted(blurred, base)
    result = distribution_of(_tidy(base + found.sums), found.probabilities)
    return replace(result, mean=base + mean, variance=variance)


def average_of(content: Content, column: str) -> Distribution:
    """Return how the mean of a column is distributed; undefined where no row has a value."""
    blocks, numbers = _read(content, column)
    if numbers is None:
        return _drawn(content, column, blocks, _mean)
    base = float(numbers.certain.sum())
    rows = len(numbers.certain)
    if len(numbers.first) == 1:
        known = np.array([base / rows]) if rows else np.zeros(0)
        return distribution_of(known, np.ones(len(known)), undefined=float(rows == 0))
    if _count_alike(numbers):
        counted = rows + int(numbers.count[numbers.first[:-1]].sum())
        return _divided(_shifted_sum(numbers, base), counted)
    found = totals(numbers.total, numbers.count, numbers.weight, numbers.first)
    if found is None:
        return _drawn(content, column, blocks, _mean)
    counts = rows + found.counts
    some = counts > 0
    means = (base + found.sums[some]) / counts[some]
    return distribution_of(means, found.probabilities[some], found.probabilities[~some].sum())


def _count_alike(numbers: _Numbers) -> bool:
    """Tell whether as many values count in every world, and at least one."""
    by_group = numbers.count[numbers.first[:-1]]
    same = np.repeat(by_group, np.diff(numbers.first)) == numbers.count
    return bool(same.all()) and len(numbers.certain) + int(by_group.sum()) > 0


def _divided(total: Distribution, count: int) -> Distribution:
    """Return how a sum is distributed when it is divided by a number."""
    return replace(
        total,
        values=total.values / count,
        mean=total.mean / count,
        variance=total.variance / count**2,
        resolution=total.resolution / count,
    )


def maximum_of(content: Content, column: str) -> Distribution:
    """Return how the largest value of a column is distributed; undefined where there is none."""
    blocks, numbers = _read(content, column)
    if numbers is None:
        return _drawn(content, column, blocks, _largest)
    least = float(numbers.certain.max(initial=-np.inf))
    return largest(*_with_certain(numbers, numbers.highest, least))


def minimum_of(content: Content, column: str) -> Distribution:
    """Return how the smallest value of a column is distributed; undefined where there is none."""
    blocks, numbers = _read(content, column)
    if numbers is None:
        return _drawn(content, column, blocks, lambda values: -_largest(-values))
    most = float(numbers.certain.min(initial=np.inf))
    mirrored = largest(*_with_certain(numbers, -numbers.lowest, -most))
    return replace(
        mirrored,
        values=-mirrored.values[::-1],
        probabilities=mirrored.probabilities[::-1],
        mean=-mirrored.mean,
    )


def count_of(content: Content) -> Distribution:
    """Return how the number of rows is distributed: Poisson-binomial under row independence."""
    blocks = _multiplied(relevant_blocks(content, []))
    ones = np.ones(content.table.num_rows)
    numbers = _numbers(blocks, ones, np.ones(len(blocks.weight)))
    if numbers is None:
        return _count_in(blocks, ones)
    base = len(numbers.certain)
    if len(numbers.first) == 1:
        return distribution_of(np.array([float(base)]), np.ones(1))
    found = totals(numbers.total, np.zeros_like(numbers.count), numbers.weight, numbers.first)
    if found is None:
        return _count_in(blocks, ones)
    return distribution_of(base + found.sums, found.probabilities)


def _read(content: Content, column: str) -> tuple[Blocks, _Numbers | None]:
    """Return the blocks that matter for a column, and its numbers.

    None where rows of several blocks share candidates, so that worlds have to be drawn.
    """
    content.type_of(column)
    blocks = _multiplied(relevant_blocks(content, [column]))
    known = numbers_in(plain_values(content.table.column(column)), column)
    return blocks, _numbers(blocks, known, numbers_in(values_of(content, blocks, column), column))


def _multiplied(blocks: Blocks) -> Blocks:
    """Return blocks of which each row has one, where they are independent."""
    return blocks.one_a_row() if blocks.independent else blocks


def _numbers(blocks: Blocks, known: np.ndarray, values: np.ndarray) -> _Numbers | None:
    """``known`` (N,) numbers as given, ``values`` (T,) those of the candidates.

    None where a row has several blocks, of which some take the same candidate as others.
    """
    if not is_one_a_row(blocks):
        return None
    certain = np.ones(len(known), bool)
    certain[blocks.row] = False
    counts = blocks.present & ~np.isnan(values)
    return _by_variable(blocks, known[certain & ~np.isnan(known)], values, counts)


def _by_variable(
    blocks: Blocks, certain: np.ndarray, values: np.ndarray, counts: np.ndarray
) -> _Numbers:
    """Add up blocks that take the same candidate: their candidates stand in the same order."""
    _, leader, group = np.unique(blocks.variable, return_index=True, return_inverse=True)
    first = offsets(blocks.sizes[leader])
    within = np.arange(len(values)) - np.repeat(blocks.first[:-1], blocks.sizes)
    target = first[group][blocks.block] + within
    size = int(first[-1])
    weight = np.zeros(size)
    weight[target] = blocks.weight
    highest = np.full(size, -np.inf)
    lowest = np.full(size, np.inf)
    np.maximum.at(highest, target[counts], values[counts])
    np.minimum.at(lowest, target[counts], values[counts])
    total = np.bincount(target, np.where(counts, values, 0.0), minlength=size)
    count = np.bincount(target, counts, minlength=size).astype(np.int64)
    return _Numbers(certain, first, weight, total, count, highest, lowest)


def _moments_of_sum(numbers: _Numbers) -> tuple[float, float]:
    """Means and variances of independent numbers add."""
    starts = numbers.first[:-1]
    means = np.add.reduceat(numbers.weight * numbers.total, starts)
    centred = numbers.total - np.repeat(means, np.diff(numbers.first))
    return float(means.sum()), float((numbers.weight * centred**2).sum())


def _with_certain(
    numbers: _Numbers, values: np.ndarray, certain: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Put what is certain beside the groups, as one more group of one candidate."""
    values = np.append(values, certain)
    first = np.append(numbers.first, len(values))
    return values, np.append(numbers.weight, 1.0), first


def _tidy(sums: np.ndarray) -> np.ndarray:
    """Round sums of numbers with few decimals, which came out of a grid, to six decimals."""
    rounded = np.round(sums, 6)
    close = np.abs(sums - rounded) <= 1e-9 * np.maximum(np.abs(sums), 1.0)
    return rounded if close.all() else sums


def _mean(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan


def _largest(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(known.max()) if len(known) else np.nan


def _count_in(blocks: Blocks, ones: np.ndarray) -> Distribution:
    says = np.zeros(len(blocks.weight), bool)
    return _drawn_worlds(blocks, ones, np.zeros(len(says)), says, np.nansum)


def _drawn(
    content: Content, column: str, blocks: Blocks, answer: Callable[[np.ndarray], float]
) -> Distribution:
    """Return an answer's distribution over drawn worlds."""
    known = numbers_in(plain_values(content.table.column(column)), column)
    says = np.zeros(len(blocks.weight), bool)
    if column in blocks.cells:
        says[blocks.cells[column].place] = True
    values = numbers_in(values_of(content, blocks, column), column)
    return _drawn_worlds(blocks, known, values, says, answer)


def _drawn_worlds(
    blocks: Blocks,
    known: np.ndarray,
    values: np.ndarray,
    says: np.ndarray,
    answer: Callable[[np.ndarray], float],
) -> Distribution:
    """Draw worlds from the fixed seed 0, so that equal questions have equal answers.

    ``values`` (T,) of the candidates that say something of the column, ``known`` (N,) of all rows.
    """
    rng = np.random.default_rng(0)
    certain = np.ones(len(known), bool)
    certain[blocks.row] = False
    rows, starts = np.unique(blocks.row, return_index=True)
    chunk = max(1, _CELLS_AT_ONCE // max(len(known), 1))
    answers = []
    while len(answers) < DRAWS:
        count = min(chunk, DRAWS - len(answers))
        for chosen in drawn_candidates(blocks, rng, count):
            there = np.logical_and.reduceat(blocks.present[chosen], starts)
            told = np.where(says[chosen], values[chosen], 0.0)
            by_block = np.logical_or.reduceat(says[chosen], starts)
            cells = np.where(by_block, np.add.reduceat(told, starts), known[rows])
            world = np.concatenate([known[certain], np.where(there, cells, np.nan)])
            answers.append(float(answer(world)))
    return drawn_distribution(np.array(answers))


def drawn_candidates(blocks: Blocks, rng: np.random.Generator, count: int) -> np.ndarray:
    """Return (count, B) the candidate that each block takes in each drawn world."""
    _, leader, group = np.unique(blocks.variable, return_index=True, return_inverse=True)
    reached = np.cumsum(blocks.weight)
    before = np.concatenate([[0.0], reached])[blocks.first[leader]]
    aims = before + rng.random((count, len(leader))) * (1 - 1e-12)
    chosen = np.searchsorted(reached, aims, side="right")
    low, high = blocks.first[leader], blocks.first[leader + 1] - 1
    within = np.clip(chosen, low, high) - low
    return blocks.first[:-1] + within[:, group]
