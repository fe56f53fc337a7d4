"""Patterns that greedy learners miss: cells of one to four columns, parities of more, periods, and
last digits.

Stage by stage, from one column to four: of all sets of columns, cut into cells, those whose cells
explain more of what is left of the target than chance over all sets tried allows. Each set found
becomes a feature, the share of every class in the row's cell; what it explains is taken away
before the next is sought.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb

import numpy as np
from scipy.stats import chi2

from easeml.lifecycle.compiled import njit
from easeml.lifecycle.feasibility.columns import Column, cells, last_digits, parted
from easeml.lifecycle.feasibility.parities import MOST_COLUMNS, parity_gains, set_sizes

BINS = {1: 64, 2: 8, 3: 4, 4: 2}  # cells a column, by the number of columns
MOST_FOUND = {1: 10, 2: 4, 3: 3, 4: 3}
WORK = 1.2e8  # sets of columns x rows x classes that an order may cost; else it is left out
CHANCE = 0.01  # that an order finds a set where there is none
PERIODS = 96  # most periods over a column's range
FEWEST_HALVES = 3
PERIOD_CELLS = 24
LIMITS = 15  # places tried first for the limit of a column in a parity
FINER = 8  # places tried then on either side of the best, as close as 1 / 128 of the rows
MANY_CLASSES = 4  # above, an order keeps one set only: every class is a feature
PARTS = 5  # of the training rows, for shares that have not seen the row's own label
PRIOR = 1.0  # rows of the whole table's shares added to every cell


@dataclass(frozen=True)
class Cut:
    """A way to give every row of the table a cell: (rows,) numbers from 0."""

    name: str
    codes: np.ndarray


@dataclass
class Patterns:
    """What the search may look at: the same for every fold, and label-free."""

    columns: Sequence[Column]
    classes: int
    cut: dict[int, np.ndarray] = field(default_factory=dict)
    sizes: dict[int, np.ndarray] = field(default_factory=dict)
    levels: list[Cut] = field(default_factory=list)
    waves: list[np.ndarray | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        for order, bins in BINS.items():
            coded = [cells(column, bins) for column in self.columns]
            self.cut[order] = np.array(coded, dtype=np.int64)
            self.sizes[order] = np.array([codes.max() + 1 for codes in coded], dtype=np.int64)
        for column in self.columns:
            if column.levels is not None:
                self.levels.append(Cut(column.name, column.levels + 1))
            digits = last_digits(column)
            if digits is not None:
                self.levels.append(Cut(f"{column.name} last digit", digits))
            self.waves.append(_waves(column))

    def orders(self, rows: int) -> list[int]:
        """Return how many columns at once are searched with so many rows, in order."""
        width = max(1, self.classes if self.classes > 2 else 1)
        able = []
        most = max(BINS) if self.classes <= MANY_CLASSES else 2
        for order in range(1, most + 1):
            sets = comb(len(self.columns), order)
            if sets and sets * rows * width <= WORK:
                able.append(order)
        return able

    def tried(self, rows: int) -> int:
        """Return how many sets of columns and periods the search compares."""
        sets = sum(comb(len(self.columns), order) for order in self.orders(rows))
        periods = sum(wave.shape[1] // 2 for wave in self.waves if wave is not None)
        return max(1, sets + periods + self.parities)

    def are_all_tried(self, rows: int) -> bool:
        """Tell whether every set of columns is searched, so that no pattern hides in many."""
        if not self.columns:
            return False
        return bool(self.parities) or len(self.columns) in self.orders(rows)

    @property
    def parities(self) -> int:
        """How many sets of more columns than ``orders`` are searched for a parity."""
        columns = len(self.columns)
        if columns > MOST_COLUMNS or self.classes > MANY_CLASSES:
            return 0
        return sum(comb(columns, order) for order in range(max(BINS) + 1, columns + 1))


def find(patterns: Patterns, target: np.ndarray, rows: np.ndarray) -> list[Cut]:
    """Return the cuts that explain more of the target of ``rows`` (positions) than chance allows.

    ``target``: (all rows,) class numbers, or numbers of unit variance where ``classes`` is 0.
    """
    if not patterns.columns:
        return []
    left = _indicators(target[rows], patterns.classes)
    found = _explained(patterns.levels, left, rows)
    found += _periodic(patterns, left, rows)
    for order in patterns.orders(len(rows)):
        found += _of_order(patterns, order, left, rows)
    if patterns.parities:
        found += _parities(patterns, left, rows)
    return found


def shares(
    cut: Cut, target: np.ndarray, classes: int, rows: np.ndarray, others: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return what each cell says of the target: for ``rows``, without their own part of the labels,
    and for ``others``.

    Both (rows, C), or one column for two classes and for numbers.
    """
    left = _raw_indicators(target[rows], classes)
    prior = left.mean(axis=1)
    size = int(cut.codes.max()) + 1
    own, part = cut.codes[rows], np.arange(len(rows)) % PARTS
    sums = np.zeros((PARTS, len(left), size))
    counts = np.zeros((PARTS, size))
    for number in range(PARTS):
        mine = part == number
        counts[number] = np.bincount(own[mine], minlength=size)
        for place, values in enumerate(left):
            sums[number, place] = np.bincount(own[mine], values[mine], minlength=size)
    all_sums, all_counts = sums.sum(axis=0), counts.sum(axis=0)
    rest = (all_sums - sums + PRIOR * prior[:, None]) / (all_counts - counts + PRIOR)[:, None]
    whole = (all_sums + PRIOR * prior[:, None]) / (all_counts + PRIOR)
    return rest[part, :, own], whole[:, cut.codes[others]].T


def _of_order(patterns: Patterns, order: int, left: np.ndarray, rows: np.ndarray) -> list[Cut]:
    """Return the sets of ``order`` columns found, best first; takes what they explain from
    ``left``.
    """
    codes, sizes = patterns.cut[order][:, rows], patterns.sizes[order]
    sets = np.array(list(combinations(range(len(codes)), order)), dtype=np.int64)
    found = []
    most = MOST_FOUND[order] if patterns.classes <= MANY_CLASSES else 1
    taken = np.zeros(len(sets), dtype=bool)
    for _ in range(most):
        gains, freedom = _gains(codes, sizes, sets, _standard(left))
        surprise = chi2.logsf(gains, np.maximum(freedom, 1))
        surprise[taken] = 0.0
        best = int(surprise.argmin())
        if surprise[best] + np.log(len(sets)) > np.log(CHANCE):
            break
        taken[best] = True
        members = sets[best]
        cut = _joined([patterns.cut[order][member] for member in members], patterns, members)
        if order > 1:
            finer = _with_best_limits(patterns, members, left, rows, _joined)
            if finer is not None:
                found.append(finer)
        found.append(cut)
        _take_away(found[-2:] if order > 1 else found[-1:], left, rows)
    return found


def _parities(patterns: Patterns, left: np.ndarray, rows: np.ndarray) -> list[Cut]:
    """Return the parity of more than four columns that explains most, if chance would not."""
    halves = patterns.cut[4] % 2  # a missing cell counts as low
    gains = parity_gains(halves[:, rows], _standard(left))
    gains[set_sizes(len(halves)) <= max(BINS)] = 0.0
    best = int(gains.argmax())
    if chi2.logsf(gains[best], len(left)) + np.log(patterns.parities) > np.log(CHANCE):
        return []
    members = np.flatnonzero(best >> np.arange(len(halves)) & 1)
    cut = _parity([patterns.cut[4][member] for member in members], patterns, members)
    finer = _with_best_limits(patterns, members, left, rows, _parity)
    found = [cut] if finer is None else [finer, cut]
    _take_away(found, left, rows)
    return found


def _parity(parts: Sequence[np.ndarray], patterns: Patterns, members: np.ndarray) -> Cut:
    """Return two cells: by whether an even number of the columns is high."""
    names = ", ".join(patterns.columns[member].name for member in members)
    return Cut(f"parity of {names}", np.sum([part % 2 for part in parts], axis=0) % 2)


def _joined(parts: Sequence[np.ndarray], patterns: Patterns, members: np.ndarray) -> Cut:
    codes = np.zeros(len(parts[0]), dtype=np.int64)
    for part in parts:
        codes = codes * (int(part.max()) + 1) + part
    return Cut(" x ".join(patterns.columns[member].name for member in members), codes)


def _with_best_limits(
    patterns: Patterns,
    members: np.ndarray,
    left: np.ndarray,
    rows: np.ndarray,
    join: Callable[[Sequence[np.ndarray], Patterns, np.ndarray], Cut],
) -> Cut | None:
    """Return the set with every number parted in two where it explains most; None without numbers.

    One limit is moved at a time: twice round in coarse steps, then twice in fine ones.
    """
    columns = [patterns.columns[member] for member in members]
    parts = [patterns.cut[4][member] for member in members]
    numeric = [place for place, column in enumerate(columns) if column.numbers is not None]
    if not numeric:
        return None
    standard = _standard(left)
    at = dict.fromkeys(numeric, 0.5)
    coarse = np.arange(1, LIMITS + 1) / (LIMITS + 1)
    fine = np.arange(-FINER, FINER + 1) / (FINER * (LIMITS + 1))
    most = -np.inf
    for turn in range(4):
        for place in numeric:
            levels = coarse if turn < 2 else (at[place] + fine).clip(0, 1)
            numbers = columns[place].numbers
            for level, limit in zip(levels, np.nanquantile(numbers, levels), strict=True):
                before = parts[place]
                parts[place] = parted(columns[place], float(limit))
                gain = _gain(join(parts, patterns, members).codes[rows], standard)
                if gain > most:
                    most, at[place] = gain, float(level)
                else:
                    parts[place] = before
    cut = join(parts, patterns, members)
    return Cut(f"{cut.name}, limits moved", cut.codes)


def _gain(codes: np.ndarray, standard: np.ndarray) -> float:
    """Return what cells explain, (rows,), whatever their number."""
    sizes = np.array([codes.max() + 1])
    return float(_gains(codes[None], sizes, np.zeros((1, 1), np.int64), standard)[0][0])


def _explained(cuts: Sequence[Cut], left: np.ndarray, rows: np.ndarray) -> list[Cut]:
    """Return the categories that explain something, by all of their values."""
    found = []
    for cut in cuts:
        codes = cut.codes[None, rows]
        sizes = np.array([int(cut.codes.max()) + 1])
        gains, freedom = _gains(codes, sizes, np.zeros((1, 1), np.int64), _standard(left))
        surprise = chi2.logsf(gains[0], max(1, freedom[0]))
        if surprise + np.log(len(cuts)) < np.log(CHANCE):
            found.append(cut)
    _take_away(found, left, rows)
    return found


def _periodic(patterns: Patterns, left: np.ndarray, rows: np.ndarray) -> list[Cut]:
    """Return the columns whose phase explains something, one period each."""
    found = []
    periods = sum(wave.shape[1] // 2 for wave in patterns.waves if wave is not None)
    standard = _standard(left)
    for column, wave in zip(patterns.columns, patterns.waves, strict=True):
        if wave is None:
            continue
        products = standard @ wave[rows]
        half = wave.shape[1] // 2
        power = (products[:, :half] ** 2 + products[:, half:] ** 2).sum(axis=0) * 2 / len(rows)
        best = int(power.argmax())
        if best < FEWEST_HALVES:
            continue  # a trend, which other cuts see better
        if chi2.logsf(power[best], 2 * len(left)) + np.log(periods) > np.log(CHANCE):
            continue
        found.append(_phase(column, (best + 1) / 2, standard, rows))
    _take_away(found, left, rows)
    return found


def _phase(column: Column, periods: float, standard: np.ndarray, rows: np.ndarray) -> Cut:
    """Return cells of the phase, with the number of periods made exact."""
    unit = _unit(column)
    known = np.nan_to_num(unit[rows])
    tried = periods + np.linspace(-0.5, 0.5, 41)
    turns = np.exp(2j * np.pi * known[:, None] * tried)
    exact = float(tried[(np.abs(standard @ turns) ** 2).sum(axis=0).argmax()])
    phase = (unit * exact) % 1
    codes = np.where(np.isnan(phase), PERIOD_CELLS, np.nan_to_num(phase) * PERIOD_CELLS)
    return Cut(f"{column.name}, {exact:.1f} periods", codes.astype(np.int64))


def _unit(column: Column) -> np.ndarray:
    """Return the column stretched to [0, 1], NaN where missing."""
    assert column.numbers is not None
    low, high = np.nanmin(column.numbers), np.nanmax(column.numbers)
    return (column.numbers - low) / ((high - low) or 1.0)


def _waves(column: Column) -> np.ndarray | None:
    """Return cosines and sines, (rows, 2 x numbers of periods), of a number with many values."""
    if column.numbers is None:
        return None
    known = ~np.isnan(column.numbers)
    if len(np.unique(column.numbers[known])) <= BINS[1] or len(known) > 10 * 2500:
        return None
    periods = np.arange(1, 2 * PERIODS + 1) / 2
    turns = 2 * np.pi * np.nan_to_num(_unit(column))[:, None] * periods
    waves = np.hstack([np.cos(turns), np.sin(turns)]).astype(np.float32)
    return waves * known[:, None]


def _raw_indicators(target: np.ndarray, classes: int) -> np.ndarray:
    """Return (C, rows) 0 or 1 a class; a single row for two classes, and for numbers themselves."""
    if not classes:
        return target[None, :].astype(float)
    if classes == 2:
        return (target == 1)[None, :].astype(float)
    return (target == np.arange(classes)[:, None]).astype(float)


def _indicators(target: np.ndarray, classes: int) -> np.ndarray:
    """Return the same without their means: what is left to explain."""
    raw = _raw_indicators(target, classes)
    return raw - raw.mean(axis=1, keepdims=True)


def _standard(left: np.ndarray) -> np.ndarray:
    """Return what is left, each row of unit variance (0 where nothing is left)."""
    spread = left.std(axis=1, keepdims=True)
    return (left - left.mean(axis=1, keepdims=True)) / np.where(spread > 1e-9, spread, np.inf)


def _take_away(cuts: Sequence[Cut], left: np.ndarray, rows: np.ndarray) -> None:
    """Subtract the cells' means from what is left to explain, in place."""
    for cut in cuts:
        own = cut.codes[rows]
        counts = np.bincount(own) + PRIOR
        for place, values in enumerate(left):
            left[place] = values - (np.bincount(own, values) / counts)[own]


@njit(cache=True)
def _gains(codes, sizes, sets, left):  # pragma: no cover - compiled
    """Return for every set the sum over cells of (sum of what is left)^2 / rows, and the degrees of
    freedom.

    ``codes``: (columns, rows) cells, ``sizes`` (columns,), ``sets``: (sets, order), ``left``: (C,
    rows) of unit variance.
    """
    gains = np.zeros(len(sets))
    freedom = np.zeros(len(sets), dtype=np.int64)
    rows = codes.shape[1]
    width = len(left)
    cell = np.empty(rows, dtype=np.int64)
    for number in range(len(sets)):
        size = 1
        cell[:] = 0
        for member in sets[number]:
            for row in range(rows):
                cell[row] = cell[row] * sizes[member] + codes[member, row]
            size *= sizes[member]
        counts = np.zeros(size, dtype=np.int64)
        sums = np.zeros((width, size))
        for row in range(rows):
            counts[cell[row]] += 1
        for place in range(width):
            for row in range(rows):
                sums[place, cell[row]] += left[place, row]
        filled = 0
        for c in range(size):
            if counts[c]:
                filled += 1
                for place in range(width):
                    gains[number] += sums[place, c] ** 2 / counts[c]
        freedom[number] = max(0, filled - 1) * max(1, width - (1 if width > 1 else 0))
    return gains, freedom
