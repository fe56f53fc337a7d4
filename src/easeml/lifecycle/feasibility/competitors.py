"""Who takes part in the race: neighbours in every representation, learners, leaves, patterns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.feasibility import learners
from easeml.lifecycle.feasibility.arms import Arm, LeafArm, NeighbourArm, ScoreArm, Target
from easeml.lifecycle.feasibility.columns import Column, read_columns, unrepeated
from easeml.lifecycle.feasibility.folds import Fold
from easeml.lifecycle.feasibility.inputs import Inputs
from easeml.lifecycle.feasibility.pattern_arm import PatternArm
from easeml.lifecycle.feasibility.patterns import MANY_CLASSES, Patterns
from easeml.lifecycle.feasibility.representations import Representation
from easeml.lifecycle.feasibility.standard import products, standard


@dataclass(frozen=True)
class Competitors:
    """All that compete, and the columns that the search for patterns reads.

    ``searcher``: of ``arms``, the one that looks for patterns. ``patterns``: what its search may
    look at. ``names``: columns that it leaves out because their values hardly ever repeat.
    """

    arms: list[Arm]
    searcher: PatternArm
    patterns: Patterns
    names: tuple[str, ...]


def enter(
    inputs: Inputs,
    target: Target,
    folds: Sequence[Fold],
    extra: Sequence[Representation],
    seed: int,
) -> Competitors:
    """Return the competitors for these inputs, those of the user (``extra``) among them.

    Raises:
        InvalidInput: if two representations share a name.
    """
    matrices, base = standard(inputs, seed)
    taken = [*matrices, *(own.name for own in extra)]
    if len(set(taken)) < len(taken):
        raise InvalidInput(
            "Two representations have the same name.", remedy="Give each a name of its own."
        )
    arms: list[Arm] = []
    for name, matrix in matrices.items():
        arms.append(NeighbourArm(name, matrix.__getitem__, folds, target))
    for own in extra:
        arms.append(NeighbourArm(own.name, _checked(own, inputs), folds, target))
    arms += _scores(base, matrices["random features"], folds, target)

    trees = learners.boosted(target.classes, seed)
    if target.classes > MANY_CLASSES:
        # boosted trees for every class and round cost more than a forest
        trees = learners.forest(seed)
        arms.append(ScoreArm("forest scores", trees, base, folds, target))
    arms.append(LeafArm("tree leaves", learners.leaves(target.classes, seed), base, folds, target))
    patterns = Patterns(_columns(inputs), target.classes)
    searcher = PatternArm("trees with patterns", trees, base, patterns, folds, target, seed)
    return Competitors([*arms, searcher], searcher, patterns, _names(inputs))


def _scores(
    base: np.ndarray, kernel: np.ndarray, folds: Sequence[Fold], target: Target
) -> Iterator[Arm]:
    """Yield the linear learners, of the inputs, of random features and of products."""
    linear = learners.ridge
    of_products = learners.ridge
    if target.classes:
        linear = learners.discriminant
        of_products = learners.logistic
    yield ScoreArm("linear scores", linear, base, folds, target)
    yield ScoreArm("kernel scores", linear, kernel, folds, target)
    if target.classes:
        yield ScoreArm("logistic scores", learners.logistic, base, folds, target)
    multiplied = products(base) if target.classes <= MANY_CLASSES else None
    if multiplied is not None:
        yield ScoreArm("scores of products", of_products, multiplied, folds, target)


def _columns(inputs: Inputs) -> list[Column]:
    if inputs.kind not in ("table", "numbers"):
        return []
    return read_columns(inputs.rows)


def _names(inputs: Inputs) -> tuple[str, ...]:
    return unrepeated(inputs.rows) if inputs.kind == "table" else ()


def _part(own: Representation, inputs: Inputs, rows: np.ndarray) -> Any:
    """Return what a representation is given for rows: themselves, or their positions."""
    if own.of_places:
        return rows
    return inputs.rows.iloc[rows] if inputs.kind == "table" else inputs.rows[rows]


def _checked(own: Representation, inputs: Inputs) -> Callable[[np.ndarray], np.ndarray]:
    """Return the representation as a function of positions of rows, whose answers are checked."""

    def embed(rows: np.ndarray) -> np.ndarray:
        matrix = np.asarray(own.embed(_part(own, inputs, rows)), dtype=np.float64)
        fits = matrix.ndim == 2 and len(matrix) == len(rows)
        if not fits or not np.isfinite(matrix).all():
            raise InvalidInput(
                f"It returned an array of shape {matrix.shape} for {len(rows)} rows, "
                "or numbers that are not finite.",
                where=f"representation {own.name}",
                remedy="Return finite numbers, (rows, dimensions).",
            )
        return matrix

    return embed
