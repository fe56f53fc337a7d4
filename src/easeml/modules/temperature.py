"""One number for the probabilities of a classifier: its temperature (see ``calibration``)."""

import numpy as np
from numpy.typing import NDArray

LEAST = 1e-6  # what a probability of 0 counts as: a class that was learned is never impossible
_SPREAD = 0.5  # standard deviation of 1 / T before any row is seen, around 1
_STEPS = 30
_CLOSE = 1e-4
_MOST_ROWS = 10_000  # half of them tell one number well
_Numbers = NDArray[np.float64]


def softened(probabilities: _Numbers, temperature: float) -> _Numbers:
    """Return probabilities (rows, classes) at a temperature."""
    raised = probabilities ** (1 / temperature)
    return raised / raised.sum(axis=1, keepdims=True)


def temperature_of(codes: NDArray[np.intp], probabilities: _Numbers, counts: _Numbers) -> float:
    """Return the likeliest temperature, given the classes (rows,) of rows and what was said of them.

    1 / T is normal around 1 before any row is seen: few rows change little. Rows of a class that had
    probability 0, and those without a class (-1), tell nothing. Newton's method; the likelihood is
    concave in 1 / T.
    """
    rows = np.flatnonzero(codes >= 0)
    rows = rows[probabilities[rows, codes[rows]] > 0]
    rows = rows[:: 1 + len(rows) // _MOST_ROWS]
    logs = np.log(np.maximum(probabilities[rows], np.finfo(float).tiny))
    own = logs[np.arange(len(rows)), codes[rows]]
    inverse = 1.0
    for _ in range(_STEPS):
        chances = softened(probabilities[rows], 1 / inverse)
        mean = (chances * logs).sum(axis=1)
        spread = (chances * logs**2).sum(axis=1) - mean**2
        slope = float(counts[rows] @ (own - mean)) - (inverse - 1) / _SPREAD**2
        bend = float(counts[rows] @ spread) + 1 / _SPREAD**2
        better = float(np.clip(inverse + slope / bend, inverse / 2, inverse * 2))
        if abs(better - inverse) < _CLOSE * inverse:
            break
        inverse = better
    return 1 / inverse
