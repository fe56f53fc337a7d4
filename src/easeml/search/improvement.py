"""Expected improvement: what an arm may add to the best quality found so far."""

import numpy as np

_FAR = 8.0  # standard deviations, beyond which a normal variable is not found in float64
BEST_POSSIBLE = 1.0  # qualities are scaled so that 1 is best


def expected_improvement(mean: np.ndarray, variance: np.ndarray, best: float | np.ndarray) -> np.ndarray:
    """Return E[min(A, 1) - best]+ of A ~ N(mean, variance), elementwise.

    sd h((mean - best) / sd) with h(u) = u Phi(u) + phi(u) (Jones, Schonlau, Welch 1998), less the part above the
    quality of 1 that nothing can reach.
    """
    deviation = np.sqrt(variance)
    gain = _excess(mean, deviation, best)
    if (mean + _FAR * deviation > BEST_POSSIBLE).any():
        gain = gain - _excess(mean, deviation, np.maximum(best, BEST_POSSIBLE))
    return gain


def _excess(mean: np.ndarray, deviation: np.ndarray, level: float | np.ndarray) -> np.ndarray:
    from scipy.special import ndtr

    with np.errstate(divide="ignore", invalid="ignore"):
        u = (mean - level) / deviation
        density = np.exp(-0.5 * u * u) / np.sqrt(2 * np.pi)
        gain = deviation * (u * ndtr(u) + density)
    return np.maximum(np.where(deviation > 0, gain, mean - level), 0.0)
