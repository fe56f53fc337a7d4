"""95 % intervals of measures in which a class of few rows counts as much as one of many.

The percentile bootstrap is wrong there: it draws the few rows again and again, and never one that
differs from them. Here nothing that was seen a few times is taken for sure.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.sampling_error import (
    MISSED,
    Z,
    between_draws,
    farther,
    rows_of_share,
    wilson,
    with_one_more,
)

from .contract import Area
from .weights import Weights, counts_of

_DRAWS, _SEED = 1000, 20180801  # of a mean of scores
_GAP_OF_CHANCE = math.sqrt(2 / math.pi)  # mean distance of a normal number from 0
_PLAIN = 3.0  # so many standard deviations are no chance
_MOST_ANSWERS = 5  # wrong ones of a class, the most frequent, whose shares are moved


def of_mean_of_classes(
    known: NDArray[Any], predicted: NDArray[np.float64], weights: Weights = None
) -> tuple[float, float]:
    """Return the interval of the mean share of right rows, a share a class, of independent classes.

    The distance of each end from the mean is the root of the sum of the squares of its parts: the
    "method of variance estimates recovery" of Zou and Donner, with Wilson's intervals.
    """
    is_right = predicted.argmax(axis=1) == known
    counts = counts_of(weights, len(known))
    shares = []
    below = []
    above = []
    for one in np.unique(known):
        of_class = counts[known == one]
        share = float(np.average(is_right[known == one], weights=of_class))
        low, high = wilson(share, rows_of_share(is_right[known == one], of_class))
        shares.append(share)
        below.append(share - low)
        above.append(high - share)

    mean = float(np.mean(shares))
    low = mean - math.hypot(*below) / len(shares)
    high = mean + math.hypot(*above) / len(shares)
    return max(0.0, low), min(1.0, high)


# ---------------------------------------------------------------- measures of counted mistakes


def of_confusions(
    measure: Callable[..., float],
    value: float,
    known: NDArray[Any],
    predicted: NDArray[np.float64],
    weights: Weights = None,
) -> tuple[float, float]:
    """Return the interval of a measure of how many rows of each class are taken for each.

    Of each class, the number of right rows, that of wrong ones, and where these go, are independent.
    Each is moved to both ends of its own score interval. What that does to the measure is put
    together as of ``of_mean_of_classes``, and passes nothing that all of them do at once.

    ``measure``: takes classes, one-hot predictions and weights. ``value``: that of all rows.
    """
    size = predicted.shape[1]
    counts = counts_of(weights, len(known))
    cells = known * size + predicted.argmax(axis=1)
    table = np.bincount(cells, counts, minlength=size**2).reshape(size, size).astype(np.float64)
    true, said = np.divmod(np.arange(size**2), size)
    one_hot = np.eye(size)

    def of(changed: NDArray[np.float64]) -> float:
        weighed = np.maximum(changed, 0.0).reshape(-1)
        rows = np.flatnonzero(weighed)
        return measure(true[rows], one_hot[said[rows]], weighed[rows])

    low = _Side(table)
    high = _Side(table)
    for code, unit in enumerate(_units(known, counts, size)):
        for row, other in _moves(table, code, unit):
            first, second = of(_with_row(table, code, row)), of(_with_row(table, code, other))
            low.take(code, row if first <= second else other, value - min(first, second))
            high.take(code, row if first > second else other, max(first, second) - value)
    return max(value - low.distance, min(value, of(low.all_at_once))), min(
        value + high.distance, max(value, of(high.all_at_once))
    )


class _Side:
    """Where one end of an interval is, from what each part does by itself.

    ``distance``: of the end. ``all_at_once``: the table with all that moves it to this side.
    """

    def __init__(self, table: NDArray[np.float64]):
        """``table``: of the rows as they are."""
        self._table = table
        self.all_at_once = table.copy()
        self.distance = 0.0

    def take(self, code: int, row: NDArray[np.float64], by: float) -> None:
        """Add what a row of the table does to the measure, where that is to this side."""
        if by <= 0:
            return
        self.all_at_once[code] += row - self._table[code]
        self.distance = math.hypot(self.distance, by)


def _with_row(
    table: NDArray[np.float64], code: int, row: NDArray[np.float64]
) -> NDArray[np.float64]:
    changed = table.copy()
    changed[code] = row
    return changed


def _units(known: NDArray[Any], counts: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return how much one row of each class counts (classes,); of a class without rows, any row."""
    of_any = float((counts**2).sum() / counts.sum())
    sums = np.bincount(known, counts, minlength=size)
    squares = np.bincount(known, counts**2, minlength=size)
    return np.divide(squares, sums, out=np.full(size, of_any), where=sums > 0)


def _moves(
    table: NDArray[np.float64], code: int, unit: float
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Give, for each part of a class, its row of the table with that part at both of its ends.

    The right rows and the wrong ones are counts; of which wrong rows go where, the most frequent
    answer is a share of all, the next of the rest, and so on. ``unit``: what one row counts.
    """
    row = table[code]
    right = np.zeros(len(row))
    right[code] = row[code]
    wrong = row - right
    is_hit = np.arange(len(row)) == code
    yield _scaled(wrong, is_hit.astype(float), row[code], unit)
    yield _scaled(right, wrong if wrong.any() else _usual(table, code), float(wrong.sum()), unit)
    yield row, _with_unseen(table, code, wrong, unit)
    order = np.argsort(-wrong, kind="stable")[: np.count_nonzero(wrong)]
    for place in range(min(len(order) - 1, _MOST_ANSWERS)):
        taken, rest = order[place], order[place + 1 :]
        both = float(wrong[taken] + wrong[rest].sum())
        ends = wilson(float(wrong[taken]) / both, both / unit)
        yield _split(row, taken, rest, both * ends[0]), _split(row, taken, rest, both * ends[1])


def _with_unseen(
    table: NDArray[np.float64], code: int, wrong: NDArray[np.float64], unit: float
) -> NDArray[np.float64]:
    """Return a row in which some ``wrong`` rows of a class go where none was seen to go.

    They are as many as the score interval allows, and go there as answers go at all.
    """
    usual = np.where(wrong > 0, 0.0, _usual(table, code))
    count = float(wrong.sum())
    if not count or not usual.any():
        return table[code]
    share = wilson(0.0, count / unit)[1]
    return table[code] + share * (count * usual / usual.sum() - wrong)


def _usual(table: NDArray[np.float64], code: int) -> NDArray[np.float64]:
    """Return where wrong rows of a class would go, of which none was seen: as answers go at all."""
    said = table.sum(axis=0)
    said[code] = 0.0
    if said.any():
        return said
    return (np.arange(len(said)) != code).astype(float)


def _scaled(
    fixed: NDArray[np.float64], spread: NDArray[np.float64], count: float, unit: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a row at both ends of the score interval of a count, which lies as ``spread`` says.

    The lower end is no nearer than the exact one that misses in 5 %: see ``wilson``.
    """
    from scipy.special import gammaincinv

    seen = count / unit
    middle = seen + Z**2 / 2
    half = Z * math.sqrt(seen + Z**2 / 4)
    shares = unit * spread / spread.sum()
    exact = float(np.nan_to_num(gammaincinv(seen, MISSED)))
    return fixed + max(0.0, min(middle - half, exact)) * shares, fixed + (middle + half) * shares


def _split(
    row: NDArray[np.float64], taken: np.intp, rest: NDArray[np.intp], count: float
) -> NDArray[np.float64]:
    """Return a row in which ``taken`` has so much of what it and the ``rest`` have together."""
    changed = row.copy()
    changed[rest] *= 1 + (row[taken] - count) / row[rest].sum()
    changed[taken] = count
    return changed


# ---------------------------------------------------------------- areas under curves


def of_areas(
    areas: Callable[..., dict[int, Area]],
    prepared: Sequence[NDArray[Any]],
    resamples: Iterable[NDArray[np.intp]],
) -> tuple[float, float]:
    """Return the interval of a mean of areas, one of each class against the rest.

    An area is a share of as many rows as give it the spread that it has over resamples, and of no
    more than its class allows (``Area.rows``). Its interval is Wilson's of such a share. The mean's
    ends are as far off as the mean of theirs, times how much areas spread less together than each
    by itself. 0 to 1 where there is no area.

    Resamples may be smaller than the rows are many (P. Bickel, F. Götze and W. van Zwet, Resampling
    fewer than n observations, Statistica Sinica 7, 1997): areas of m of n rows spread sqrt(n / m)
    times as much.

    ``prepared``: classes, probabilities and perhaps weights of rows; ``resamples``: places of rows,
    all of one size.
    """
    found = areas(*prepared)
    if not found:
        return 0.0, 1.0
    values = np.array([area.value for area in found.values()])
    off = []
    size = rows = len(prepared[0])
    for chosen in resamples:
        size = len(chosen)
        again = areas(*[of_rows[chosen] for of_rows in prepared])
        # of a class that is not among these rows nothing is known: it is where it was
        off.append([again.get(code, area).value - area.value for code, area in found.items()])
    errors = np.array(off) * math.sqrt(size / rows)
    spreads = errors.std(axis=0)
    ends = np.array(list(map(_ends_of_area, found.values(), spreads)))
    together = 1.0
    if spreads.any():
        together = min(1.0, float(errors.mean(axis=1).std() / spreads.mean()))
    below, above = together * np.abs(ends - values[:, None]).mean(axis=0)
    return max(0.0, float(values.mean() - below)), min(1.0, float(values.mean() + above))


def _ends_of_area(area: Area, spread: float) -> tuple[float, float]:
    """Return Wilson's interval of an area that has so large a spread over resamples."""
    # few rows spread less over resamples than over what they stand for
    variance = spread**2 * area.of_class / max(1.0, area.of_class - 1)
    rows = area.rows
    if variance > 0:
        rows = min(rows, area.value * (1 - area.value) / variance)
    return wilson(area.value, max(1.0, rows))


# ---------------------------------------------------------------- means of losses


def of_losses(
    losses: Callable[..., NDArray[np.float64]],
    prepared: Sequence[NDArray[Any]],
    draws: int,
    random: np.random.Generator,
) -> tuple[float, float]:
    """Return the interval of the mean of losses of rows, of which few may be large.

    It is the bound of N. Gaffke (Three test statistics for a nonparametric one-sided hypothesis on
    the mean of a nonnegative variable, Mathematical Methods of Statistics 14, 2005): the rows get
    random weights, as in a Bayesian bootstrap, and one row more than was seen counts among them. Of
    shares it is the interval of Clopper and Pearson. Gaffke's row has the largest loss there is. Here
    it is one of the rows, with the answer that costs most, and for the lower end with the one that
    costs least: the largest log loss there is would say nothing.

    ``losses``: of rows, by classes (rows,) and probabilities. ``prepared``: classes, probabilities
    and perhaps weights of rows.
    """
    known, predicted, *weights = prepared
    counts = counts_of(weights[0] if weights else None, len(known))
    least, most = _ends_of_rows(losses, predicted[random.integers(len(known), size=draws)])
    return with_one_more(losses(known, predicted), counts, least, most, random)


def of_scores(scores: NDArray[np.float64], weights: Weights) -> tuple[float, float]:
    """Return the interval of the mean of scores of rows (rows,) in [0, 1].

    As of ``of_losses``; the row more reaches nothing, or all. It is Gaffke's bound as he gives it.
    """
    random = np.random.default_rng(_SEED)
    counts = counts_of(weights, len(scores))
    none, all_of_it = np.zeros(_DRAWS), np.ones(_DRAWS)
    return with_one_more(scores, counts, none, all_of_it, random)


def of_skill(
    losses: NDArray[np.float64],
    of_constant: NDArray[np.float64],
    weights: Weights,
    draws: int,
    random: np.random.Generator,
    skill: Callable[[float, float], float],
) -> tuple[float, float]:
    """Return the interval of a skill, which compares the mean losses of a model and of a constant.

    As of ``of_errors``: among the rows counts one more. For the lower end it is like the row that
    lowers the skill most, but loses by the model so much more that it lowers it more than that row
    (``farther``); for the upper end like the row that raises it most, but loses so much more by
    the constant.

    ``losses``, ``of_constant`` (rows,): what each row loses by the model and by the constant, at
    least 0. ``skill``: of two means of these.
    """
    counts = counts_of(weights, len(losses))
    ratio = _ratio(float(losses @ counts), float(of_constant @ counts))
    excess = losses - ratio * of_constant  # above 0: the row lowers the skill
    worst, best = excess.argmax(), excess.argmin()
    of_one = float((counts**2).sum() / counts.sum())
    by_more = farther(counts)
    worst_loss = losses[worst] + by_more * excess[worst]
    best_loss = of_constant[best] - by_more * _ratio(excess[best], ratio)  # by the constant
    by_model, by_constant = counts * losses, counts * of_constant
    low = np.empty(draws)
    high = np.empty(draws)
    for draw in range(draws):
        shares = random.standard_exponential(len(losses))
        one_more = of_one * random.standard_exponential()
        lost, compared = shares @ by_model, shares @ by_constant
        total = shares @ counts + one_more
        worse = lost + one_more * worst_loss
        better = compared + one_more * best_loss
        low[draw] = skill(worse / total, (compared + one_more * of_constant[worst]) / total)
        high[draw] = skill((lost + one_more * losses[best]) / total, better / total)
    return between_draws(low)[0], between_draws(high)[1]


def _ratio(above: float, below: float) -> float:
    """Return a ratio; 0 where it has none, since nothing was lost."""
    return above / below if below > 0 else 0.0


def _ends_of_rows(
    losses: Callable[..., NDArray[np.float64]], predicted: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what rows (rows, classes) would lose by the best and by the worst answer."""
    rows, classes = predicted.shape
    by_answer = np.array([losses(np.full(rows, code), predicted) for code in range(classes)])
    return by_answer.min(axis=0), by_answer.max(axis=0)


# ---------------------------------------------------------------- sums of gaps


def of_gaps(
    right: NDArray[np.float64], sure: NDArray[np.float64], rows: NDArray[np.float64]
) -> tuple[float, float]:
    """Return the interval of a sum of gaps between what is right and what is said, one a bin.

    Chance opens gaps where there are none: by .8 standard deviations each, on average, if there
    is none, and by nearly nothing where a gap is plain. The lower end allows for all of that. For
    the rest the ends are put together as of ``of_mean_of_classes``.

    ``right`` (bins,): the share of the rows of a bin that are right; ``sure``: the mean of what is
    said of them; ``rows``: in the bin, above 0, of equal weight.
    """
    shares = rows / rows.sum()
    gaps = shares * np.abs(right - sure)
    least, most = np.array(list(map(wilson, right, rows))).T
    below = shares * np.where(right > sure, right - least, most - right)
    # what is right may also be on the other side of what is said
    above = shares * np.maximum(most - sure, sure - least) - gaps

    # two rows more of each kind, so that a bin whose rows are all right has a spread, too
    middle = (right * rows + 2) / (rows + 4)
    spread = shares * np.sqrt(middle * (1 - middle) / rows)
    by_chance = _GAP_OF_CHANCE * spread[gaps < _PLAIN * spread].sum()
    total = float(gaps.sum())
    # other rows would also lie otherwise over the bins
    of_shares = Z * math.sqrt(np.sum(shares * (gaps / shares - total) ** 2) / rows.sum())
    low = total - by_chance - math.hypot(*below, of_shares)
    high = total + math.hypot(*above, of_shares)
    return max(0.0, float(low)), min(1.0, float(high))
