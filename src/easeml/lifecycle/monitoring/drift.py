"""Tests of drift whose false alarms stay rare however long the stream is."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Literal

import numpy as np

Kind = Literal["covariate", "prior", "concept"]
KINDS: tuple[Kind, ...] = ("covariate", "prior", "concept")


@dataclass(frozen=True)
class DriftTest:
    """One test of one batch.

    ``alarm`` if ``p_value <= level``; ``p_value`` None where it could not be made. ``by_feature``:
    name and corrected p-value of each feature that was compared.
    """

    kind: Kind
    p_value: float | None
    level: float
    alarm: bool
    where: str
    by_feature: tuple[tuple[str, float], ...] = ()


def level_at(batch: int, alpha: float) -> float:
    """Return the level of each kind of test for batch 1, 2, ...: ``alpha / 3 * 6 / (pi t)**2``.

    The levels of all batches and kinds sum to alpha, so that the probability of ever raising a
    false alarm is at most alpha, by the union bound: also though all tests share one reference and
    are dependent.
    """
    return alpha / len(KINDS) * 6 / (pi * batch) ** 2


def covariate_test(
    reference: np.ndarray, batch: np.ndarray, names: list[str], level: float
) -> DriftTest:
    """Compare every feature (Kolmogorov-Smirnov); p-values corrected by Bonferroni."""
    varies = (np.ptp(reference, axis=0) > 0) | (np.ptp(batch, axis=0) > 0)
    varied = np.flatnonzero(varies).tolist()
    if not varied:
        return DriftTest("covariate", None, level, False, "")
    found = []
    for i in varied:
        p_value = _same_distribution(reference[:, i], batch[:, i])
        found.append((names[i], min(1.0, p_value * len(varied))))
    where, least = min(found, key=lambda one: one[1])
    return DriftTest("covariate", least, level, least <= level, where, tuple(found))


def prior_test(reference: np.ndarray, batch: np.ndarray, level: float) -> DriftTest:
    """Compare predicted classes (chi-squared), or predicted numbers (Kolmogorov-Smirnov).

    Where the classes' own distributions stay the same, predictions shift only if the classes'
    shares do (black box shift detection; Lipton, Wang, Smola 2018). A shift of the inputs moves
    them as well.
    """
    from scipy.stats import chi2_contingency

    if np.issubdtype(reference.dtype, np.floating):
        p_value = _same_distribution(reference, batch)
        return DriftTest("prior", p_value, level, p_value <= level, "prediction")
    classes = int(max(reference.max(), batch.max())) + 1
    table = np.vstack([np.bincount(codes, minlength=classes) for codes in (reference, batch)])
    table = table[:, table.sum(axis=0) > 0]
    rare = (
        table.sum(axis=0) * len(batch) / table.sum() < 5
    )  # the chi-squared approximation needs five expected
    if rare.any():
        table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    if table.shape[1] < 2 or np.any(table.sum(axis=0) * len(batch) / table.sum() < 5):
        return DriftTest("prior", None, level, False, "prediction")
    p_value = float(chi2_contingency(table)[1])  # pyright: ignore[reportArgumentType]
    return DriftTest("prior", p_value, level, p_value <= level, "prediction")


def _same_distribution(one: np.ndarray, other: np.ndarray) -> float:
    """Return the p-value of the two-sample Kolmogorov-Smirnov test.

    It is conservative where values repeat.
    """
    from scipy.stats import ks_2samp

    return float(ks_2samp(one, other, method="asymp")[1])  # pyright: ignore[reportArgumentType]
