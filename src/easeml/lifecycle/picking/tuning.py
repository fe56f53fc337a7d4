"""The parameters of the published methods, chosen without a label."""

from __future__ import annotations

import numpy as np

from easeml.lifecycle.picking.pool import Pool
from easeml.lifecycle.picking.rules import ModelSelector

EPSILONS = tuple(np.round(np.arange(0.35, 0.4901, 0.01), 2).tolist())
"""The grid of the paper."""


def vote_labels(pool: Pool, rng: np.random.Generator) -> np.ndarray:
    """Draw a label (as a slot) for every example (n,) from the shares of the models' votes."""
    voters = rng.integers(pool.models, size=pool.examples)
    return pool.slots[np.arange(pool.examples), voters]


def vote_accuracy(pool: Pool) -> np.ndarray:
    """Return the expected agreement of each model with a label drawn from the votes, shape (k,)."""
    shares = np.zeros((pool.examples, int(pool.width.max())))
    np.add.at(shares, (np.arange(pool.examples)[:, None], pool.slots), 1 / pool.models)
    return np.take_along_axis(shares, pool.slots.astype(np.int64), axis=1).mean(axis=0)


def tune_epsilon(
    pool: Pool, rng: np.random.Generator, *, pools: int = 3, examples: int = 300, labels: int = 100
) -> float:
    """Choose Model Selector's epsilon on labels drawn from the votes (section 4 of its paper).

    In each of ``pools`` samples of ``examples`` rows the model that agrees most with the drawn
    labels is to be found within ``labels`` queries; the epsilon that leads with a wrong model for
    the fewest queries is kept, ties going to the larger one. No true label is used.
    """
    rows = np.flatnonzero(pool.contested)
    if not len(rows):
        return EPSILONS[-1]
    wrong = np.zeros(len(EPSILONS))
    for _ in range(pools):
        sample = rng.choice(rows, size=min(examples, len(rows)), replace=False)
        small = Pool(pool.names, pool.classes, pool.codes[sample], pool.slots[sample], pool.width[sample],
                     pool.merged, pool.members)  # fmt: skip
        drawn = vote_labels(small, rng)
        right = (small.slots == drawn[:, None]).sum(axis=0)
        for place, epsilon in enumerate(EPSILONS):
            wrong[place] += _wrong_leads(small, drawn, right == right.max(), epsilon, labels)
    return EPSILONS[len(EPSILONS) - 1 - int(wrong[::-1].argmin())]


def _wrong_leads(
    pool: Pool, drawn: np.ndarray, best: np.ndarray, epsilon: float, labels: int
) -> float:
    rule = ModelSelector.with_epsilon(pool, epsilon)
    is_open = np.ones(pool.examples, dtype=bool)
    wrong = 0.0
    for _ in range(min(labels, pool.examples)):
        row = int(rule.scores(is_open).argmax())
        is_open[row] = False
        rule = rule.tell(row, int(drawn[row]))
        leads = rule.standing() == rule.standing().max()
        wrong += 1 - best[leads].mean()
    return wrong
