"""When to stop, and how accurate the choice is: true however the labels were chosen.

At every step the example is drawn with known chances, so the labels so far, plus the new one
divided by its chance, is an unbiased estimate of the whole pool given the past (Horvitz and
Thompson 1952). Betting on it gives processes that rarely grow large if the claim is false
(Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS B 2024,
sections 4 and 5): with Ville's inequality they may be looked at after every label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter

import numpy as np

from easeml.lifecycle.picking.pool import Pool


@dataclass(frozen=True, eq=False)
class Label:
    """One label, and the chances with which its example was drawn.

    ``slot``: the label. ``chance``: that ``row`` was drawn. ``floor``: a lower bound of it for
    every unlabelled example; 0 where the chances are not known, and the label is then no bet.
    ``contested``: a higher bound for the examples that the leader and a rival predict differently.
    ``expected``: what the rule expects each model to have right on the unlabelled examples (``row``
    among them), ``beliefs`` that for ``row`` alone, both of shape (k,).
    """

    row: int
    slot: int
    chance: float
    floor: float
    expected: np.ndarray
    beliefs: np.ndarray
    contested: Contested | None = None


@dataclass(frozen=True, eq=False)
class Contested:
    """A lower bound of the chance of every example that the leader and any rival dispute.

    ``rivals``: a mask of the models, (k,).
    """

    leader: int
    rivals: np.ndarray
    floor: float


_TOLD_TO_BETS = attrgetter("row", "slot", "chance", "floor")


@dataclass(frozen=True, eq=False)
class Bets:
    """One model's bets against all others after ``labels`` labels, ``seen`` of them with a chance.

    ``state``: see ``kernels.bet``, shape (5, k).
    """

    state: np.ndarray
    labels: int = 0
    seen: int = 0


@dataclass(frozen=True, eq=False)
class Certificate:
    """Bets, for every two models, that the first is not worse by more than the tolerance.

    A value: ``with_label`` and ``betting_on`` return another one.

    Model j is certified when all its bets against the others reach (k - 1) / delta, or cannot lose
    any more. A wrong certificate needs one of k - 1 bets against the best model to be won although
    it is unfair, which by Ville's inequality and the union bound happens with probability at most
    delta.

    Stakes look at the past alone, so the bets of a model may be made up for when it is asked about:
    only those that ever lead are kept.
    """

    pool: Pool
    tolerance: float
    confidence: float
    labels: tuple[Label, ...] = ()
    bets: Mapping[int, Bets] = field(default_factory=dict)

    def rivals(self, leader: int) -> np.ndarray:
        """Return which models the leader is not yet certified against, a mask of shape (k,)."""
        needed = np.log(max(self.pool.models - 1, 1) / (1 - self.confidence))
        open_bets = self._bets_of(leader).state[0] < needed
        open_bets[leader] = False
        return open_bets

    def betting_on(self, leader: int) -> Certificate:
        """Return the certificate with the bets of a model up to date, so that they are kept."""
        return replace(self, bets={**self.bets, leader: self._bets_of(leader)})

    def with_label(self, label: Label) -> Certificate:
        """Return the certificate after one more label."""
        after = replace(self, labels=(*self.labels, label))
        contested = label.contested
        if contested is None:
            return after
        before = self._bets_of(contested.leader)
        moved = after._moved(contested.leader, before, contested)
        return replace(after, bets={**self.bets, contested.leader: moved})

    def _bets_of(self, model: int) -> Bets:
        """Return the bets of a model after all labels."""
        k = self.pool.models
        if model in self.bets:
            return self._moved(model, self.bets[model], None)
        start = np.zeros((5, k))
        start[2] = self.pool.apart[model]
        return self._moved(model, Bets(start), None)

    def _moved(self, model: int, bets: Bets, contested: Contested | None) -> Bets:
        """Return the bets moved by the labels they have not seen, with a bound for these."""
        from easeml.lifecycle.picking import kernels

        new = self.labels[bets.labels :]
        if not new:
            return bets
        state = bets.state.copy()
        rows, slots, chances, floors = zip(*map(_TOLD_TO_BETS, new), strict=True)
        nobody = Contested(model, np.zeros(self.pool.models, dtype=bool), 0.0)
        bound = contested or nobody
        seen = kernels.bet(
            model,
            self.pool.slots,
            np.array(rows, dtype=np.int64),
            np.array(slots, dtype=np.int32),
            np.array(chances, dtype=float),
            np.array(floors, dtype=float),
            bound.rivals,
            bound.floor,
            self.pool.examples,
            self.tolerance,
            bets.seen,
            state,
        )
        return Bets(state, len(self.labels), seen)


def intervals(certificate: Certificate) -> list[tuple[float, float]]:
    """Return bounds of the accuracy of each model on the whole pool, at the confidence.

    They hold for all models at once, after any number of labels.
    """
    n = certificate.pool.examples
    k = certificate.pool.models
    labels = certificate.labels
    slots = certificate.pool.slots
    right = np.zeros(k)
    centres, estimates, ranges = [], [], []
    for label in labels:
        outcome = (slots[label.row] == label.slot).astype(float)
        if label.floor > 0:
            centre = right + label.expected
            surprise = (outcome - label.beliefs) / label.chance
            centres.append(centre / n)
            estimates.append((centre + surprise) / n)
            ranges.append(1 / label.floor / n)
        right = right + outcome
    lows = right / n
    highs = lows + (n - len(labels)) / n
    if not estimates:
        return list(zip(lows.tolist(), highs.tolist(), strict=True))
    threshold = np.log(2 * k / (1 - certificate.confidence))
    columns = zip(np.array(estimates).T, np.array(centres).T, lows, highs, strict=True)
    return [_interval(*column, np.array(ranges), threshold) for column in columns]


def _interval(
    estimates: np.ndarray,
    centres: np.ndarray,
    low: float,
    high: float,
    ranges: np.ndarray,
    threshold: float,
) -> tuple[float, float]:
    """Return the accuracies of one model, from ``low`` to ``high``, that no bet refutes."""
    claims = np.linspace(low, high, 401)
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
    """Return the largest log-wealth of betting that the mean is above each claim.

    Stakes look at the past alone.
    """
    count = np.arange(1, len(estimates) + 1)
    before = np.concatenate([[0.0], np.cumsum(estimates)[:-1]])
    mean = (before + centres[0]) / count
    spread = (np.concatenate([[0.0], np.cumsum((estimates - mean) ** 2)[:-1]]) + 0.25) / count
    edge = mean[:, None] - claims[None, :]
    most = 0.75 / np.maximum(claims[None, :] - (centres - ranges)[:, None], 1e-9)
    stake = np.clip(edge / (spread[:, None] + edge**2), 0, most)
    return np.cumsum(np.log1p(stake * (estimates[:, None] - claims[None, :])), axis=0).max(axis=0)
