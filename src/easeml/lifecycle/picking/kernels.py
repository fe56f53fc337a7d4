"""Compiled inner loops of the rules; imported only when a rule runs.

Those over all examples follow the pool's dissent: what the models together hold on slot 0, the most
voted one, is what all of them hold less what the dissenting hold elsewhere. So their work grows
with the disagreement, not with n k. Its numbers are unsigned: Numba then does without the test for
an index below zero, which costs as much as the work.
"""

from __future__ import annotations

import numpy as np

from easeml.lifecycle.compiled import njit


@njit(cache=True, inline="always")
def gather(start, end, models, slots, last, powers, belief, totals, vote, one):
    """Fill the ``last`` slots of an example with what the models in start:end hold.

    Its dissent lies there.

    ``vote``: products of ``powers``, the exponentials of the models' weights, which spares an
    exponential a slot; ``one``: sums of ``belief``. ``totals``: product of all powers, sum of all
    belief. Returns the sum of ``vote``.
    """
    for c in range(last):
        vote[c] = 1.0
        one[c] = 0.0
    for at in range(start, end):
        vote[slots[at]] *= powers[models[at]]
        one[slots[at]] += belief[models[at]]
    others, whole, most = 1.0, 0.0, totals[1]
    for c in range(1, last):
        others *= vote[c]
        whole += vote[c]
        most -= one[c]
    vote[0] = totals[0] / others
    one[0] = most
    return whole + vote[0]


@njit(cache=True)
def beliefs(start, end, models, slots, last, powers, belief, totals, error, vote, one):
    """Fill ``vote`` and ``one`` with two beliefs in the ``last`` slots of an example.

    Its dissent lies in start:end.

    The vote: softmax of the summed weights. The one: (1 - error) A_c + error (1 - A_c) / (slots -
    1), A_c the summed ``belief``. ``totals``: as ``gather`` has them. O(dissent).
    """
    scale = 1.0 / gather(start, end, models, slots, last, powers, belief, totals, vote, one)
    part = error / max(last - 1, 1)
    for c in range(last):
        vote[c] *= scale
        one[c] = (1 - error) * one[c] + part * (1 - one[c])


@njit(cache=True)
def class_beliefs(
    starts, models, slots, lasts, is_open, powers, belief, error, trust, mixed, totals
):
    """Fill ``mixed`` (n, most slots) with ``beliefs`` of open examples.

    By ``trust`` it is the vote's, else the one's.

    ``lasts``: the slots of each example. ``totals[j]`` grows by the belief that model j is right,
    over the open examples. O(n + dissent).
    """
    whole = (powers.prod(), belief.sum())
    vote = np.empty(mixed.shape[1])
    one = np.empty(mixed.shape[1])
    majority = 0.0
    for i in range(len(lasts)):
        if not is_open[i]:
            continue
        last = lasts[i]
        scale = 1.0 / gather(
            starts[i], starts[i + 1], models, slots, last, powers, belief, whole, vote, one
        )
        part = error / max(last - 1, 1)
        for c in range(last):
            vote[c] = trust * (vote[c] * scale) + (1 - trust) * (
                (1 - error) * one[c] + part * (1 - one[c])
            )
            mixed[i, c] = vote[c]
        majority += vote[0]
        for at in range(starts[i], starts[i + 1]):
            totals[models[at]] += vote[slots[at]] - vote[0]
    totals += majority


@njit(cache=True)
def dispute(starts, models, slots, width, mixed, weights, careful, is_open, scores, apart):
    """Fill ``scores`` for two models drawn by ``weights``, ``apart`` for two drawn by ``careful``.

    ``scores``: the expected squared gap in correctness of the two on an open example, 0 elsewhere.
    With B_c the weight on slot c and q_c its belief, this is 2 [sum_c B_c (1 - B_c) q_c (1 - q_c) -
    sum_c B_c^2 q_c^2 + (sum_c B_c q_c)^2], a variance. ``apart``: the chance that the two predict
    different classes, whatever the beliefs. Both weights sum to 1. O(n + dissent).
    """
    held = np.zeros(mixed.shape[1])
    other = np.zeros(mixed.shape[1])
    for i in range(len(width)):
        scores[i] = 0.0
        apart[i] = 0.0
        if not is_open[i] or width[i] < 2:
            continue
        for c in range(width[i]):
            held[c] = 0.0
            other[c] = 0.0
        for at in range(starts[i], starts[i + 1]):
            held[slots[at]] += weights[models[at]]
            other[slots[at]] += careful[models[at]]
        most = 1.0
        rest = 1.0
        for c in range(1, width[i]):
            most -= held[c]
            rest -= other[c]
        held[0] = most
        other[0] = rest
        spread = 0.0
        mean = 0.0
        alike = 0.0
        for c in range(width[i]):
            q = mixed[i, c]
            alike += other[c] ** 2
            spread += held[c] * (1 - held[c]) * q * (1 - q) - held[c] ** 2 * q**2
            mean += held[c] * q
        scores[i] = max(0.0, 2 * (spread + mean**2))
        apart[i] = max(0.0, 1 - alike)


@njit(cache=True, error_model="numpy")
def learn(slots_row, last, label, mean, covariance):
    """Update Gaussian model weights by one label.

    It is a step of the extended Kalman filter for softmax regression.

    The gradient is x_y - sum_c q_c x_c, the Hessian sum_c q_c (x_c - m)(x_c - m)', with x_c the
    models that predict slot c and m their mean under q; one rank-one update a slot. O(k^2 slots).
    """
    k = len(slots_row)
    q = np.zeros(last)
    for j in range(k):
        q[slots_row[j]] += mean[j]
    q = np.exp(q - q.max())
    q /= q.sum()
    centred = np.empty(k)
    moved = np.empty(k)
    for c in range(last):
        if q[c] < 1e-12:
            continue
        for b in range(k):
            centred[b] = (1.0 if slots_row[b] == c else 0.0) - q[slots_row[b]]
        # The inner loops run along the rows of the symmetric matrix, so that they are done several
        # numbers at a time.
        moved[:] = 0.0
        for b in range(k):
            for a in range(k):
                moved[a] += covariance[b, a] * centred[b]
        norm = 1.0 / q[c]
        for a in range(k):
            norm += centred[a] * moved[a]
        for a in range(k):
            for b in range(k):
                covariance[a, b] -= moved[a] * moved[b] / norm
    for a in range(k):
        total = 0.0
        for b in range(k):
            total += covariance[a, b] * ((1.0 if slots_row[b] == label else 0.0) - q[slots_row[b]])
        mean[a] += total


@njit(cache=True)
def expected_entropy(starts, models, slots, width, belief, gamma, classes, is_open, scores):
    """Fill ``scores`` with minus the expected entropy (nats) after a label drawn uniformly.

    Closed form a class: H_c = ln Z_c - [S + (gamma - 1) B_c + gamma ln(gamma) A_c] / Z_c with A_c
    the belief on the models that predict c, B_c their sum of p ln p, S the sum over all and Z_c = 1
    + (gamma - 1) A_c. Classes that nobody predicts leave the belief as it is. O(n + dissent),
    whatever the number of classes.
    """
    plogp = np.zeros(len(belief))
    for j in range(len(belief)):
        if belief[j] > 0:
            plogp[j] = belief[j] * np.log(belief[j])
    whole = plogp.sum()
    most = width.max()
    a = np.zeros(most)
    b = np.zeros(most)
    log_gamma = np.log(gamma)
    for i in range(len(width)):
        scores[i] = -np.inf
        if not is_open[i]:
            continue
        for c in range(width[i]):
            a[c] = 0.0
            b[c] = 0.0
        a[0] = 1.0
        b[0] = whole
        for at in range(starts[i], starts[i + 1]):
            p = belief[models[at]]
            h = plogp[models[at]]
            a[0] -= p
            b[0] -= h
            a[slots[at]] += p
            b[slots[at]] += h
        total = -(classes - width[i]) * whole
        for c in range(width[i]):
            z = 1 + (gamma - 1) * a[c]
            total += np.log(z) - (whole + (gamma - 1) * b[c] + gamma * log_gamma * a[c]) / z
        scores[i] = -total / classes


@njit(cache=True)
def less_shared(starts, models, slots, counts):
    """Take from ``counts[j, h]``, h < j, the examples on which both dissent.

    Those where they do so alike are taken twice.

    From the numbers of their dissents this leaves on how many examples the two differ. O(sum of
    squared dissent).
    """
    for i in range(len(starts) - 1):
        for a in range(starts[i], starts[i + 1]):
            for b in range(starts[i], a):
                counts[models[a], models[b]] -= 2.0 if slots[a] == slots[b] else 1.0


@njit(cache=True)
def bet(
    model,
    slots,
    rows,
    labels,
    chances,
    floors,
    contested,
    contested_floor,
    n,
    tolerance,
    seen,
    bets,
):
    """Move the log-wealth of the bets on ``model`` against each h by some labels.

    A bet says that the model is not worse than h by more than the tolerance.

    ``bets``, shape (5, k): the log-wealth; the gap, labelled examples that the model alone has
    right less those that h alone has; unlabelled ones on which they differ; sum and sum of squares
    of the payoffs. The payoff has mean D + tolerance, D the true difference of accuracies; the
    stake is the plug-in Kelly bet, at most 3/4 of what can be lost, the least chance of such an
    example being the floor, or for ``contested`` h ``contested_floor``. Labels with no floor are no
    bets. ``seen``: the bets before; returns those after. O(len(rows) k).
    """
    wealth, gap, left, total, squares = bets
    for step in range(len(rows)):
        votes, label, chance, floor = slots[rows[step]], labels[step], chances[step], floors[step]
        right = 1.0 if votes[model] == label else 0.0
        for h in range(len(votes)):
            if h == model:
                continue
            won = right - (1.0 if votes[h] == label else 0.0)
            if floor > 0 and wealth[h] != np.inf:
                lowest = gap[h] / n + tolerance
                if left[h] > 0:
                    lowest -= 1 / (contested_floor if contested[h] else floor) / n
                payoff = (gap[h] + won / chance) / n + tolerance
                if lowest < 0:
                    mean = total[h] / (seen + 1.0)
                    if mean > 0:
                        stake = min(mean / ((squares[h] + 0.25) / (seen + 1.0)), 0.75 / -lowest)
                        wealth[h] += np.log1p(stake * payoff)
                else:
                    wealth[h] = np.inf
                total[h] += payoff
                squares[h] += payoff * payoff
            gap[h] += won
            if votes[h] != votes[model]:
                left[h] -= 1
            if gap[h] - left[h] + tolerance * n >= 0:  # what is left cannot turn the order any more
                wealth[h] = np.inf
        if floor > 0:
            seen += 1
    return seen


@njit(cache=True)
def query_chance(slots_row, last, losses, step, multiplier):
    """Return (disagreement, rate, query probability) of stream Model Picker at ``step``, from 1.

    O(k).
    """
    k = len(losses)
    rate = np.sqrt(np.log(k) / (2 * step))
    least = losses.min()
    held = np.zeros(last)
    total = 0.0
    for j in range(k):
        weight = np.exp(-rate * (losses[j] - least))
        held[slots_row[j]] += weight
        total += weight
    most = 0.0
    for c in range(last):
        wrong = 1 - held[c] / total
        most = max(most, wrong * (1 - wrong))
    if last < 2:
        return 0.0, rate, 0.0
    return most, rate, min(1.0, max(multiplier * most, rate))


@njit(cache=True)
def stream_queries(slots, width, labels, order, lots, multiplier):
    """Return how many labels stream Model Picker asks for over ``order``.

    ``lots``: uniform draws. O(n k).
    """
    losses = np.zeros(slots.shape[1])
    asked = 0
    for step in range(len(order)):
        row = order[step]
        _, _, chance = query_chance(slots[row], width[row], losses, step + 1, multiplier)
        if lots[step] < chance:
            asked += 1
            for j in range(len(losses)):
                if slots[row, j] != labels[row]:
                    losses[j] += 1 / chance
    return asked


@njit(cache=True)
def apart_from(starts, models, slots, votes, rivals, is_open):
    """Return on which open examples the leader differs from one of the ``rivals``.

    The leader's slots are ``votes``.

    ``rivals`` is a mask of models. O(n + dissent) at most.
    """
    found = np.zeros(len(votes), dtype=np.bool_)
    many = rivals.sum()
    for i in range(len(votes)):
        if not is_open[i]:
            continue
        alike = 0
        for at in range(starts[i], starts[i + 1]):
            if rivals[models[at]]:
                if (
                    slots[at] != votes[i]
                ):  # another dissenter than the leader, or one where the leader is with the most
                    found[i] = True
                    break
                alike += 1
        found[i] = found[i] or (votes[i] != 0 and alike < many)
    return found
