"""Links between qualities and the scale on which they are modelled as normal.

McCullagh and Nelder, Generalized Linear Models (2nd edition, 1989), section 2.2.3: what is believed
is normal on the scale of ``latent`` values; qualities are a function of them.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from easeml.search.improvement import expected_improvement, moments_above

_MOST = np.pi / 2  # the angle of the quality 1
_LEAST_CHANCE = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class Link:
    """How qualities become latent values, and back.

    ``latent``: quality to latent value; ``quality``: back; ``slope``: quality per latent unit at a
    latent value.

    ``improvement``: from mean, variance (of the latent value) and the best quality so far to the
    expected improvement in quality, elementwise; nothing improves beyond the quality of 1.
    """

    name: str
    latent: Callable[[np.ndarray], np.ndarray]
    quality: Callable[[np.ndarray], np.ndarray]
    slope: Callable[[np.ndarray], np.ndarray]
    improvement: Callable[[np.ndarray, np.ndarray, float | np.ndarray], np.ndarray]


def _angle(quality: np.ndarray) -> np.ndarray:
    return np.arcsin(np.sqrt(np.clip(quality, 0.0, 1.0)))


def _sine_squared(angle: np.ndarray) -> np.ndarray:
    return np.sin(np.clip(angle, 0.0, _MOST)) ** 2


def _angular_slope(angle: np.ndarray) -> np.ndarray:
    return np.sin(2 * np.clip(angle, 0.0, _MOST))


def _angular_improvement(
    mean: np.ndarray, variance: np.ndarray, best: float | np.ndarray
) -> np.ndarray:
    """Return the expected improvement of qualities whose angles are normal.

    Given that the angle Z is above that of ``best``, b, the quality is expanded to second order
    around the mean of Z: P(Z > b) (sin^2 (b + d) + cos 2 (b + d) v - best), with mean excess d and
    variance v of the excess. What exceeds the angle of 1 is cut off: d is at most what is left, L,
    and v at most d (L - d), the most that a variable on [0, L] can vary (Bhatia and Davis, American
    Mathematical Monthly 107, 2000).
    """
    level = _angle(np.asarray(best))
    above, excess, squared = moments_above(mean, variance, level)
    chance = np.maximum(above, _LEAST_CHANCE)
    left = _MOST - level
    further = np.minimum(excess / chance, left)
    spread = np.minimum(np.maximum(squared / chance - further**2, 0.0), further * (left - further))
    reached = np.sin(level + further) ** 2
    gain = reached + (1 - 2 * reached) * spread - np.sin(level) ** 2  # cos 2 z = 1 - 2 sin^2 z
    return above * np.maximum(gain, 0.0)


def _same(values: np.ndarray) -> np.ndarray:
    return values


IDENTITY = Link("identity", _same, _same, np.ones_like, expected_improvement)

# The angle whose squared sine is the quality: the transformation that makes the variance of a share
# the same everywhere (Anscombe, Biometrika 35, 1948). Models differ little where all are nearly
# perfect, or all useless, and most between.
ARCSINE = Link("arcsine", _angle, _sine_squared, _angular_slope, _angular_improvement)
