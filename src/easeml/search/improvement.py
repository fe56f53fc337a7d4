"""Expected improvement: what an arm may add to the best quality found so far."""

import numpy as np

_FAR = 8.0  # standard deviations, beyond which a normal variable is not found in float64
_LEAST = 1e-12  # standard deviation that stands for none
_ROOT = float(np.sqrt(2 * np.pi))
BEST_POSSIBLE = 1.0  # qualities are scaled so that 1 is best


def expected_improvement(
    mean: np.ndarray, variance: np.ndarray, best: float | np.ndarray
) -> np.ndarray:
    """Return E[min(A, 1) - best]+ of A ~ N(mean, variance), elementwise.

    sd h((mean - best) / sd) with h(u) = u Phi(u) + phi(u) (Jones, Schonlau, Welch 1998), less the
    part above the quality of 1 that nothing can reach.
    """
    mean, deviation = np.broadcast_arrays(mean, np.maximum(np.sqrt(variance), _LEAST))
    gain = _excess(mean, deviation, best)
    over = mean + _FAR * deviation > BEST_POSSIBLE
    if over.any():
        ceiling = np.broadcast_to(np.maximum(best, BEST_POSSIBLE), mean.shape)
        gain[over] -= _excess(mean[over], deviation[over], ceiling[over])
    return np.maximum(gain, 0.0)


def moments_above(
    mean: np.ndarray, variance: np.ndarray, level: float | np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return P(A > level), E[A - level]+ and E[(A - level)+ ^ 2], elementwise.

    A is normal with this mean and variance.
    """
    deviation = np.maximum(np.sqrt(variance), _LEAST)
    u = (mean - level) / deviation
    above, density = _tail(u)
    excess = np.maximum(deviation * (u * above + density), 0.0)
    squared = np.maximum(deviation**2 * ((u * u + 1) * above + u * density), 0.0)
    return above, excess, squared


def _excess(mean: np.ndarray, deviation: np.ndarray, level: float | np.ndarray) -> np.ndarray:
    u = (mean - level) / deviation
    above, density = _tail(u)
    return np.maximum(deviation * (u * above + density), 0.0)


def _tail(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from scipy.special import ndtr

    return ndtr(u), np.exp(-0.5 * u * u) / _ROOT
