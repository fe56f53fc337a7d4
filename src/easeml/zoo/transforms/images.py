"""Pictures as numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.modules import Context
from easeml.modules.files import load_json, save_json
from easeml.zoo.transforms.cell_columns import cells_of, dim_of, kinds
from easeml.zoo.transforms.picture_features import picture_features
from easeml.zoo.transforms.picture_reader import PictureReader

_FILE = "images.json"


@dataclass(frozen=True, slots=True)
class FittedImages:
    """Features of the pictures that ``reader`` reads; ``cells`` and ``small``: see
    ``picture_features``.
    """

    reader: PictureReader
    cells: int
    small: int
    notes: tuple[str, ...] = ()

    def transform(self, data: Any) -> NDArray[np.float64]:
        """Return the features of every picture."""
        pictures = map(self.reader.read, cells_of(data, self.reader.column))
        return np.stack([picture_features(one, self.cells, self.small) for one in pictures])

    def save(self, folder: Path) -> None:
        """Write what is needed to read pictures alike."""
        save_json(folder / _FILE, [*self.reader.to_json(), self.cells, self.small])


class Images:
    """Brings pictures to one size: pixels of a small copy, oriented gradients and histograms of
    colours.
    """

    def fit(
        self, data: Any, schema_in: Mapping[str, Any], config: Mapping[str, Any], context: Context
    ) -> FittedImages:
        """Look at the schema, and at the largest value of arrays."""
        column, kind = next(iter(kinds(schema_in).items()))
        return fit_images(cells_of(data, column), column, kind, dim_of(schema_in, column), config)

    def load(self, folder: Path) -> FittedImages:
        """Read what was saved."""
        return load_images(folder)


def fit_images(
    cells: Sequence[Any],
    column: str,
    kind: str,
    dim: Sequence[int | str],
    config: Mapping[str, Any],
) -> FittedImages:
    """Return how the pictures of a column are read; small ones of one size keep it."""
    reader = PictureReader.of(cells, column, kind, dim, config["size"])
    return FittedImages(reader, config["cells"], config["small"])


def load_images(folder: Path) -> FittedImages:
    """Read what ``FittedImages.save`` wrote. Raises ``Damaged``."""
    *reader, cells, small = load_json(folder / _FILE)
    return FittedImages(PictureReader.from_json(reader), cells, small)
