"""The two queries of certain predictions, for many points at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from easeml.lifecycle.cleaning.incomplete import Incomplete
from easeml.lifecycle.cleaning.points import Points


def possible_labels(rows: Incomplete, X: Any, k: int) -> np.ndarray:
    """Tell which labels a k-nearest-neighbour classifier gives to points in at least one world.

    Exact for any k and number of classes; ties as in ``count_worlds``.

    Args:
        rows: training rows with candidates.
        X: (V, D) points.
        k: how many neighbours vote.

    Returns:
        (V, C) bool, by point and by label in the order of ``rows.classes``. A point with one True
            in its row is *certainly predicted*: query Q1 of Karlas et al., VLDB 2021, definition 4.
    """
    return Points(rows, X, k).possible()


def label_probabilities(rows: Incomplete, X: Any, k: int) -> np.ndarray:
    """Return the (V, C) probabilities of the labels that points are given, over the worlds.

    The worlds count by their weights: query Q2 of Karlas et al. with probabilities instead of
    counts; float64, right to about 1e-12. Arguments as in ``possible_labels``.
    """
    return Points(rows, X, k).scan(gains=False)[0]
