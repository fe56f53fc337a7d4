"""A trained pipeline or ensemble as one ONNX model, from columns to predictions."""

from typing import Any

import numpy as np
from onnx import ModelProto, helper
from onnx.onnx_pb import TensorProto

from easeml.export.graphs.graph import Graph, NotConvertible
from easeml.export.graphs.models import scored
from easeml.export.graphs.tables import transformed
from easeml.modules.ensemble import TrainedEnsemble
from easeml.modules.pipeline import TrainedPipeline
from easeml.modules.temperature import LEAST

PREDICTION, PROBABILITIES = "prediction", "probabilities"


def convert(trained: TrainedPipeline | TrainedEnsemble) -> ModelProto:
    """Return the ONNX model of whatever an endpoint serves.

    Inputs: each column that it uses, of shape (rows, 1), doubles (NaN: missing) or texts. Outputs:
    ``prediction``, and ``probabilities`` of the schema's classes in their order. The members of an
    ensemble are one graph. Raises ``NotConvertible`` with the part and the reason.
    """
    graph = Graph()
    members, weights = _members(trained)
    target = members[0].target
    if target.shape:
        said = "Several answers a row, and tensors, have no ONNX graph."
        raise NotConvertible(said, where=target.column)
    total = ""
    if members[0].past is not None:
        said = "A forecast keeps what it knows of the past, which no ONNX graph has."
        raise NotConvertible(said, where=target.column)
    for member, weight in zip(members, weights, strict=True):
        part = graph.add("Mul", _scores(graph, member), graph.constant(np.float64(weight)))
        total = graph.add("Add", total, part) if total else part
    if isinstance(trained, TrainedEnsemble) and target.classes is not None:
        total = _softened(graph, total, trained.temperature)
    if target.classes is None:
        flat = graph.add("Reshape", total, graph.constant(np.array([-1])))
        graph.named(flat, PREDICTION)
        return graph.model([_output(PREDICTION, TensorProto.DOUBLE, ["rows"])])
    graph.named(total, PROBABILITIES)
    if target.class_weights is not None:
        joined = "Mul" if target.class_weights.ndim == 1 else "MatMul"
        total = graph.add(joined, total, graph.constant(target.class_weights))
    places = graph.add("ArgMax", total, axis=1, keepdims=0)
    labels = graph.constant(target.classes.astype(object))
    graph.named(graph.add("Gather", labels, places), PREDICTION)
    shape = ["rows", len(target.classes)]
    outputs = [
        _output(PREDICTION, TensorProto.STRING, ["rows"]),
        _output(PROBABILITIES, TensorProto.DOUBLE, shape),
    ]
    return graph.model(outputs)


def _members(
    trained: TrainedPipeline | TrainedEnsemble,
) -> tuple[tuple[TrainedPipeline, ...], tuple[float, ...]]:
    if isinstance(trained, TrainedEnsemble):
        return trained.members, trained.weights
    return (trained,), (1.0,)


def _scores(graph: Graph, trained: TrainedPipeline) -> str:
    """Add a pipeline; return values, or probabilities of all classes of the schema."""
    features = ""
    for choice, fitted in zip(trained.description["transforms"], trained.transforms, strict=True):
        features = transformed(graph, choice["module"], fitted, features)
    scores = scored(graph, trained.description["model"]["module"], trained.model, features)
    target = trained.target
    if target.temperature is not None:
        least = graph.add("Max", scores, graph.constant(np.float64(LEAST)))
        scores = _softened(graph, least, target.temperature)
    if target.classes is None or target.seen is None or len(target.seen) == len(target.classes):
        return scores
    # A class without a training row has probability 0.
    places = np.zeros((len(target.seen), len(target.classes)))
    places[np.arange(len(target.seen)), target.seen] = 1.0
    return graph.add("MatMul", scores, graph.constant(places))


def _softened(graph: Graph, probabilities: str, temperature: float) -> str:
    """Add probabilities at a temperature."""
    raised = graph.add("Pow", probabilities, graph.constant(np.float64(1 / temperature)))
    sums = graph.add("ReduceSum", raised, graph.constant(np.array([1])), keepdims=1)
    return graph.add("Div", raised, sums)


def _output(name: str, letters: Any, shape: list[Any]) -> Any:
    return helper.make_tensor_value_info(name, letters, shape)
