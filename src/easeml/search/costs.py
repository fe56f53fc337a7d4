"""Predicting device seconds of a training run from its module's hints and from finished runs."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from easeml.errors import InvalidInput

_LINEAR = {"base": 1.0, "per_cell": 1e-6}
_POWER = {"seconds": 1.0, "rows": 1.0, "columns": 1.0}
_ROWS, _COLUMNS = 1000, 10  # the size to which ``seconds`` belongs
_LEVEL_SD = 1.5  # how far (in logarithms) the hints may be off: a factor of 4.5
_SLOPE_SD = 0.5  # and how far the exponent of the size may be off
_NOISE_SD = 0.5  # of one run: a factor of 1.6
_LEAST = 1e-3  # seconds


def predict_cost(
    hints: Mapping[str, float], rows: int, columns: int, history: Sequence[tuple[int, int, float]] = ()
) -> float:
    """Return the predicted device seconds of a run on ``rows`` x ``columns`` cells.

    ``hints`` of the module are either ``base`` seconds and seconds ``per_cell``, or ``seconds`` at 1,000 rows x 10
    columns with the exponents by which they grow with ``rows`` and ``columns``; none means the former's defaults.
    ``history``: (rows, columns, seconds) of finished runs of the same module. The logarithm of actual over hinted
    seconds is fitted linearly in the logarithm of the cells, with Gaussian priors around 0 on level and slope
    (Bayesian linear regression: Bishop, Pattern Recognition and Machine Learning, 2006, section 3.3), so that few runs
    correct little. Raises ``InvalidInput`` for an unknown hint, or a hint or size that is negative or not finite.
    """
    known = _checked(hints)
    if rows < 0 or columns < 0:
        raise InvalidInput(f"{rows} rows x {columns} columns is no size.", where="cost")
    hinted = _hinted(known, rows, columns)
    past = [(r, c, s) for r, c, s in history if s > 0 and math.isfinite(s)]
    if not past:
        return hinted
    ratios = np.array([math.log(seconds / _hinted(known, r, c)) for r, c, seconds in past])
    sizes = np.array([_log_cells(r, c) for r, c, _ in past])
    centre = float(sizes.mean())
    design = np.column_stack([np.ones_like(sizes), sizes - centre])
    precision = design.T @ design / _NOISE_SD**2 + np.diag([_LEVEL_SD**-2, _SLOPE_SD**-2])
    level, slope = np.linalg.solve(precision, design.T @ ratios / _NOISE_SD**2)
    return max(_LEAST, hinted * math.exp(level + slope * (_log_cells(rows, columns) - centre)))


def _checked(hints: Mapping[str, float]) -> dict[str, float]:
    form = _POWER if "seconds" in hints else _LINEAR
    for name, value in hints.items():
        if name not in form:
            raise InvalidInput(f"The cost hint {name!r} has no place here.", where="cost", remedy=f"Use {list(form)}.")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise InvalidInput(f"{value!r} is not a number of at least 0.", where=f"cost.{name}")
    return {**form, **hints}


def _hinted(hints: Mapping[str, float], rows: int, columns: int) -> float:
    if "seconds" in hints:
        growth = (max(1, rows) / _ROWS) ** hints["rows"] * (max(1, columns) / _COLUMNS) ** hints["columns"]
        return max(_LEAST, hints["seconds"] * growth)
    return max(_LEAST, hints["base"] + hints["per_cell"] * rows * columns)


def _log_cells(rows: int, columns: int) -> float:
    return math.log(max(1, rows * columns))
