"""How many of the labels that look wrong are wrong: only labels that somebody trusts can tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from easeml.lifecycle.labeling.label_errors import MOST_NOISE

_MISS = 0.05  # chance that an interval misses
_TAIL = _MISS / 2  # on either side


@dataclass(frozen=True, slots=True)
class Precision:
    """The share of the flagged labels that are wrong, and its 95 % interval.

    ``value`` is NaN where nothing has measured it: ``low`` is 0 then and ``high`` 1.
    """

    value: float = float("nan")
    low: float = 0.0
    high: float = 1.0

    @property
    def is_measured(self) -> bool:
        """Have trusted labels told it?"""
        return bool(np.isfinite(self.value))


def by_checks(wrong: int, checked: int, flagged: int) -> Precision:
    """Return the precision of ``flagged`` labels, of which some drawn at random were checked.

    The interval holds at every number of checks at once, so it still does where somebody looks
    after each of them, and stops where they like. It has every number of wrong labels that the
    checks have not made 20 times less likely than it was before them, all being equally likely
    then (the prior-posterior ratio of I. Waudby-Smith and A. Ramdas, Confidence sequences for
    sampling without replacement, NeurIPS 2020, section 2). Where all were checked, it is what was
    found.

    Args:
        wrong: of the checked labels, those that were wrong.
        checked: labels that were checked, the first of a random order.
        flagged: all that are flagged, at least ``checked``.
    """
    from scipy.stats import hypergeom

    if not checked:
        return Precision()
    may_be = np.arange(flagged + 1)
    likely = hypergeom.pmf(wrong, flagged, may_be, checked)
    shares = may_be[likely >= _MISS * likely.mean()] / flagged
    return Precision(wrong / checked, float(shares.min()), float(shares.max()))


def by_trusted(alarms: int, trusted: int, flagged: int, rows: int) -> Precision:
    """Return the precision of ``flagged`` labels of ``rows``, from rows whose labels are all right.

    Right labels are flagged alike in both, if trusted rows are drawn as the others were. Given how
    many are in all, those among the trusted rows follow the hypergeometric law; the interval has
    every number of false alarms with which theirs is no surprise. Nobody knows how many of the rows
    that were not flagged have right labels: all of them, or so few that ``MOST_NOISE`` of all
    labels are wrong.

    Args:
        alarms: trusted rows that were flagged.
        trusted: rows with trusted labels.
        flagged: rows that were flagged among those that are judged.
        rows: rows that are judged.
    """
    from scipy.stats import hypergeom

    if not trusted or not flagged:
        return Precision()
    false = np.arange(flagged + 1)
    all_right = rows - flagged + false
    few_right = np.minimum(all_right, np.maximum(false, round((1 - MOST_NOISE) * rows)))
    as_few = hypergeom.cdf(alarms, trusted + all_right, alarms + false, trusted)
    as_many = hypergeom.sf(alarms - 1, trusted + few_right, alarms + false, trusted)
    shares = 1 - false[(as_few >= _TAIL) & (as_many >= _TAIL)] / flagged
    if not len(shares):  # more alarms than all flagged rows could be
        return Precision(0.0, 0.0, 0.0)
    # Half an alarm more, so that none among few rows is not taken for proof.
    rate = (alarms + 0.5) / (trusted + 1)
    false_alarms = rate * (rows - flagged) / (1 - rate)  # those of all rows that are right
    expected = max(0.0, 1 - false_alarms / flagged)
    low, high = float(shares.min()), float(shares.max())
    return Precision(min(max(expected, low), high), low, high)
