# ruff: noqa: PLR0912, PLR0915 - a compiled loop with plain arguments; calls in it would be
# allocations
"""One pass over the candidates of all rows, from near to far, for one point (compiled).

Every world has one k-th nearest candidate. At candidate t of row r, r is fixed there and every
other row is nearer with the mass of its candidates that came before: Karlas et al., VLDB 2021,
section 3.2 (SortScan), with class polynomials instead of a table of tallies. What cleaning row i
tells follows from the same pass. Leave i out; let t be the k-th nearest candidate of the others. If
i lies beyond t, the vote of t's row counts, else that of i. So with L_ij(c) = sum over t before
candidate j of i of [Pr(c wins | i votes) - Pr(c wins | t's row votes)]:

    Pr(c | i = j) = Pr(c) + sum_j' p_ij' L_ij'(c) - L_ij(c),

and L_ij is what the trees of ``product_trees`` have summed up at leaf i when the scan comes to candidate
j. One scan gives the answers for all rows: O(T (k^2 log N + C^2 k^3)) for T candidates. (Rows of
the class of t change nothing by voting in its place, so a scan step feeds the trees of the other
classes only.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from easeml.lifecycle.cleaning.product_trees import descend, reset_leaf, set_leaf
from easeml.lifecycle.cleaning.vote_tallies import count_swings, count_winners, entropy
from easeml.lifecycle.compiled import njit

DONE = 1e-13
"""A scan ends when the worlds not yet decided have less than this mass."""


class State(NamedTuple):
    """What is known of all rows. T candidates in order of their rows, N rows, C classes."""

    row_of: np.ndarray  # (T,) int32: row of a candidate
    mass: np.ndarray  # (T,) prior mass of a candidate in its row
    alive: np.ndarray  # (T,) bool: not ruled out by cleaning
    size: np.ndarray  # (N,) int32: candidates alive
    classes: np.ndarray  # (N,) int32: label of a row
    slot: np.ndarray  # (N,) int32: leaf of a dirty row in the tree of its class, -1 for a clean row
    base: np.ndarray  # (C,) int32: first node of the tree of a class
    leaves: np.ndarray  # (C,) int32: leaves of that tree, a power of two


@njit(cache=True)
def possible_winners(items, state, k, enough, possible):
    """Fill ``possible[c]``: c wins in some world. Stops when ``enough`` classes are found; exact,
    without numbers.

    The rows nearer than a candidate can number, in each class on their own, anything from those
    that surely are to those that may be, so a class wins somewhere if some w votes fit between the
    bounds of the others.
    """
    classes = possible.shape[0]
    seen = np.zeros(state.size.shape[0], np.int32)
    sure, maybe = np.zeros(classes, np.int64), np.zeros(classes, np.int64)
    possible[:] = False
    found = 0
    for item in items:
        if not state.alive[item]:
            continue
        if sure.sum() >= k or found >= enough:
            break
        row = state.row_of[item]
        y = state.classes[row]
        if seen[row]:
            maybe[y] -= 1
        sure[y] += 1  # its own vote
        if sure.sum() + maybe.sum() >= k:
            for c in range(classes):
                if not possible[c] and can_win(c, sure, maybe, k):
                    possible[c] = True
                    found += 1
        sure[y] -= 1
        seen[row] += 1
        if seen[row] == state.size[row]:
            sure[y] += 1
        else:
            maybe[y] += 1


@njit(cache=True)
def can_win(c, sure, maybe, k):
    """Tell whether class c can have the most of k votes, ties going to the smallest class."""
    for w in range(max(1, sure[c]), min(k, sure[c] + maybe[c]) + 1):
        least, most = w, w
        for other in range(sure.shape[0]):
            if other == c:
                continue
            bound = w - 1 if other < c else w
            if sure[other] > bound:
                least = k + 1
                break
            least += sure[other]
            most += min(bound, sure[other] + maybe[other])
        if least <= k <= most:
            return True
    return False


@njit(cache=True)
def scan(items, state, k, shares, gains, touched, room):
    """Fill ``shares[c]``, the probability of each label, for one point.

    ``items``: candidates that may be among the k nearest, from near to far. Where ``gains`` has a
    place for every row, also fill ``gains[i]``, the bits that cleaning row i takes off the entropy
    of the label on average, and mark in ``touched`` the rows whose place among the neighbours the
    answer depends on. ``room``: what ``work_room`` gave.
    """
    product, adjoint, waiting, before = room
    classes, wanted = shares.shape[0], gains.shape[0] > 0
    functions = classes - 1 if wanted else 0
    rows = state.size.shape[0]
    seen, nearer = np.zeros(rows, np.int32), np.zeros(rows)
    sure, maybe = np.zeros(classes, np.int64), np.zeros(classes, np.int64)
    counts, present = np.zeros((classes, k + 1)), np.empty(classes, np.int64)
    won, swing = np.empty(classes), np.empty((classes, k))
    out, spare = np.empty(k + 1), np.empty(k + 1)
    others, short = np.empty(k), np.empty(k)
    active = np.empty(rows, np.int32)
    found, end, decided = 0, 0, 0.0
    shares[:] = 0.0
    for place in range(items.shape[0]):
        end = place
        item = items[place]
        if not state.alive[item]:
            continue
        if sure.sum() >= k or decided >= 1.0 - DONE:
            break
        row = state.row_of[item]
        y, slot, mass = np.int64(state.classes[row]), state.slot[row], state.mass[item]
        if seen[row] == 0:
            active[found] = row
            found += 1
        elif slot >= 0:
            maybe[y] -= 1
        if slot >= 0:
            descend(product, adjoint, waiting, state.base[y], state.leaves[y], slot, others, short)
            leaf = state.base[y] + state.leaves[y] + slot
            for f in range(functions):
                before[item, f] = adjoint[leaf, f, 0]
        else:
            for n in range(k):
                others[n] = product[state.base[y] + 1, n]
        if sure.sum() + maybe.sum() >= k - 1:
            size = 0
            for c in range(classes):
                if c == y or sure[c] + maybe[c] > 0:
                    present[size] = c
                    size += 1
                    counts[c] = 0.0
                    for n in range(sure[c], k):
                        counts[c, n] = (
                            others[n - sure[c]]
                            if c == y
                            else product[state.base[c] + 1, n - sure[c]]
                        )
            count_winners(counts, present[:size], y, k, won, out, spare)
            for index in range(size):
                shares[present[index]] += mass * won[present[index]]
                decided += mass * won[present[index]]
            if wanted:
                for index in range(size):
                    a = present[index]
                    if a != y and maybe[a] > 0:
                        count_swings(counts, present[:size], y, a, k, swing, out, spare)
                        root = state.base[a] + 1
                        waiting[root] = True
                        for f in range(functions):
                            for n in range(k - sure[a]):
                                adjoint[root, f, n] += mass * swing[f, n + sure[a]]
        seen[row] += 1
        nearer[row] += mass
        if seen[row] < state.size[row]:
            maybe[y] += 1
            set_leaf(product, state.base[y], state.leaves[y], slot, 1.0 - nearer[row], nearer[row])
        else:
            sure[y] += 1
            nearer[row] = 1.0
            if slot >= 0:
                set_leaf(product, state.base[y], state.leaves[y], slot, 1.0, 0.0)
        end = place + 1
    total = shares.sum()
    for c in range(classes):
        shares[c] /= total
    if wanted:
        gains[:] = 0.0
        touched[:] = False
        _expect(items[:end], state, active[:found], shares, gains, nearer, room)
        for index in range(found):
            touched[active[index]] = True
    for index in range(found):
        row = active[index]
        if state.slot[row] >= 0:
            y = state.classes[row]
            reset_leaf(product, adjoint, waiting, state.base[y], state.leaves[y], state.slot[row])


@njit(cache=True)
def _expect(items, state, active, shares, gains, nearer, room):
    """Fill ``gains`` of the active rows from what their leaves hold.

    ``items``: the candidates that were scanned.
    """
    product, adjoint, waiting, before = room
    functions = shares.shape[0] - 1
    others, short = np.empty(product.shape[1]), np.empty(product.shape[1])
    mean = np.zeros((state.size.shape[0], functions))
    given = np.empty(shares.shape[0])
    bits = entropy(shares)
    for item in items:
        row = state.row_of[item]
        if state.alive[item] and state.slot[row] >= 0:
            for f in range(functions):
                mean[row, f] += state.mass[item] * before[item, f]
    for row in active:
        if state.slot[row] < 0:
            continue
        gains[row] = bits
        far = 1.0 - nearer[row]
        if far > 0.0:  # its other candidates are all beyond the end of the scan
            y = state.classes[row]
            descend(
                product,
                adjoint,
                waiting,
                state.base[y],
                state.leaves[y],
                state.slot[row],
                others,
                short,
            )
            leaf = state.base[y] + state.leaves[y] + state.slot[row]
            for f in range(functions):
                mean[row, f] += far * adjoint[leaf, f, 0]
            _given(shares, mean[row], adjoint[leaf, :, 0], given)
            gains[row] -= far * entropy(given)
    for item in items:
        row = state.row_of[item]
        if state.alive[item] and state.slot[row] >= 0:
            _given(shares, mean[row], before[item], given)
            gains[row] -= state.mass[item] * entropy(given)
    for row in active:
        gains[row] = max(gains[row], 0.0)


@njit(cache=True)
def _given(shares, mean, before, given):
    """Set ``given`` to the label distribution once a row is known to be one of its candidates."""
    rest = 1.0
    for f in range(mean.shape[0]):
        given[f] = min(max(shares[f] + mean[f] - before[f], 0.0), 1.0)
        rest -= given[f]
    given[mean.shape[0]] = max(rest, 0.0)


@njit(cache=True)
def work_room(state, k, gains_too):
    """Allocate the trees and the notes of a scan: products, adjoints, flags, sums before each
    candidate.
    """
    nodes = 0
    for size in state.leaves:
        nodes += 2 * size
    functions = state.base.shape[0] - 1 if gains_too else 0
    product = np.zeros((nodes, k))
    product[:, 0] = 1.0
    before = np.zeros((state.row_of.shape[0] if gains_too else 0, functions))
    return product, np.zeros((nodes, functions, k)), np.zeros(nodes, np.bool_), before
