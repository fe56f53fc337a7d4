"""Trees of scikit-learn and LightGBM as one node ``TreeEnsembleRegressor``.

Thresholds are doubles, as in the models: single precision sends rows at a threshold the other way.
https://onnx.ai/onnx/operators/onnx_aionnxml_TreeEnsembleRegressor.html
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import helper
from onnx.onnx_pb import TensorProto

from easeml.export.graphs.graph import ML, Graph, NotConvertible


@dataclass(slots=True)
class Forest:
    """Nodes of trees, and what their leaves add to each of ``targets`` outputs."""

    targets: int
    tree_ids: list[int] = field(default_factory=list)
    node_ids: list[int] = field(default_factory=list)
    features: list[int] = field(default_factory=list)
    thresholds: list[float] = field(default_factory=list)
    modes: list[str] = field(default_factory=list)
    yes: list[int] = field(default_factory=list)
    no: list[int] = field(default_factory=list)
    gaps_go_yes: list[int] = field(default_factory=list)
    leaves: list[tuple[int, int, int, float]] = field(default_factory=list)
    trees: int = 0

    def split(
        self, node: int, feature: int, threshold: float, yes: int, no: int, gap: bool
    ) -> None:
        """Add a split to the current tree; ``gap``: whether NaN goes where values <= threshold do."""
        self._node(node, "BRANCH_LEQ", feature, threshold, (yes, no), gap)

    def leaf(self, node: int, values: dict[int, float]) -> None:
        """Add a leaf to the current tree: target to what it adds."""
        self._node(node, "LEAF", 0, 0.0, (0, 0), False)
        for target, value in values.items():
            self.leaves.append((self.trees, node, target, value))

    def end_tree(self) -> None:
        """Let what follows belong to the next tree."""
        self.trees += 1

    def add_to(self, graph: Graph, features: str) -> str:
        """Add the node; return the sums of shape (rows, targets)."""
        trees, nodes, targets, weights = zip(*self.leaves, strict=True)
        found = graph.add(
            "TreeEnsembleRegressor",
            features,
            domain=ML,
            n_targets=self.targets,
            nodes_treeids=self.tree_ids,
            nodes_nodeids=self.node_ids,
            nodes_featureids=self.features,
            nodes_values_as_tensor=_doubles("thresholds", self.thresholds),
            nodes_modes=self.modes,
            nodes_truenodeids=self.yes,
            nodes_falsenodeids=self.no,
            nodes_missing_value_tracks_true=self.gaps_go_yes,
            target_treeids=trees,
            target_nodeids=nodes,
            target_ids=targets,
            target_weights_as_tensor=_doubles("weights", weights),
        )
        return graph.doubles(found)

    def _node(
        self,
        node: int,
        mode: str,
        feature: int,
        threshold: float,
        children: tuple[int, int],
        gap: bool,
    ) -> None:
        self.tree_ids.append(self.trees)
        self.node_ids.append(node)
        self.modes.append(mode)
        self.features.append(feature)
        self.thresholds.append(threshold)
        self.yes.append(children[0])
        self.no.append(children[1])
        self.gaps_go_yes.append(int(gap))


def forest(graph: Graph, estimator: Any, features: str) -> str:
    """Add a decision tree or forest of scikit-learn; return the mean of its leaves."""
    trees = [one.tree_ for one in getattr(estimator, "estimators_", [estimator])]
    held = trees[0].value.reshape(trees[0].node_count, -1)
    found = Forest(held.shape[1])
    for tree in trees:
        values = tree.value.reshape(tree.node_count, -1) / len(trees)
        for node in range(tree.node_count):
            left, right = int(tree.children_left[node]), int(tree.children_right[node])
            if left < 0:
                found.leaf(node, dict(enumerate(values[node].tolist())))
                continue
            gap = bool(tree.missing_go_to_left[node])
            feature, threshold = int(tree.feature[node]), float(tree.threshold[node])
            found.split(node, feature, threshold, left, right, gap)
        found.end_tree()
    # scikit-learn rounds features to single precision before it compares them.
    single = graph.add("Cast", features, to=TensorProto.FLOAT)
    return found.add_to(graph, graph.doubles(single))


def histogram_boosting(graph: Graph, estimator: Any, features: str) -> str:
    """Add scikit-learn's histogram gradient boosting; return its raw scores."""
    baseline = np.ravel(estimator._baseline_prediction)
    found = Forest(len(baseline))
    for trees in estimator._predictors:
        for target, tree in enumerate(trees):
            _add_histogram_tree(found, tree.nodes, target)
            found.end_tree()
    return graph.add("Add", found.add_to(graph, features), graph.constant(baseline))


def _add_histogram_tree(found: Forest, nodes: Any, target: int) -> None:
    for number, node in enumerate(nodes):
        if node["is_leaf"]:
            found.leaf(number, {target: float(node["value"])})
            continue
        if node["is_categorical"]:
            raise NotConvertible("A split by categories has no ONNX graph.", where="model")
        feature, threshold = int(node["feature_idx"]), float(node["num_threshold"])
        children = int(node["left"]), int(node["right"])
        found.split(number, feature, threshold, *children, bool(node["missing_go_to_left"]))


def lightgbm(graph: Graph, booster: Any, features: str) -> str:
    """Add a LightGBM booster; return its raw scores."""
    described = booster.dump_model()
    targets = described["num_tree_per_iteration"]
    found = Forest(targets)
    for number, tree in enumerate(described["tree_info"]):
        _add_booster_tree(found, tree["tree_structure"], number % targets)
        found.end_tree()
    return found.add_to(graph, features)


def _add_booster_tree(found: Forest, root: dict[str, Any], target: int) -> None:
    waiting, following = [(0, root)], 1
    while waiting:
        number, node = waiting.pop()
        if "split_feature" not in node:
            found.leaf(number, {target: node["leaf_value"]})
            continue
        if node["decision_type"] != "<=" or node["missing_type"] == "Zero":
            raise NotConvertible("A split by categories or zeros has no graph.", where="model")
        yes, no = following, following + 1
        following += 2
        gap = node["default_left"]
        if node["missing_type"] == "None":  # where training met no gap, it counts as 0
            gap = node["threshold"] >= 0
        found.split(number, node["split_feature"], node["threshold"], yes, no, gap)
        waiting += [(yes, node["left_child"]), (no, node["right_child"])]


def _doubles(name: str, values: Any) -> Any:
    return helper.make_tensor(name, TensorProto.DOUBLE, [len(values)], list(values))
