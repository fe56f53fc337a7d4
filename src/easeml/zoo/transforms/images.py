"""Pictures as numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.data import pixels
from easeml.modules import Context
from easeml.modules.files import load_json, save_json
from easeml.zoo.transforms.cell_columns import cells_of, dim_of, kinds
from easeml.zoo.transforms.picture_features import picture_features, shrunk

_FILE = "images.json"
_LARGEST = 1e30


@dataclass(frozen=True, slots=True)
class FittedImages:
    """``size``: height and width to which a picture is brought; ``top``: the value that is white in
    an array.
    """

    column: str
    kind: str
    size: tuple[int, int]
    grey: bool
    top: float
    cells: int
    small: int
    notes: tuple[str, ...] = ()

    def transform(self, data: Any) -> NDArray[np.float64]:
        """Return the features of every picture."""
        pictures = map(self._read, cells_of(data, self.column))
        return np.stack([picture_features(one, self.cells, self.small) for one in pictures])

    def _read(self, cell: Any) -> NDArray[np.float64]:
        if self.kind == "image":
            return pixels(cell, self.size, grey=self.grey)
        image = np.clip(np.nan_to_num(np.asarray(cell, np.float64)) / self.top, 0.0, 1.0)
        longest = max(self.size)
        if max(image.shape[:2]) > longest:
            image = shrunk(image, longest)
        return image.mean(axis=2, keepdims=True) if self.grey else image

    def save(self, folder: Path) -> None:
        """Write what is needed to read pictures alike."""
        held = [self.column, self.kind, self.size, self.grey, self.top, self.cells, self.small]
        save_json(folder / _FILE, held)


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
    longest = config["size"]
    height, width = (
        min(length, longest) if isinstance(length, int) else longest for length in dim[:2]
    )
    top = _white(cells) if kind == "tensor" else 1.0
    grey = kind == "image" and dim[2] == 1
    return FittedImages(column, kind, (height, width), grey, top, config["cells"], config["small"])


def _white(cells: Sequence[Any]) -> float:
    """Return the largest number of all arrays, which is white; 1 where all are 0."""
    largest = max((np.nanmax(np.abs(cell), initial=0.0) for cell in cells), default=1.0)
    return float(min(largest, _LARGEST)) or 1.0


def load_images(folder: Path) -> FittedImages:
    """Read what ``FittedImages.save`` wrote. Raises ``Damaged``."""
    column, kind, size, grey, top, cells, small = load_json(folder / _FILE)
    return FittedImages(column, kind, tuple(size), grey, top, cells, small)
