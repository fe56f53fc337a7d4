"""A few labels, asked where they help most, and what they say about the whole batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

UNIFORM = 0.5


@dataclass(frozen=True)
class Query:
    """Rows of a batch to label.

    ``rows``: drawn with replacement, so a row may come twice (ask once); ``chances``: the
    probability with which each draw took its row.
    """

    rows: np.ndarray
    chances: np.ndarray


@dataclass(frozen=True)
class Labelled:
    """Answers to a query. ``labels``: the true targets of ``query.rows``, in their order."""

    query: Query
    labels: np.ndarray


@dataclass(frozen=True)
class Late:
    """Earlier rows whose truth has come since they were scored.

    ``inputs``, ``predictions``, ``probabilities``: as of a batch, m rows; ``labels``: what was true
    (m,); ``looks``: the batch that had each row (m,), counted from 1, None where that is not known.

    ``role`` (m,), None where all have the first: "truth", a row whose truth came; "again", one
    whose truth was counted before, and which was drawn at random; "other", one drawn at random from
    all rows of its look, to compare those with. The label of such a row is not looked at.
    """

    inputs: Any
    predictions: ArrayLike
    labels: ArrayLike
    probabilities: ArrayLike | None = None
    looks: np.ndarray | None = None
    role: np.ndarray | None = None

    @property
    def roles(self) -> np.ndarray:
        """The role of each row."""
        if self.role is None:
            return np.full(len(np.asarray(self.labels)), "truth")
        return np.asarray(self.role)


def draw(chances_right: np.ndarray, budget: int, seed: int) -> Query:
    """Draw rows, half uniformly, half in proportion to the error model's ``sqrt(g (1 - g))``.

    The latter makes the variance of the estimate below least if the error model is right (Neyman
    allocation; for inference, Zrnic and Candès 2024); the uniform half keeps it bounded where the
    model is wrong.

    Raises:
        InvalidInput: if the budget is not positive.
    """
    if budget < 1:
        raise InvalidInput(f"The budget must be at least 1, not {budget}.", where="budget")
    doubt = np.sqrt(np.clip(chances_right * (1 - chances_right), 0, None))
    uniform = np.full(len(doubt), 1 / len(doubt))
    shares = UNIFORM * uniform + (1 - UNIFORM) * (
        doubt / doubt.sum() if doubt.sum() > 0 else uniform
    )
    rows = np.random.default_rng(seed).choice(len(shares), size=budget, replace=True, p=shares)
    return Query(rows=rows, chances=shares[rows])


def at_random(rows: ArrayLike, batch: int) -> Query:
    """Return the query of rows that were chosen uniformly at random."""
    chosen = np.asarray(rows, dtype=np.int64)
    return Query(chosen, np.full(len(chosen), 1 / batch))


def measured(chances_right: np.ndarray, query: Query, right: np.ndarray) -> tuple[float, float]:
    """Return an unbiased estimate of a batch's quality from labels, and its standard error.

    Prediction-powered (Angelopoulos et al. 2023) with the weights of Hansen and Hurwitz (1943):
    ``mean g + mean over draws of (e - g) / (N q)``. The variance is that of the draws, but not less
    than the error model expects, as a handful of labels that happen to agree would promise too
    much.
    """
    from scipy.stats import norm, t

    expected = chances_right[query.rows]
    factors = 1 / (len(chances_right) * query.chances)
    terms = (right - expected) * factors
    hoped = float(np.mean(expected * (1 - expected) * factors**2))
    seen = float(np.var(terms, ddof=1)) if len(terms) > 1 else 0.25 * float(factors.max()) ** 2
    found = float(chances_right.mean() + terms.mean())
    # one more wrong answer than was seen must stay thinkable
    floor = float(np.mean(factors)) / (len(terms) + 2)
    student = float(
        t.ppf(0.975, max(len(terms) - 1, 1)) / norm.ppf(0.975)
    )  # the variance is estimated too
    return float(np.clip(found, 0, 1)), student * float(
        np.sqrt(max(seen, hoped) / len(terms) + (floor / 2) ** 2)
    )
