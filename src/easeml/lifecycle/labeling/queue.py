"""The labelling queue: which unlabelled rows a person should label first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.labeling.inputs import check_count, check_task
from easeml.lifecycle.labeling.pool import chances_of, check_pool, value_pool
from easeml.lifecycle.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from easeml.figures import Figure
    from easeml.lifecycle.result import Progress


@dataclass(frozen=True)
class Queue(Result):
    """Rows of the pool in the order in which to label them, with why: arrays of equal length.

    ``values`` are expected Shapley values, ``uncertainties`` entropies of the predicted label in
    [0, 1], ``novelties`` shares in [0, 1] (0: as good as a row chosen before it), ``guesses`` the
    labels that are expected.
    """

    rows: np.ndarray
    scores: np.ndarray
    values: np.ndarray
    uncertainties: np.ndarray
    novelties: np.ndarray
    guesses: np.ndarray
    pool_size: int

    @property
    def advice(self) -> str:
        return (
            f"Label these {len(self.rows):,} of {self.pool_size:,} rows, from the top; then add them "
            "to the training rows and ask again: each answer changes what is worth asking next."
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row a row of the pool, the next to label first."""
        import pandas as pd

        names = ("rows", "scores", "values", "uncertainties", "novelties", "guesses")
        heads = ("row", "score", "value", "uncertainty", "novelty", "guess")
        return pd.DataFrame(
            {head: getattr(self, name) for head, name in zip(heads, names, strict=True)}
        )

    def figure(self) -> Figure:
        """Return value and uncertainty of the rows, in their order."""
        from easeml.figures.labeling import queue

        return queue(self.to_json())


def next_to_label(
    X: Any,
    y: Any,
    pool: Any,
    X_valid: Any,
    y_valid: Any,
    n: int = 50,
    k: int = 5,
    *,
    posterior: Any = None,
    value: float = 1.0,
    uncertainty: float = 1.0,
    diversity: float = 1.0,
    prices: Any = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Queue:
    """Return up to ``n`` rows of the pool to label next.

    A row's score is the weighted mean of its rank shares by expected value (``value_pool``) and by
    uncertainty (the entropy of the predicted label), times its novelty to the power ``diversity``,
    divided by its price. Rows are chosen one by one; novelty is 1 - exp(-(d / s)^2), with d the
    distance to the nearest row chosen before, and s the median distance of a row of the pool to its
    k-th neighbour there. So a batch does not ask the same twice.

    Args:
        X: Labelled rows (m, d).
        y: Their labels (m,).
        pool: Unlabelled rows (p, d).
        X_valid: Validation rows (t, d).
        y_valid: Their labels (t,).
        n: Rows to choose, at least 1; all of the pool where it has fewer.
        k: Neighbours that vote.
        posterior: Class probabilities (p, classes of ``y``); by default those of a random forest.
        value: Weight of the value, at least 0.
        uncertainty: Weight of the uncertainty, at least 0.
        diversity: Exponent of novelty, at least 0 (0: duplicates may follow each other).
        prices: What labelling each row costs (p,), above 0; by default all alike.
        seed: Seed of the forest.
        progress: Called with the share of the work that is done.

    Raises:
        InvalidInput: if the inputs do not fit each other, or weights or prices are not possible.
    """
    check_count(n, "n")
    weights = {"value": value, "uncertainty": uncertainty, "diversity": diversity}
    for name, weight in weights.items():
        if not 0 <= weight < np.inf:
            raise InvalidInput(f"Expected a number of at least 0, found {weight!r}.", where=name)
    if value + uncertainty == 0:
        raise InvalidInput("One of them must be above 0.", where="value, uncertainty")
    task = check_task(X, y, X_valid, y_valid, k)
    candidates = check_pool(task, pool)
    chances = chances_of(task, candidates, posterior, seed)
    costs = _check_prices(prices, len(candidates))
    values = value_pool(X, y, pool, X_valid, y_valid, k, posterior=chances, progress=progress)
    base = (value * rank_share(values) + uncertainty * rank_share(entropy_of(chances))) / (
        value + uncertainty
    )
    chosen = choose(candidates, base / costs, n, diversity, typical_distance(candidates, k))
    return queue_of(chosen, values, chances, task.classes[np.unique(task.y)])


@dataclass(frozen=True)
class Chosen:
    """Rows of the pool in their order, with their scores and novelties at the time."""

    rows: np.ndarray
    scores: np.ndarray
    novelties: np.ndarray


def queue_of(chosen: Chosen, values: np.ndarray, chances: np.ndarray, classes: np.ndarray) -> Queue:
    """Return what is said of the chosen rows.

    ``values`` (p,) and ``chances`` (p, C) are those of the whole pool; ``classes`` (C,).
    """
    guesses = classes[chances.argmax(axis=1)]
    rows = chosen.rows
    doubts = entropy_of(chances)
    return Queue(
        rows,
        chosen.scores,
        values[rows],
        doubts[rows],
        chosen.novelties,
        guesses[rows],
        len(values),
    )


def choose(
    candidates: np.ndarray, base: np.ndarray, n: int, diversity: float, scale: float
) -> Chosen:
    """Return up to ``n`` candidates, best first, none like one before it.

    ``base`` (p,): scores before novelty; ``scale``: the distance at which a row is news.
    """
    n = min(n, len(candidates))
    novelty = np.ones(len(base))
    free = np.ones(len(base), bool)
    rows = np.empty(n, np.int64)
    scores = np.empty(n)
    novelties = np.empty(n)
    for i in range(n):
        score = np.where(free, base * novelty**diversity, -np.inf)
        best = int(score.argmax())
        rows[i], scores[i], novelties[i], free[best] = best, score[best], novelty[best], False
        squared = ((candidates - candidates[best]) ** 2).sum(axis=1)
        novelty = np.minimum(
            novelty, 1 - np.exp(-squared / scale**2) if scale > 0 else (squared > 0).astype(float)
        )
    return Chosen(rows, scores, novelties)


def typical_distance(candidates: np.ndarray, k: int, most: int = 2000) -> float:
    """Return the median distance of evenly spaced rows of the pool to their k-th neighbour."""
    from sklearn.neighbors import NearestNeighbors

    if len(candidates) == 1:
        return 0.0
    k = min(k, len(candidates) - 1)
    some = candidates[:: -(-len(candidates) // most)]
    distances = NearestNeighbors(n_neighbors=k + 1).fit(candidates).kneighbors(some)[0]
    return float(np.median(distances[:, k]))


def rank_share(numbers: np.ndarray) -> np.ndarray:
    """Return mid-ranks as shares in (0, 1], equal numbers alike."""
    from scipy.stats import rankdata

    return rankdata(numbers) / len(numbers)


def entropy_of(chances: np.ndarray) -> np.ndarray:
    """Return the entropy of each row's probabilities, as a share of the largest possible."""
    if chances.shape[1] < 2:
        return np.zeros(len(chances))
    logs = np.log(np.where(chances > 0, chances, 1.0))
    return -(chances * logs).sum(axis=1) / np.log(chances.shape[1])


def _check_prices(prices: Any, n: int) -> np.ndarray:
    if prices is None:
        return np.ones(n)
    costs = np.asarray(prices, dtype=np.float64)
    if costs.shape != (n,) or not (np.isfinite(costs) & (costs > 0)).all():
        raise InvalidInput(f"Expected {n} numbers above 0.", where="prices")
    return costs
