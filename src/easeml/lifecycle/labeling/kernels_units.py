"""Compiled Shapley values of source units.

They come from the multilinear extension of the nearest-neighbour game.

Output rows are seen nearest first. A *fact* owns output rows; the facts of a group may hang on a
shared *parent* (the other side of a one-to-many join) and count only where it is there too. With
every unit there with probability t, the number of nearer output rows has a generating polynomial in
z, cut off at z^k:

    fact with c nearer rows  P = (1 - t) + t z^c;      group  E = (1 - t) + t prod P,  or prod P
without a parent.

A matching row is worth 1 / k where it is there with fewer than k nearer ones: the sum of the
coefficients of prod E, with its own fact and parent taken as there. What each unit adds is the
derivative of that, found backwards.
"""

import numpy as np

from easeml.lifecycle.compiled import njit


@njit(cache=True)
def _copy(source: np.ndarray, out: np.ndarray) -> None:
    """Copy a polynomial.

    An assignment of arrays would take seconds to compile: it can say that shapes differ.
    """
    for i in range(out.shape[0]):
        out[i] = source[i]


@njit(cache=True)
def _times(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Write the product of two polynomials, cut off, into ``out``."""
    for i in range(out.shape[0]):
        total = 0.0
        for j in range(i + 1):
            total += a[j] * b[i - j]
        out[i] = total


@njit(cache=True)
def _transposed(functional: np.ndarray, a: np.ndarray, out: np.ndarray) -> None:
    """Write into ``out`` the functional of b that is ``functional`` of a b."""
    k = out.shape[0]
    for j in range(k):
        total = 0.0
        for i in range(k - j):
            total += functional[i + j] * a[i]
        out[j] = total


@njit(cache=True)
def _adjoints(
    factors: np.ndarray, functional: np.ndarray, prefix: np.ndarray, adjoints: np.ndarray
) -> None:
    """Write the functional of each factor that is ``functional`` of the product of all."""
    count = factors.shape[0]
    prefix[0] = 0.0
    prefix[0, 0] = 1.0
    for i in range(count - 1):
        _times(prefix[i], factors[i], prefix[i + 1])
    beyond, moved = functional.copy(), np.empty_like(functional)
    for i in range(count - 1, -1, -1):
        _transposed(beyond, prefix[i], adjoints[i])
        _transposed(beyond, factors[i], moved)
        _copy(moved, beyond)


@njit(cache=True)
def _write_facts(
    facts: np.ndarray, nearer: np.ndarray, t: float, own: int, factors: np.ndarray
) -> None:
    """Write the polynomial of each fact; ``own`` is taken as there (-1: none)."""
    k = factors.shape[1]
    for i in range(facts.shape[0]):
        fact = facts[i]
        factors[i] = 0.0
        if fact != own:
            factors[i, 0] = 1 - t
            if nearer[fact] < k:
                factors[i, nearer[fact]] += t
        elif nearer[fact] < k:
            factors[i, nearer[fact]] = 1.0


@njit(cache=True)
def _product(factors: np.ndarray, out: np.ndarray) -> None:
    """Write the product of all factors, cut off, into ``out``."""
    moved = np.empty_like(out)
    out[:] = 0.0
    out[0] = 1.0
    for i in range(factors.shape[0]):
        _times(out, factors[i], moved)
        _copy(moved, out)


@njit(cache=True)
def _add_group(
    facts: np.ndarray,
    nearer: np.ndarray,
    own: int,
    parented: bool,
    t: float,
    scale: float,
    functional: np.ndarray,
    values: np.ndarray,
    parent: int,
    work: np.ndarray,
) -> None:
    """Add what the units of one group add to a row that is there with chance and worth ``scale``.

    ``functional`` of the group's polynomial is the chance of fewer than k nearer rows. ``own`` is
    the row's fact if it is in this group, which is then taken as there with its parent (else -1).
    """
    count, k = facts.shape[0], functional.shape[0]
    factors, prefix, adjoints, product = work[0], work[1], work[2], np.empty(k)
    _write_facts(facts, nearer, t, own, factors)
    below = functional.copy()
    if parented:
        _product(factors[:count], product)
        chance = (functional * product).sum()
        if own >= 0:
            values[parent] += scale / t * chance
        else:
            values[parent] += scale * (chance - functional[0])
            below *= t
    _adjoints(factors[:count], below, prefix, adjoints)
    for i in range(count):
        c = nearer[facts[i]]
        moved = adjoints[i, c] if c < k else 0.0
        if facts[i] == own:
            values[own] += scale / t * moved
        else:
            values[facts[i]] += scale * (moved - adjoints[i, 0])


@njit(cache=True)
def _add_gradient(
    facts: np.ndarray,
    match: np.ndarray,
    group_of: np.ndarray,
    group_start: np.ndarray,
    parented: np.ndarray,
    k: int,
    t: float,
    weight: float,
    values: np.ndarray,
) -> None:
    """Add ``weight`` times what each unit adds when the others are there with probability ``t``.

    ``facts`` and ``match`` (n,) are of the output rows, nearest first. ``group_of`` (facts,) is a
    fact's group; ``group_start`` (groups + 1,) counts facts; ``parented`` (groups,) tells whether a
    group has a parent unit. ``values`` (facts + groups,) holds facts first.
    """
    n_facts, n_groups = group_of.shape[0], parented.shape[0]
    nearer, listed = np.zeros(n_facts, np.int64), np.zeros(n_facts, np.bool_)
    members, size = np.empty(n_facts, np.int64), np.zeros(n_groups, np.int64)
    seen, seat, n_seen = np.empty(n_groups, np.int64), np.full(n_groups, -1), 0
    inner, outer = np.zeros((n_groups, k)), np.zeros((n_groups, k))
    work = np.empty((3, n_facts, k))
    factors = work[0]
    over, over_prefix, product = np.empty((n_groups, k)), np.empty((n_groups, k)), np.empty(k)
    ones = np.ones(k)
    for row in range(facts.shape[0]):
        fact = facts[row]
        group = group_of[fact]
        start = group_start[group]
        if seat[group] < 0:
            seat[group] = n_seen
            seen[n_seen] = group
            outer[n_seen] = 0.0
            outer[n_seen, 0] = 1.0
            n_seen += 1
        if not listed[fact]:
            listed[fact] = True
            members[start + size[group]] = fact
            size[group] += 1
        here = seat[group]
        own_members = members[start : start + size[group]]
        if match[row] != 0.0 and nearer[fact] < k:
            _product(outer[:n_seen], product)
            if product.sum() < 1e-17 * (1 - t) ** 2:
                break  # fewer than k nearer rows: as good as impossible from here on
            _write_facts(own_members, nearer, t, fact, factors)
            _product(factors[: size[group]], inner[here])
            kept = outer[here].copy()
            _copy(inner[here], outer[here])
            _adjoints(outer[:n_seen], ones, over_prefix, over)
            _copy(kept, outer[here])
            scale = weight * match[row] / k * (t * t if parented[group] else t)
            for i in range(n_seen):
                other = seen[i]
                theirs = members[group_start[other] : group_start[other] + size[other]]
                own = fact if other == group else -1
                _add_group(
                    theirs,
                    nearer,
                    own,
                    bool(parented[other]),
                    t,
                    scale,
                    over[i],
                    values,
                    n_facts + other,
                    work,
                )
        nearer[fact] += 1
        _write_facts(own_members, nearer, t, -1, factors)
        _product(factors[: size[group]], outer[here])
        if parented[group]:
            outer[here] *= t
            outer[here, 0] += 1 - t


@njit(nogil=True, cache=True)
def add_unit_values(
    part: int,
    parts: int,
    facts: np.ndarray,
    match: np.ndarray,
    group_of: np.ndarray,
    group_start: np.ndarray,
    parented: np.ndarray,
    k: int,
    nodes: np.ndarray,
    weights: np.ndarray,
    values: np.ndarray,
) -> None:
    """Add to ``values`` (points, facts + groups) those of output rows (points, n) nearest first."""
    for point in range(part, facts.shape[0], parts):
        for node in range(nodes.shape[0]):
            _add_gradient(
                facts[point], match[point], group_of, group_start, parented, k, nodes[node], weights[node],
                values[point],
            )  # fmt: skip


@njit(cache=True)
def walk_permutation(
    order: np.ndarray,
    ranks: np.ndarray,
    match: np.ndarray,
    rows_of: np.ndarray,
    rows_start: np.ndarray,
    needed: np.ndarray,
    k: int,
    added: np.ndarray,
) -> None:
    """Write what each unit adds to the mean worth, joining in ``order``, into ``added`` (units,).

    ``ranks`` and ``match`` (points, n) are of the output rows; ``rows_of`` lists the output rows of
    unit u between ``rows_start[u]`` and ``rows_start[u + 1]``; ``needed`` (n,) counts the units
    that a row needs.
    """
    points, n = ranks.shape
    missing, there, n_there = (
        needed.copy(),
        np.empty(n, np.int64),
        np.zeros(order.shape[0] + 1, np.int64),
    )
    count = 0
    for step in range(order.shape[0]):
        unit = order[step]
        for i in range(rows_start[unit], rows_start[unit + 1]):
            missing[rows_of[i]] -= 1
            if missing[rows_of[i]] == 0:
                there[count] = rows_of[i]
                count += 1
        n_there[step + 1] = count
    added[:] = 0.0
    nearest, votes = np.empty(k, np.int64), np.empty(k)
    for point in range(points):
        held = 0
        for step in range(order.shape[0]):
            for i in range(n_there[step], n_there[step + 1]):
                rank, vote = ranks[point, there[i]], match[point, there[i]]
                if held == k and rank > nearest[k - 1]:
                    continue
                gone = votes[k - 1] if held == k else 0.0
                place = held if held < k else k - 1
                while place > 0 and nearest[place - 1] > rank:
                    nearest[place], votes[place] = nearest[place - 1], votes[place - 1]
                    place -= 1
                nearest[place], votes[place] = rank, vote
                held = min(k, held + 1)
                added[order[step]] += (vote - gone) / (k * points)
