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
        parts = [np.array(part, dtype=float) for part in (self.factors, self.levels, self.weights)]
        factors, levels, weights = parts
        if (
            factors.ndim != 1
            or not factors.size
            or any(part.shape != factors.shape for part in parts)
        ):
            raise InvalidInput(
                "Factors, levels and weights must be as many.",
                where="prior.scales",
            )
        if not all(np.isfinite(part).all() for part in parts) or (factors <= 0).any():
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
