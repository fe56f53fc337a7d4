"""The methods by name."""

from __future__ import annotations

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.picking.coda import Coda
from easeml.lifecycle.picking.label_model import LabelModel
from easeml.lifecycle.picking.pool import Pool
from easeml.lifecycle.picking.rules import (
    Counting,
    ModelSelector,
    Rule,
    entropy_order,
    margin_order,
)
from easeml.lifecycle.picking.tuning import tune_epsilon

METHODS = (
    "default",
    "model-selector",
    "model-picker",
    "coda",
    "random",
    "random-disagreement",
    "entropy",
    "margin",
)


def rule_of(method: str, pool: Pool, rng: np.random.Generator, epsilon: float | None) -> Rule:
    """Return the rule of a pool method.

    Raises:
        InvalidInput: where there is no such method.
    """
    n = pool.examples
    if method == "default":
        return LabelModel(pool)
    if method == "model-selector":
        return ModelSelector(pool, tune_epsilon(pool, rng) if epsilon is None else epsilon)
    if method == "coda":
        return Coda(pool)
    orders = {
        "random": lambda: rng.permutation(n).astype(float),
        "random-disagreement": lambda: np.where(
            pool.contested, rng.permutation(n), -1.0 - rng.permutation(n)
        ),
        "entropy": lambda: entropy_order(pool),
        "margin": lambda: margin_order(pool),
    }
    if method not in orders:
        raise InvalidInput(
            f"{method!r} is not a method here.", where="method", remedy=f"Use {', '.join(METHODS)}."
        )
    return Counting(pool, orders[method]())
