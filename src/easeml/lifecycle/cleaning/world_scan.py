"""One pass over the candidates of all rows, from near to far, for one point (compiled).

Every world has one k-th nearest candidate. At candidate t of row r, r is fixed there and every
other row is nearer with the mass of its candidates that came before: Karlas et al., VLDB 2021,
section 3.2 (SortScan), with class polynomials instead of a table of tallies. What cleaning row i
tells follows from the same pass. Leave i out; let t be the k-th nearest candidate of the others. If
i lies beyond t, the vote of t's row counts, else that of i. So with L_ij(c) = sum over t before
candidate j of i of [Pr(c wins | i votes) - Pr(c wins | t's row votes)]:

    Pr(c | i = j) = Pr(c) + sum_j' p_ij' L_ij'(c) - L_ij(c),

and L_ij is what the trees of ``product_trees`` have summed up at leaf i when the scan comes to
candidate j. One scan gives the answers for all rows: O(T (k^2 log N + C^2 k^3)) for T candidates.
(Rows of the class of t change nothing by voting in its place, so a scan step feeds the trees of the
other classes only.)
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


class Near(NamedTuple):
    """Which rows are nearer than the place of a scan. N rows, C classes."""

    seen: np.ndarray  # (N,) int32: candidates of a row that came before
    mass: np.ndarray  # (N,) their mass
    sure: np.ndarray  # (C,) int64: rows of a class that are nearer in all worlds
    maybe: np.ndarray  # (C,) int64: rows that are nearer in some


class Votes(NamedTuple):
    """Space for one step of a scan. C classes, k neighbours."""

    counts: np.ndarray  # (C, k + 1) weight of n votes of a class
    present: np.ndarray  # (C,) int64: classes that can have votes
    won: np.ndarray  # (C,) see ``count_winners``
    swing: np.ndarray  # (C, k) see ``count_swings``
    out: np.ndarray  # (k + 1,)
    spare: np.ndarray  # (k + 1,)
    others: np.ndarray  # (k,) product of a class without one row
    short: np.ndarray  # (k,)


class Workspace(NamedTuple):
    """What scans share, one after the other: see ``product_trees``. T candidates, C classes."""

    product: np.ndarray  # (nodes, k)
    adjoint: np.ndarray  # (nodes, C - 1, k); no functions where no gains are wanted
    waiting: np.ndarray  # (nodes,) bool
    before: np.ndarray  # (T, C - 1) what was summed up for a row before a candidate of it


@njit(cache=True)
def possible_winners(items, state, k, enough, possible):
    """Fill ``possible[c]``: whether class c wins in some world; exact, without numbers.

    Stops when ``enough`` classes are found. The rows nearer than a candidate can number, in each
    class on their own, anything from those that surely are to those that may be, so a class wins
    somewhere if some w votes fit between the bounds of the others.
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
            found += _mark_winners(sure, maybe, k, possible)
        sure[y] -= 1
        seen[row] += 1
        if seen[row] == state.size[row]:
            sure[y] += 1
        else:
            maybe[y] += 1


@njit(cache=True)
def _mark_winners(sure, maybe, k, possible):
    """Mark the classes that can win with so many near rows; return how many are new."""
    new = 0
    for c in range(possible.shape[0]):
        if not possible[c] and can_win(c, sure, maybe, k):
            possible[c] = True
            new += 1
    return new


@njit(cache=True)
def can_win(c, sure, maybe, k):
    """Tell whether class c can have the most of k votes, ties going to the smallest class."""
    for w in range(max(1, sure[c]), min(k, sure[c] + maybe[c]) + 1):
        least = w
        most = w
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
def scan(items, state, k, shares, gains, touched, workspace):
    """Fill ``shares[c]``, the probability of each label, for one point.

    ``items``: candidates that may be among the k nearest, from near to far. Where ``gains`` has a
    place for every row, also fill ``gains[i]``, the bits that cleaning row i takes off the entropy
    of the label on average, and mark in ``touched`` the rows whose place among the neighbours the
    answer depends on. ``workspace``: what ``new_workspace`` gave.
    """
    classes, rows = shares.shape[0], state.size.shape[0]
    wanted = gains.shape[0] > 0
    seen, mass = np.zeros(rows, np.int32), np.zeros(rows)
    sure, maybe = np.zeros(classes, np.int64), np.zeros(classes, np.int64)
    near = Near(seen, mass, sure, maybe)
    votes = Votes(
        np.zeros((classes, k + 1)),
        np.empty(classes, np.int64),
        np.empty(classes),
        np.empty((classes, k)),
        np.empty(k + 1),
        np.empty(k + 1),
        np.empty(k),
        np.empty(k),
    )
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
        y = np.int64(state.classes[row])
        if seen[row] == 0:
            active[found] = row
            found += 1
        elif state.slot[row] >= 0:
            maybe[y] -= 1  # the row is this candidate now
        _divide_out(item, row, y, state, k, votes, workspace)
        if sure.sum() + maybe.sum() >= k - 1:
            decided = _vote(item, y, state, near, k, wanted, decided, shares, votes, workspace)
        _come_nearer(item, row, y, state, near, workspace)
        end = place + 1
    total = shares.sum()
    for c in range(classes):
        shares[c] /= total
    if wanted:
        gains[:] = 0.0
        touched[:] = False
        _expect(items[:end], state, active[:found], shares, gains, mass, workspace)
        for index in range(found):
            touched[active[index]] = True
    _reset(active[:found], state, workspace)


@njit(cache=True)
def _divide_out(item, row, y, state, k, votes, workspace):
    """Set ``votes.others`` to the product of the class without the row.

    Keep what the trees have summed up for the row before this candidate.
    """
    product, adjoint, waiting, before = workspace
    base, leaves, slot = state.base[y], state.leaves[y], state.slot[row]
    others = votes.others
    if slot < 0:
        # A clean row is no factor of the product.
        for n in range(k):
            others[n] = product[base + 1, n]
        return
    descend(product, adjoint, waiting, base, leaves, slot, others, votes.short)
    leaf = base + leaves + slot
    for f in range(before.shape[1]):
        before[item, f] = adjoint[leaf, f, 0]


@njit(cache=True)
def _vote(item, y, state, near, k, wanted, decided, shares, votes, workspace):
    """Add to ``shares`` the worlds with this candidate as the k-th nearest; return their mass.

    That is added to ``decided``. Where gains are ``wanted``, the trees of the other classes are
    fed.
    """
    counts, won, swing, out, spare = votes.counts, votes.won, votes.swing, votes.out, votes.spare
    mass, maybe = state.mass[item], near.maybe
    size = _count_votes(y, state, near, k, votes, workspace)
    present = votes.present[:size]
    count_winners(counts, present, y, k, won, out, spare)
    for c in present:
        shares[c] += mass * won[c]
        decided += mass * won[c]
    if not wanted:
        return decided
    for a in present:
        if a != y and maybe[a] > 0:
            count_swings(counts, present, y, a, k, swing, out, spare)
            _feed(a, mass, state, near.sure[a], k, swing, workspace)
    return decided


@njit(cache=True)
def _count_votes(y, state, near, k, votes, workspace):
    """Fill ``votes.counts`` for the classes with near rows, and the class of the candidate.

    List these in ``votes.present``; return how many there are.
    """
    counts, present, product = votes.counts, votes.present, workspace.product
    sure, maybe, base = near.sure, near.maybe, state.base
    size = 0
    for c in range(base.shape[0]):
        if c != y and sure[c] + maybe[c] == 0:
            continue
        present[size] = c
        size += 1
        weights = votes.others if c == y else product[base[c] + 1]
        counts[c] = 0.0
        for n in range(sure[c], k):
            counts[c, n] = weights[n - sure[c]]
    return size


@njit(cache=True)
def _feed(a, mass, state, sure, k, swing, workspace):
    """Add to the tree of class a what its coefficients change by another vote."""
    adjoint = workspace.adjoint
    root = state.base[a] + 1
    workspace.waiting[root] = True
    for f in range(adjoint.shape[1]):
        for n in range(k - sure):
            adjoint[root, f, n] += mass * swing[f, n + sure]


@njit(cache=True)
def _come_nearer(item, row, y, state, near, workspace):
    """Count a candidate as nearer than those that follow."""
    base, leaves, slot = state.base[y], state.leaves[y], state.slot[row]
    near.seen[row] += 1
    near.mass[row] += state.mass[item]
    if near.seen[row] < state.size[row]:
        near.maybe[y] += 1
        set_leaf(workspace.product, base, leaves, slot, 1.0 - near.mass[row], near.mass[row])
        return
    near.sure[y] += 1
    near.mass[row] = 1.0
    if slot >= 0:
        # Sure rows are counted beside the product: their factor in it is 1.
        set_leaf(workspace.product, base, leaves, slot, 1.0, 0.0)


@njit(cache=True)
def _reset(active, state, workspace):
    """Bring the trees back to the start, for the next point."""
    for row in active:
        slot = state.slot[row]
        if slot >= 0:
            y = state.classes[row]
            base, leaves = state.base[y], state.leaves[y]
            reset_leaf(workspace.product, workspace.adjoint, workspace.waiting, base, leaves, slot)


@njit(cache=True)
def _expect(items, state, active, shares, gains, nearer, workspace):
    """Fill ``gains`` of the active rows from what their leaves hold.

    ``items``: the candidates that were scanned; ``nearer`` (N,): the mass of a row's among them.
    """
    before = workspace.before
    row_of, slot, alive, mass = state.row_of, state.slot, state.alive, state.mass
    functions = shares.shape[0] - 1
    mean = np.zeros((state.size.shape[0], functions))
    given = np.empty(shares.shape[0])
    bits = entropy(shares)
    for item in items:
        row = row_of[item]
        if alive[item] and slot[row] >= 0:
            for f in range(functions):
                mean[row, f] += mass[item] * before[item, f]
    for row in active:
        if slot[row] < 0:
            continue
        gains[row] = bits
        far = 1.0 - nearer[row]
        if far > 0.0:  # its other candidates are all beyond the end of the scan
            beyond = _at_leaf(row, state, workspace)
            for f in range(functions):
                mean[row, f] += far * beyond[f]
            _given(shares, mean[row], beyond, given)
            gains[row] -= far * entropy(given)
    for item in items:
        row = row_of[item]
        if alive[item] and slot[row] >= 0:
            _given(shares, mean[row], before[item], given)
            gains[row] -= mass[item] * entropy(given)
    for row in active:
        gains[row] = max(gains[row], 0.0)


@njit(cache=True)
def _at_leaf(row, state, workspace):
    """Return what the trees have summed up for a dirty row over the whole scan."""
    y = state.classes[row]
    base, leaves, slot = state.base[y], state.leaves[y], state.slot[row]
    k = workspace.product.shape[1]
    others, short = np.empty(k), np.empty(k)
    descend(
        workspace.product, workspace.adjoint, workspace.waiting, base, leaves, slot, others, short
    )
    return workspace.adjoint[base + leaves + slot, :, 0]


@njit(cache=True)
def _given(shares, mean, before, given):
    """Set ``given`` to the label distribution once a row is known to be one of its candidates."""
    rest = 1.0
    for f in range(mean.shape[0]):
        given[f] = min(max(shares[f] + mean[f] - before[f], 0.0), 1.0)
        rest -= given[f]
    given[mean.shape[0]] = max(rest, 0.0)


@njit(cache=True)
def new_workspace(state, k, gains_too):
    """Allocate the trees and the notes of scans; ``gains_too``: also for what cleaning tells."""
    nodes = 0
    for size in state.leaves:
        nodes += 2 * size
    functions = 0
    candidates = 0
    if gains_too:
        functions = state.base.shape[0] - 1
        candidates = state.row_of.shape[0]
    product = np.zeros((nodes, k))
    product[:, 0] = 1.0
    adjoint = np.zeros((nodes, functions, k))
    before = np.zeros((candidates, functions))
    return Workspace(product, adjoint, np.zeros(nodes, np.bool_), before)
