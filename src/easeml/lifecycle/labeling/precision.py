"""How many of the labels that look wrong are wrong: only labels that somebody trusts can tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_TAIL = 0.025  # chance, on either side, that an interval misses


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

    The interval has every number of wrong labels with which what was found is no surprise (the
    hypergeometric law). Where all were checked, it is what was found.

    Args:
        wrong: of the checked labels, those that were wrong.
        checked: labels that were drawn at random and checked.
        flagged: all that are flagged, at least ``checked``.
    """
    from scipy.stats import hypergeom

    if not checked:
        return Precision()
    may_be = np.arange(flagged + 1)
    as_few = hypergeom.cdf(wrong, flagged, may_be, checked)
    as_many = hypergeom.sf(wrong - 1, flagged, may_be, checked)
    shares = may_be[(as_few >= _TAIL) & (as_many >= _TAIL)] / flagged
    return Precision(wrong / checked, float(shares.min()), float(shares.max()))


def by_trusted(alarms: int, trusted: int, flagged: int, rows: int) -> Precision:
    """Return the precision of ``flagged`` labels of ``rows``, from rows whose labels are all right.

    Right labels are flagged alike in both. Given how many are in all, those among the trusted rows
    follow the hypergeometric law; the interval has every number of false alarms with which theirs is
    no surprise.

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
    right = rows - flagged + false  # rows with right labels, where all wrong ones are flagged
    as_few = hypergeom.cdf(alarms, trusted + right, alarms + false, trusted)
    as_many = hypergeom.sf(alarms - 1, trusted + right, alarms + false, trusted)
    shares = 1 - false[(as_few >= _TAIL) & (as_many >= _TAIL)] / flagged
    if not len(shares):  # more alarms than all flagged rows could be
        return Precision(0.0, 0.0, 0.0)
    # Half an alarm more, so that none among few rows is not taken for proof.
    rate = (alarms + 0.5) / (trusted + 1)
    expected = max(0.0, 1 - rate * rows / flagged)
    low, high = float(shares.min()), float(shares.max())
    return Precision(min(max(expected, low), high), low, high)
