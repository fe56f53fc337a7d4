"""Model Picker: examples come one by one, and each label is asked for at once or never."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.picking.pool import Pool
from easeml.lifecycle.picking.tuning import vote_labels

MULTIPLIERS = tuple(2.0**power for power in range(-4, 11))

MEMORIES = (100.0, 300.0, 1000.0, np.inf)
"""Examples after which a loss counts for 1/e: one list of losses each. The last never forgets."""

JUDGED = 300.0
"""Examples over which the memories are compared."""


@dataclass(frozen=True, eq=False)
class Stream:
    """A stream under way, as a value.

    ``losses``: importance-weighted, by memory and model, (m, k). ``regrets``: what following each
    memory's leader lost of late, (m,). ``waiting``: predictions and chance of the example whose
    label was asked for.
    """

    memories: np.ndarray
    losses: np.ndarray
    regrets: np.ndarray
    multiplier: float = 1.0
    seed: int = 0
    seen: int = 0
    labels: int = 0
    waiting: tuple[np.ndarray, float] | None = None

    @property
    def memory(self) -> int:
        """Return the memory that did best of late, the longest of several."""
        last = len(self.regrets) - 1
        return last - int(self.regrets[::-1].argmin())

    @property
    def leader(self) -> int:
        """Return the model with the smallest loss in that memory; among equals the first."""
        return int(self.losses[self.memory].argmin())

    @property
    def weights(self) -> np.ndarray:
        """Return the belief in each model, shape (k,), at the rate of the last step."""
        losses = self.losses[self.memory]
        rate = np.sqrt(np.log(len(losses)) / (2 * self.remembered(self.seen)))
        odds = np.exp(-rate * (losses - losses.min()))
        return odds / odds.sum()

    def remembered(self, seen: int) -> float:
        """Return how many of ``seen`` examples count, at least 1."""
        return float(max(min(seen, self.memories[self.memory]), 1))


def open_stream(
    models: int, *, multiplier: float = 1.0, seed: int = 0, forget: bool = True
) -> Stream:
    """Return a stream before its first example.

    Args:
        models: how many there are, k.
        multiplier: of the disagreement; larger asks for more labels.
        seed: of the draws.
        forget: compare several memories, so that the best model may change. Otherwise the published
            rule, which never forgets.

    Raises:
        InvalidInput: where there is no model.
    """
    if models < 1:
        raise InvalidInput(
            f"There are {models} models.", where="models", remedy="Give at least one."
        )
    memories = np.array(MEMORIES if forget else MEMORIES[-1:])
    return Stream(
        memories=memories,
        losses=np.zeros((len(memories), models)),
        regrets=np.zeros(len(memories)),
        multiplier=multiplier,
        seed=seed,
    )


def offer(stream: Stream, slots: np.ndarray, width: int) -> tuple[bool, Stream]:
    """Show what the models predict for the next example; True where its label is asked for.

    ``slots``: (k,), classes numbered from 0 to ``width`` - 1.

    Raises:
        InvalidInput: where a label is still missing.
    """
    from easeml.lifecycle.picking import kernels

    if stream.waiting is not None:
        raise InvalidInput(
            "The last label is still missing.", where="offer", remedy="Tell it first."
        )
    seen = stream.seen + 1
    remembered = stream.remembered(seen)
    losses = stream.losses[stream.memory]
    _, _, chance = kernels.query_chance(slots, width, losses, remembered, stream.multiplier)
    fading = np.exp(-1 / stream.memories)
    shown = replace(
        stream,
        seen=seen,
        losses=stream.losses * fading[:, None],
        regrets=stream.regrets * np.exp(-1 / JUDGED),
    )
    if np.random.default_rng((stream.seed, seen)).random() >= chance:
        return False, shown
    return True, replace(shown, waiting=(np.asarray(slots), chance))


def hear(stream: Stream, label: Any) -> Stream:
    """Return the stream with the label of the example that was offered last.

    Raises:
        InvalidInput: where none was asked for.
    """
    if stream.waiting is None:
        raise InvalidInput(
            "No label was asked for.", where="tell", remedy="Offer an example first."
        )
    votes, chance = stream.waiting
    loss = (votes != label) / chance
    leaders = stream.losses.argmin(axis=1)
    return replace(
        stream,
        waiting=None,
        labels=stream.labels + 1,
        losses=stream.losses + loss,
        regrets=stream.regrets + loss[leaders],
    )


class StreamPicker:
    """Stream Model Picker, with memories that forget.

    Karimi et al., "Online active model selection for pre-trained classifiers", AISTATS 2021.

    At step t the models have weights proportional to exp(-eta_t L), with L their
    importance-weighted losses and eta_t = sqrt(ln k / (2 t)), computed anew from t at every step.
    If p_c is the weight of the models that do not predict c, the label is asked for with
    probability max(max_c p_c (1 - p_c), eta_t), at most 1; never where all models agree. The floor
    eta_t keeps the importance weights bounded.

    The best model may change. So the losses are kept in several memories, each of which forgets at
    its own rate (with w examples remembered, t is at most w), and the one whose leader lost least
    on the last few hundred examples decides. ``forget=False`` keeps to the published rule.

    ``offer`` an example; where it answers True, ``tell`` the label before the next one. It holds
    one value, ``state``, see ``Stream``.
    """

    def __init__(
        self, models: int, *, multiplier: float = 1.0, seed: int = 0, forget: bool = True
    ) -> None:
        """See ``open_stream``."""
        self.state = open_stream(models, multiplier=multiplier, seed=seed, forget=forget)
        self._classes: np.ndarray | None = None

    @property
    def losses(self) -> np.ndarray:
        """Return the importance-weighted losses that decide, shape (k,)."""
        return self.state.losses[self.state.memory]

    @property
    def seen(self) -> int:
        """Return how many examples were offered."""
        return self.state.seen

    @property
    def labels(self) -> int:
        """Return how many labels were told."""
        return self.state.labels

    @property
    def weights(self) -> np.ndarray:
        """Return the belief in each model, shape (k,), at the rate of the last step."""
        return self.state.weights

    @property
    def leader(self) -> int:
        """Return the model that looks best; among equals the first."""
        return self.state.leader

    def offer(self, predictions: Any) -> bool:
        """Show what the models predict for the next example, (k,); True if its label is wanted.

        Raises:
            InvalidInput: where a label is still missing, or the predictions do not fit the models.
        """
        row = Pool.of(np.asarray(predictions).reshape(1, -1))
        models = self.state.losses.shape[1]
        if len(row.merged) != models:
            raise InvalidInput(
                f"{len(row.merged)} predictions for {models} models.",
                where="predictions",
                remedy="Give one prediction of each model.",
            )
        asked = self.offer_slots(row.codes[0, row.merged], len(row.classes))
        self._classes = row.classes
        return asked

    def offer_slots(self, slots: np.ndarray, width: int) -> bool:
        """Do as ``offer``, with predictions as numbers below ``width``; ``tell`` then takes one."""
        asked, self.state = offer(self.state, slots, width)
        self._classes = None
        return asked

    def tell(self, label: Any) -> None:
        """Take the label of the example that was offered last.

        Raises:
            InvalidInput: where none was asked for.
        """
        if self._classes is not None:
            matching = np.flatnonzero(self._classes == label)
            label = int(matching[0]) if len(matching) else -1
        self.state = hear(self.state, label)


def tune_multiplier(pool: Pool, order: np.ndarray, budget: int, rng: np.random.Generator) -> float:
    """Choose the multiplier that spends a budget best, on labels drawn from the votes.

    It is the one whose number of queries comes nearest to the budget; no true label is used (the
    published code searches with them).
    """
    from easeml.lifecycle.picking import kernels

    labels = vote_labels(pool, rng)
    lots = rng.random(len(order))
    spent = [
        kernels.stream_queries(pool.slots, pool.width, labels, order, lots, multiplier)
        for multiplier in MULTIPLIERS
    ]
    return MULTIPLIERS[int(np.abs(np.array(spent) - budget).argmin())]
