"""What is uncertain in a relation, as arrays: blocks of candidates, row after row.

A *block* is some cells of one row that vary together. It has one or more candidates, of which one
is true; a candidate may also say that the row does not exist. Blocks with different *variables* are
independent: a row with three uncertain cells has three blocks and as many candidate rows as the
product of their sizes, without these rows being written down. Blocks with one variable take the
same candidate: a join makes such copies. (Components of a world-set decomposition: Antova, Koch and
Olteanu, ICDE 2007; with one block a row, a block-independent-disjoint table.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from easeml.errors import TooLarge

MOST_CANDIDATES = 5_000_000
"""Candidates that blocks may have after they were multiplied."""


@dataclass(frozen=True)
class CandidateCells:
    """Cells of one column: ``values`` (t,) of the candidates with the numbers ``place`` (t,)."""

    place: np.ndarray
    values: pa.Array


@dataclass(frozen=True)
class Blocks:
    """B blocks with T candidates in all; those of block b are ``first[b]:first[b + 1]``.

    ``row`` (B,): the position of each block's row, ascending. ``variable`` (B,): equal where blocks
    take the same candidate. ``weight`` (T,): probabilities, which sum to one in each block.
    ``present`` (T,): whether the row exists. ``source`` (T,): number of the candidate's source, -1
    where none is known. ``cells``: by column, what the candidates say of it.
    """

    row: np.ndarray
    variable: np.ndarray
    first: np.ndarray
    weight: np.ndarray
    present: np.ndarray
    source: np.ndarray
    cells: Mapping[str, CandidateCells]

    @classmethod
    def none(cls) -> Blocks:
        """Return no blocks: nothing is uncertain."""
        numbers = np.zeros(0, np.int64)
        return cls(
            row=numbers,
            variable=numbers,
            first=np.zeros(1, np.int64),
            weight=np.zeros(0),
            present=np.zeros(0, bool),
            source=np.zeros(0, np.int32),
            cells={},
        )

    def __len__(self) -> int:
        return len(self.row)

    @cached_property
    def sizes(self) -> np.ndarray:
        """(B,) how many candidates each block has."""
        return np.diff(self.first)

    @cached_property
    def doubts(self) -> int:
        """How many blocks have more than one candidate; one alone is what was found out."""
        return int(np.count_nonzero(self.sizes > 1))

    @cached_property
    def block(self) -> np.ndarray:
        """(T,) the block of each candidate."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @cached_property
    def optional(self) -> np.ndarray:
        """(B,) whether some candidate of a block says that its row does not exist."""
        marked = np.zeros(len(self), bool)
        marked[self.block[~self.present]] = True
        return marked

    @cached_property
    def independent(self) -> bool:
        """Whether no two blocks take the same candidate."""
        return len(np.unique(self.variable)) == len(self)

    def covering(self, *columns: str) -> np.ndarray:
        """Return (B,) whether each block says something of one of the columns."""
        marked = np.zeros(len(self), bool)
        for column in self.cells.keys() & set(columns):
            marked[self.block[self.cells[column].place]] = True
        return marked

    def columns_of(self, block: int) -> set[str]:
        """Return the columns that a block covers."""
        low, high = self.first[block], self.first[block + 1]
        covered = set()
        for column, cells in self.cells.items():
            begin = np.searchsorted(cells.place, low)
            if begin < len(cells.place) and cells.place[begin] < high:
                covered.add(column)
        return covered

    def take(self, numbers: np.ndarray, rows: np.ndarray | None = None) -> Blocks:
        """Return the blocks with these numbers, in this order; a number may come several times.

        ``rows``: their new positions; None: as before.
        """
        sizes = self.sizes[numbers]
        first = offsets(sizes)
        within = np.arange(first[-1]) - np.repeat(first[:-1], sizes)
        picked = np.repeat(self.first[numbers], sizes) + within
        return Blocks(
            row=self.row[numbers] if rows is None else rows,
            variable=self.variable[numbers],
            first=first,
            weight=self.weight[picked],
            present=self.present[picked],
            source=self.source[picked],
            cells=_taken(self.cells, picked, len(self.weight)),
        )

    def sorted(self) -> Blocks:
        """Return the blocks in order of their rows."""
        if np.all(self.row[:-1] <= self.row[1:]):
            return self
        return self.take(np.argsort(self.row, kind="stable"))

    def restricted(self, columns: Sequence[str]) -> Blocks:
        """Return all blocks, but without the cells of other columns."""
        kept = {name: cells for name, cells in self.cells.items() if name in columns}
        return replace(self, cells=kept)

    def one_a_row(self) -> Blocks:
        """Return the blocks such that each row has at most one: those of a row are multiplied.

        A column that two blocks of a row cover takes the cell of the first that has one. The
        blocks have to be independent.

        Raises:
            TooLarge: where this would make more than ``MOST_CANDIDATES`` candidates.
        """
        blocks = self
        while True:
            again = np.flatnonzero(blocks.row[1:] == blocks.row[:-1])
            if len(again) == 0:
                return blocks
            leads = _leaders(again)
            blocks = _multiplied(blocks, leads)


def concatenated(parts: Sequence[Blocks]) -> Blocks:
    """Return the blocks of all parts, in order of rows. Variables are taken as they are."""
    if len(parts) == 1:
        return parts[0].sorted()

    def stacked(name: str) -> np.ndarray:
        return np.concatenate([getattr(part, name) for part in parts])

    counts = np.array([len(part.weight) for part in parts], np.int64)
    return Blocks(
        row=stacked("row"),
        variable=stacked("variable"),
        first=offsets(stacked("sizes")),
        weight=stacked("weight"),
        present=stacked("present"),
        source=stacked("source"),
        cells=_joined_cells(parts, offsets(counts)[:-1]),
    ).sorted()


def offsets(sizes: np.ndarray) -> np.ndarray:
    """Return where groups of these sizes begin, and where the last ends: (n + 1,) int64."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _joined_cells(parts: Sequence[Blocks], shifts: np.ndarray) -> dict[str, CandidateCells]:
    """Return the cells of all parts; ``shifts``: what is added to the numbers of candidates."""
    places: dict[str, list[np.ndarray]] = {}
    values: dict[str, list[pa.Array]] = {}
    for part, shift in zip(parts, shifts, strict=True):
        for name, cells in part.cells.items():
            places.setdefault(name, []).append(cells.place + shift)
            values.setdefault(name, []).append(cells.values)
    joined = {}
    for name, of_parts in places.items():
        place = np.concatenate(of_parts)
        joined[name] = CandidateCells(place, pa.concat_arrays(values[name]))
    return joined


def _taken(
    cells: Mapping[str, CandidateCells], picked: np.ndarray, count: int
) -> dict[str, CandidateCells]:
    """Return the cells of the ``picked`` of ``count`` candidates, numbered anew."""
    taken = {}
    for name, column in cells.items():
        found = _cell_numbers(column, count)[picked]
        place = np.flatnonzero(found >= 0)
        if len(place):
            taken[name] = CandidateCells(place, column.values.take(pa.array(found[place])))
    return taken


def _cell_numbers(column: CandidateCells, count: int) -> np.ndarray:
    """Return (count,) the number of each candidate's cell in ``column.values``, -1 where none."""
    numbers = np.full(count, -1, np.int64)
    numbers[column.place] = np.arange(len(column.place))
    return numbers


def _leaders(again: np.ndarray) -> np.ndarray:
    """Return of neighbouring block numbers each second one: pairs that do not overlap."""
    starts = np.concatenate([[True], np.diff(again) > 1])
    begin = np.maximum.accumulate(np.where(starts, np.arange(len(again)), 0))
    place_in_run = np.arange(len(again)) - begin
    return again[place_in_run % 2 == 0]


def _multiplied(blocks: Blocks, leads: np.ndarray) -> Blocks:
    """Multiply each block of ``leads`` with the one that follows it."""
    left_sizes, right_sizes = blocks.sizes[leads], blocks.sizes[leads + 1]
    sizes = left_sizes * right_sizes
    if sizes.sum() > MOST_CANDIDATES:
        raise TooLarge(
            f"The rows have more than {MOST_CANDIDATES:,} candidates when their cells are combined.",
            remedy="Ask about fewer uncertain columns at once, or give fewer candidates a cell.",
        )
    first = offsets(sizes)
    within = np.arange(first[-1]) - np.repeat(first[:-1], sizes)
    ways = np.repeat(right_sizes, sizes)
    left = np.repeat(blocks.first[leads], sizes) + within // ways
    right = np.repeat(blocks.first[leads + 1], sizes) + within % ways
    products = Blocks(
        row=blocks.row[leads],
        variable=blocks.variable[leads],
        first=first,
        weight=blocks.weight[left] * blocks.weight[right],
        present=blocks.present[left] & blocks.present[right],
        source=np.full(len(left), -1, np.int32),
        cells=_product_cells(blocks, left, right),
    )
    others = np.ones(len(blocks), bool)
    others[leads] = False
    others[leads + 1] = False
    return concatenated([products, blocks.take(np.flatnonzero(others))])


def _product_cells(
    blocks: Blocks, left: np.ndarray, right: np.ndarray
) -> dict[str, CandidateCells]:
    made = {}
    for name, column in blocks.cells.items():
        numbers = _cell_numbers(column, len(blocks.weight))
        found = np.where(numbers[left] >= 0, numbers[left], numbers[right])
        place = np.flatnonzero(found >= 0)
        if len(place):
            made[name] = CandidateCells(place, column.values.take(pa.array(found[place])))
    return made
