"""Tables with more columns than rows, as laws make them: what ``estimators.py`` calls ``wide-LAW``.

Each column is a number. A label says whether the number that the law makes is above its median.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

ROWS, COLUMNS = 300, 1500  # of which methods learn
UNSEEN = 1000  # rows
_NUMBER = "-number"
_Made = tuple[NDArray[np.float64], NDArray[np.float64]]  # columns, and what is to be told


def _sparse(draw: np.random.Generator, rows: int) -> _Made:
    """Make a sum of ten columns of many."""
    columns = draw.normal(size=(rows, COLUMNS))
    weights = draw.normal(size=10)
    noise = draw.normal(size=rows) * 0.4 * np.linalg.norm(weights)
    return columns, columns[:, :10] @ weights + noise


def _blocks(draw: np.random.Generator, rows: int) -> _Made:
    """Make groups of 20 columns that go together, on skewed scales of their own; five matter."""
    common = draw.normal(size=(rows, COLUMNS // 20))
    columns = np.repeat(common, 20, axis=1) + draw.normal(size=(rows, COLUMNS))
    weights = draw.normal(size=5)
    noise = draw.normal(size=rows) * 0.25 * np.linalg.norm(weights)
    return np.exp(0.4 * columns + draw.normal(size=COLUMNS)), common[:, :5] @ weights + noise


def _dense(draw: np.random.Generator, rows: int) -> _Made:
    """Make twenty factors of which every column has something."""
    factors = draw.normal(size=(rows, 20))
    loadings = 0.3 * draw.normal(size=(20, COLUMNS))
    columns = factors @ loadings + draw.normal(size=(rows, COLUMNS))
    return columns, factors @ draw.normal(size=20) + draw.normal(size=rows)


def _few(draw: np.random.Generator, rows: int) -> _Made:
    """Make what four columns tell together, and none in a line: the home of trees."""
    columns = draw.normal(size=(rows, COLUMNS))
    first, second, third, fourth = columns[:, :4].T
    told = np.sign(first) * np.abs(second) + 1.5 * (third > 0.5) + np.maximum(fourth, 0)
    return columns, told + 0.3 * draw.normal(size=rows)


def _counts(draw: np.random.Generator, rows: int) -> _Made:
    """Make counts of words in documents of eight topics, three of which matter."""
    topics = draw.dirichlet(np.full(COLUMNS, 0.05), 8)
    mixture = draw.dirichlet(np.full(8, 0.5), rows)
    counts = draw.poisson(150 * mixture @ topics).astype(float)
    return counts, mixture[:, :3] @ [1, 0.7, -0.7] + 0.05 * draw.normal(size=rows)


_LAWS: dict[str, Callable[[np.random.Generator, int], _Made]] = {
    "sparse": _sparse,
    "blocks": _blocks,
    "dense": _dense,
    "few": _few,
    "counts": _counts,
}
PREFIX = "wide-"
WIDE = [f"{PREFIX}{law}{kind}" for law in _LAWS for kind in ("", _NUMBER)]
"""Names of the tables: of each law one with labels, one with numbers."""


def wide_table(name: str, seed: int) -> tuple[pd.DataFrame, pd.Series]:
    """Return the columns and the answers of a table of ``WIDE``; the last ``UNSEEN`` rows judge."""
    law = name.removeprefix(PREFIX).removesuffix(_NUMBER)
    columns, told = _LAWS[law](np.random.default_rng(seed), ROWS + UNSEEN)
    frame = pd.DataFrame(columns).add_prefix("c")
    if name.endswith(_NUMBER):
        return frame, pd.Series(told, name="answer")
    labels = np.where(told > np.median(told), "high", "low")
    return frame, pd.Series(labels, name="answer")
