"""Rows between a row and one of its neighbours of the same class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

_NEIGHBOURS = 5
_FARTHEST = 0.5  # of the way to the neighbour: a made row stays nearer to its origin


@dataclass(frozen=True)
class Mixing:
    """How n rows are made, each between a row and one of its neighbours.

    ``origins`` and ``neighbours`` (n,): places of both. ``share`` (n,): how much of the way from
    the first to the second a made row lies off, from 0 to .5.
    """

    origins: np.ndarray
    neighbours: np.ndarray
    share: np.ndarray

    def of(self, column: pa.ChunkedArray, rng: np.random.Generator) -> pa.Array:
        """Return cells (n,): numbers between both, other values of one of both.

        A value is the neighbour's with the chance of its share, and the origin's where one of both
        is missing.
        """
        plain = column.combine_chunks()
        kind = plain.type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            return self._between(plain)
        comes_over = rng.random(len(self.share)) < self.share
        known = plain.is_valid().to_numpy(zero_copy_only=False)
        comes_over &= known[self.origins] & known[self.neighbours]
        return plain.take(pa.array(np.where(comes_over, self.neighbours, self.origins)))

    def _between(self, numbers: pa.Array) -> pa.Array:
        cells = numbers.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        there = cells[self.origins]
        way = cells[self.neighbours] - there
        made = there + self.share * np.where(np.isfinite(way), way, 0.0)
        if pa.types.is_integer(numbers.type):
            made = np.round(made)
        return pa.array(made, mask=~np.isfinite(there)).cast(numbers.type, safe=False)


def mixing(
    inputs: pd.DataFrame,
    answers: pd.Series,
    origins: Sequence[int] | np.ndarray,
    rng: np.random.Generator,
) -> Mixing:
    """Return with which of its five nearest rows each origin is mixed.

    Of classes a neighbour is one of the same class (SMOTE: N. Chawla and others, JAIR 16, 2002); of
    numbers it is any, and the answer is mixed, too (SMOTER: L. Torgo and others, EPIA 2013). A row
    without such a neighbour is its own.

    Args:
        inputs: of all rows (m,) that may be neighbours.
        answers: of these.
        origins: places (n,) of the rows to mix.
        rng: draws neighbours and shares.
    """
    from easeml.lifecycle.features import encode

    (points,) = encode(inputs)
    wanted = np.asarray(origins)
    neighbours = wanted.copy()
    groups = np.zeros(len(answers), int)
    if not pd.api.types.is_float_dtype(answers):
        groups = pd.factorize(answers)[0]
    for group in np.unique(groups[wanted]):
        members = np.flatnonzero(groups == group)
        asked = np.flatnonzero(groups[wanted] == group)
        near = _nearest(points[members], points[wanted[asked]])
        if near.shape[1] > 1:  # the nearest is the row itself
            drawn = rng.integers(1, near.shape[1], size=len(asked))
            neighbours[asked] = members[near[np.arange(len(asked)), drawn]]
    return Mixing(wanted, neighbours, rng.uniform(0, _FARTHEST, size=len(wanted)))


def _nearest(points: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Return the places of the nearest points of each one asked about, itself first."""
    from sklearn.neighbors import NearestNeighbors

    count = min(1 + _NEIGHBOURS, len(points))
    return NearestNeighbors(n_neighbors=count).fit(points).kneighbors(asked)[1]
