"""Series as they are, all of one length."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.modules import Context
from easeml.modules.files import load_json, save_json
from easeml.zoo.transforms.cell_columns import cells_of, kinds
from easeml.zoo.transforms.random_kernels import resampled
from easeml.zoo.transforms.series import channels_of

_FILE = "steps.json"


@dataclass(frozen=True, slots=True)
class FittedSteps:
    """Series of ``channels`` channels at ``steps`` evenly spaced moments."""

    column: str
    channels: int
    steps: int
    notes: tuple[str, ...] = ()

    def transform(self, data: Any) -> NDArray[np.float32]:
        """Return series (rows, channels, steps); missing values are interpolated."""
        made = []
        for cell in cells_of(data, self.column):
            even = resampled(channels_of(cell, self.channels), self.steps)
            made.append(even.astype(np.float32))
        return np.stack(made)

    def save(self, folder: Path) -> None:
        """Write what is needed to bring series to the same length."""
        save_json(folder / _FILE, [self.column, self.channels, self.steps])


class Steps:
    """Brings series to one length and one number of channels, those of the longest."""

    def fit(
        self, data: Any, schema_in: Mapping[str, Any], config: Mapping[str, Any], context: Context
    ) -> FittedSteps:
        """Look at the lengths."""
        column = next(iter(kinds(schema_in)))
        cells = cells_of(data, column)
        channels = max(map(len, cells))
        steps = max(cell.shape[1] for cell in cells)
        return FittedSteps(column, channels, max(1, min(steps, config["most"])))

    def load(self, folder: Path) -> FittedSteps:
        """Read what was saved. Raises ``Damaged``."""
        return FittedSteps(*load_json(folder / _FILE))
