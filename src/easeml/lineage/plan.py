"""Equivalent graphs that cost less: fewer rows, sooner, and candidates told at once.

Rules look only at operators whose meaning is known here. Nothing is moved across an operator that
people added, nor across one that learns from its rows, nor past a value that is already there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from easeml.lineage.columns import NotTold, columns_of, doubtful_columns, read_by_filter
from easeml.lineage.nodes import SOURCE, Node, ordered
from easeml.lineage.operators import cell_of, operator_named

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
    for node in ordered(root, known):
        if known(node) or node.operator is SOURCE:
            rebuilt[id(node)] = node
            continue
        inputs = tuple(rebuilt[id(each)] for each in node.inputs)
        moved = _moved(_anew(node, inputs), known)
        # What is computed in the place of a node is the value of the node, and kept with it.
        rebuilt[id(node)] = replace(moved, kept=node.kept)
    return rebuilt[id(root)]


def needed(root: Node, known: Known) -> list[Node]:
    """Return the nodes to compute for a node's value, inputs first."""
    return [node for node in ordered(root, known) if not known(node)]


def _moved(node: Node, known: Known) -> Node:
    """Apply the rule of a node's operator, whose inputs are optimised already."""
    rule = _RULES.get(node.operator.name)
    if rule is None:
        return node
    below = node.inputs[0]
    if known(below):
        return node
    try:
        return rule(node, below, known)
    except NotTold:
        return node  # whether it may be moved nobody can tell before the work


def _candidates_together(node: Node, below: Node, known: Known) -> Node:
    """Tell the candidates of a cell at once with those that are told just before."""
    if below.operator.name == "with_candidates":
        earlier = [cell_of(**below.parameters)]
    elif below.operator.name == "with_all":
        earlier = below.parameters["told"]
    else:
        return node
    told = [*earlier, cell_of(**node.parameters)]
    return Node(operator_named("with_all"), {"told": told}, below.inputs)


def _filter_down(node: Node, below: Node, known: Known) -> Node:
    """Move a filter below what it stands above, where that changes no value."""
    read = read_by_filter(node)
    move = _FILTER_PAST.get(below.operator.name)
    if move is None:
        return node
    return move(node, below, read, known)


def _filter_into_join(node: Node, below: Node, read: set[str], known: Known) -> Node:
    """Move a filter into the left side of a join where it reads columns of that side only."""
    left, right = below.inputs
    if not read.issubset(columns_of(left)):
        return node
    filtered = _moved(_anew(node, (left,)), known)
    return _anew(below, (filtered, right))


def _filter_past_split(node: Node, below: Node, read: set[str], known: Known) -> Node:
    """Move a filter below a split, which gives roles by the ids of rows."""
    return _exchanged(node, below, known)


def _filter_past_computed(node: Node, below: Node, read: set[str], known: Known) -> Node:
    """Move a filter below a column that it does not read."""
    if below.parameters["sql"] is not None:
        return node  # the type of a column by SQL follows from its values, so it needs all rows
    # Nor may it read doubts: other cells would vary together.
    unread = {below.parameters["name"], *doubtful_columns(below.inputs[0])}
    if not read.isdisjoint(unread):
        return node
    return _exchanged(node, below, known)


_FILTER_PAST = {
    "join": _filter_into_join,
    "split": _filter_past_split,
    "with_column": _filter_past_computed,
}


def _exchanged(node: Node, below: Node, known: Known) -> Node:
    """Return two nodes in the other order, with the upper one moved down as far as it goes."""
    lower = _moved(_anew(node, below.inputs), known)
    return _anew(below, (lower,))


def _columns_away(node: Node, below: Node, known: Known) -> Node:
    """Leave out, below a filter, the columns that neither it nor anybody above it reads."""
    if below.operator.name != "filter":
        return node
    (inner,) = below.inputs
    read = read_by_filter(below).union(node.parameters["columns"])
    present = columns_of(inner)
    if not read.issubset(present):
        return node
    away = set(present) - read
    if not away or away & doubtful_columns(inner):
        return node  # nothing to leave out, or what is left out would take its doubts with it

    kept = list(filter(read.__contains__, present))
    fewer = Node(operator_named("select"), {"columns": kept}, (inner,))
    filtered = _anew(below, (_moved(fewer, known),))
    return _anew(node, (filtered,))


_RULES = {
    "with_candidates": _candidates_together,
    "filter": _filter_down,
    "select": _columns_away,
}


def _anew(node: Node, inputs: Sequence[Node]) -> Node:
    """Return the same use of an operator on other inputs; its label still says where it failed."""
    return replace(node, inputs=tuple(inputs), kept=[])
