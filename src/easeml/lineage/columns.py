"""Which columns a node's value has, and which of them are in doubt, as the graph tells before work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from easeml.lineage.nodes import Node
from easeml.relation import Relation
from easeml.relation.expressions import parse
from easeml.relation.row_sql import mentioned

Parameters = Mapping[str, Any]
"""Parameters of a node by name."""

_SAME_COLUMNS = ("filter", "split", "in_role", "with_candidates", "with_all", "with_optional")


class NotTold(Exception):
    """What was asked does not follow from the graph."""


def columns_of(node: Node) -> list[str]:
    """Return the columns of a node's value. Raises NotTold."""
    if node.kept:
        return _relation_kept(node).columns
    told_by = _COLUMNS.get(node.operator.name)
    if told_by is None:
        raise NotTold
    return told_by(node)


def _columns_before(node: Node) -> list[str]:
    return columns_of(node.inputs[0])


def _columns_selected(node: Node) -> list[str]:
    return list(node.parameters["columns"])


def _columns_with_computed(node: Node) -> list[str]:
    # A computed column comes last, unless it takes the place of another one.
    return list(dict.fromkeys([*_columns_before(node), node.parameters["name"]]))


_COLUMNS: dict[str, Callable[[Node], list[str]]] = {
    **dict.fromkeys(_SAME_COLUMNS, _columns_before),
    "select": _columns_selected,
    "with_column": _columns_with_computed,
}
"""What tells the columns of a node, by its operator."""


def doubtful_columns(node: Node) -> set[str]:
    """Return the columns that may have candidates. Raises NotTold."""
    if node.kept:
        return set(_relation_kept(node).content.blocks.cells)
    brought = _DOUBTS_BROUGHT.get(node.operator.name)
    if brought is None:
        raise NotTold
    below = doubtful_columns(node.inputs[0])
    return below | brought(node.parameters, below)


def read_by_filter(node: Node) -> set[str]:
    """Return the columns that a filter reads. Raises NotTold for a Python function."""
    condition = node.parameters["condition"]
    if not isinstance(condition, str):
        raise NotTold
    return set(parse(condition).columns)


def _relation_kept(node: Node) -> Relation:
    """Return the relation that is a node's value already. Raises NotTold where it is none."""
    value = node.kept[0]
    if not isinstance(value, Relation):
        raise NotTold
    return value


def _no_doubts(parameters: Parameters, below: set[str]) -> set[str]:
    """Return nothing: cells stay as certain as they are."""
    return set()


def _doubts_of_cell(parameters: Parameters, below: set[str]) -> set[str]:
    """Return the column of the cell that is told of."""
    return {parameters["column"]}


def _doubts_of_rows(parameters: Parameters, below: set[str]) -> set[str]:
    """Return the columns that candidates for several rows are about."""
    found: set[str] = set()
    for row in parameters["told"]:
        for candidate in row.candidates:
            found.update(candidate.cells)
    return found


def _doubts_of_computed(parameters: Parameters, below: set[str]) -> set[str]:
    """Return the computed column where it is made of a column in doubt."""
    if below.isdisjoint(_read_by(parameters, below)):
        return set()
    return {parameters["name"]}


def _read_by(parameters: Parameters, columns: set[str]) -> Sequence[str]:
    """Return, of some columns, at least those that a computed column is made of."""
    if parameters["sql"] is not None:
        return mentioned(str(parameters["sql"]), columns)
    return parse(parameters["formula"]).columns


_DOUBTS_BROUGHT: dict[str, Callable[[Parameters, set[str]], set[str]]] = {
    "filter": _no_doubts,
    "select": _no_doubts,
    "split": _no_doubts,
    "in_role": _no_doubts,
    "with_optional": _no_doubts,
    "with_candidates": _doubts_of_cell,
    "with_all": _doubts_of_rows,
    "with_column": _doubts_of_computed,
}
"""Which columns an operator gives candidates, from its parameters and the columns in doubt before."""
