"""The exact interval of a share (Clopper and Pearson, Biometrika 26, 1934)."""

from __future__ import annotations


def exact_interval(count: float, of: float, tail: float) -> tuple[float, float]:
    """Return what a share may be, of which ``count`` were seen among ``of`` draws; 0 to 1 of none.

    ``tail``: the chance at most, on either side, that it misses the true share.
    """
    from scipy.stats import beta

    low = 0.0
    high = 1.0
    if count > 0:
        low = float(beta.ppf(tail, count, of - count + 1))
    if count < of:
        high = float(beta.ppf(1 - tail, count + 1, of - count))
    return low, high
