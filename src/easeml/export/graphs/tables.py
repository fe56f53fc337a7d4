"""The transforms of tables as nodes: numbers and categories.

A missing number is NaN; a category that is missing or was never seen is any text that is no label.
"""

from functools import partial, reduce
from typing import Any

import numpy as np

from easeml.export.graphs.graph import ML, Graph, NotConvertible

_LARGEST = 1e30  # numbers beyond are taken as this, as the transforms do


def transformed(graph: Graph, name: str, fitted: Any, features: str) -> str:
    """Add a fitted transform of module ``name``; ``features`` are those of the one before it.

    Raises ``NotConvertible``.
    """
    if name == "scale":
        return _scaled(graph, fitted, features)
    if name in _OF_TABLES:
        return _OF_TABLES[name](graph, fitted)
    raise NotConvertible(f"There is no ONNX graph for the transform {name}.", where=name)


def _onehot(graph: Graph, fitted: Any) -> str:
    parts = []
    if fitted.table.numbers:
        numbers = _numbers(graph, fitted.table)
        missing = graph.add("IsNaN", numbers)
        parts.append(graph.add("Where", missing, graph.constant(fitted.fill), numbers))
        if len(fitted.marked):
            marked = graph.constant(fitted.marked.astype(np.int64))
            parts.append(graph.doubles(graph.add("Gather", missing, marked, axis=1)))
    if fitted.table.categories and fitted.width:
        parts.append(_indicators(graph, fitted))
    parts += _means(graph, fitted)
    return _joined(graph, fitted.table, parts)


def _codes(graph: Graph, fitted: Any) -> str:
    table = fitted.table
    parts = [_filled(graph, fitted)] if table.numbers else []
    for place in range(len(table.categories)):
        values = fitted.lookup[fitted.offsets[place] : fitted.offsets[place + 1]]
        parts.append(_looked_up(graph, table, place, values))
    return _joined(graph, table, [*parts, *_means(graph, fitted)])


def _filled(graph: Graph, fitted: Any) -> str:
    """Add the number columns, with medians where no value was missing in training."""
    numbers = _numbers(graph, fitted.table)
    if fitted.fill is None:
        return numbers
    return graph.add("Where", graph.add("IsNaN", numbers), graph.constant(fitted.fill), numbers)


def _means(graph: Graph, fitted: Any) -> list[str]:
    """Add what each category is worth, where a transform has learnt that."""
    if fitted.means is None:
        return []
    found = []
    for index, place in enumerate(fitted.means.places):
        found.append(_looked_up(graph, fitted.table, place, fitted.means.of_column(index)))
    return found


def _looked_up(graph: Graph, table: Any, place: int, values: Any) -> str:
    """Add a number a category: that of "missing", then that of each label."""
    column, labels = table.categories[place]
    index = graph.add(
        "LabelEncoder",
        graph.column(column, "category"),
        domain=ML,
        keys_strings=list(labels),
        values_int64s=list(range(1, len(labels) + 1)),
        default_int64=0,
    )
    return graph.add("Gather", graph.constant(values), index)


def _scaled(graph: Graph, fitted: Any, features: str) -> str:
    centred = graph.add("Sub", features, graph.constant(fitted.centre))
    scaled = graph.add("Div", centred, graph.constant(fitted.scale))
    if not fitted.squash:
        return scaled
    share = graph.add("Div", scaled, graph.constant(np.float64(3.0)))
    square = graph.add("Mul", share, share)
    root = graph.add("Sqrt", graph.add("Add", square, graph.constant(np.float64(1.0))))
    return graph.add("Div", scaled, root)


def _numbers(graph: Graph, table: Any) -> str:
    """Add the number columns, NaN where missing or infinite."""
    columns = [graph.column(name, "number") for name in table.numbers]
    joined = graph.add("Concat", *columns, axis=1)
    nothing = graph.constant(np.float64(np.nan))
    finite = graph.add("Where", graph.add("IsInf", joined), nothing, joined)
    most, least = graph.constant(np.float64(_LARGEST)), graph.constant(np.float64(-_LARGEST))
    below = graph.add("Where", graph.add("Greater", finite, most), most, finite)
    return graph.add("Where", graph.add("Less", below, least), least, below)


def _indicators(graph: Graph, fitted: Any) -> str:
    """Add one indicator a slot: the columns have slots of their own, and share the last, unused."""
    depth = graph.constant(np.int64(fitted.width + 1))
    ends = graph.constant(np.array([0, 1]))  # ONNX Runtime has no indicators that are doubles
    found = []
    for place, (column, labels) in enumerate(fitted.table.categories):
        first, *others = fitted.slots[fitted.offsets[place] : fitted.offsets[place + 1]]
        slot = graph.add(
            "LabelEncoder",
            graph.column(column, "category"),
            domain=ML,
            keys_strings=list(labels),
            values_int64s=list(map(int, others)),
            default_int64=int(first),
        )
        flat = graph.add("Reshape", slot, graph.constant(np.array([-1])))
        found.append(graph.add("OneHot", flat, depth, ends))
    total = reduce(partial(graph.add, "Add"), found)
    start, end = graph.constant(np.array([0])), graph.constant(np.array([fitted.width]))
    return graph.doubles(graph.add("Slice", total, start, end, graph.constant(np.array([1]))))


def _joined(graph: Graph, table: Any, parts: list[str]) -> str:
    """Join the parts of a table. Raises ``NotConvertible`` for texts, dates, or no column at all."""
    others = [column for column, _ in table.dates] + [text.column for text in table.texts]
    if others:
        said = "Dates and texts have no ONNX graph here; numbers and categories have."
        remedy = "Export as python or oci, which take every column."
        raise NotConvertible(said, where=f"column '{others[0]}'", remedy=remedy)
    if not parts:
        raise NotConvertible("The model uses no column.", where="pipeline")
    return parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1)


_OF_TABLES = {"table-onehot": _onehot, "table-codes": _codes}
