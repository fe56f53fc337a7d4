"""The graph: what was asked for, without having been done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from easeml.lineage.deltas import Analysis
from easeml.lineage.fingerprints import Held, canonical, digest_of
from easeml.relation import Relation

_SHORT = 60  # characters of a parameter

Value = Any
"""What a node gives: a relation, or plain JSON values such as the answer of an analysis."""


@dataclass(frozen=True)
class Operator:
    """Work on relations. ``function(*relations, **parameters)`` gives a relation or JSON values.

    ``version`` is a part of every key: another one makes what was computed stale. ``begin``: of an
    analysis that can follow its data, what gives it (``easeml.lineage.deltas``).
    """

    name: str
    version: str
    function: Callable[..., Value]
    begin: Callable[..., Analysis] | None = None


@dataclass(frozen=True, eq=False)
class Node:
    """One use of an operator on the values of other nodes. ``label``: a name that people gave it.

    Two nodes with equal keys give equal values.
    """

    operator: Operator
    parameters: Mapping[str, Any]
    inputs: tuple[Node, ...] = ()
    label: str = ""
    kept: list[Value] = field(default_factory=list)
    """The value, once it was computed here."""

    @property
    def key(self) -> str:
        """The digest of operator, version, parameters and, through their keys, inputs."""
        if "_key" in vars(self):
            return self._key
        # Inputs come before what reads them, so that no key asks for more than one level below.
        return [node._key for node in ordered(self)][-1]

    @property
    def question(self) -> str:
        """The digest of operator, version and parameters: what is asked, whatever of."""
        return digest_of(*self._asked)

    @cached_property
    def _asked(self) -> list[str]:
        told = []
        for name, value in sorted(self.parameters.items()):
            said = canonical(value, f"{self.operator.name}, {name}")
            told.append(f"{name}={said}")
        return [self.operator.name, self.operator.version, *told]

    @cached_property
    def _key(self) -> str:
        inputs = [node._key for node in self.inputs]
        return digest_of(*self._asked, "of", *inputs)

    @property
    def title(self) -> str:
        """What people call this node: its label, or operator and parameters."""
        if self.label:
            return self.label
        return call_text(self.operator.name, self.parameters)


def source(relation: Relation) -> Node:
    """Return the node of a relation that is there. Its content is digested when a key is asked."""
    return Node(SOURCE, {"content": Held(relation)}, kept=[relation])


def _has_no_inputs(node: Node) -> bool:
    return not node.inputs


def ordered(root: Node, is_end: Callable[[Node], bool] = _has_no_inputs) -> list[Node]:
    """Return a node and all that it needs, each once, inputs before what reads them.

    ``is_end`` tells what needs nothing, such as a node whose value is there already.
    """
    found: dict[int, Node] = {}
    waiting: list[tuple[Node, bool]] = [(root, False)]
    while waiting:
        node, ready = waiting.pop()
        if id(node) in found:
            continue
        if ready or is_end(node):
            found[id(node)] = node
            continue
        waiting.append((node, True))
        waiting += [(each, False) for each in reversed(node.inputs)]
    return list(found.values())


def call_text(name: str, parameters: Mapping[str, Any]) -> str:
    """Return an operator with its parameters as people read them."""
    given = [f"{key}={short(value)}" for key, value in parameters.items()]
    return f"{name}({', '.join(given)})"


def short(value: Any) -> str:
    """Return a parameter as people read it, in at most 60 characters."""
    text = getattr(value, "__name__", repr(value))
    if len(text) <= _SHORT:
        return text
    return text[: _SHORT - 3] + "..."


def _held(content: Held) -> Relation:
    return content.relation


SOURCE = Operator("source", "1", _held)
