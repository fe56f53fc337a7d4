"""Sums of many independent real numbers, of which there are too many to list every value.

The sum is blurred by a little normal noise. What comes out has a smooth density, whose Fourier
series on a window needs few terms; each is a product over the numbers. The noise is stated.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from easeml.relation.distributions import Distribution

TERMS = 2000
"""Terms of the Fourier series."""
_POINTS = 1 << 13  # at which the sum's probabilities are given
_DOUBT = 1e-9  # chance that the sum lies outside of the window
_LAST = 8.0  # frequency of the last term times the noise: what is left out is below exp(-32)
_NOISES = 6.0  # the noise is larger than so many of its deviations with a chance of 2e-9


def blurred_sum(
    values: np.ndarray, weights: np.ndarray, first: np.ndarray, mean: float, variance: float
) -> Distribution:
    """Return how the sum over groups is distributed, each group giving one of its candidates.

    Mean and variance are exact; see ``Distribution.resolution`` for the rest.

    The window is the mean and c deviations to both sides, outside of which the sum lies with a
    chance of at most 1e-9 by Bernstein's inequality (Boucheron, Lugosi and Massart, Concentration
    Inequalities, 2013, equation 2.10).

    Args:
        values: (T,) finite numbers.
        weights: (T,) probabilities, which sum to one in each group.
        first: (G + 1,) where the groups begin.
        mean: of the sum; ``variance``: of the sum, above 0.
    """
    starts = first[:-1]
    centres = np.add.reduceat(weights * values, starts)
    centred = values - np.repeat(centres, np.diff(first))
    deviation = math.sqrt(variance)
    half = deviation * _deviations(float(np.abs(centred).max()) / deviation)
    # A period is the window with room for the noise; the last term fixes how small that can be.
    period = 2 * half / (1 - 2 * _NOISES * _LAST / (2 * math.pi * TERMS))
    noise = _LAST * period / (2 * math.pi * TERMS)
    terms = _terms(centred * (2 * math.pi / period), weights, first)
    frequencies = 2 * math.pi * np.arange(1, TERMS + 1) / period
    damped = terms * np.exp(-0.5 * (noise * frequencies) ** 2)
    mass = _mass(damped, frequencies, period)
    places = (np.arange(_POINTS) - _POINTS // 2) * (period / _POINTS)
    kept = mass > 0
    resolution = _NOISES * noise + period / _POINTS / 2
    return Distribution(
        values=mean + places[kept],
        probabilities=mass[kept] / mass.sum(),
        mean=mean,
        variance=variance,
        exact=False,
        resolution=resolution,
    )


def shifted(distribution: Distribution, by: float) -> Distribution:
    """Return a distribution whose values are larger by a number."""
    values, mean = distribution.values + by, distribution.mean + by
    return replace(distribution, values=values, mean=mean)


def _deviations(largest: float) -> float:
    """Return how many deviations a sum stays within, but for ``_DOUBT``.

    ``largest``: how far one number can be from its mean, in deviations of the sum. Bernstein:
    P(|sum| > c) <= 2 exp(-(c^2 / 2) / (1 + largest c / 3)), solved for c.
    """
    needed = math.log(2 / _DOUBT)
    linear = needed * largest / 3
    return linear + math.sqrt(linear**2 + 2 * needed)


def _terms(angles: np.ndarray, weights: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return (TERMS,) the characteristic function of the sum at 1, 2, ... times the angles (T,).

    Groups of one size stand beside each other as a matrix, whose rows are added faster than runs
    of an array are.
    """
    sizes = np.diff(first)
    terms = np.ones(TERMS, complex)
    for size in np.unique(sizes):
        starts = first[:-1][sizes == size]
        places = starts + np.arange(size)[:, None]
        terms *= _terms_of_one_size(angles[places], weights[places])
    return terms


def _terms_of_one_size(angles: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """As ``_terms``, for (size, groups) angles and weights."""
    turn = np.exp(1j * angles)
    turned = weights.astype(complex)
    terms = np.zeros(TERMS, complex)
    for number in range(TERMS):
        turned *= turn
        terms[number] = _product(turned.sum(axis=0))
    return terms


def _product(factors: np.ndarray) -> complex:
    """Return the product of (n,) numbers: halves multiply each other, which processors do at once."""
    while len(factors) > 64:
        half = len(factors) // 2
        rest = factors[2 * half :]
        factors = factors[:half] * factors[half : 2 * half]
        factors[: len(rest)] *= rest
    return complex(factors.prod())


def _mass(terms: np.ndarray, frequencies: np.ndarray, period: float) -> np.ndarray:
    """Return (points,) the probability of a cell around each point, from a Fourier series."""
    cell = period / _POINTS
    # The mean over a cell multiplies each term by sin(x) / x.
    smoothed = terms * np.sinc(frequencies * cell / (2 * math.pi))
    series = np.zeros(_POINTS // 2 + 1, complex)
    series[0] = 1.0
    series[1 : TERMS + 1] = np.conj(smoothed)
    mass = np.fft.irfft(series, _POINTS)
    return np.maximum(np.roll(mass, _POINTS // 2), 0.0)
