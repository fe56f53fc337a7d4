"""Bringing features to like scales."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.modules import Context
from easeml.modules.files import load_arrays, save_arrays
from easeml.modules.weights import mean_and_deviation, quantiles

_FILE = "scale.npz"
_BOUND = 3.0  # what squashing tends to; as skrub's SquashingScaler


@dataclass(frozen=True, slots=True)
class FittedScale:
    """(x - centre) / scale, then squashed into (-3, 3) where asked for."""

    centre: NDArray[np.float64]
    scale: NDArray[np.float64]
    squash: bool
    notes: tuple[str, ...] = ()

    def transform(self, data: Any) -> NDArray[np.float64]:
        """Return scaled features."""
        scaled = (data - self.centre) / self.scale
        if self.squash:
            return scaled / np.sqrt(1 + (scaled / _BOUND) ** 2)
        return scaled

    def save(self, folder: Path) -> None:
        """Write centre and scale."""
        save_arrays(
            folder / _FILE,
            centre=self.centre,
            scale=self.scale,
            squash=np.asarray(self.squash),
        )


class Scale:
    """``standard``: mean and standard deviation; ``robust``: median and quartiles; ``squash``:
    robust, then bounded.
    """

    def fit(
        self, data: Any, schema_in: Mapping[str, Any], config: Mapping[str, Any], context: Context
    ) -> FittedScale:
        """Learn centre and scale of every feature; where quartiles are equal the standard deviation
        is taken.
        """
        mean, deviation = mean_and_deviation(data, context.weights)
        if config["method"] == "standard":
            return FittedScale(mean, _positive(deviation), squash=False)
        low, centre, high = quantiles(data, [0.25, 0.5, 0.75], context.weights)
        scale = np.where(high > low, high - low, deviation)
        return FittedScale(centre, _positive(scale), squash=config["method"] == "squash")

    def load(self, folder: Path) -> FittedScale:
        """Read what was saved."""
        arrays = load_arrays(folder / _FILE)
        return FittedScale(arrays["centre"], arrays["scale"], bool(arrays["squash"]))


def _positive(scale: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(scale > 0, scale, 1.0)
