"""Constants of a graph in fewer bytes, where that changes nothing: halves instead of doubles.

A model whose numbers were shortened has fractions of 10 bits, as half precision has.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from onnx.onnx_pb import TensorProto

_LEAST = 64  # numbers: fewer are not worth two nodes
_TOP = 14  # the largest number is brought below two to this power, where halves end soon
_UNSEEN = 2.0**-38  # of the largest number: what a half so far below it leaves out


def stored(constants: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return constants, and nodes that make doubles of those that are halves now."""
    kept, nodes = [], []
    for constant in constants:
        halves = _as_halves(constant)
        if halves is None:
            kept.append(constant)
            continue
        values, unit = halves
        name = constant.name
        kept.append(numpy_helper.from_array(values, f"{name} half"))
        kept.append(numpy_helper.from_array(np.array(unit), f"{name} unit"))
        cast = helper.make_node("Cast", [f"{name} half"], [f"{name} cast"], to=TensorProto.DOUBLE)
        scale = helper.make_node("Mul", [f"{name} cast", f"{name} unit"], [name])
        nodes += [cast, scale]
    return kept, nodes


def _as_halves(constant: Any) -> tuple[NDArray[np.float16], float] | None:
    """Return numbers in half precision and their unit, a power of two; None where that loses."""
    if constant.data_type != TensorProto.DOUBLE:
        return None
    values = numpy_helper.to_array(constant)
    largest = float(np.abs(values).max(initial=0.0))
    if values.size < _LEAST or not np.isfinite(largest) or largest == 0:
        return None
    unit = 2.0 ** (np.frexp(largest)[1] - _TOP)
    halves = (values / unit).astype(np.float16)
    is_same = np.allclose(halves.astype(np.float64) * unit, values, rtol=0, atol=largest * _UNSEEN)
    return (halves, unit) if is_same else None
