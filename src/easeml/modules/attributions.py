"""Which columns moved a prediction, and by how much (pure).

Shapley values of the game in which columns join one after the other: each takes the value of the
row in place of that of a background row. They are sampled by permutations, as by Štrumbelj and
Kononenko, "Explaining prediction models and individual predictions with feature contributions"
(KAIS 2014), each with its reverse, which halves most of the variance (Mitchell et al., "Sampling
permutations for Shapley value estimation", JMLR 2022).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_ROWS = 4_000  # that are predicted to explain one
_PAIRS_OF_EACH = 4  # pairs of permutations for a background row, where that is not too much


@dataclass(frozen=True)
class Attribution:
    """``base``: the mean of the background. ``values`` (columns,): what each column adds to it;
    their sum is the prediction. ``errors`` (columns,): the standard errors of the sampling.
    """

    base: float
    values: "NDArray[np.float64]"
    errors: "NDArray[np.float64]"


def shapley_values(
    value_of: "Callable[[NDArray[np.intp]], NDArray[np.float64]]",
    *,
    background: int,
    columns: int,
    seed: int = 0,
    most_rows: int = MOST_ROWS,
) -> Attribution:
    """Return what each column adds to the prediction of a row.

    ``value_of`` is given rows put together from others: for each row and column the place
    of the row that the cell is from, (rows, columns), where ``background`` is the place of the
    explained row, and smaller ones are those of background rows. It returns their predictions,
    (rows,). ``background``, ``columns``: how many there are, at least one. ``most_rows``: predicted
    in all, two pairs of permutations at least.
    """
    rng = np.random.default_rng(seed)
    affordable = most_rows // (2 * (columns + 1))
    pairs = max(2, min(_PAIRS_OF_EACH * background, affordable))
    orders = rng.permuted(np.tile(np.arange(columns), (pairs, 1)), axis=1)
    chains = np.stack([orders, orders[:, ::-1]], axis=1)
    joined_at = chains.argsort(axis=2)
    has_joined = joined_at[:, :, None, :] < np.arange(columns + 1)[:, None]
    begun_from = rng.permutation(np.arange(pairs) % background)
    origins = np.where(has_joined, background, begun_from[:, None, None, None])
    outputs = value_of(origins.reshape(-1, columns)).reshape(pairs, 2, columns + 1)
    added = np.empty((pairs, 2, columns))
    np.put_along_axis(added, chains, np.diff(outputs, axis=2), axis=2)
    by_pair = added.mean(axis=1)
    errors = by_pair.std(axis=0, ddof=1) / np.sqrt(pairs)
    return Attribution(float(outputs[:, :, 0].mean()), by_pair.mean(axis=0), errors)
