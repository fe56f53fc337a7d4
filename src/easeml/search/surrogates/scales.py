"""How much the arms of a tenant may differ: a mixture of scales."""

from dataclasses import dataclass, field

import numpy as np

from easeml.search.checks import require


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
        require(
            len(shapes) == 1 and factors.ndim == 1 and factors.size > 0,
            "Factors, levels and weights must be as many.",
            where="prior.scales",
        )
        require(
            np.isfinite([factors, levels, weights]).all() and (factors > 0).all(),
            "Scales must be finite, and factors above 0.",
            where="prior.scales",
        )
        require(
            (weights >= 0).all() and (weights > 0).any(),
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
