"""Formulas between the error of nearest neighbours, the Bayes error, and label noise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from easeml.errors import InvalidInput
from easeml.lifecycle.exact_shares import exact_interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

MOST_DRAWS, MOST_SEED = 400, 20180801  # of the most that a mean of losses may be


def lower_bound(error: float, classes: int, k: int = 1) -> float:
    """Return the least Bayes error that fits an error of k nearest neighbours with endless rows.

    ``error`` is in [0, 1]. With k = 1, any number of classes: Cover and Hart (1967), theorem 1
    solved for the Bayes error, ``r / (1 + sqrt(1 - C r / (C - 1)))``; errors above ``(C - 1) / C``
    count as that. With more neighbours and two classes: ``r / (1 + sqrt(2 / k))`` for k = 2 and ``r
    / (1 + sqrt(1 / k))`` above (Devroye, Gyorfi and Lugosi, 1996, chapter 5, as used by Renggli et
    al., FeeBee, 2021).

    Raises: InvalidInput: for an error outside [0, 1], fewer than two classes, or k > 1 with more
        than two classes.
    """
    if not 0 <= error <= 1 or classes < 2 or k < 1:
        raise InvalidInput(
            f"No bound for an error of {error} of {k} neighbours with {classes} classes."
        )
    if k > 1 and classes > 2:
        raise InvalidInput(
            "The bound for several neighbours holds for two classes.", remedy="Use k=1."
        )
    if k > 1:
        return error / (1 + math.sqrt((2 if k == 2 else 1) / k))
    chance = (classes - 1) / classes
    if error >= chance:
        return chance
    return error / (1 + math.sqrt(1 - error / chance))


def with_noise(error: float, share: float, classes: int) -> float:
    """Return the Bayes error once a ``share`` of the labels is drawn uniformly from all classes.

    ``R + rho ((C - 1) / C - R)``: Renggli et al. (FeeBee, 2021), lemma 2.1.
    """
    return error + share * ((classes - 1) / classes - error)


def without_noise(error: float, share: float, classes: int) -> float:
    """Return the Bayes error that ``with_noise`` turns into ``error``; never below 0.

    ``share`` is in [0, 1).
    """
    return max(0.0, (error - share * (classes - 1) / classes) / (1 - share))


def with_transition(posteriors: ArrayLike, transition: ArrayLike) -> float:
    """Return the Bayes error under class-dependent label noise.

    It is ``1 - E max_y sum_j eta_j T[j, y]``.

    ``posteriors``: (rows, C) true class probabilities of rows drawn from the inputs;
    ``transition[j, y]``: chance that a label j becomes y, rows sum to 1.
    """
    import numpy as np

    return float(
        1 - (np.asarray(posteriors, float) @ np.asarray(transition, float)).max(axis=1).mean()
    )


def binomial_interval(wrong: int, rows: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the two-sided interval of Clopper and Pearson (1934) for an error rate.

    It covers the rate at least as often as ``confidence`` says.
    """
    return exact_interval(wrong, rows, tail=(1 - confidence) / 2)


def mean_interval(losses: np.ndarray, confidence: float = 0.95) -> tuple[float, float]:
    """Return a two-sided interval for the mean of ``losses`` (rows,).

    It is exact for zeros and ones, else Student's t; the upper end is no nearer than
    ``sampling_error.most_of_errors`` has it, since few losses may be large.
    """
    import numpy as np
    from scipy.stats import t

    from easeml.sampling_error import most_of_errors

    if np.isin(losses, (0, 1)).all():
        return binomial_interval(int(losses.sum()), len(losses), confidence)
    reach = float(
        t.ppf((1 + confidence) / 2, len(losses) - 1) * losses.std(ddof=1) / math.sqrt(len(losses))
    )
    mean = float(losses.mean())
    most = most_of_errors(losses, MOST_DRAWS, MOST_SEED)
    farther = float(np.quantile(most, (1 + confidence) / 2, method="weibull"))
    return max(0.0, mean - reach), max(mean + reach, farther)
