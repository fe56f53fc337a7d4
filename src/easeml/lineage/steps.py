"""A graph as named steps: what a file of it says, and the nodes that it stands for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any

from easeml.data.errors import did_you_mean
from easeml.errors import InvalidInput
from easeml.lineage.nodes import Node, Operator, ordered
from easeml.lineage.operators import node_of, operator_named
from easeml.relation import Relation

READ = "read"
"""What a step does that brings a file."""


@dataclass(frozen=True)
class Step:
    """One step: operator ``do`` on the steps ``of``, with parameters.

    ``expect``: a condition on what comes out (``easeml.lineage.expectations``), or empty;
    ``content``: the digest of what came out elsewhere (``fingerprints.value_digest``), or empty.
    ``about``: what people say of it. ``context``: what it was made for, such as a study; ``tags``:
    words to find it by.
    """

    name: str
    do: str
    of: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    expect: str = ""
    content: str = ""
    about: str = ""
    context: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Flow:
    """Steps by name, in the order of the file; relative paths begin at ``folder``.

    ``application`` and ``version``: ids of what the flow was pulled from, or empty.
    """

    folder: Path
    steps: Mapping[str, Step]
    application: str = ""
    version: str = ""

    def ends(self) -> list[str]:
        """Return the steps that no other step reads."""
        read = set(chain.from_iterable(map(attrgetter("of"), self.steps.values())))
        return [name for name in self.steps if name not in read]


class FileContent:
    """A file as a parameter. Its bytes make the key, so that a renamed file changes nothing."""

    def __init__(self, path: Path):
        self.path = path

    @cached_property
    def digest(self) -> str:
        """The digest of the bytes. Raises InvalidInput where the file cannot be read."""
        digest = blake2b(digest_size=16)
        try:
            with self.path.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
        except OSError as error:
            raise InvalidInput(
                f"cannot be read: {error.strerror}.",
                where=str(self.path),
                remedy="Paths in a flow begin at the folder of its file.",
            ) from error
        return digest.hexdigest()

    def __repr__(self) -> str:
        return self.path.name


def read(
    file: FileContent,
    target: str | None = None,
    roles: str | None = None,
    table: int | None = None,
) -> Relation:
    """Read a table; ``target``: the column of labels, ``roles``: the one with the rows' roles.

    ``table``: which one of a workbook or document.
    """
    return Relation.from_file(file.path, target, roles, table)


def nodes_of(flow: Flow) -> dict[str, Node]:
    """Return the node of each step, inputs before what reads them.

    Raises:
        InvalidInput: naming the step, where an input or an operator is not there, parameters do not
            fit, or steps read each other in a circle.
    """
    nodes: dict[str, Node] = {}
    for name in in_order(flow):
        step = flow.steps[name]
        inputs = list(map(nodes.__getitem__, step.of))
        nodes[name] = _node(flow, step, inputs)
    return nodes


def flow_of(root: Node) -> Flow:
    """Return the graph of a node as steps, to be shown."""
    names = step_names(root)
    steps = {}
    for node in ordered(root):
        name = names[id(node)]
        inputs = tuple(input_names(node, names))
        steps[name] = Step(name, node.operator.name, inputs, node.parameters)
    return Flow(Path(), steps)


def input_names(node: Node, names: Mapping[int, str]) -> list[str]:
    """Return what the inputs of a node are called; ``names``: of nodes, by their ids."""
    return [names[id(each)] for each in node.inputs]


def step_names(root: Node) -> dict[int, str]:
    """Return a name for each node of a graph, by its id: its label, or one after its operator."""
    names: dict[int, str] = {}
    taken: set[str] = set()
    for node in ordered(root):
        base = node.label or node.operator.name
        name = free_name(base, "-", taken)
        taken.add(name)
        names[id(node)] = name
    return names


def in_order(flow: Flow) -> list[str]:
    """Return the names of steps, inputs before what reads them. Raises InvalidInput."""
    done: dict[str, None] = {}
    waiting = list(flow.steps)
    while waiting:
        ready = [name for name in waiting if done.keys() >= set(flow.steps[name].of)]
        if not ready:
            raise _unreachable(flow, waiting)
        # One at a time, so that the order is as near to the file's as it can be.
        next_one = ready[0]
        done[next_one] = None
        waiting.remove(next_one)
    return list(done)


def free_name(base: str, separator: str, taken: Collection[str]) -> str:
    """Return a name that is not taken: ``base``, or else with the first free number behind it."""
    name = base
    number = 2
    while name in taken:
        name = f"{base}{separator}{number}"
        number += 1
    return name


def _unreachable(flow: Flow, waiting: list[str]) -> InvalidInput:
    """Say why none of the steps that are left can be run."""
    for name in waiting:
        absent = [each for each in flow.steps[name].of if each not in flow.steps]
        if absent:
            return InvalidInput(
                f"There is no step {absent[0]!r}.",
                where=f"step {name!r}",
                remedy=did_you_mean(absent[0], flow.steps),
            )
    return InvalidInput(
        "Steps read each other in a circle.",
        where=f"steps {', '.join(map(repr, waiting))}",
        remedy="Let one of them read another step.",
    )


def _node(flow: Flow, step: Step, inputs: list[Node]) -> Node:
    """Return the node of a step. Raises InvalidInput, naming the step."""
    try:
        if step.do == READ:
            made = _reading(flow, step)
        else:
            made = node_of(operator_named(step.do), inputs, dict(step.parameters))
    except InvalidInput as error:
        where = f"step {step.name!r}"
        raise InvalidInput(error.message, where=where, remedy=error.remedy) from error
    return Node(made.operator, made.parameters, made.inputs, step.name)


def _reading(flow: Flow, step: Step) -> Node:
    given = dict(step.parameters)
    if step.of or not isinstance(given.get("file"), str):
        raise InvalidInput(
            "A step that reads has a file, and no inputs.", remedy='Write file = "table.csv".'
        )
    given["file"] = FileContent(flow.folder / given["file"])
    return node_of(_READER, [], given)


_READER = Operator(READ, "1", read)
