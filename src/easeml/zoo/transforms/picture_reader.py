"""Reading the pictures of a column, from files or arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.data import pixels
from easeml.zoo.transforms.picture_features import shrunk

_LARGEST = 1e30


@dataclass(frozen=True, slots=True)
class PictureReader:
    """How the pictures of a column are read.

    ``kind``: ``image`` for files, ``tensor`` for arrays; ``size``: height and width to which a picture
    is brought; ``top``: the value that is white in an array.
    """

    column: str
    kind: str
    size: tuple[int, int]
    grey: bool
    top: float

    @classmethod
    def of(
        cls, cells: Sequence[Any], column: str, kind: str, dim: Sequence[int | str], longest: int
    ) -> "PictureReader":
        """Return a reader of pictures of at most ``longest`` pixels; small ones of one size keep it."""
        lengths = [longest if isinstance(length, str) else length for length in dim[:2]]
        height, width = np.minimum(lengths, longest).tolist()
        top = _white(cells) if kind == "tensor" else 1.0
        is_grey = kind == "image" and dim[2] == 1
        return cls(column, kind, (height, width), is_grey, top)

    def read(self, cell: Any) -> NDArray[np.float64]:
        """Return a picture with values in [0, 1] and shape (height, width, channels).

        A file has exactly ``size``, an array no more than its longest side.
        """
        if self.kind == "image":
            return pixels(cell, self.size, grey=self.grey)
        image = np.clip(np.nan_to_num(np.asarray(cell, np.float64)) / self.top, 0.0, 1.0)
        longest = max(self.size)
        if max(image.shape[:2]) > longest:
            image = shrunk(image, longest)
        return image.mean(axis=2, keepdims=True) if self.grey else image

    def read_to_size(self, cell: Any) -> NDArray[np.float64]:
        """Return a picture of exactly ``size``: what is smaller has its nearest pixels repeated."""
        image = self.read(cell)
        rows, columns = (
            np.arange(wanted) * given // wanted
            for wanted, given in zip(self.size, image.shape[:2], strict=True)
        )
        return image[rows][:, columns]

    def to_json(self) -> list[Any]:
        """Return what ``from_json`` takes."""
        return [self.column, self.kind, self.size, self.grey, self.top]

    @classmethod
    def from_json(cls, document: Sequence[Any]) -> "PictureReader":
        """Return the reader of a document of ``to_json``."""
        column, kind, size, grey, top = document
        return cls(column, kind, tuple(size), grey, top)


def _white(cells: Sequence[Any]) -> float:
    """Return the largest number of all arrays, which is white; 1 where all are 0."""
    largest = max((np.nanmax(np.abs(cell), initial=0.0) for cell in cells), default=1.0)
    return float(min(largest, _LARGEST)) or 1.0
