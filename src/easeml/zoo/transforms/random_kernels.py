"""Random convolutional kernels over series (ROCKET), and plain statistics of them.

A. Dempster, F. Petitjean and G. Webb, ROCKET: exceptionally fast and accurate time series
classification using random convolutional kernels, Data Mining and Knowledge Discovery 34, 2020,
section 3. Each kernel gives the share of positive values and the largest value.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_LENGTHS = (7, 9, 11)
_BLOCK = 1 << 22  # numbers that are worked on at once
STATISTICS = 11


@dataclass(frozen=True, slots=True)
class Kernels:
    """``weights``: (kernels, channels, 11), zero beyond ``lengths`` and for channels that a kernel
    does not see.
    """

    weights: NDArray[np.float64]
    lengths: NDArray[np.int64]
    biases: NDArray[np.float64]
    dilations: NDArray[np.int64]
    padded: NDArray[np.bool_]

    @classmethod
    def draw(cls, count: int, channels: int, steps: int, seed: int) -> "Kernels":
        """Draw kernels for series of ``channels`` and ``steps`` (at least 1)."""
        random = np.random.default_rng(seed)
        weights = np.zeros((count, channels, max(_LENGTHS)))
        fitting = [length for length in _LENGTHS if length <= steps] or [min(_LENGTHS[0], steps)]
        lengths = random.choice(fitting, count)
        dilations = np.ones(count, dtype=np.int64)
        for kernel, length in enumerate(lengths):
            seen = int(2 ** random.uniform(0, np.log2(channels + 1)))
            chosen = random.choice(channels, min(seen, channels), replace=False)
            drawn = random.normal(size=(len(chosen), length))
            weights[kernel, chosen, :length] = drawn - drawn.mean(axis=1, keepdims=True)
            if length > 1:
                dilations[kernel] = int(
                    2 ** random.uniform(0, np.log2(max(1.0, (steps - 1) / (length - 1))))
                )
        return cls(
            weights, lengths, random.uniform(-1, 1, count), dilations, random.random(count) < 0.5
        )

    def transform(self, series: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return shares of positive values, then largest values, (rows, 2 kernels), of (rows,
        channels, steps).
        """
        rows, channels, steps = series.shape
        made = np.empty((rows, 2 * len(self.lengths)))
        block = max(1, _BLOCK // (channels * steps))
        for start in range(0, rows, block):
            part = series[start : start + block]
            for kernel in range(len(self.lengths)):
                convolved = self._convolved(part, kernel)
                made[start : start + block, kernel] = (convolved > 0).mean(axis=1)
                made[start : start + block, len(self.lengths) + kernel] = convolved.max(axis=1)
        return made

    def _convolved(self, series: NDArray[np.float64], kernel: int) -> NDArray[np.float64]:
        length = int(self.lengths[kernel])
        dilation = int(self.dilations[kernel])
        reach = (length - 1) * dilation
        if self.padded[kernel]:
            series = np.pad(series, ((0, 0), (0, 0), (reach // 2, reach // 2)))
        steps = series.shape[2] - reach
        total = np.full((len(series), steps), self.biases[kernel])
        for channel in np.flatnonzero(self.weights[kernel].any(axis=1)):
            for place in range(length):
                start = place * dilation
                total += (
                    self.weights[kernel, channel, place] * series[:, channel, start : start + steps]
                )
        return total


def resampled(series: NDArray[np.float64], steps: int) -> NDArray[np.float64]:
    """Return a series (channels, any steps) at ``steps`` evenly spaced moments; missing values are
    interpolated.

    A channel's missing values at its end are no part of it; a channel without any value is 0.
    """
    made = np.zeros((len(series), steps))
    for place, channel in enumerate(series):
        known = np.flatnonzero(np.isfinite(channel))
        if len(known) == 0:
            continue
        if len(known) == steps == known[-1] + 1:
            made[place] = channel[:steps]
        else:
            made[place] = np.interp(np.linspace(0, known[-1], steps), known, channel[known])
    return made


def statistics(channel: NDArray[np.float64]) -> list[float]:
    """Return mean, deviation, least, largest, median, first, last, slope, mean step,
    autocorrelation, and length.
    """
    known = channel[np.isfinite(channel)]
    if len(known) == 0:
        return [0.0] * STATISTICS
    centred = known - known.mean()
    moments = np.arange(len(known)) - (len(known) - 1) / 2
    power = float((centred**2).sum())
    return [
        float(known.mean()),
        float(known.std()),
        float(known.min()),
        float(known.max()),
        float(np.median(known)),
        float(known[0]),
        float(known[-1]),
        float((centred * moments).sum() / max((moments**2).sum(), 1.0)),
        float(np.abs(np.diff(known)).mean()) if len(known) > 1 else 0.0,
        float((centred[1:] * centred[:-1]).sum()) / power if power > 0 else 0.0,
        float(len(known)),
    ]
