"""95 % interval of the mean F1 of labels, of which most may be rare.

Of the rows that have a label or are given it, a share both has it and is given it, and F1 is a
function of that share alone. So each label has the interval of a share. The percentile bootstrap
draws the few rows of a rare label again and again, and never one that differs from them.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.sampling_error import effective, wilson

from .weights import Weights, counts_of

_Numbers = NDArray[np.float64]


def of_label_f1(
    actual: NDArray[Any], predicted: _Numbers, weights: Weights = None
) -> tuple[float, float]:
    """Return the interval of the mean of F1 over the labels that a row has or is given.

    Ends are put together as of ``intervals.of_mean_of_classes``; but labels are not independent, so
    squares and products count by how much rows that are wrong of one label are wrong of another.
    F1 of few rows is too low on average, of every label alike: the upper end allows for all of it.

    ``actual``, ``predicted``: (rows, labels) of 1 and 0. 0 to 1 where there is no label.
    """
    is_met = np.maximum(actual, predicted).astype(bool)
    labels = np.flatnonzero(is_met.any(axis=0))
    if not len(labels):
        return 0.0, 1.0
    met = is_met[:, labels] * counts_of(weights, len(actual))[:, None]
    right = met * actual[:, labels] * predicted[:, labels]
    shares = right.sum(axis=0) / met.sum(axis=0)
    rows = np.array(list(map(effective, met.T)))
    least, most = np.array(list(map(wilson, shares, rows))).T
    f1 = _f1(shares)

    # two rows more of each kind, so that a label of which all is right has a spread, too
    middle = (shares * rows + 2) / (rows + 4)
    wrong = right - middle * met
    wrong /= np.linalg.norm(wrong, axis=0)
    below = np.linalg.norm(wrong @ (f1 - _f1(least))) / len(labels)
    above = np.linalg.norm(wrong @ (_f1(most) - f1)) / len(labels)
    # half of the variance of the share, times how F1 bends there
    too_low = np.mean(2 / (1 + middle) ** 3 * middle * (1 - middle) / rows)
    mean = float(f1.mean())
    return max(0.0, mean - float(below)), min(1.0, mean + float(above + too_low))


def _f1(shares: _Numbers) -> _Numbers:
    return 2 * shares / (1 + shares)
