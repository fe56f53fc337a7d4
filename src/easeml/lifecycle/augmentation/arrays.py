"""Series and pictures that differ as new ones would."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_NOISE = 0.03  # of the standard deviation of a series
_SCALE = 0.1  # by which amplitude or brightness differ at most
_WARP = 0.2  # by which a part of a series is slower or faster at most
_KNOTS = 4  # of a warped time
_SHIFT = 0.1  # of the sides of a picture

Array = NDArray[np.float64]


def other_series(series: Array, rng: np.random.Generator) -> Array:
    """Return a series (steps,) or (steps, channels) with other speed, amplitude and noise.

    Time is warped smoothly, from the first step to the last (T. Um and others, ICMI 2017).
    """
    steps = np.arange(len(series), dtype=float)
    speeds = rng.uniform(1 - _WARP, 1 + _WARP, size=_KNOTS)
    speed = np.interp(steps, np.linspace(0, max(1, len(series) - 1), _KNOTS), speeds)
    passed = np.cumsum(speed) - speed[0]
    moments = passed * (steps[-1] / passed[-1]) if passed[-1] > 0 else passed
    warped = np.apply_along_axis(lambda channel: np.interp(moments, steps, channel), 0, series)
    noise = rng.normal(scale=_NOISE * np.nanstd(series), size=series.shape)
    return warped * rng.uniform(1 - _SCALE, 1 + _SCALE) + noise


def other_picture(picture: Array, rng: np.random.Generator, *, flips: bool) -> Array:
    """Return a picture that is moved, and brighter or darker, within its values.

    ``picture``: (height, width) or (height, width, colours). With ``flips`` half are mirrored.
    """
    moved = picture
    for axis in (0, 1):
        most = int(_SHIFT * picture.shape[axis])
        moved = _shifted(moved, int(rng.integers(-most, most + 1)), axis)
    if flips and rng.random() < 0.5:
        moved = moved[:, ::-1]
    brighter = moved * rng.uniform(1 - _SCALE, 1 + _SCALE)
    return np.clip(brighter, picture.min(), picture.max())


def _shifted(picture: Array, by: int, axis: int) -> Array:
    """Return a picture that is moved; what comes in is as its edge."""
    places = np.clip(np.arange(picture.shape[axis]) - by, 0, picture.shape[axis] - 1)
    return picture.take(places, axis=axis)
