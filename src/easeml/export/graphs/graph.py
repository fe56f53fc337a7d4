"""An ONNX graph that grows by nodes. Values are named by the builder; numbers are doubles."""

from typing import Any

import numpy as np
from onnx import ModelProto, ValueInfoProto, checker, compose, helper, numpy_helper
from onnx.onnx_pb import TensorProto

from easeml.errors import InvalidInput
from easeml.export.graphs.constants import stored

ML = "ai.onnx.ml"
OPSETS = {"": 18, ML: 3}
_IR = 9  # of the format that these sets of operators need


class NotConvertible(InvalidInput):
    """A part of a pipeline that there is no graph for, with the reason."""


class Graph:
    """Nodes, constants and inputs of one graph."""

    def __init__(self) -> None:
        self.columns: dict[str, str] = {}  # input to "number" or "category"
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._names = 0

    def column(self, name: str, kind: str) -> str:
        """Return the input of a column, of shape (rows, 1); models of an ensemble share it."""
        self.columns[name] = kind
        return name

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node with one output, and return the output's name."""
        output = self._name(operator)
        made = helper.make_node(operator, list(inputs), [output], domain=domain, **attributes)
        self._nodes.append(made)
        return output

    def constant(self, values: Any) -> str:
        """Add an array, doubles unless they are integers or texts, and return its name."""
        array = np.asarray(values)
        if array.dtype.kind == "f":
            array = array.astype(np.float64)
        name = self._name("constant")
        self._constants.append(numpy_helper.from_array(array, name))
        return name

    def doubles(self, value: str) -> str:
        """Cast to doubles."""
        return self.add("Cast", value, to=TensorProto.DOUBLE)

    def inlined(self, model: ModelProto, features: str, output: int) -> str:
        """Add the nodes of a model whose only input is ``features``; return one of its outputs."""
        prefix = self._name("model") + "/"
        given = model.graph.input[0].name
        wanted = model.graph.output[output].name
        renamed = compose.add_prefix(model, prefix).graph
        self._nodes.append(helper.make_node("Identity", [features], [prefix + given]))
        self._nodes.extend(renamed.node)
        self._constants.extend(renamed.initializer)
        return prefix + wanted

    def model(self, outputs: list[ValueInfoProto]) -> ModelProto:
        """Return the checked model. Raises ``onnx.checker.ValidationError``."""
        inputs = []
        for name, kind in self.columns.items():
            letters = TensorProto.DOUBLE if kind == "number" else TensorProto.STRING
            inputs.append(helper.make_tensor_value_info(name, letters, ["rows", 1]))
        constants, casts = stored(self._constants)
        made = helper.make_graph([*casts, *self._nodes], "easeml", inputs, outputs, constants)
        opsets = [helper.make_opsetid(domain, number) for domain, number in OPSETS.items()]
        model = helper.make_model(made, opset_imports=opsets, ir_version=_IR)
        checker.check_model(model)
        return model

    def named(self, value: str, name: str) -> str:
        """Give a value the name of an output."""
        self._nodes.append(helper.make_node("Identity", [value], [name]))
        return name

    def _name(self, kind: str) -> str:
        self._names += 1
        return f"{kind.lower()} {self._names}"
