"""The error model: a forest, kept as plain arrays, so that its stored form runs nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from easeml.errors import InvalidInput

TREES = 100
LEAF = 20


@dataclass(frozen=True)
class Forest:
    """Trees with their nodes one after the other. A node is a leaf where ``left`` is itself.

    ``roots``: first node of each tree; ``feature``, ``threshold``: rows with a value <= threshold
    go ``left``, others ``right``; ``value``: share of right predictions in a leaf.
    """

    roots: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """Return the probability that the model is right on each row; rows (n, d) -> (n,)."""
        found = np.zeros(len(rows))
        for start in range(0, len(rows), 2048):
            part = np.ascontiguousarray(rows[start : start + 2048], dtype=np.float32)
            found[start : start + 2048] = self._predict(part)
        return found

    def _predict(self, rows: np.ndarray) -> np.ndarray:
        node = np.repeat(self.roots[:, None], len(rows), axis=1)
        index = np.arange(len(rows))[None, :]
        while True:  # children lie behind their parents, so this ends
            goes_left = rows[index, self.feature[node]] <= self.threshold[node]
            following = np.where(goes_left, self.left[node], self.right[node])
            if np.array_equal(following, node):
                return self.value[node].mean(axis=0)
            node = following

    def check(self, width: int) -> None:
        """Raise InvalidInput unless the arrays are those of a forest over ``width`` features."""
        nodes = np.arange(len(self.value))
        of_nodes = (self.feature, self.threshold, self.left, self.right, self.value)
        is_sound = (
            len(set(map(len, of_nodes))) == 1
            and len(self.roots) > 0
            and _lie_in(self.left, nodes, len(nodes))
            and _lie_in(self.right, nodes, len(nodes))
            and _lie_in(self.roots, 0, len(nodes))
            and _lie_in(self.feature, 0, width)
            and np.isfinite(self.value).all()
        )
        if not is_sound:
            raise InvalidInput(
                "The stored error model is damaged.", remedy="Fit the monitor again."
            )


def _lie_in(numbers: np.ndarray, first: Any, end: int) -> bool:
    return bool(((numbers >= first) & (numbers < end)).all())


def grow(
    rows: np.ndarray, right: np.ndarray, seed: int, trees: int = TREES
) -> tuple[Forest, np.ndarray]:
    """Learn where a model is right (1) or wrong (0).

    Returns the forest and out-of-bag probabilities of the rows.

    Probabilities are averaged over leaves, never votes: votes of a confident majority overstate the
    majority.
    """
    from sklearn.ensemble import RandomForestClassifier

    if right.min() == right.max():
        constant = float(right.mean())
        zero = np.zeros(1, dtype=np.int64)
        return Forest(zero, zero, np.zeros(1), zero, zero, np.array([constant])), np.full(
            len(right), constant
        )
    leaf = max(2, min(LEAF, len(right) // 20))
    model = RandomForestClassifier(
        trees,
        min_samples_leaf=leaf,
        max_features=0.5,  # pyright: ignore[reportArgumentType]
        oob_score=True,
        random_state=seed,
        n_jobs=1,
    ).fit(rows, right)
    out_of_bag = np.asarray(model.oob_decision_function_)[:, 1]
    out_of_bag = np.where(np.isfinite(out_of_bag), out_of_bag, right.mean())
    return _flatten([estimator.tree_ for estimator in model.estimators_]), out_of_bag


def _flatten(trees: list) -> Forest:
    sizes = np.array([tree.node_count for tree in trees])
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    root_of = np.repeat(roots, sizes)  # of each node's tree, which comes first among its nodes
    nodes = np.arange(sizes.sum())

    def joined(name: str) -> np.ndarray:
        return np.concatenate([getattr(tree, name) for tree in trees])

    left, right, counts = joined("children_left"), joined("children_right"), joined("value")[:, 0]
    is_leaf = left < 0
    return Forest(
        roots=roots.astype(np.int64),
        feature=np.where(is_leaf, 0, joined("feature")).astype(np.int64),
        threshold=np.where(is_leaf, 0.0, joined("threshold")),
        left=np.where(is_leaf, nodes, left + root_of).astype(np.int64),  # a leaf leads to itself
        right=np.where(is_leaf, nodes, right + root_of).astype(np.int64),
        value=counts[:, 1] / counts.sum(axis=1),
    )
