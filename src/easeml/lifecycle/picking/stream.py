"""Model Picker: examples come one by one, and each label is asked for at once or never."""

from __future__ import annotations

from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.picking.pool import Pool
from easeml.lifecycle.picking.tuning import vote_labels

MULTIPLIERS = tuple(2.0**power for power in range(-4, 11))


class StreamPicker:
    """Stream Model Picker (Karimi et al., "Online active model selection for pre-trained
    classifiers", AISTATS 2021).

    At step t the models have weights proportional to exp(-eta_t L), with L their
    importance-weighted losses and eta_t = sqrt(ln k / (2 t)), computed anew from t at every step.
    If p_c is the weight of the models that do not predict c, the label is asked for with
    probability max(max_c p_c (1 - p_c), eta_t), at most 1; never where all models agree. The floor
    eta_t keeps the importance weights bounded.

    ``offer`` an example; where it answers True, ``tell`` the label before the next one.
    """

    def __init__(self, models: int, *, multiplier: float = 1.0, seed: int = 0):
        """``multiplier`` of the disagreement: larger asks for more labels."""
        if models < 1:
            raise InvalidInput(
                f"There are {models} models.", where="models", remedy="Give at least one."
            )
        from easeml.lifecycle.picking import kernels

        self._kernels = kernels
        self._rng = np.random.default_rng(seed)
        self._multiplier = multiplier
        self._waiting: tuple[np.ndarray, float] | None = None
        self.losses = np.zeros(models)
        self.seen = 0
        self.labels = 0

    @property
    def weights(self) -> np.ndarray:
        """Return the belief in each model, shape (k,), at the rate of the last step."""
        rate = np.sqrt(np.log(len(self.losses)) / (2 * max(self.seen, 1)))
        odds = np.exp(-rate * (self.losses - self.losses.min()))
        return odds / odds.sum()

    @property
    def leader(self) -> int:
        """Return the model with the smallest loss; among equals the first."""
        return int(self.losses.argmin())

    def offer(self, predictions: Any) -> bool:
        """Show what the models predict for the next example, shape (k,); True where its label is
        asked for.

        Raises:
            InvalidInput: where a label is still missing, or the predictions do not fit the models.
        """
        row = Pool.of(np.asarray(predictions).reshape(1, -1))
        if len(row.merged) != len(self.losses):
            raise InvalidInput(
                f"{len(row.merged)} predictions for {len(self.losses)} models.",
                where="predictions",
                remedy="Give one prediction of each model.",
            )
        codes = row.codes[0, row.merged]
        return self.offer_slots(codes, len(row.classes), row.classes)

    def offer_slots(self, slots: np.ndarray, width: int, classes: np.ndarray | None = None) -> bool:
        """Do as ``offer``, with predictions numbered from 0 to ``width`` - 1; ``tell`` then takes
        such a number.
        """
        if self._waiting is not None:
            raise InvalidInput(
                "The last label is still missing.", where="offer", remedy="Tell it first."
            )
        self.seen += 1
        _, _, chance = self._kernels.query_chance(
            slots, width, self.losses, self.seen, self._multiplier
        )
        if self._rng.random() >= chance:
            return False
        self._waiting = (slots if classes is None else classes[slots], chance)
        return True

    def tell(self, label: Any) -> None:
        """Take the label of the example that was offered last.

        Raises:
            InvalidInput: where none was asked for.
        """
        if self._waiting is None:
            raise InvalidInput(
                "No label was asked for.", where="tell", remedy="Offer an example first."
            )
        votes, chance = self._waiting
        self._waiting = None
        self.labels += 1
        self.losses += (votes != label) / chance


def tune_multiplier(pool: Pool, order: np.ndarray, budget: int, rng: np.random.Generator) -> float:
    """Choose the multiplier that spends a budget best over a stream, on labels drawn from the
    votes.

    It is the one whose number of queries comes nearest to the budget; no true label is used (the
    published code searches with them).
    """
    from easeml.lifecycle.picking import kernels

    labels, lots = vote_labels(pool, rng), rng.random(len(order))
    spent = [
        kernels.stream_queries(pool.slots, pool.width, labels, order, lots, multiplier)
        for multiplier in MULTIPLIERS
    ]
    return MULTIPLIERS[int(np.abs(np.array(spent) - budget).argmin())]
