"""How much more often rows like a labelled one come by now: weights for covariate shift.

If the same inputs still mean the same, the risk on recent rows is the labelled rows' risk, weighted
by the ratio of both densities of the inputs (Shimodaira, J. Statistical Planning and Inference 90,
2000). A classifier that tells recent rows from labelled ones gives that ratio as its odds (Bickel,
Brückner, Scheffer, JMLR 10, 2009). No row is weighted by a classifier that has seen it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from easeml.lifecycle.held_out import fold_numbers
from easeml.lifecycle.monitoring.shift import LARGEST, ROWS, expansion, worth

FOLDS = 5
_LEAST_WEIGHT = 1e-3  # models take weights above 0
_LEAST_SHARE = 0.2  # of the labelled rows, that weighted ones are worth at least
_HALVINGS = 20


@dataclass(frozen=True)
class Weighting:
    """Weights of labelled rows (n,), above 0 and with the mean 1.

    ``effective``: how many rows they are worth; ``exact``: how many without flattening.
    ``power``: to which the ratio was raised to keep ``effective`` up; 1 where it was not.
    ``separation``: area under the ROC curve of the classifier on rows that it has not seen, 0.5
    where both look the same; ``error``: its standard error if they do.
    """

    weights: np.ndarray
    effective: float
    exact: float
    power: float
    separation: float
    error: float

    @property
    def has_moved(self) -> bool:
        """Whether recent rows differ by more than chance: three standard errors."""
        return self.separation > 0.5 + 3 * self.error


def input_weights(
    labelled: np.ndarray,
    recent: np.ndarray,
    *,
    counts: np.ndarray | None = None,
    seed: int = 0,
    least_share: float = _LEAST_SHARE,
) -> Weighting:
    """Weigh labelled rows by the density of recent rows over theirs.

    The ratio is cut at 50, and flattened (Shimodaira's exponent) until the weighted rows are worth
    ``least_share`` of all.

    Args:
        labelled: Features (n, d) of the labelled rows.
        recent: Features (m, d) of the recent ones; at least 5.
        counts: How much each labelled row counts already (n,); None: each once.
        seed: Seed of the folds.
        least_share: In [0, 1].
    """
    own = np.ones(len(labelled)) if counts is None else counts
    scores, recent_scores = _held_out_scores(labelled, recent, own, seed)
    ratio = np.minimum(np.exp(np.clip(scores, -30, 30)), LARGEST)
    power = _power(ratio, least_share * len(ratio))
    separation, error = _separation(scores, recent_scores, own)
    return Weighting(
        weights=_normed(ratio**power),
        effective=worth(_normed(ratio**power)),
        exact=worth(ratio),
        power=power,
        separation=separation,
        error=error,
    )


def _held_out_scores(
    labelled: np.ndarray, recent: np.ndarray, counts: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the log density ratio at each labelled and each recent row."""
    expand = expansion(labelled)
    known, new = expand(labelled), expand(recent)
    scores, recent_scores = np.zeros(len(known)), np.zeros(len(new))
    if known.shape[1] == 0:
        return scores, recent_scores
    fold = fold_numbers(np.zeros(len(known), dtype=np.int64), FOLDS, seed)
    recent_fold = fold_numbers(np.zeros(len(new), dtype=np.int64), FOLDS, seed)
    for part in range(FOLDS):
        held, recent_held = fold == part, recent_fold == part
        model = _fitted(known[~held], new[~recent_held], counts[~held], seed)
        scores[held] = model.decision_function(known[held])
        recent_scores[recent_held] = model.decision_function(new[recent_held])
    return scores, recent_scores


def _fitted(known: np.ndarray, new: np.ndarray, counts: np.ndarray, seed: int):
    """Fit the classifier; both sides have the same weight, so its odds are the density ratio."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(seed)
    some = rng.permutation(len(known))[:ROWS]
    some_new = rng.permutation(len(new))[:ROWS]
    known, counts, new = known[some], counts[some], new[some_new]
    rows = np.vstack([known, new])
    is_new = np.r_[np.zeros(len(known)), np.ones(len(new))]
    half = len(rows) / 2
    weights = np.r_[counts / counts.sum() * half, np.full(len(new), half / len(new))]
    return LogisticRegression(C=0.1, solver="newton-cholesky").fit(rows, is_new, weights)


def _power(ratio: np.ndarray, least: float) -> float:
    """Return the greatest exponent in [0, 1] at which the weights are worth ``least`` rows."""
    if worth(ratio) >= least:
        return 1.0
    low = 0.0
    high = 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if worth(ratio**middle) >= least:
            low = middle
        else:
            high = middle
    return low


def _normed(weights: np.ndarray) -> np.ndarray:
    return np.maximum(weights / weights.mean(), _LEAST_WEIGHT)


def _separation(
    scores: np.ndarray, recent_scores: np.ndarray, counts: np.ndarray
) -> tuple[float, float]:
    """Return the area under the ROC curve, and its standard error where nothing differs.

    That of Mann and Whitney's statistic (1947), with the rows that the weighted ones are worth.
    """
    from sklearn.metrics import roc_auc_score

    is_new = np.r_[np.zeros(len(scores)), np.ones(len(recent_scores))]
    weights = np.r_[counts, np.ones(len(recent_scores))]
    area = roc_auc_score(is_new, np.r_[scores, recent_scores], sample_weight=weights)
    rows, new = worth(counts), len(recent_scores)
    return float(area), sqrt((1 / rows + 1 / new) / 12)
