"""How alike two columns of numbers are: in a line, nearly in a line, or in the same order."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

_MISTYPED = 0.05  # share of rows that may not follow a line which all others do
_NEARLY = 0.9995  # correlation of those
_COPIED = 0.9995  # rank correlation of a column that is another one in its own scale
_FEW = 400  # rows that are looked at first
_FAR_OF_FEW = 0.15  # share of them that may be mistyped: chance may take more than of all
_WORTH_A_LOOK = 0.98  # correlation of few rows, from which on all are looked at


def ranks_of(values: np.ndarray) -> np.ndarray:
    """The place of each value among the different ones, from 0."""
    import numpy as np

    return np.unique(values, return_inverse=True)[1].astype(float)


def correlation(values: np.ndarray, actual: np.ndarray) -> float:
    """Pearson's correlation, -1 to 1; 0 where one does not vary or is too large."""
    import numpy as np

    if np.ptp(values) == 0 or np.ptp(actual) == 0:
        return 0.0
    with np.errstate(all="ignore"):
        centred = values - values.mean()
        other = actual - actual.mean()
        scale = np.sqrt(centred @ centred) * np.sqrt(other @ other)
        found = float(centred @ other / scale)
    return found if np.isfinite(found) else 0.0


def is_line(values: np.ndarray, actual: np.ndarray) -> bool:
    """Whether nearly all rows lie on a line; a few, such as mistyped ones, may be far from it."""
    few = _glance(values)
    if abs(_along_line(values[few], actual[few], 1 - _FAR_OF_FEW)) < _WORTH_A_LOOK:
        return False
    return abs(_along_line(values, actual, 1 - _MISTYPED)) > _NEARLY


def in_same_order(values: np.ndarray, actual: np.ndarray) -> bool:
    """Whether the rows are in the same, or the opposite, order by both columns."""
    few = _glance(values)
    if abs(correlation(ranks_of(values[few]), ranks_of(actual[few]))) < _WORTH_A_LOOK:
        return False
    return abs(correlation(ranks_of(values), ranks_of(actual))) > _COPIED


def _glance(values: np.ndarray) -> slice:
    """Some hundred rows, evenly spaced: most columns are so unlike that these show it."""
    return slice(None, None, max(1, len(values) // _FEW))


def _along_line(values: np.ndarray, actual: np.ndarray, share: float) -> float:
    """Return the correlation of those rows, a share of all, that lie nearest to a line."""
    import numpy as np

    count = int(share * len(values))
    kept = np.arange(len(values))
    for _ in range(4):
        x, y = values[kept], actual[kept]
        if np.ptp(x) == 0 or np.ptp(y) == 0:
            return 0.0
        slope = np.cov(x, y)[0, 1] / np.var(x, ddof=1)
        away = np.abs(actual - y.mean() - slope * (values - x.mean()))
        kept = np.argsort(away, kind="stable")[:count]
    return correlation(values[kept], actual[kept])
