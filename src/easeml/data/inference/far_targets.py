"""Numbers of a target that lie far from all others: by them models are chosen, right or wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from easeml.data.types import values as v
from easeml.data.types.text_tables import row_place

if TYPE_CHECKING:
    import pyarrow as pa

_FAR = 5.0  # standard deviations, told by the median of the distances
_FEW = 0.1  # of the values; more of them are another kind of row
_MOST = 0.5  # of the variance
_LEAST = 20  # values by which a spread is told
_TO_DEVIATION = 1.4826  # of a normal distribution: its deviation beside that median


def far_target_notes(table: pa.Table, name: str) -> list[str]:
    """Return a note where a few numbers of the target are far from all others, and most of its spread.

    Numbers above 0 are compared by their logarithm, since prices and counts have long tails: what
    is left is what slipped by a factor, such as a decimal point.
    """
    import numpy as np

    numbers = v.to_numbers(table.column(name).combine_chunks()).values
    rows = np.flatnonzero(np.isfinite(numbers))
    if len(rows) < _LEAST:
        return []
    scale = np.abs(numbers[rows]).max()
    scaled = numbers[rows] / max(scale, np.finfo(float).tiny)  # whose squares are finite
    compared = scaled
    if (compared > 0).all():
        compared = np.log(compared)
    distances = np.abs(compared - np.median(compared))
    spread = _TO_DEVIATION * np.median(distances)
    far = distances > _FAR * spread
    squares = (scaled - np.median(scaled)) ** 2
    share = squares[far].sum() / max(squares.sum(), np.finfo(float).tiny)
    is_slip = spread > 0 and far.sum() <= _FEW * len(rows) and share > _MOST
    if not is_slip:
        return []
    furthest = int(rows[np.argmax(distances)])
    which = f"{far.sum()} of {len(rows):,} values"
    return [
        f"Column '{name}': {which} lie so far from all others, such as {numbers[furthest]:.10g} in "
        f"{row_place(furthest)}, that they are {share:.0%} of the variance. If they are wrong, "
        "correct them or empty their cells before you start: models are chosen by how well they "
        "predict them, too."
    ]
