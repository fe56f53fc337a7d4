"""95 % intervals of shares and means of rows, each drawn by itself from all that there are."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Z = 1.959963984540054
"""97.5 % quantile of the normal distribution."""
MISSED = 0.05
"""In how many draws at most an end of the interval of a share misses it."""
_FARTHER = 10.0  # root of the rows of which one more may be twice as far off


def wilson(share: float, rows: float) -> tuple[float, float]:
    """Return the score interval of a share of rows (E. B. Wilson, JASA 22, 1927).

    Near 0 and 1 its inner end misses up to three times too often (L. Brown, T. Cai and A. DasGupta,
    Statistical Science 16, 2001, section 4.1.1). So no end is nearer than that of the exact test
    (C. Clopper and E. Pearson, Biometrika 26, 1934) that misses in 5 %.
    """
    from scipy.special import betaincinv

    count = share * rows
    others = rows - count
    centre = share + Z**2 / (2 * rows)
    half = Z * math.sqrt(max(0.0, share * (1 - share)) / rows + Z**2 / (4 * rows**2))
    scale = 1 + Z**2 / rows
    # nan, of no row or of all, is passed over: it is the second argument
    low = min((centre - half) / scale, float(betaincinv(count, others + 1, MISSED)))
    high = max((centre + half) / scale, float(betaincinv(count + 1, others, 1 - MISSED)))
    return max(0.0, min(share, low)), min(1.0, max(share, high))


def between_draws(draws: Any) -> tuple[float, float]:
    """Return what 95 % of draws lie between.

    Of few draws the usual quantiles lie too far inside: between those of 100 lie .93 of all others.
    """
    low, high = np.quantile(draws, [0.025, 0.975], method="weibull")
    return float(low), float(high)


def effective(counts: NDArray[np.float64]) -> float:
    """Return how many rows of one weight tell as much as rows that count so (rows,)."""
    return float(counts.sum() ** 2 / (counts**2).sum())


def rows_of_share(is_right: NDArray[Any], counts: NDArray[np.float64]) -> float:
    """Return of how many rows of one weight a share is, of which such rows are right that count so.

    Fewer than ``effective`` where rows that count much are those that differ from most.
    """
    rows = effective(counts)
    share = float(np.average(is_right, weights=counts))
    spread = float((counts**2 * (is_right - share) ** 2).sum() / counts.sum() ** 2)
    return min(rows, share * (1 - share) / spread) if spread > 0 else rows


def farther(counts: NDArray[np.float64]) -> float:
    """Return by which share the row more is farther off than the farthest of rows that count so.

    Twice as far as of 100 rows, 1.2 times as of 2,500: the more rows, the less of a tail is unseen.
    """
    return min(1.0, _FARTHER / math.sqrt(effective(counts)))


def of_errors(
    losses: NDArray[np.float64],
    counts: NDArray[np.float64],
    draws: int,
    random: np.random.Generator,
) -> tuple[float, float]:
    """Return the interval of the mean of losses (rows,) of numbers, at least 0; few may be large.

    As of ``with_one_more``; a number can be missed by anything, so the row more is farther from the
    mean than the worst that was seen (``farther``), or loses nothing.
    """
    mean = float(np.average(losses, weights=counts))
    excess = losses - mean
    # where rows that count much are far off, so may the row more be that counts as rows do
    of_one = (counts**2).sum() / counts.sum()
    worst = max(excess.max(), (counts * excess).max() / of_one)
    most = np.full(draws, mean + (1 + farther(counts)) * worst)
    return with_one_more(losses, counts, np.zeros(draws), most, random)


def most_of_errors(losses: NDArray[np.float64], draws: int, seed: int) -> NDArray[np.float64]:
    """Return draws (draws,) of the most that the mean of losses (rows,) of numbers may be.

    Their quantile is the upper end at any confidence; of 97.5 %, that of ``of_errors``.
    """
    random = np.random.default_rng(seed)
    worst = losses.max()
    one_more = worst + farther(np.ones(len(losses))) * (worst - losses.mean())
    all_rows = np.append(losses, one_more)
    means = np.empty(draws)
    for draw in range(draws):
        shares = random.standard_exponential(len(all_rows))
        means[draw] = shares @ all_rows / shares.sum()
    return means


def with_one_more(
    losses: NDArray[np.float64],
    counts: NDArray[np.float64],
    least: NDArray[np.float64],
    most: NDArray[np.float64],
    random: np.random.Generator,
) -> tuple[float, float]:
    """Return the interval of a mean of losses (rows,) of rows that count as ``counts`` (rows,).

    It is the bound of N. Gaffke (Three test statistics for a nonparametric one-sided hypothesis on
    the mean of a nonnegative variable, Mathematical Methods of Statistics 14, 2005): the rows get
    random weights, as in a Bayesian bootstrap, and one row more than was seen counts among them.
    ``least``, ``most`` (draws,): what it loses in each draw, for the lower and for the upper end.
    """
    of_one = float((counts**2).sum() / counts.sum())
    counted = counts * losses
    low = np.empty_like(least)
    high = np.empty_like(most)
    for draw in range(len(least)):
        shares = random.standard_exponential(len(losses))
        one_more = of_one * random.standard_exponential()
        summed = shares @ counted
        total = shares @ counts + one_more
        low[draw] = (summed + one_more * least[draw]) / total
        high[draw] = (summed + one_more * most[draw]) / total
    return between_draws(low)[0], between_draws(high)[1]
