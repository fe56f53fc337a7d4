"""Series of one or several channels as numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.modules import Context
from easeml.modules.files import load_arrays, load_json, save_arrays, save_json
from easeml.zoo.transforms.cell_columns import cells_of, dim_of, kinds
from easeml.zoo.transforms.random_kernels import Kernels, resampled, statistics

_FILES = "series.json", "series.npz"
_MOST_STEPS = 512
_MOST_RAW = 1024  # numbers of a series that are features themselves
# Fewer, in series of one length, are no series to speak of: values alone say it all.
_LEAST_STEPS = 16
_LARGEST = 1e30


@dataclass(frozen=True, slots=True)
class FittedSeries:
    """What was learned of series.

    ``centre`` and ``scale``: of the values of each channel in the training data. ``raw``: values
    are features, too. Where the number of channels differs from row to row, channels beyond the
    first ``len(centre)`` are not looked at.
    """

    column: str
    steps: int
    raw: bool
    centre: NDArray[np.float64]
    scale: NDArray[np.float64]
    kernels: Kernels
    notes: tuple[str, ...] = ()

    def transform(self, data: Any) -> NDArray[np.float64]:
        """Return statistics of channels, what kernels find, and the values where they are few."""
        found = [channels_of(cell, len(self.centre)) for cell in cells_of(data, self.column)]
        even = np.stack([resampled(one, self.steps) for one in found])
        even = (even - self.centre[:, None]) / self.scale[:, None]

        parts = []
        if self.raw:
            parts.append(even.reshape(len(even), -1))
        if len(self.kernels.lengths):
            parts.append(np.array(list(map(_plain_features, found))))
            parts.append(self.kernels.transform(even))
        return np.concatenate(parts, axis=1)

    def save(self, folder: Path) -> None:
        """Write all files."""
        save_json(folder / _FILES[0], [self.column, self.steps, self.raw])
        held = {field.name: getattr(self.kernels, field.name) for field in fields(self.kernels)}
        save_arrays(
            folder / _FILES[1],
            centre=self.centre,
            scale=self.scale,
            **held,
        )


class Series:
    """Statistics of each channel, and random convolutional kernels.

    Short series of one length are taken as they are as well; very short ones only so.
    """

    def fit(
        self, data: Any, schema_in: Mapping[str, Any], config: Mapping[str, Any], context: Context
    ) -> FittedSeries:
        """Learn lengths and scales, and draw the kernels."""
        column = next(iter(kinds(schema_in)))
        cells = cells_of(data, column)
        dim = dim_of(schema_in, column)
        channels = max(map(len, cells))
        steps = min(_MOST_STEPS, max(cell.shape[1] for cell in cells))
        even = np.stack([_evened(cell, channels, steps) for cell in cells])
        even = np.clip(even, -_LARGEST, _LARGEST)
        deviation = even.std(axis=(0, 2))

        one_size = all(isinstance(size, int) for size in dim)
        raw = one_size and channels * steps <= _MOST_RAW
        too_short = raw and steps < _LEAST_STEPS
        count = 0 if too_short else config["kernels"]
        return FittedSeries(
            column,
            steps,
            raw,
            even.mean(axis=(0, 2)),
            np.where(deviation > 0, deviation, 1.0),
            Kernels.draw(count, channels, steps, context.seed),
        )

    def load(self, folder: Path) -> FittedSeries:
        """Read what was saved."""
        column, steps, raw = load_json(folder / _FILES[0])
        arrays = load_arrays(folder / _FILES[1])
        centre = arrays.pop("centre")
        scale = arrays.pop("scale")
        return FittedSeries(column, steps, raw, centre, scale, Kernels(**arrays))


def channels_of(cell: Any, wanted: int) -> NDArray[np.float64]:
    """Return so many channels (wanted, steps) of a series; those that are not there hold nothing."""
    given = np.clip(np.asarray(cell, np.float64)[:wanted], -_LARGEST, _LARGEST)
    return np.pad(given, ((0, wanted - len(given)), (0, 0)), constant_values=np.nan)


def _evened(cell: Any, channels: int, steps: int) -> NDArray[np.float64]:
    """Return a series with as many channels and steps as all others."""
    missing = channels - len(cell)
    return resampled(np.pad(cell, ((0, missing), (0, 0))), steps)


def _plain_features(channels: NDArray[np.float64]) -> list[float]:
    """Return the statistics of all channels, one after the other."""
    found: list[float] = []
    for channel in channels:
        found.extend(statistics(channel))
    return found
