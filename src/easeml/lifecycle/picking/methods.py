"""The methods by name."""

from __future__ import annotations

from collections.abc import Callable

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


def random_order(pool: Pool, rng: np.random.Generator) -> np.ndarray:
    """Return wishes in a random order."""
    return rng.permutation(pool.examples).astype(float)


def disagreement_order(pool: Pool, rng: np.random.Generator) -> np.ndarray:
    """Return wishes in a random order, those that the models disagree on first."""
    lots = rng.permutation(pool.examples)
    return np.where(pool.contested, lots, -1.0 - lots)


ORDERS: dict[str, Callable[[Pool, np.random.Generator], np.ndarray]] = {
    "random": random_order,
    "random-disagreement": disagreement_order,
    "entropy": lambda pool, rng: entropy_order(pool),
    "margin": lambda pool, rng: margin_order(pool),
}


_RULES: dict[str, Callable[[Pool], Rule]] = {"default": LabelModel.of, "coda": Coda.of}


def rule_of(method: str, pool: Pool, rng: np.random.Generator, epsilon: float | None) -> Rule:
    """Return the rule of a pool method.

    Raises:
        InvalidInput: where there is no such method.
    """
    if method in _RULES:
        return _RULES[method](pool)
    if method == "model-selector":
        chosen = tune_epsilon(pool, rng) if epsilon is None else epsilon
        return ModelSelector.with_epsilon(pool, chosen)
    if method in ORDERS:
        return Counting.of(pool, ORDERS[method](pool, rng))
    raise InvalidInput(
        f"{method!r} is not a method here.", where="method", remedy=f"Use {', '.join(METHODS)}."
    )
