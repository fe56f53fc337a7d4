"""Estimates of the quality of a model on unlabelled rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from easeml.lifecycle.monitoring.forest import TREES, Forest, grow
from easeml.lifecycle.monitoring.shift import Shift, compare


@dataclass(frozen=True)
class Calibration:
    """A non-decreasing map from a score to a probability, as its corners; one a predicted class."""

    scores: tuple[np.ndarray, ...]
    chances: tuple[np.ndarray, ...]

    def apply(self, scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return the probability of being right of each row."""
        found = np.full(
            len(scores), float(np.mean(np.concatenate(self.chances)))
        )  # for a class never predicted before
        for code, (x, y) in enumerate(zip(self.scores, self.chances, strict=True)):
            chosen = codes == code
            found[chosen] = np.interp(scores[chosen], x, y)
        return found


def calibrate(scores: np.ndarray, codes: np.ndarray, right: np.ndarray) -> Calibration:
    """Fit isotonic maps (Zadrozny and Elkan 2002), one a code.

    They are of either direction: scores of the positive class fall where the predicted class is the
    negative one.
    """
    from sklearn.isotonic import IsotonicRegression

    maps = []
    for code in range(int(codes.max()) + 1):
        chosen = codes == code
        if not chosen.any():
            maps.append((np.zeros(1), np.array([right.mean()])))
            continue
        rises = np.cov(scores[chosen], right[chosen])[0, 1] >= 0 if chosen.sum() > 1 else True
        model = IsotonicRegression(increasing=bool(rises)).fit(scores[chosen], right[chosen])
        maps.append((model.X_thresholds_, model.y_thresholds_))
    scores_at, chances_at = zip(*maps, strict=True)
    return Calibration(scores_at, chances_at)


@dataclass(frozen=True)
class Reference:
    """Labelled rows, in order of time, and what was learned of where the model is right.

    ``right``: 1 where it was; ``expected``: the error model's probability of that, from trees that
    did not see the row.
    """

    features: np.ndarray
    right: np.ndarray
    expected: np.ndarray
    forest: Forest
    calibration: Calibration | None

    @property
    def quality(self) -> float:
        """Share of right predictions."""
        return float(self.right.mean())


@dataclass(frozen=True)
class Estimates:
    """Estimates of one quality by every method, and the spread of the doubly robust one.

    constant: quality on the reference; confidence: mean calibrated confidence (CBPE; NaN without
    probabilities); error_model: mean prediction of the error model (Model Performance Predictor);
    importance: weighted quality of the reference; doubly_robust: error model plus weighted mean of
    its errors. ``spread``: standard error of the latter.
    """

    constant: float
    confidence: float
    error_model: float
    importance: float
    doubly_robust: float
    spread: float


def learn(
    features: np.ndarray,
    right: np.ndarray,
    scores: np.ndarray | None,
    codes: np.ndarray,
    *,
    seed: int,
    trees: int = TREES,
) -> Reference:
    """Fit the error model and, where there are scores, their calibration."""
    forest, expected = grow(features, right, seed, trees)
    calibration = None if scores is None else calibrate(scores, codes, right)
    return Reference(features, right, expected, forest, calibration)


def estimate(
    reference: Reference, features: np.ndarray, scores: np.ndarray | None, codes: np.ndarray
) -> tuple[Estimates, np.ndarray, Shift]:
    """Return all estimates for a batch, the probability of each row to be right, and the shift.

    Doubly robust (Robins, Rotnitzky, Zhao 1994; for covariate shift Reddi, Poczos, Smola 2015):
    ``mean g(batch) + sum w (e - g) / sum w`` over the reference, right if either the error model or
    the weights are.
    """
    chances = reference.forest.predict(features)
    shift = compare(reference.features, features)
    residuals = reference.right - reference.expected
    share = shift.weights / shift.weights.sum()
    correction = float(share @ residuals)
    sampling = float(np.sum(chances * (1 - chances))) / len(chances) ** 2
    spread = float(np.sqrt(np.sum(share**2 * (residuals - correction) ** 2) + sampling))
    if (
        reference.right.min() == reference.right.max()
    ):  # all right or all wrong: no variation to learn from
        spread = float(
            np.hypot(
                _doubt(reference.quality, len(reference.right)),
                _doubt(reference.quality, len(chances)),
            )
        )
    confidence = float("nan")
    if reference.calibration is not None and scores is not None:
        confidence = float(reference.calibration.apply(scores, codes).mean())
    found = Estimates(
        constant=reference.quality,
        confidence=confidence,
        error_model=float(chances.mean()),
        importance=float(share @ reference.right),
        doubly_robust=float(np.clip(chances.mean() + correction, 0, 1)),
        spread=spread,
    )
    return found, chances, shift


def _doubt(share: float, trials: int) -> float:
    """Return the standard error of a share, with two successes and two failures added.

    Agresti and Coull, 1998.
    """
    moved = (share * trials + 2) / (trials + 4)
    return float(np.sqrt(moved * (1 - moved) / trials))
