"""Numbers of a picture: pixels of a small copy, histograms of oriented gradients, and of colours."""

import numpy as np
from numpy.typing import NDArray

_BINS = 9  # orientations without sign, over 180 degrees
_COLOUR_BINS = 8
_TINY = 1e-6
_CLIP = 0.2


def picture_features(image: NDArray[np.float64], cells: int, small: int) -> NDArray[np.float64]:
    """Return the features of a picture with values in [0, 1] and shape (height, width, channels)."""
    grey = image.mean(axis=2)
    histograms = [
        np.histogram(image[:, :, c], _COLOUR_BINS, (0.0, 1.0))[0] for c in range(image.shape[2])
    ]
    colours = np.concatenate(histograms) / grey.size
    pixels = shrunk(image, small).reshape(-1)
    return np.concatenate([pixels, oriented_gradients(grey, cells), colours])


def shrunk(image: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    """Return the means of the areas of a grid of at most ``most`` x ``most``."""
    height = min(most, image.shape[0])
    width = min(most, image.shape[1])
    rows = np.add.reduceat(image, np.arange(height) * image.shape[0] // height, axis=0)
    sums = np.add.reduceat(rows, np.arange(width) * image.shape[1] // width, axis=1)
    return sums / (
        _sizes(image.shape[0], height)[:, None, None] * _sizes(image.shape[1], width)[None, :, None]
    )


def oriented_gradients(grey: NDArray[np.float64], cells: int) -> NDArray[np.float64]:
    """Return histograms of oriented gradients of a grid of ``cells`` x ``cells``, normalised in
    blocks of 2 x 2.

    N. Dalal and B. Triggs, Histograms of oriented gradients for human detection, CVPR 2005, section
    6: centred differences without smoothing, votes by magnitude shared between the two nearest of 9
    orientations, L2-Hys blocks.
    """
    down = _differences(grey, 0)
    right = _differences(grey, 1)
    strength = np.hypot(down, right)
    place = (np.arctan2(down, right) % np.pi) / np.pi * _BINS - 0.5
    low = np.floor(place).astype(int)
    share = place - low
    row = (np.arange(grey.shape[0]) * cells // grey.shape[0])[:, None]
    column = (np.arange(grey.shape[1]) * cells // grey.shape[1])[None, :]
    first = (row * cells + column) * _BINS
    votes = np.zeros(cells * cells * _BINS)
    for orientation, weight in ((low, 1 - share), (low + 1, share)):
        votes += np.bincount(
            (first + orientation % _BINS).reshape(-1), (strength * weight).reshape(-1), len(votes)
        )
    grid = votes.reshape(cells, cells, _BINS)
    if cells == 1:
        return _normalised(grid.reshape(1, -1)).reshape(-1)
    blocks = np.concatenate([grid[:-1, :-1], grid[1:, :-1], grid[:-1, 1:], grid[1:, 1:]], axis=2)
    return _normalised(blocks.reshape(-1, 4 * _BINS)).reshape(-1)


def _differences(grey: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Centred differences; at the borders there are none."""
    made = np.zeros_like(grey)
    if axis == 0:
        made[1:-1] = grey[2:] - grey[:-2]
    else:
        made[:, 1:-1] = grey[:, 2:] - grey[:, :-2]
    return made


def _normalised(blocks: NDArray[np.float64]) -> NDArray[np.float64]:
    clipped = np.minimum(blocks / np.sqrt((blocks**2).sum(axis=1, keepdims=True) + _TINY), _CLIP)
    return clipped / np.sqrt((clipped**2).sum(axis=1, keepdims=True) + _TINY)


def _sizes(length: int, parts: int) -> NDArray[np.float64]:
    return np.diff(np.append(np.arange(parts) * length // parts, length)).astype(np.float64)
