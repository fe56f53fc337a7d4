"""Shapley values of the source rows behind a pipeline's output rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.labeling import rank_tables
from easeml.lifecycle.labeling.inputs import Task, check_count, check_task
from easeml.lifecycle.labeling.vote import unit_quadrature
from easeml.lifecycle.result import Progress, listener

if TYPE_CHECKING:
    from easeml.lifecycle.labeling.provenance import Provenance


def unit_knn_shapley(
    provenance: Provenance,
    X: Any,
    y: Any,
    X_valid: Any,
    y_valid: Any,
    k: int = 5,
    *,
    metric: str = "euclidean",
    progress: Progress | None = None,
) -> np.ndarray:
    """Return the Shapley value of each source unit (n_units,), averaged over validation rows.

    Players are source rows (or owners, or whatever ``provenance`` numbers); a coalition is worth
    what its output rows are worth in ``knn_shapley``: matches among the min(k, .) nearest, divided
    by k. A unit without output rows is worth 0. Rows at equal distance count in the order of their
    indices. Exact for every pipeline of maps, filters, forks and one-to-many joins:

    - k = 1 without joins: a unit is its nearest output row (Karlas et al., "Data debugging with Shapley importance
      over end-to-end machine learning pipelines", ICLR 2024, Section 4), in O(n log n) a validation row;
    - otherwise by the multilinear extension of the game (Owen, 1972), integrated exactly or to rounding error, in
      O(n units k^2) a node and validation row at worst; far rows, which hardly ever vote, are left out.

    Args:
        provenance: The units of each row of ``X`` (n, d).

    The other arguments are those of ``knn_shapley``.

    Raises:
        InvalidInput: if inputs do not fit, or rows join units of which neither side is the "one" of a one-to-many
            join: ``sampled_unit_knn_shapley`` takes those.
    """
    task = _check(provenance, X, y, X_valid, y_valid, k, metric)
    facts, parents = _one_to_many(provenance)
    if task.k == 1 and parents is None:
        return _nearest_of_each(task, facts, provenance.n_units, progress)
    return integrated_values(task, facts, parents, provenance.n_units, progress)


def sampled_unit_knn_shapley(
    provenance: Provenance,
    X: Any,
    y: Any,
    X_valid: Any,
    y_valid: Any,
    k: int = 5,
    *,
    permutations: int = 200,
    seed: int = 0,
    metric: str = "euclidean",
    progress: Progress | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return estimates of ``unit_knn_shapley`` for any provenance, and their standard errors.

    Each is the mean over random orders of the units of what the unit adds when it joins (Castro,
    Gomez and Tejada, 2009); the standard error is that of the mean over ``permutations``, at least
    2.
    """
    from easeml.lifecycle.labeling.kernels_units import walk_permutation

    task = _check(provenance, X, y, X_valid, y_valid, k, metric)
    check_count(permutations, "permutations", 2)
    n = len(task.X)
    order = _nearest_first(task.X, task.X_valid)
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.broadcast_to(np.arange(n), order.shape), axis=1)
    match = (task.y_valid[:, None] == task.y).astype(float)
    pairs = np.unique(
        np.column_stack([provenance.units.ravel(), np.arange(n).repeat(provenance.units.shape[1])]),
        axis=0,
    )
    start = np.searchsorted(pairs[:, 0], np.arange(provenance.n_units + 1))
    needed = np.bincount(pairs[:, 1], minlength=n)
    generator = np.random.default_rng(seed)
    added = np.empty((permutations, provenance.n_units))
    tell = listener(progress)
    for number in range(permutations):
        shuffled = generator.permutation(provenance.n_units)
        walk_permutation(shuffled, ranks, match, pairs[:, 1], start, needed, task.k, added[number])
        tell((number + 1) / permutations)
    return added.mean(axis=0), added.std(axis=0, ddof=1) / np.sqrt(permutations)


def _check(
    provenance: Provenance, X: Any, y: Any, X_valid: Any, y_valid: Any, k: int, metric: str
) -> Task:
    task = check_task(X, y, X_valid, y_valid, k, metric)
    if len(provenance.units) != len(task.X):
        raise InvalidInput(
            f"It has {len(provenance.units)} output rows, X has {len(task.X)}.",
            where="provenance",
            remedy="Follow every filter, fork and join of the pipeline with take and join.",
        )
    return task


def _one_to_many(provenance: Provenance) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the fact and the parent unit of each output row; parents are None without joins.

    A column of units that is the same in every row of a fact is that fact's parent.
    """
    columns = list(provenance.units.T)
    if len(columns) == 1:
        return columns[0], None
    if len(columns) == 2:
        for fact, parent in (columns, columns[::-1]):
            pairs = np.unique(np.column_stack([fact, parent]), axis=0)
            if (
                len(np.unique(pairs[:, 0])) == len(pairs)
                and not np.isin(pairs[:, 0], pairs[:, 1]).any()
            ):
                return fact, parent
    raise InvalidInput(
        "Its joins are not one-to-many between two sources.",
        where="provenance",
        remedy="Use sampled_unit_knn_shapley.",
    )


def _nearest_of_each(
    task: Task, facts: np.ndarray, n_units: int, progress: Progress | None
) -> np.ndarray:
    """Return exact values for k = 1: of each unit only its nearest row can ever vote."""
    totals = np.zeros(n_units)
    tell = listener(progress)
    for point in range(len(task.X_valid)):
        order = _nearest_first(task.X, task.X_valid[point : point + 1])[0]
        first = np.sort(np.unique(facts[order], return_index=True)[1])
        nearest = order[first]
        match = (task.y[nearest] == task.y_valid[point]).astype(float)
        table = rank_tables.hard(len(nearest), 1)
        taken = np.concatenate([match[1:] * (table[1:-1] - table[2:]), [0.0]])
        totals[facts[nearest]] += match * table[1:] - taken[::-1].cumsum()[::-1]
        tell((point + 1) / len(task.X_valid))
    return totals / len(task.X_valid)


def integrated_values(
    task: Task,
    facts: np.ndarray,
    parents: np.ndarray | None,
    n_units: int,
    progress: Progress | None = None,
) -> np.ndarray:
    """Return exact values (n_units,).

    The multilinear extension's gradient is integrated along its diagonal.
    """
    from easeml.lifecycle.compiled import in_parts, parts_of
    from easeml.lifecycle.labeling.kernels_units import add_unit_values

    fact_units, first, fact = np.unique(facts, return_index=True, return_inverse=True)
    groups = np.arange(len(fact_units)) if parents is None else parents[first]
    parent_units, group = np.unique(groups, return_inverse=True)
    start = np.searchsorted(np.sort(group), np.arange(len(parent_units) + 1))
    players = len(fact_units) + (0 if parents is None else len(parent_units))
    nodes, weights = unit_quadrature(players)
    parented = np.full(len(parent_units), parents is not None)
    totals = np.zeros(len(fact_units) + len(parent_units))
    tell = listener(progress)
    step = 16
    for begin in range(0, len(task.X_valid), step):
        some = slice(begin, min(begin + step, len(task.X_valid)))
        order = _nearest_first(task.X, task.X_valid[some])
        match = (task.y_valid[some, None] == task.y[order]).astype(float)
        found = np.zeros((len(match), len(totals)))
        arrays = (fact[order], match, group, start, parented, task.k, nodes, weights, found)
        in_parts(add_unit_values, parts_of(len(match)), *arrays)
        totals += found.sum(axis=0)
        tell(some.stop / len(task.X_valid))
    values = np.zeros(n_units)
    values[fact_units] = totals[: len(fact_units)]
    if parents is not None:
        values[parent_units] = totals[len(fact_units) :]
    return values / len(task.X_valid)


def _nearest_first(X: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the rows of ``X`` by distance for each point (points, n), equal ones in their order."""
    from scipy.spatial.distance import cdist

    return np.argsort(cdist(points, X), axis=1, kind="stable")
