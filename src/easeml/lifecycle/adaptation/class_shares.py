"""How often each class comes by now, without labels: label shift.

If rows of a class still look alike and only the classes' shares have changed, the shares can be
found from what a model says of recent rows: by maximum likelihood (Saerens, Latinne, Decaestecker,
Neural Computation 14, 2002, section 2.2), and from the predicted classes and the table of
confusions (black box shift estimation: Lipton, Wang, Smola, ICML 2018, section 3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_STEPS = 2000
_CLOSE = 1e-9
_LEAST_CHANCE = 1e-12
_LEAST_RATIO, _LARGEST_RATIO = 0.01, 50.0


@dataclass(frozen=True)
class ClassShares:
    """Shares of the classes (k,) among the labelled rows, and among recent ones by both ways.

    ``by_confusions`` is None where the table of confusions cannot be inverted. ``p_value``: chance
    of recent rows as unlike, by the likelihood ratio, if the shares are the old ones.
    """

    before: np.ndarray
    by_likelihood: np.ndarray
    by_confusions: np.ndarray | None
    p_value: float

    @property
    def ratios(self) -> np.ndarray:
        """How much more often each class comes (k,), in [0.01, 50]; 1 for one that never came."""
        came = self.before > 0
        ratio = np.divide(
            self.by_likelihood, self.before, out=np.ones_like(self.before), where=came
        )
        return np.clip(ratio, _LEAST_RATIO, _LARGEST_RATIO)


def shares_of(
    chances: np.ndarray, codes: np.ndarray, recent: np.ndarray, counted: np.ndarray
) -> ClassShares:
    """Return how often each class comes by now.

    Args:
        chances: What the model says of labelled rows that it has not learned from (n, k).
        codes: Their classes (n,).
        recent: What it says of recent rows (m, k).
        counted: Classes (r,) of all rows that it learned from: the old shares.
    """
    classes = chances.shape[1]
    before = np.bincount(counted, minlength=classes) / len(counted)
    calibration = calibrate(chances, codes)
    found = likeliest_shares(calibration.apply(recent), before)
    confusions = shares_by_confusions(chances.argmax(axis=1), codes, recent.argmax(axis=1), classes)
    p_value = _p_value(calibration.apply(recent), before, found)
    return ClassShares(before, found, confusions, p_value)


@dataclass(frozen=True)
class Calibration:
    """``softmax(slope log p + offset)``: a slope, and an offset a class (k,)."""

    slope: float
    offset: np.ndarray

    def apply(self, chances: np.ndarray) -> np.ndarray:
        """Return calibrated chances (n, k)."""
        from scipy.special import softmax

        return softmax(self.slope * _logs(chances) + self.offset, axis=1)


def calibrate(chances: np.ndarray, codes: np.ndarray) -> Calibration:
    """Fit bias-corrected temperature scaling.

    Without it the likelihood of shares is off (Alexandari, Kundaje, Shrikumar, ICML 2020). A small
    penalty holds the offsets of rare classes.
    """
    from scipy.optimize import minimize
    from scipy.special import log_softmax

    logs = _logs(chances)
    rows = np.arange(len(codes))

    def loss(told: np.ndarray) -> float:
        scores = log_softmax(told[0] * logs + told[1:], axis=1)
        penalty = 0.5 * float((told[0] - 1) ** 2 + (told[1:] ** 2).sum())
        return (penalty - float(scores[rows, codes].sum())) / len(codes)

    start = np.r_[1.0, np.zeros(chances.shape[1])]
    found = minimize(
        loss, start, method="L-BFGS-B", bounds=[(0.05, 20.0)] + [(None, None)] * (len(start) - 1)
    )
    return Calibration(float(found.x[0]), found.x[1:])


def likeliest_shares(chances: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Return the shares (k,) under which recent rows are likeliest, by expectation maximisation.

    ``chances``: calibrated ones of recent rows (m, k), at the shares ``before``. A class that never
    came before has no share. Saerens et al., equation 2.9.
    """
    came = before > 0
    likelihoods = chances[:, came] / before[came]
    shares = before[came]
    for _ in range(_STEPS):
        joint = likelihoods * shares
        after = (joint / joint.sum(axis=1, keepdims=True)).mean(axis=0)
        is_close = np.abs(after - shares).max() < _CLOSE
        shares = after
        if is_close:
            break
    found = np.zeros_like(before)
    found[came] = shares
    return found


def shares_by_confusions(
    said: np.ndarray, codes: np.ndarray, recent: np.ndarray, classes: int
) -> np.ndarray | None:
    """Return the shares (k,) that explain how often each class is predicted by now.

    ``said``, ``codes``: predicted and true classes of labelled rows; ``recent``: predicted ones of
    recent rows. Negative shares are cut to 0. None where the table of confusions is near singular,
    or a class has no labelled row.
    """
    table = np.zeros((classes, classes))
    np.add.at(table, (said, codes), 1.0)
    rows = table.sum(axis=0)
    if (rows == 0).any():
        return None
    given_class = table / rows
    if np.linalg.cond(given_class) > 100:
        return None
    predicted = np.bincount(recent, minlength=classes) / len(recent)
    shares = np.maximum(np.linalg.solve(given_class, predicted), 0.0)
    return shares / shares.sum()


def _p_value(chances: np.ndarray, before: np.ndarray, found: np.ndarray) -> float:
    """Return the p-value of the likelihood ratio test (Saerens et al., section 2.3)."""
    from scipy.stats import chi2

    came = before > 0
    ratio = chances[:, came] @ (found[came] / before[came])
    statistic = 2 * float(np.log(np.maximum(ratio, _LEAST_CHANCE)).sum())
    freedom = max(1, int(came.sum()) - 1)
    return float(chi2.sf(max(0.0, statistic), freedom))


def _logs(chances: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(chances, _LEAST_CHANCE))
