"""Priors over models learned from a table of past qualities: a row a past tenant, a column a model."""

import numpy as np

from easeml.search.checks import require
from easeml.search.links import ARCSINE
from easeml.search.surrogates import Prior, Scales

_NOISE = 1e-4  # variance of a quality, for priors in quality
_SHRINKAGE = 0.1  # of the published policies' covariance towards its diagonal
_SHRINKAGES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7)  # of which held-out likelihood chooses
_FOLDS = 4
_FEWEST_TENANTS, _FEWEST_MODELS = 20, 15  # from which scales can be told apart
_LOW = 1.5  # scales below a tenant's level at which a past quality counts as just so low
CLIP = 2.0  # and standard deviations below expectation for a new one
DOUBT = 0.01  # that a new tenant is unlike all past ones
_LEAST_SCALE = 0.01  # added to each tenant's scale, in angle
_STANDARD_NOISE = 0.01  # variance of an angle, at scale 1
_ANGULAR_NOISE = 1e-3  # variance of an angle, where scales are not told apart
_SCALES = 8
_ROUNDS = 3
_TINY = 1e-10


def empirical_prior(quality: np.ndarray, shrinkage: float = _SHRINKAGE) -> Prior:
    """Return mean and covariance of the columns of a table (N, K) of past qualities.

    A cell is NaN where its quality is missing.

    The prior of the published policies (Li et al., Ease.ml, PVLDB 2018, section 5.1):
    pairwise-complete covariance, shrunk towards its diagonal by ``shrinkage`` in [0, 1] (Ledoit and
    Wolf 2004), negative eigenvalues set to 0. Raises ``InvalidInput`` where a column has no
    quality.
    """
    table = _checked(quality)
    mean = np.nanmean(table, axis=0)
    return Prior(mean, _positive(_shrunk(_covariance(table - mean), shrinkage)), _NOISE)


def angular_prior(quality: np.ndarray) -> Prior:
    """Return easeml's prior of a table (N, K) of past qualities.

    It is normal in the angles of ``links.ARCSINE``.

    With at least 20 tenants and 15 models, tenants differ in level and in scale: see
    ``scaled_prior``. With fewer, scales cannot be told apart, and it is the mean and the covariance
    of the columns. The covariance is shrunk towards its diagonal by that one of eight shrinkages
    that gives left-out tenants the highest likelihood. Missing cells are allowed. Raises
    ``InvalidInput`` where a column has no quality.
    """
    table = ARCSINE.latent(_checked(quality))
    if has_scales(table):
        return scaled_prior(table)
    mean = np.nanmean(table, axis=0)
    shrinkage = _likeliest_shrinkage(table, folds=len(table), noise=_ANGULAR_NOISE)
    covariance = _positive(_shrunk(_covariance(table - mean), shrinkage))
    return Prior(mean, covariance, _ANGULAR_NOISE, link=ARCSINE)


def scaled_prior(angles: np.ndarray) -> Prior:
    """Return the prior of a table (N, K) of angles of tenants that differ in level and in scale.

    A cell is NaN where it is missing.

    a + s z: level a and scale s of each past tenant are the mean and the standard deviation of its
    angles, of which those far below count as just so low (a model that broke down is no sign of
    what the best ones reach); z is what the models do at scale 1, with the mean and the covariance
    of the columns. A new tenant's scale is one of eight quantiles of the past scales, its expected
    level is what linear regression on the logarithm of the scale says, and the variance around it
    is part of the covariance of all arms.
    """
    levels, scales = _levels_and_scales(angles)
    raised = np.maximum(angles, (levels - _LOW * scales)[:, None])
    standard = (raised - levels[:, None]) / scales[:, None]
    mean = np.nanmean(standard, axis=0)
    slope, intercept = _line(np.log(scales), levels)
    spread_of_levels = float(np.mean(((levels - intercept - slope * np.log(scales)) / scales) ** 2))
    shrinkage = _likeliest_shrinkage(
        standard,
        folds=_FOLDS,
        noise=_STANDARD_NOISE,
        common=spread_of_levels,
    )
    covariance = _positive(_shrunk(_covariance(standard - mean), shrinkage)) + spread_of_levels
    factors = np.exp(np.quantile(np.log(scales), (np.arange(_SCALES) + 0.5) / _SCALES))
    grid = Scales(factors, intercept + slope * np.log(factors), np.ones(_SCALES))
    return Prior(mean, covariance, _STANDARD_NOISE, grid, CLIP, DOUBT, ARCSINE)


def has_scales(table: np.ndarray) -> bool:
    """Can the scales of tenants be told apart from a table (N, K)?"""
    return len(table) >= _FEWEST_TENANTS and table.shape[1] >= _FEWEST_MODELS


def _checked(quality: np.ndarray) -> np.ndarray:
    table = np.array(quality, dtype=float)
    is_table = table.ndim == 2 and len(table) > 0
    require(
        is_table and not np.isnan(table).all(axis=0).any() and not np.isinf(table).any(),
        "Every model needs a past quality, and every quality must be finite.",
        where="history",
        remedy="Drop it.",
    )
    return table[~np.isnan(table).all(axis=1)]


def _levels_and_scales(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return level and scale (N,) of each row.

    They are found by turns with the effects of columns and with what counts as low.

    The effects matter where cells are missing: who tried good models only is no better for it.
    """
    raised = table
    effects = np.zeros(table.shape[1])
    levels = np.zeros(len(table))
    scales = np.ones(len(table))
    for _ in range(_ROUNDS):
        levels = np.nanmean(raised - scales[:, None] * effects, axis=1)
        scales = np.sqrt(np.nanmean((raised - levels[:, None]) ** 2, axis=1) + _LEAST_SCALE**2)
        raised = np.maximum(table, (levels - _LOW * scales)[:, None])
        effects = np.nanmean((raised - levels[:, None]) / scales[:, None], axis=0)
        effects -= effects.mean()
    return levels, scales


def _line(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    apart = x - x.mean()
    slope = float(apart @ y / max(float(apart @ apart), _TINY))
    return slope, float(y.mean() - slope * x.mean())


def _covariance(deviations: np.ndarray) -> np.ndarray:
    seen = (~np.isnan(deviations)).astype(float)
    values = np.nan_to_num(deviations)
    return values.T @ values / np.maximum(seen.T @ seen, 1.0)


def _shrunk(covariance: np.ndarray, shrinkage: float) -> np.ndarray:
    return (1 - shrinkage) * covariance + shrinkage * np.diag(np.diagonal(covariance))


def _positive(covariance: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(covariance)
    return (vectors * np.maximum(values, _TINY)) @ vectors.T


def _likeliest_shrinkage(
    table: np.ndarray, *, folds: int, noise: float, common: float = 0.0
) -> float:
    """Return the shrinkage under which left-out rows are likeliest.

    ``common``: variance that all columns share.
    """
    likelihoods = np.zeros(len(_SHRINKAGES))
    for fold in range(folds if len(table) > 1 else 0):
        left_out = np.arange(len(table)) % folds == fold
        mean = np.nanmean(table[~left_out], axis=0)
        mean = np.where(np.isnan(mean), 0.0, mean)
        covariance = _covariance(table[~left_out] - mean)
        for place, shrinkage in enumerate(_SHRINKAGES):
            belief = _positive(_shrunk(covariance, shrinkage)) + common
            likelihoods[place] += _log_likelihood(table[left_out] - mean, belief, noise)
    return _SHRINKAGES[int(np.argmax(likelihoods))]


def _log_likelihood(deviations: np.ndarray, covariance: np.ndarray, noise: float) -> float:
    """Return the log likelihood of rows (N, K), up to a constant.

    Rows with the same cells share the work.
    """
    patterns, kinds = np.unique(~np.isnan(deviations), axis=0, return_inverse=True)
    total = 0.0
    for kind, pattern in enumerate(patterns):
        seen = np.flatnonzero(pattern)
        rows = deviations[np.ix_(kinds.reshape(-1) == kind, seen)]
        lower = np.linalg.cholesky(covariance[np.ix_(seen, seen)] + noise * np.eye(seen.size))
        white = np.linalg.solve(lower, rows.T)
        total += float(-0.5 * (white * white).sum() - len(rows) * np.log(np.diagonal(lower)).sum())
    return total
