"""Trained models as nodes: features to probabilities or values."""

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import ModelProto

from easeml.export.graphs import trees
from easeml.export.graphs.graph import ML, OPSETS, Graph, NotConvertible

_BY_SKL2ONNX = (
    *("logistic", "ridge", "elastic-net-classifier", "elastic-net-regressor"),
    *("mlp-classifier", "mlp-regressor", "knn-classifier", "knn-regressor", "naive-bayes"),
)
_FORESTS = ("decision-tree", "random-forest", "extra-trees")


def scored(graph: Graph, name: str, trained: Any, features: str) -> str:
    """Add the trained model of module ``name``; return probabilities, or values, of shape (rows, n).

    Raises ``NotConvertible`` with the reason.
    """
    kind = name.removesuffix("-classifier").removesuffix("-regressor")
    if kind in _FORESTS:
        return _scaled(graph, trees.forest(graph, trained.estimator, features), trained)
    if name in _BY_SKL2ONNX:
        return _scaled(graph, _by_skl2onnx(graph, trained.estimator, features), trained)
    if kind in _OTHERS:
        return _OTHERS[kind](graph, trained, features)
    remedy = "Export as python or oci, which take every model."
    raise NotConvertible(f"There is no ONNX graph for the model {name}.", where=name, remedy=remedy)


def _histogram_boosting(graph: Graph, trained: Any, features: str) -> str:
    raw = trees.histogram_boosting(graph, trained.estimator, features)
    if not hasattr(trained.estimator, "classes_"):
        return _scaled(graph, raw, trained)
    return _probabilities(graph, raw, len(trained.estimator.classes_))


def _lightgbm(graph: Graph, trained: Any, features: str) -> str:
    raw = trees.lightgbm(graph, trained.booster, features)
    if trained.classes:
        return _probabilities(graph, raw, trained.classes)
    objective = trained.booster.dump_model(num_iteration=1)["objective"]
    return graph.add("Exp", raw) if objective.startswith("poisson") else raw


def _baseline(graph: Graph, trained: Any, features: str) -> str:
    """Add the same values for each row: zeros of a feature's shape, and these."""
    estimator = trained.estimator
    values = getattr(estimator, "class_prior_", None)
    constant = np.ravel(estimator.constant_ if values is None else values).astype(float)
    first = graph.add("Slice", features, *_first_column(graph))
    shape = graph.add("Shape", first)
    width = graph.constant(np.array([1, len(constant)]))
    repeated = graph.add(
        "Expand", graph.constant(constant[None, :]), graph.add("Max", shape, width)
    )
    return _scaled(graph, repeated, trained)


def _gaussian_process(graph: Graph, trained: Any, features: str) -> str:
    """Add the bump of each row that was learnt, by the squares of distances, and their sum."""
    lengths = trained.lengths
    rows = trained.rows
    bound = graph.constant(np.float64(trained.bound))
    held = graph.add("Mul", graph.add("Tanh", graph.add("Div", features, bound)), bound)
    near = graph.add("Div", held, graph.constant(lengths))
    own = graph.add("ReduceSumSquare", near, graph.constant(np.array([1])), keepdims=1)
    theirs = graph.constant((rows**2).sum(axis=1)[None, :])
    both = graph.add("MatMul", near, graph.constant(-2 * rows.T))
    square = graph.add("Add", graph.add("Add", own, theirs), both)
    distance = graph.add("Sqrt", graph.add("Relu", square))  # rounding may leave less than 0
    bumps = _matern(graph, trained.smoothness, distance)
    total = graph.add("MatMul", bumps, graph.constant(trained.weights[:, None]))
    return graph.add("Add", total, graph.constant(np.float64(trained.centre)))


def _matern(graph: Graph, smoothness: float, distance: str) -> str:
    """Add the Matern kernel (Rasmussen and Williams, equation 4.17) of distances."""
    root = graph.constant(np.sqrt(2 * smoothness))
    far = graph.add("Mul", distance, root)
    falling = graph.add("Exp", graph.add("Neg", far))
    if smoothness == 0.5:
        return falling
    factor = graph.add("Add", far, graph.constant(np.float64(1.0)))
    if smoothness == 2.5:
        square = graph.add("Mul", far, far)
        third = graph.add("Div", square, graph.constant(np.float64(3.0)))
        factor = graph.add("Add", factor, third)
    return graph.add("Mul", factor, falling)


_OTHERS: dict[str, Callable[[Graph, Any, str], str]] = {
    "hist-gradient-boosting": _histogram_boosting,
    "lightgbm": _lightgbm,
    "baseline": _baseline,
    "gaussian-process": _gaussian_process,
}


def _first_column(graph: Graph) -> tuple[str, str, str]:
    start, end, axis = np.array([0]), np.array([1]), np.array([1])
    return graph.constant(start), graph.constant(end), graph.constant(axis)


def _probabilities(graph: Graph, raw: str, classes: int) -> str:
    """Return the probabilities of raw scores: one of two classes, or one a class."""
    if classes > 2:
        return graph.add("Softmax", raw, axis=1)
    second = graph.add("Sigmoid", raw)
    first = graph.add("Sub", graph.constant(np.float64(1.0)), second)
    return graph.add("Concat", first, second, axis=1)


def _scaled(graph: Graph, values: str, trained: Any) -> str:
    """Bring values back to the target's unit; probabilities have none."""
    if np.all(np.asarray(trained.scale) == 1) and np.all(np.asarray(trained.centre) == 0):
        return values
    widened = graph.add("Mul", values, graph.constant(np.float64(trained.scale)))
    return graph.add("Add", widened, graph.constant(np.float64(trained.centre)))


def _by_skl2onnx(graph: Graph, estimator: Any, features: str) -> str:
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import DoubleTensorType

    is_classifier = hasattr(estimator, "classes_")
    options = {id(estimator): {"zipmap": False}} if is_classifier else None
    shape = [("features", DoubleTensorType([None, estimator.n_features_in_]))]
    opsets = {"": OPSETS[""], ML: OPSETS[ML]}
    model = convert_sklearn(estimator, initial_types=shape, options=options, target_opset=opsets)
    assert isinstance(model, ModelProto)
    return graph.inlined(model, features, output=1 if is_classifier else 0)
