"""How production rows differ from reference rows, and how much of the reference that leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

LARGEST = 50.0
ROWS = 4000


@dataclass(frozen=True)
class Shift:
    """How a batch differs from the reference.

    ``weights``: density of the batch over that of the reference at the reference rows (mean 1);
    ``overlap``: how many reference rows that weighting is worth, ``(sum w)**2 / sum w**2`` (Kish
    1965); ``separation``: area under the ROC curve of the classifier that tells batch from
    reference, 0.5 where they look the same.
    """

    weights: np.ndarray
    overlap: float
    separation: float


def compare(reference: np.ndarray, batch: np.ndarray) -> Shift:
    """Estimate the density ratio by a domain classifier (Bickel, Brückner, Scheffer 2009).

    It is logistic in the scaled features and their squares, so that shifts of mean and spread are
    seen. Weights are cut at 50.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    expand = expansion(reference)
    known = expand(reference)
    new = expand(batch)
    if known.shape[1] == 0 or len(batch) < 2:
        return Shift(np.ones(len(reference)), float(len(reference)), 0.5)
    every = max(1, len(known) // ROWS)
    rows = np.vstack([known[::every], new])
    domain = np.r_[np.zeros(len(known[::every])), np.ones(len(new))]
    model = LogisticRegression(C=0.1, solver="newton-cholesky").fit(rows, domain)
    separation = float(roc_auc_score(domain, model.decision_function(rows)))
    odds = np.exp(np.clip(model.decision_function(known), -30, 30))
    weights = np.minimum(odds * len(known[::every]) / len(new), LARGEST)
    weights /= weights.mean()
    return Shift(weights, worth(weights), separation)


def expansion(reference: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return what maps rows (n, d) to the features, scaled as in the reference, and their squares.

    Features that do not vary in the reference are left out.
    """
    centre = reference.mean(axis=0)
    scale = reference.std(axis=0)
    varied = scale > 0

    def expand(rows: np.ndarray) -> np.ndarray:
        scaled = np.clip((rows[:, varied] - centre[varied]) / scale[varied], -5, 5)
        return np.hstack([scaled, scaled**2])

    return expand


def worth(weights: np.ndarray) -> float:
    """Return how many rows of equal weight tell as much: ``(sum w)**2 / sum w**2`` (Kish 1965)."""
    return float(weights.sum() ** 2 / (weights**2).sum())
