"""Equivalent graphs that cost less: fewer rows, sooner, and candidates told at once.

Rules look only at operators whose meaning is known here. Nothing is moved across an operator that
people added, nor across one that learns from its rows, nor past a value that is already there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from easeml.lineage.nodes import SOURCE, Node, Value
from easeml.lineage.operators import cell_of, operator_named
from easeml.relation import Relation, RowCandidates
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
        return _doubtful_in(node.kept[0])
    if node.operator.name not in {*_SAME_COLUMNS, "select", "with_column"}:
        return None

    below = doubtful_columns(node.inputs[0])
    if below is None:
        return None
    return below | _brought_into_doubt(node, below)


def _doubtful_in(value: Value) -> set[str] | None:
    """Return the columns of a relation that have candidates; None where the value is none."""
    if not isinstance(value, Relation):
        return None
    return set(value.content.blocks.cells)


def _brought_into_doubt(node: Node, below: set[str]) -> set[str]:
    """Return the columns that a node gives candidates; ``below``: those in doubt before."""
    name = node.operator.name
    if name == "with_candidates":
        return {node.parameters["column"]}
    if name == "with_all":
        return _columns_told(node.parameters["told"])
    if name == "with_column" and below.intersection(_read_by(node, below)):
        return {node.parameters["name"]}
    return set()


def _columns_told(told: Sequence[RowCandidates]) -> set[str]:
    """Return the columns that candidates for several rows are about."""
    found: set[str] = set()
    for row in told:
        for candidate in row.candidates:
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
        value = node.kept[0]
        return value.columns if isinstance(value, Relation) else None

    name = node.operator.name
    if name == "select":
        return list(node.parameters["columns"])
    if name not in {*_SAME_COLUMNS, "with_column"}:
        return None

    before = columns_of(node.inputs[0])
    if before is None or name in _SAME_COLUMNS:
        return before
    computed = node.parameters["name"]
    return list(dict.fromkeys([*before, computed]))


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
    condition = node.parameters["condition"]
    if not isinstance(condition, str):
        return node  # nobody can tell what a Python function reads

    read = set(parse(condition).columns)
    name = below.operator.name
    if name == "join":
        return _filter_into_join(node, below, read, known)
    if name == "split":
        return _exchanged(node, below, known)
    if name == "with_column" and _ignores_computed(below, read):
        return _exchanged(node, below, known)
    return node


def _ignores_computed(below: Node, read: set[str]) -> bool:
    """Tell whether a filter that reads some columns gives the same before a column is computed."""
    if below.parameters["sql"] is not None:
        return False  # the type of a column by SQL follows from its values, so it needs all rows
    if below.parameters["name"] in read:
        return False
    doubtful = doubtful_columns(below.inputs[0])
    return doubtful is not None and read.isdisjoint(doubtful)


def _exchanged(node: Node, below: Node, known: Known) -> Node:
    """Return two nodes in the other order, with the upper one moved down as far as it goes."""
    lower = _moved(_anew(node, below.inputs), known)
    return _anew(below, (lower,))


def _columns_away(node: Node, below: Node, known: Known) -> Node:
    """Leave out, below a filter, the columns that neither it nor anybody above it reads."""
    if below.operator.name != "filter":
        return node
    condition = below.parameters["condition"]
    if not isinstance(condition, str):
        return node

    (inner,) = below.inputs
    read = {*node.parameters["columns"], *parse(condition).columns}
    kept = _columns_to_keep(inner, read)
    if kept is None:
        return node
    fewer = Node(operator_named("select"), {"columns": kept}, (inner,))
    filtered = _anew(below, (_moved(fewer, known),))
    return _anew(node, (filtered,))


def _columns_to_keep(node: Node, read: set[str]) -> list[str] | None:
    """Return the columns of a node that are read; None where leaving out the others is not safe."""
    present = columns_of(node)
    doubtful = doubtful_columns(node)
    if present is None or doubtful is None:
        return None
    unknown = read.difference(present)
    away = set(present) - read
    if unknown or not away or away & doubtful:
        return None
    return [name for name in present if name in read]


def _filter_into_join(node: Node, below: Node, read: set[str], known: Known) -> Node:
    """Move a filter into the left side of a join where it reads columns of that side only."""
    left, right = below.inputs
    of_left = columns_of(left)
    if of_left is None or not read.issubset(of_left):
        return node
    filtered = _moved(_anew(node, (left,)), known)
    return _anew(below, (filtered, right))


_RULES = {
    "with_candidates": _candidates_together,
    "filter": _filter_down,
    "select": _columns_away,
}


def _anew(node: Node, inputs: Sequence[Node]) -> Node:
    """Return the same use of an operator on other inputs; its label still says where it failed."""
    return replace(node, inputs=tuple(inputs), kept=[])
