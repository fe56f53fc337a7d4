"""Who wins a vote of k neighbours, over all tallies at once (compiled).

A tally is written as the winner's votes ``w`` and, for every other class, a count that does not
beat it: at most ``w`` for classes after the winner, ``w - 1`` for those before it, since equal
votes go to the smallest class. The others are multiplied as polynomials cut at these bounds, so no
tally is enumerated: O(C^2 k^3) instead of (k + 1)^C.
"""

from __future__ import annotations

import numpy as np

from easeml.lifecycle.compiled import njit


@njit(cache=True)
def votes_of_others(counts, present, extra, left_out, winner, w, out, spare):
    """Fill ``out[m]``: weight of m votes among the other classes, none beating the winner's ``w``.

    The others are those present but ``left_out`` and ``winner``. ``counts[c, n]``: weight of n
    votes of class c; ``extra`` has one vote more.
    """
    top = out.shape[0]
    out[:] = 0.0
    out[0] = 1.0
    for c in present:
        if c in (left_out, winner):
            continue
        shift = 1 if c == extra else 0
        most = w - 1 if c < winner else w  # of equal votes the smallest class wins
        bound = min(most, top - 1)
        spare[:] = 0.0
        for n in range(shift, bound + 1):
            weight = counts[c, n - shift]
            if weight == 0.0:
                continue
            for m in range(top - n):
                spare[m + n] += weight * out[m]
        for m in range(top):
            out[m] = spare[m]


@njit(cache=True)
def count_winners(counts, present, y, k, won, out, spare):
    """Fill ``won[c]``: weight of the tallies that class c wins with one more vote for ``y``.

    The tallies are those of the other k - 1 neighbours.
    """
    won[:] = 0.0
    for c in present:
        shift = 1 if c == y else 0
        for w in range(1, k + 1):
            weight = counts[c, w - shift]
            if weight == 0.0:
                continue
            votes_of_others(counts, present, y, c, c, w, out, spare)
            won[c] += weight * out[k - w]


@njit(cache=True)
def count_swings(counts, present, y, a, k, swing, out, spare):
    """Fill ``swing[c, d]``: how much more often c wins when the last vote is for ``a``, not ``y``.

    Over the tallies of k - 1 neighbours with d votes of class ``a``; the weight of these d votes is
    left out.
    """
    swing[:] = 0.0
    for c in present:
        if c == a:
            _swing_of_voter(counts, present, y, a, 0, -1.0, k, swing, out, spare)
            _swing_of_voter(counts, present, a, a, 1, 1.0, k, swing, out, spare)
        else:
            _swing(counts, present, c, y, a, 0, -1.0, k, swing, out, spare)
            _swing(counts, present, c, a, a, 1, 1.0, k, swing, out, spare)


@njit(cache=True)
def _swing_of_voter(counts, present, voter, a, bonus, sign, k, swing, out, spare):
    """Add to ``swing[a, d]`` the weight of the tallies that class a itself wins.

    ``bonus`` is 1 where the last vote is its own.
    """
    for d in range(k):
        own = d + bonus
        votes_of_others(counts, present, voter, a, a, own, out, spare)
        if own > 0:
            swing[a, d] += sign * out[k - own]


@njit(cache=True)
def _swing(counts, present, c, voter, a, bonus, sign, k, swing, out, spare):
    """Add to ``swing[c, d]`` the weight of the tallies that another class c wins."""
    shift = 1 if c == voter else 0
    for w in range(1, k + 1):
        weight = counts[c, w - shift]
        if weight == 0.0:
            continue
        votes_of_others(counts, present, voter, a, c, w, out, spare)
        unbeaten = w - 1 if a < c else w
        most = min(unbeaten, k - w) - bonus
        for d in range(min(most, k - 1) + 1):
            swing[c, d] += sign * weight * out[k - w - d - bonus]


@njit(cache=True)
def entropy(shares):
    """Entropy in bits of non-negative shares, scaled to sum to one.

    Rounding below zero counts as zero.
    """
    total = 0.0
    for share in shares:
        total += max(share, 0.0)
    bits = 0.0
    for share in shares:
        if share > 0.0:
            bits -= share / total * np.log2(share / total)
    return max(bits, 0.0)
