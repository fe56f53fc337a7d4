"""Compiled Shapley values of the weighted vote, through the multilinear extension of its game."""

import numpy as np

from easeml.lifecycle.compiled import njit


@njit(cache=True)
def _correct(balance: int) -> float:
    return 0.5 + 0.5 * np.sign(balance)


@njit(cache=True)
def _add_gradient(
    votes: np.ndarray,
    k: int,
    bound: int,
    t: float,
    weight: float,
    later: np.ndarray,
    values: np.ndarray,
) -> None:
    """Add ``weight`` times what each row adds when every other row is there with probability ``t``.

    ``votes`` (n,) are signed whole weights, nearest first; balances lie within ``bound``. ``later``
    (n + 2, k + 1, 2 bound + 1) becomes the expected outcome from a rank on, given votes cast and
    balance before it.
    """
    n = votes.shape[0]
    for cast in range(k + 1):
        for state in range(2 * bound + 1):
            later[n, cast, state] = _correct(state - bound)
    for i in range(n - 1, -1, -1):
        for cast in range(min(k, i) + 1):
            for state in range(2 * bound + 1):
                moved = state + votes[i]
                if cast == k or moved < 0 or moved > 2 * bound:
                    later[i, cast, state] = later[n, cast, state]
                else:
                    later[i, cast, state] = (1 - t) * later[i + 1, cast, state] + t * later[
                        i + 1, cast + 1, moved
                    ]
    before = np.zeros((k + 1, 2 * bound + 1))
    before[0, bound] = 1.0
    for i in range(n):
        for cast in range(min(k, i + 1) - 1, -1, -1):
            for state in range(2 * bound + 1):
                chance = before[cast, state]
                if chance == 0.0:
                    continue
                moved = state + votes[i]
                values[i] += (
                    weight * chance * (later[i + 1, cast + 1, moved] - later[i + 1, cast, state])
                )
                before[cast, state] = (1 - t) * chance
                before[cast + 1, moved] += t * chance


@njit(nogil=True, cache=True)
def add_vote_values(
    part: int,
    parts: int,
    votes: np.ndarray,
    k: int,
    bound: int,
    nodes: np.ndarray,
    weights: np.ndarray,
    values: np.ndarray,
) -> None:
    """Add to ``values`` (points, n) those of signed votes (points, n), each nearest first."""
    later = np.empty((votes.shape[1] + 1, k + 1, 2 * bound + 1))
    for point in range(part, votes.shape[0], parts):
        for node in range(nodes.shape[0]):
            _add_gradient(votes[point], k, bound, nodes[node], weights[node], later, values[point])
