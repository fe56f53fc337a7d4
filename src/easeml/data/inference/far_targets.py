"""Numbers of a target that lie far from all others: by them models are chosen, right or wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from easeml.data.types import values as v
from easeml.data.types.text_tables import row_place

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_FAR = 5.0  # standard deviations, told by the median of the distances
_FEW = 0.1  # of the values; more of them are another kind of row
_MOST = 0.5  # of the variance
_LEAST = 20  # values by which a spread is told
_TO_DEVIATION = 1.4826  # of a normal distribution: its deviation beside that median


def far_distances(numbers: np.ndarray) -> np.ndarray:
    """Return how far each of n finite numbers lies from all others, where above 1 few ones do.

    The unit is five standard deviations, told by the median of the distances. Numbers above 0 are
    compared by their logarithm. All are 0 where that tells nothing: of under 20 numbers, where half
    of them are alike, and where more than a tenth would be far.
    """
    import numpy as np

    nothing = np.zeros(len(numbers))
    if len(numbers) < _LEAST:
        return nothing
    compared = _scaled(numbers)
    if (compared > 0).all():
        compared = np.log(compared)
    distances = np.abs(compared - np.median(compared))
    unit = _FAR * _TO_DEVIATION * np.median(distances)
    if unit <= 0:
        return nothing
    found = distances / unit
    few = _FEW * len(numbers)
    return nothing if (found > 1.0).sum() > few else found


def _scaled(numbers: np.ndarray) -> np.ndarray:
    """Return numbers in -1 .. 1, whose squares are finite."""
    import numpy as np

    largest = np.abs(numbers).max(initial=0.0)
    return numbers / max(largest, np.finfo(float).tiny)


def far_target_notes(table: pa.Table, name: str) -> list[str]:
    """Return a note where a few numbers of the target are far from all others, and most of its spread.

    Numbers above 0 are compared by their logarithm, since prices and counts have long tails: what
    is left is what slipped by a factor, such as a decimal point.
    """
    import numpy as np

    numbers = v.to_numbers(table.column(name).combine_chunks()).values
    rows = np.flatnonzero(np.isfinite(numbers))
    if not len(rows):
        return []
    distances = far_distances(numbers[rows])
    far = distances > 1.0
    scaled = _scaled(numbers[rows])
    squares = (scaled - np.median(scaled)) ** 2
    share = squares[far].sum() / max(squares.sum(), np.finfo(float).tiny)
    is_slip = far.any() and share > _MOST
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
