"""Equivalent graphs that cost less: fewer rows, sooner, and candidates told at once.

Rules look only at operators whose meaning is known here. Nothing is moved across an operator that
people added, nor across one that learns from its rows, nor past a value that is already there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from easeml.lineage.nodes import SOURCE, Node
from easeml.lineage.operators import cell_of, operator_named
from easeml.relation.expressions import parse
from easeml.relation.row_sql import mentioned

Known = Callable[[Node], bool]
"""Tells of a node whether its value is there already."""


def optimised(root: Node, known: Known) -> Node:
    """Return a graph with the same value.

    - Candidates for cells that come one after the other are told at once.
    - A filter moves below a split, which gives roles by the ids of rows, and into the left side of a
      join where it reads columns of that side only.

    - A filter of columns without doubts moves below a column computed by a formula that it does
      not read.
    - Columns without doubts that nobody reads go before a filter, not after it.

    Where a filter reads doubts it stays above a computed column: moved below, other cells would
    vary together, and so the world that is shown as the likeliest could be another one.
    """
    rebuilt: dict[int, Node] = {}
    for node in _above(root, known):
        if known(node) or node.operator is SOURCE:
            rebuilt[id(node)] = node
            continue
        inputs = tuple(rebuilt[id(each)] for each in node.inputs)
        moved = _moved(_anew(node, inputs), known)
        # What is computed in the place of a node is the value of the node, and kept with it.
        rebuilt[id(node)] = replace(moved, kept=node.kept)
    return rebuilt[id(root)]


def doubtful_columns(node: Node) -> set[str] | None:
    """Return the columns that may have candidates, as far as that follows from the graph."""
    if node.kept:
        content = getattr(node.kept[0], "content", None)
        return None if content is None else set(content.blocks.cells)
    if node.operator.name not in {*_SAME_COLUMNS, "select", "with_column"}:
        return None
    below = doubtful_columns(node.inputs[0])
    return None if below is None else below | _brought_into_doubt(node, below)


def _brought_into_doubt(node: Node, below: set[str]) -> set[str]:
    """Return the columns that a node gives candidates; ``below``: those in doubt before."""
    name = node.operator.name
    if name == "with_candidates":
        return {node.parameters["column"]}
    if name == "with_column" and below.intersection(_read_by(node, below)):
        return {node.parameters["name"]}
    found: set[str] = set()
    if name == "with_all":
        for told in node.parameters["told"]:
            for candidate in told.candidates:
                found.update(candidate.cells)
    return found


def _read_by(node: Node, columns: set[str]) -> Sequence[str]:
    """Return, of some columns, at least those that a computed column is made of."""
    if node.parameters["sql"] is not None:
        return mentioned(str(node.parameters["sql"]), columns)
    return parse(node.parameters["formula"]).columns


def columns_of(node: Node) -> list[str] | None:
    """Return the columns of a node's value as far as they follow from the graph, else None."""
    if node.kept:
        return getattr(node.kept[0], "columns", None)
    name = node.operator.name
    if name in _SAME_COLUMNS:
        return columns_of(node.inputs[0])
    if name == "select":
        return list(node.parameters["columns"])
    if name == "with_column":
        before = columns_of(node.inputs[0])
        return None if before is None else list(dict.fromkeys([*before, node.parameters["name"]]))
    return None


_SAME_COLUMNS = {"filter", "split", "in_role", "with_candidates", "with_all", "with_optional"}


def _above(root: Node, known: Known) -> list[Node]:
    """Return what is needed for a node's value, inputs first, and nothing below what is known."""
    found: dict[int, Node] = {}
    waiting = [(root, False)]
    while waiting:
        node, ready = waiting.pop()
        if ready or known(node):
            found.setdefault(id(node), node)
        elif id(node) not in found:
            waiting.append((node, True))
            waiting += [(each, False) for each in reversed(node.inputs)]
    return list(found.values())


def needed(root: Node, known: Known) -> list[Node]:
    """Return the nodes to compute for a node's value, inputs first."""
    return [node for node in _above(root, known) if not known(node)]


def _moved(node: Node, known: Known) -> Node:
    """Apply the rule of a node's operator, whose inputs are optimised already."""
    rule = _RULES.get(node.operator.name)
    below = node.inputs[0] if node.inputs else None
    if rule is None or below is None or known(below):
        return node
    return rule(node, below, known)


def _candidates_together(node: Node, below: Node, known: Known) -> Node:
    told = [cell_of(**node.parameters)]
    if below.operator.name == "with_candidates":
        told = [cell_of(**below.parameters), *told]
        below = below.inputs[0]
    elif below.operator.name == "with_all":
        told = [*below.parameters["told"], *told]
        below = below.inputs[0]
    else:
        return node
    return Node(operator_named("with_all"), {"told": told}, (below,))


def _filter_down(node: Node, below: Node, known: Known) -> Node:
    condition = node.parameters["condition"]
    if not isinstance(condition, str):
        return node
    read = set(parse(condition).columns)
    name = below.operator.name
    if name == "split":
        return _anew(below, (_moved(_anew(node, below.inputs), known),))
    if name == "join":
        return _filter_into_join(node, below, read, known)
    # The type of a column by SQL follows from its values, so that it needs all rows.
    by_formula = name == "with_column" and below.parameters["sql"] is None
    if by_formula and below.parameters["name"] not in read:
        doubtful = doubtful_columns(below.inputs[0])
        if doubtful is not None and not read & doubtful:
            return _anew(below, (_moved(_anew(node, below.inputs), known),))
    return node


def _columns_away(node: Node, below: Node, known: Known) -> Node:
    """Leave out, below a filter, the columns that neither it nor anybody above it reads."""
    if below.operator.name != "filter" or not isinstance(below.parameters["condition"], str):
        return node
    (inner,) = below.inputs
    present, doubtful = columns_of(inner), doubtful_columns(inner)
    if present is None or doubtful is None:
        return node
    read = {*node.parameters["columns"], *parse(below.parameters["condition"]).columns}
    away = set(present) - read
    if not away or away & doubtful or not read <= set(present):
        return node
    kept = [name for name in present if name in read]
    fewer = Node(operator_named("select"), {"columns": kept}, (inner,))
    return _anew(node, (_anew(below, (_moved(fewer, known),)),))


def _filter_into_join(node: Node, below: Node, read: set[str], known: Known) -> Node:
    left, right = below.inputs
    if read <= set(columns_of(left) or ()):
        return _anew(below, (_moved(_anew(node, (left,)), known), right))
    return node


_RULES = {
    "with_candidates": _candidates_together,
    "filter": _filter_down,
    "select": _columns_away,
}


def _anew(node: Node, inputs: Sequence[Node]) -> Node:
    """Return the same use of an operator on other inputs; its label still says where it failed."""
    return replace(node, inputs=tuple(inputs), kept=[])
