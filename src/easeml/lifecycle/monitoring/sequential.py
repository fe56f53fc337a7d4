"""Did the concept change? A test on few labels whose false alarms stay rare however often asked."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log, pi

import numpy as np

from easeml.errors import InvalidInput

MOST_WEIGHT = 2.0
"""Greatest weight of a draw: `draw` takes no row with less than half the uniform chance."""
NEAR_NONE = 1e-3
LARGEST = 1e12


@dataclass(frozen=True)
class ConceptTest:
    """What is staked on the model having become worse than its inputs let expect.

    ``labels``: how many were seen; ``stake``: money on a change that has begun, ``aside``: money
    kept for one that begins later; both sum to 1 at first. If the inputs still mean the same, no
    bet gains on average, so the sum ever reaches 1 / alpha with probability alpha at most (Ville,
    1939; Shafer, JRSS A 2021). A change may begin at any label: the j-th is staked on with
    6 / (pi j)**2 (mixture of starting times; Shin, Ramdas and Rinaldo, 2024).
    """

    labels: int = 0
    stake: float = 0.0
    aside: float = 1.0

    @property
    def evidence(self) -> float:
        """How many times what was staked has been won; an e-value."""
        return self.stake + self.aside

    @property
    def p_value(self) -> float:
        """1 / evidence, at most 1: the level at which the test would alarm."""
        return min(1.0, 1 / max(self.evidence, NEAR_NONE))

    def told(
        self, right: np.ndarray, weights: np.ndarray, least: float, drop: float
    ) -> ConceptTest:
        """Return what is staked after more labels.

        Args:
            right: 1 where the model was right, else 0; one a draw, drawn at random.
            weights: 1 / (rows * chance) of each draw; 1 where all rows had the same chance.
            least: quality that the inputs let expect at least, in (0, 1).
            drop: fall of quality for which the bets are the best ones.

        Raises:
            InvalidInput: if a weight is more than 2: such rows were not drawn by `choose`.
        """
        if len(weights) and float(weights.max()) > MOST_WEIGHT * (1 + 1e-9):
            raise InvalidInput(
                "A row had less than half the chance that all rows alike would have.",
                where="chances",
                remedy="Label rows that were chosen at random (choose).",
            )
        bet, _ = bet_on(least, drop)
        stake, aside, seen = self.stake, self.aside, self.labels
        for was_right, weight in zip(right, weights, strict=True):
            seen += 1
            begun = min(aside, 6 / (pi * seen) ** 2)
            aside -= begun
            stake = min(LARGEST, (stake + begun) * (1 + bet * weight * (least - was_right)))
        return ConceptTest(seen, stake, aside)


def labels_needed(seen: int, least: float, drop: float, alpha: float) -> int:
    """Return how many labels, of rows drawn evenly, show a drop that begins now, on average.

    The bet gains ``E log(1 + bet (least - right))`` a label; it must gain the share that is staked
    on a change at this label, and 1 / alpha (Wald's equation).

    Args:
        seen: labels before; where stakes are made look by look, the looks before.
        least: quality that the inputs let expect at least, in (0, 1).
        drop: fall of quality to find, in (0, 1).
        alpha: probability of ever raising a false alarm.
    """
    least, drop = _inside(least, drop)
    bet, _ = bet_on(least, drop)
    after = least - drop
    gain = after * log(1 - bet * (1 - least)) + (1 - after) * log(1 + bet * least)
    if gain <= 0:
        return int(LARGEST)
    first = 6 / (pi * (seen + 1)) ** 2
    return ceil(log(1 / (alpha * first)) / gain)


def bet_on(least: float, drop: float) -> tuple[float, float]:
    """Return the stake on a drop, and ``least`` away from 0 and 1.

    It is that of the likelihood ratio, but safe for the greatest weight.
    """
    least, drop = _inside(least, drop)
    safe = 0.9 / (MOST_WEIGHT * (1 - least))
    return min(drop / (least * (1 - least)), safe), least


def _inside(least: float, drop: float) -> tuple[float, float]:
    least = min(1 - NEAR_NONE, max(2 * NEAR_NONE, least))
    return least, min(drop, least - NEAR_NONE)
