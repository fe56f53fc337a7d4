"""Patterns that greedy learners miss: cells of columns, parities, periods, digits, remainders.

Stage by stage, from one column to four: of all sets of columns, cut into cells, those whose cells
explain more of what is left of the target than chance over all sets tried allows. Each set found
becomes a feature, the share of every class in the row's cell; what it explains is taken away
before the next is sought.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from math import comb

import numpy as np
from scipy.stats import chi2

from easeml.lifecycle.feasibility.columns import Column, cells, digits, parted
from easeml.lifecycle.feasibility.cuts import (
    PRIOR,
    Cut,
    gain_of,
    gains_of,
    indicators,
    may_be_chance,
    raw_indicators,
    standardised,
    take_away,
)
from easeml.lifecycle.feasibility.parities import MOST_COLUMNS, parity_gains, set_sizes
from easeml.lifecycle.feasibility.remainders import explaining, remainders

BINS = {1: 64, 2: 8, 3: 4, 4: 2}  # cells a column, by the number of columns
WHOLE = 16  # values of a column, each of which has its own cell where two columns are joined
MOST_FOUND = {1: 10, 2: 4, 3: 3, 4: 3}
WORK = 1.2e8  # sets of columns x rows x classes that an order may cost; else it is left out
PERIODS = 96  # most periods over a column's range
FEWEST_HALVES = 3
PERIOD_CELLS = 24
MOST_WAVED = 25_000  # rows above which no periods are looked for: their waves fill the memory
LIMITS = 15  # places tried first for the limit of a column in a parity
FINER = 8  # places tried then on either side of the best, as close as 1 / 128 of the rows
MANY_CLASSES = 4  # above, an order keeps one set only: every class is a feature
PARTS = 5  # of the training rows, for shares that have not seen the row's own label


@dataclass
class Patterns:
    """What the search may look at: the same for every fold, and label-free."""

    columns: Sequence[Column]
    classes: int
    cut: dict[int, np.ndarray] = field(default_factory=dict)
    sizes: dict[int, np.ndarray] = field(default_factory=dict)
    levels: list[Cut] = field(default_factory=list)
    waves: list[np.ndarray | None] = field(default_factory=list)
    divided: list[list[Cut]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for order, bins in BINS.items():
            coded = [cells(column, max(bins, _whole(column, order))) for column in self.columns]
            largest = [codes.max() for codes in coded]
            self.cut[order] = np.array(coded, dtype=np.int64)
            self.sizes[order] = np.array(largest, dtype=np.int64) + 1
        for column in self.columns:
            self.waves.append(_waves(column))
            if column.levels is not None:
                self.levels.append(Cut(column.name, column.levels + 1))
            for place, codes in enumerate(digits(column), 1):
                self.levels.append(Cut(f"{column.name}, digit {place} from the end", codes))
            self.divided.append(remainders(column))

    def is_whole(self, cut: Cut) -> bool:
        """Tell whether the cut is a column by all of its values, which no cell puts together."""
        return any(cut is level for level in chain(self.levels, *self.divided))

    def orders(self, rows: int) -> list[int]:
        """Return how many columns at once are searched with so many rows, in order."""
        indicators = self.classes if self.classes > 2 else 1
        most = max(BINS) if self.classes <= MANY_CLASSES else 2
        most = min(most, len(self.columns))
        most_sets = WORK // (rows * indicators)
        return [
            order for order in range(1, most + 1) if comb(len(self.columns), order) <= most_sets
        ]

    def tried(self, rows: int) -> int:
        """Return how many sets of columns and periods the search compares."""
        sets = sum(comb(len(self.columns), order) for order in self.orders(rows))
        divided = sum(map(len, self.divided))
        return max(1, sets + self.periods + self.parities + divided)

    @property
    def periods(self) -> int:
        """How many periods are compared, over all columns."""
        return sum(_periods(wave) for wave in self.waves if wave is not None)

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
    left = indicators(target[rows], patterns.classes)
    found = _explained(patterns.levels, left, rows)
    found += explaining(patterns.divided, left, rows)
    found += _periodic(patterns, left, rows)
    for order in patterns.orders(len(rows)):
        found += _of_order(patterns, order, left, rows)
    if patterns.parities:
        found += _parities(patterns, left, rows)
    return found


def shares(
    cut: Cut, target: np.ndarray, classes: int, rows: np.ndarray, others: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return what each cell says of the target, for ``rows`` and for ``others``.

    For ``rows`` it is learned without their own part of the labels.

    Both (rows, C), or one column for two classes and for numbers.
    """
    left = raw_indicators(target[rows], classes)
    prior = left.mean(axis=1)
    size = int(cut.codes.max()) + 1
    own = cut.codes[rows]
    part = np.arange(len(rows)) % PARTS
    sums = np.zeros((PARTS, len(left), size))
    counts = np.zeros((PARTS, size))
    for number in range(PARTS):
        mine = part == number
        counts[number] = np.bincount(own[mine], minlength=size)
        for place, values in enumerate(left):
            sums[number, place] = np.bincount(own[mine], values[mine], minlength=size)
    all_sums = sums.sum(axis=0)
    all_counts = counts.sum(axis=0)
    rest = (all_sums - sums + PRIOR * prior[:, None]) / (all_counts - counts + PRIOR)[:, None]
    whole = (all_sums + PRIOR * prior[:, None]) / (all_counts + PRIOR)
    return rest[part, :, own], whole[:, cut.codes[others]].T


def _whole(column: Column, order: int) -> int:
    """Return how many cells the column's values need, where two columns are joined; else 0.

    What two months or two dice say together shows in no coarser cells.
    """
    if order != 2 or column.levels is None:
        return 0
    values = int(column.levels.max()) + 1
    return values * (values <= WHOLE)


def _of_order(patterns: Patterns, order: int, left: np.ndarray, rows: np.ndarray) -> list[Cut]:
    """Return the sets of ``order`` columns found, best first.

    What they explain is taken away from ``left``.
    """
    codes, sizes = patterns.cut[order][:, rows], patterns.sizes[order]
    sets = np.array(list(combinations(range(len(codes)), order)), dtype=np.int64)
    most = MOST_FOUND[order] if patterns.classes <= MANY_CLASSES else 1
    taken = np.zeros(len(sets), dtype=bool)
    found: list[Cut] = []
    for _ in range(most):
        gains, freedom = gains_of(codes, sizes, sets, standardised(left))
        surprise = chi2.logsf(gains, np.maximum(freedom, 1))
        surprise[taken] = 0.0
        best = int(surprise.argmin())
        if may_be_chance(surprise[best], len(sets)):
            break
        taken[best] = True
        cuts = _cuts_of(patterns, order, sets[best], left, rows)
        take_away(cuts, left, rows)
        found += cuts
    return found


def _cuts_of(
    patterns: Patterns, order: int, members: np.ndarray, left: np.ndarray, rows: np.ndarray
) -> list[Cut]:
    """Return the cut of a set of columns, after the one with its limits moved if there is any."""
    cut = _joined(list(patterns.cut[order][members]), patterns, members)
    if order == 1:
        return [cut]
    finer = _with_best_limits(patterns, members, left, rows, _joined)
    return [cut] if finer is None else [finer, cut]


def _parities(patterns: Patterns, left: np.ndarray, rows: np.ndarray) -> list[Cut]:
    """Return the parity of more than four columns that explains most, if chance would not."""
    halves = patterns.cut[4] % 2  # a missing cell counts as low
    gains = parity_gains(halves[:, rows], standardised(left))
    gains[set_sizes(len(halves)) <= max(BINS)] = 0.0
    best = int(gains.argmax())
    if may_be_chance(float(chi2.logsf(gains[best], len(left))), patterns.parities):
        return []
    members = np.flatnonzero(best >> np.arange(len(halves)) & 1)
    cut = _parity(list(patterns.cut[4][members]), patterns, members)
    finer = _with_best_limits(patterns, members, left, rows, _parity)
    found = [cut] if finer is None else [finer, cut]
    take_away(found, left, rows)
    return found


def _parity(parts: Sequence[np.ndarray], patterns: Patterns, members: np.ndarray) -> Cut:
    """Return two cells: by whether an even number of the columns is high."""
    names = ", ".join(patterns.columns[member].name for member in members)
    codes = np.zeros(len(parts[0]), dtype=np.int64)
    for part in parts:
        codes ^= part % 2
    return Cut(f"parity of {names}", codes)


def _joined(parts: Sequence[np.ndarray], patterns: Patterns, members: np.ndarray) -> Cut:
    """Return a cell for every combination of the parts' cells."""
    names = " x ".join(patterns.columns[member].name for member in members)
    codes = np.zeros(len(parts[0]), dtype=np.int64)
    for part in parts:
        codes = codes * (int(part.max()) + 1) + part
    return Cut(names, codes)


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
    parts = list(patterns.cut[4][members])
    numeric = [place for place, column in enumerate(columns) if column.numbers is not None]
    if not numeric:
        return None
    standard = standardised(left)
    most = -np.inf

    def try_limits(place: int, levels: np.ndarray) -> None:
        """Part the column at the best of these quantiles, if that explains more than before."""
        nonlocal most
        limits = np.nanquantile(columns[place].numbers, levels)
        for level, limit in zip(levels, limits, strict=True):
            before = parts[place]
            parts[place] = parted(columns[place], float(limit))
            gain = gain_of(join(parts, patterns, members).codes[rows], standard)
            if gain > most:
                most, at[place] = gain, float(level)
            else:
                parts[place] = before

    at = dict.fromkeys(numeric, 0.5)
    coarse = np.arange(1, LIMITS + 1) / (LIMITS + 1)
    fine = np.arange(-FINER, FINER + 1) / (FINER * (LIMITS + 1))
    for place in numeric * 2:
        try_limits(place, coarse)
    for place in numeric * 2:
        try_limits(place, (at[place] + fine).clip(0, 1))
    cut = join(parts, patterns, members)
    return Cut(f"{cut.name}, limits moved", cut.codes)


def _explained(cuts: Sequence[Cut], left: np.ndarray, rows: np.ndarray) -> list[Cut]:
    """Return the categories that explain something, by all of their values."""
    found = []
    for cut in cuts:
        codes = cut.codes[None, rows]
        sizes = np.array([int(cut.codes.max()) + 1])
        gains, freedom = gains_of(codes, sizes, np.zeros((1, 1), np.int64), standardised(left))
        surprise = float(chi2.logsf(gains[0], max(1, freedom[0])))
        if not may_be_chance(surprise, len(cuts)):
            found.append(cut)
    take_away(found, left, rows)
    return found


def _periodic(patterns: Patterns, left: np.ndarray, rows: np.ndarray) -> list[Cut]:
    """Return the columns whose phase explains something, one period each."""
    standard = standardised(left)
    found = []
    for column, wave in zip(patterns.columns, patterns.waves, strict=True):
        if wave is None:
            continue
        power = _power(wave, standard, rows)
        best = int(power.argmax())
        is_trend = best < FEWEST_HALVES  # which other cuts see better
        surprise = float(chi2.logsf(power[best], 2 * len(left)))
        if is_trend or may_be_chance(surprise, patterns.periods):
            continue
        found.append(_phase(column, (best + 1) / 2, standard, rows))
    take_away(found, left, rows)
    return found


def _power(wave: np.ndarray, standard: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return what every period explains, (periods,): the squares of its cosine and its sine."""
    periods = _periods(wave)
    products = standard @ wave[rows]
    cosines, sines = products[:, :periods], products[:, periods:]
    return (cosines**2 + sines**2).sum(axis=0) * 2 / len(rows)


def _periods(wave: np.ndarray) -> int:
    """Return how many periods the columns of ``_waves`` hold, a cosine and a sine each."""
    return wave.shape[1] // 2


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
    low = np.nanmin(column.numbers)
    high = np.nanmax(column.numbers)
    return (column.numbers - low) / ((high - low) or 1.0)


def _waves(column: Column) -> np.ndarray | None:
    """Return cosines and sines, (rows, 2 x numbers of periods), of a number with many values."""
    if column.numbers is None or len(column.numbers) > MOST_WAVED:
        return None
    known = ~np.isnan(column.numbers)
    if len(np.unique(column.numbers[known])) <= BINS[1]:
        return None
    periods = np.arange(1, 2 * PERIODS + 1) / 2
    turns = 2 * np.pi * np.nan_to_num(_unit(column))[:, None] * periods
    waves = np.hstack([np.cos(turns), np.sin(turns)]).astype(np.float32)
    return waves * known[:, None]
