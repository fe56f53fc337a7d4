"""Pictures as they are, all of one size."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.modules import Context
from easeml.modules.files import load_json, save_json
from easeml.zoo.transforms.cell_columns import cells_of, dim_of, kinds
from easeml.zoo.transforms.picture_reader import PictureReader

_FILE = "pixels.json"


@dataclass(frozen=True, slots=True)
class FittedPixels:
    """Pixels of the pictures that ``reader`` reads."""

    reader: PictureReader
    notes: tuple[str, ...] = ()

    def transform(self, data: Any) -> NDArray[np.float32]:
        """Return pictures (rows, height, width, channels) with values in [0, 1]."""
        cells = cells_of(data, self.reader.column)
        return np.stack([self.reader.read_to_size(cell).astype(np.float32) for cell in cells])

    def save(self, folder: Path) -> None:
        """Write what is needed to read pictures alike."""
        save_json(folder / _FILE, self.reader.to_json())


class Pixels:
    """Brings pictures to one size."""

    def fit(
        self, data: Any, schema_in: Mapping[str, Any], config: Mapping[str, Any], context: Context
    ) -> FittedPixels:
        """Look at the schema, and at the largest value of arrays."""
        column, kind = next(iter(kinds(schema_in).items()))
        cells, dim = cells_of(data, column), dim_of(schema_in, column)
        return FittedPixels(PictureReader.of(cells, column, kind, dim, config["size"]))

    def load(self, folder: Path) -> FittedPixels:
        """Read what was saved. Raises ``Damaged``."""
        return FittedPixels(PictureReader.from_json(load_json(folder / _FILE)))
