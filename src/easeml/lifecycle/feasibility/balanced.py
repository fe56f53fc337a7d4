"""The best balanced accuracy that any model can reach.

Balanced accuracy is the mean of the shares of each class that are predicted right. That is the
accuracy on rows whose classes are equally likely. So it is studied on rows that are drawn that way:
as many of each class as the rarest one has.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from easeml.errors import InvalidInput
from easeml.lifecycle.feasibility.estimation import bayes_error
from easeml.lifecycle.feasibility.inputs import FEWEST
from easeml.lifecycle.feasibility.result import BayesError, LabelNoise
from easeml.lifecycle.feasibility.sampling import among, rows_at

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def balanced_bayes_error(X: Any, y: ArrayLike, *, seed: int = 0, **options: Any) -> BayesError:
    """Estimate the least mean of the classes' errors that any model can reach.

    X, y, ``options``, and what is raised: as ``bayes_error`` has them; y holds classes, and the goal
    is a balanced accuracy. Numbers of rows to add or to check are of rows as they come, with the
    classes as frequent as they are in y.
    """
    labels = pd.Series(np.asarray(y))
    _check_rarest(_counts(labels))
    drawn = rows_of_equal_classes(labels, seed)
    own = [among(drawn, one) for one in options.pop("representations", ())]
    found = bayes_error(
        rows_at(X, drawn),
        labels.iloc[drawn],
        task="classification",
        representations=own,
        seed=seed,
        **options,
    )
    times = len(labels) / len(drawn)
    note = (
        f"{len(drawn):,} of {len(labels):,} rows were looked at: as many of each class, since "
        "balanced accuracy weighs classes alike."
    )
    return replace(
        found,
        balanced=True,
        more_examples=_times(times, found.more_examples),
        noise=_noise(found.noise, times),
        notes=(note, *found.notes),
    )


def _counts(labels: pd.Series) -> pd.Series:
    """Return how many rows each class has, the rarest last; classes without a row are left out."""
    return labels.value_counts().loc[lambda counts: counts > 0]


def _check_rarest(counts: pd.Series) -> None:
    """Raise InvalidInput where so few rows of each class as the rarest has are too few in all."""
    rarest, has = counts.index[-1], int(counts.iloc[-1])
    if has * len(counts) >= FEWEST:
        return
    of_each = math.ceil(FEWEST / len(counts))
    raise InvalidInput(
        f"Only {has} of {counts.sum():,} rows are of class '{rarest}'. Balanced accuracy weighs "
        "classes alike, so as many rows of each are looked at: too few to say anything.",
        remedy=f"Bring at least {of_each} rows of each class, or ask about a goal of accuracy.",
    )


def rows_of_equal_classes(labels: pd.Series, seed: int) -> np.ndarray:
    """Return places of rows, in order: of each class as many as the rarest one has.

    ``labels``: with the places of the rows as their index.
    """
    fewest = int(_counts(labels).iloc[-1])
    drawn = labels.groupby(labels.to_numpy(), observed=True).sample(fewest, random_state=seed)
    return np.sort(drawn.index.to_numpy())


def _noise(found: LabelNoise | None, times: float) -> LabelNoise | None:
    if found is None:
        return None
    return replace(found, labels_to_fix=_times(times, found.labels_to_fix))


def _times(times: float, count: int | None) -> int | None:
    return None if count is None else round(times * count)
