"""When to stop, and how accurate the chosen model is: statements that hold however the labels were
chosen.

At every step the example is drawn with known chances, so the labels so far, plus the new one
divided by its chance, is an unbiased estimate of the whole pool given the past (Horvitz and
Thompson 1952). Betting on it gives processes that rarely grow large if the claim is false
(Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS B 2024,
sections 4 and 5): with Ville's inequality they may be looked at after every label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from easeml.lifecycle.picking.pool import Pool


@dataclass
class _Bets:
    """One model's bets against all others, after ``labels`` labels, ``seen`` of them with a chance;
    see the kernel.
    """

    state: np.ndarray
    labels: int = 0
    seen: int = 0


class Certificate:
    """Bets, for every two models, that the first is not worse than the second by more than the
    tolerance.

    Model j is certified when all its bets against the others reach (k - 1) / delta, or cannot lose
    any more. A wrong certificate needs one of k - 1 bets against the best model to be won although
    it is unfair, which by Ville's inequality and the union bound happens with probability at most
    delta.

    Stakes look at the past alone, so the bets of a model may be made up for when it is asked about:
    only those that ever lead are kept.
    """

    def __init__(self, pool: Pool, tolerance: float, confidence: float):
        """``tolerance``: the loss of accuracy that does not matter; ``confidence``: 1 - delta."""
        from easeml.lifecycle.picking import kernels

        k, n = pool.models, pool.examples
        self._kernels = kernels
        self._pool = pool
        self._n = n
        self._tolerance = tolerance
        self._delta = 1 - confidence
        self._needed = np.log(max(k - 1, 1) / self._delta)
        self._bets: dict[int, _Bets] = {}
        self._labels = 0
        self._rows, self._slots = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int32)
        self._chances, self._floors = np.zeros(n), np.zeros(n)
        self._estimates: list[np.ndarray] = []
        self._centres: list[np.ndarray] = []
        self._ranges: list[float] = []
        self._right = np.zeros(k)

    def rivals(self, leader: int) -> np.ndarray:
        """Return which models the leader is not yet certified against."""
        open_bets = self._bets_of(leader).state[0] < self._needed
        open_bets[leader] = False
        return open_bets

    def observe(
        self,
        row: int,
        slot: int,
        chance: float,
        floor: float,
        contested_floor: tuple[int, np.ndarray, float] | None,
        expected: np.ndarray,
        beliefs: np.ndarray,
    ) -> None:
        """Take one label.

        ``chance`` is the probability with which ``row`` was drawn, ``floor`` a lower bound of it
        for every unlabelled example, ``contested_floor`` a (leader, rivals, bound) for those that
        the leader and a rival predict differently. ``expected`` is what the rule expects each model
        to have right on the unlabelled examples (``row`` among them), ``beliefs`` that for ``row``
        alone.
        """
        if contested_floor is not None:
            self._bets_of(contested_floor[0])  # up to here with no such bound
        place = self._labels
        self._rows[place], self._slots[place], self._chances[place], self._floors[place] = (
            row,
            slot,
            chance,
            floor,
        )
        self._labels += 1
        if contested_floor is not None:
            self._bets_of(*contested_floor)
        outcome = (self._pool.slots[row] == slot).astype(float)
        if floor > 0:
            centre = self._right + expected
            self._centres.append(centre / self._n)
            self._estimates.append((centre + (outcome - beliefs) / chance) / self._n)
            self._ranges.append(1 / floor / self._n)
        self._right += outcome

    def _bets_of(self, model: int, rivals: np.ndarray | None = None, bound: float = 0.0) -> _Bets:
        """Return the bets of a model after all labels; those it had not seen have this bound
        against the rivals.
        """
        k = self._pool.models
        if model not in self._bets:
            self._bets[model] = _Bets(np.zeros((5, k)))
            self._bets[model].state[2] = self._pool.apart[model]
        bets = self._bets[model]
        if bets.labels < self._labels:
            new = slice(bets.labels, self._labels)
            contested = np.zeros(k, dtype=bool) if rivals is None else rivals
            bets.seen = self._kernels.bet(
                model, self._pool.slots, self._rows[new], self._slots[new], self._chances[new], self._floors[new],
                contested, bound, self._n, self._tolerance, bets.seen, bets.state,
            )  # fmt: skip
            bets.labels = self._labels
        return bets

    def interval(self, model: int, labelled: int) -> tuple[float, float]:
        """Return bounds of the accuracy of a model on the whole pool, at the confidence, for all
        models at once.
        """
        low = self._right[model] / self._n
        high = low + (self._n - labelled) / self._n
        if not self._estimates:
            return float(low), float(high)
        claims = np.linspace(low, high, 401)
        threshold = np.log(2 * self._pool.models / self._delta)
        estimates = np.array(self._estimates)[:, model]
        centres, ranges = np.array(self._centres)[:, model], np.array(self._ranges)
        for sign in (1.0, -1.0):
            wealth = _log_wealth(sign * estimates, sign * centres, ranges, sign * claims)
            claims = claims[wealth < threshold]
            if not len(claims):
                middle = float(np.clip(estimates.mean(), low, high))
                return middle, middle
        step = (high - low) / 400
        return float(max(low, claims[0] - step)), float(min(high, claims[-1] + step))


def _log_wealth(
    estimates: np.ndarray, centres: np.ndarray, ranges: np.ndarray, claims: np.ndarray
) -> np.ndarray:
    """Return the largest log-wealth of betting that the mean is above each claim; stakes look at
    the past alone.
    """
    count = np.arange(1, len(estimates) + 1)
    before = np.concatenate([[0.0], np.cumsum(estimates)[:-1]])
    mean = (before + centres[0]) / count
    spread = (np.concatenate([[0.0], np.cumsum((estimates - mean) ** 2)[:-1]]) + 0.25) / count
    edge = mean[:, None] - claims[None, :]
    most = 0.75 / np.maximum(claims[None, :] - (centres - ranges)[:, None], 1e-9)
    stake = np.clip(edge / (spread[:, None] + edge**2), 0, most)
    return np.cumsum(np.log1p(stake * (estimates[:, None] - claims[None, :])), axis=0).max(axis=0)
