"""Of more rows than a study can read in minutes, it looks at some, drawn at random."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from easeml.lifecycle.feasibility.representations import Representation

MOST_ROWS = 50_000
"""Rows that are looked at: about a minute of a processor for twenty columns, and 1.3 GiB."""


def drawn_rows(count: int, most: int, seed: int) -> np.ndarray | None:
    """Return the places of ``most`` of ``count`` rows, in order; None where no more are there."""
    if count <= most:
        return None
    drawn = np.random.default_rng(seed).choice(count, most, replace=False)
    return np.sort(drawn)


def rows_at(values: Any, places: np.ndarray) -> Any:
    """Return these rows of a frame, a series, an array or a list."""
    if hasattr(values, "iloc"):
        return values.iloc[places]
    return np.asarray(values)[places]


def among(places: np.ndarray, own: Representation) -> Representation:
    """Return a representation of the rows at these places."""
    if not own.of_places:
        return own
    return replace(own, embed=lambda chosen: own.embed(places[chosen]))
