"""How much the arms of a tenant may differ: a mixture of scales."""

from dataclasses import dataclass, field

import numpy as np

from easeml.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class Scales:
    """What the scale of a tenant may be.

    ``factors`` (G,) above 0, their ``levels`` (G,) and ``weights`` (G,).

    Raises ``InvalidInput`` where shapes do not agree, a number is not finite, a factor is not above
    0 or a weight is negative; weights are brought to the sum 1.
    """

    factors: np.ndarray = field(default_factory=lambda: np.ones(1))
    levels: np.ndarray = field(default_factory=lambda: np.zeros(1))
    weights: np.ndarray = field(default_factory=lambda: np.ones(1))

    def __post_init__(self) -> None:
        factors = np.array(self.factors, dtype=float)
        levels = np.array(self.levels, dtype=float)
        weights = np.array(self.weights, dtype=float)
        shapes = {factors.shape, levels.shape, weights.shape}
        if len(shapes) > 1 or factors.ndim != 1 or factors.size == 0:
            raise InvalidInput(
                "Factors, levels and weights must be as many.",
                where="prior.scales",
            )
        if not np.isfinite([factors, levels, weights]).all() or (factors <= 0).any():
            raise InvalidInput(
                "Scales must be finite, and factors above 0.",
                where="prior.scales",
            )
        if (weights < 0).any() or weights.sum() <= 0:
            raise InvalidInput(
                "Weights must be at least 0, and one above.",
                where="prior.scales",
            )
        object.__setattr__(self, "factors", frozen(factors))
        object.__setattr__(self, "levels", frozen(levels))
        object.__setattr__(self, "weights", frozen(weights / weights.sum()))


def frozen(values: np.ndarray) -> np.ndarray:
    """Return an array that nobody can write into any more."""
    values.flags.writeable = False
    return values
