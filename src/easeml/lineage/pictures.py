"""A graph as text, as a Mermaid diagram, and as an SVG picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from easeml.figures import Box, graph_svg
from easeml.lineage.nodes import call_text
from easeml.lineage.steps import Flow, Step

_MERMAID_ENTITIES = str.maketrans({"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;"})


def as_text(flow: Flow, stale: Sequence[str] = ()) -> str:
    """Return a line a step: its name, what it does and on what; ``*`` marks stale ones."""
    widest = max(map(len, flow.steps))
    below = " " * (widest + 4)  # what else is said of a step begins where its call does
    lines = []
    for name, step in flow.steps.items():
        mark = "*" if name in stale else " "
        lines.append(f"{mark} {name:<{widest}}  {_call_line(step)}")
        if step.about:
            lines.append(f"{below}{step.about}")
        if step.expect:
            lines.append(f"{below}expected: {step.expect}")
    return "\n".join(lines)


def _call_line(step: Step) -> str:
    """Return what a step does, and on what."""
    if not step.of:
        return told(step)
    return f"{told(step)} <- {', '.join(step.of)}"


def as_mermaid(flow: Flow, stale: Sequence[str] = ()) -> str:
    """Return a Mermaid flowchart, which pages of repositories draw; stale steps are dashed."""
    numbers = {name: f"s{number}" for number, name in enumerate(flow.steps)}
    lines = ["flowchart TD"]
    for name, step in flow.steps.items():
        said = f"{name}: {told(step)}".translate(_MERMAID_ENTITIES)
        lines.append(f'  {numbers[name]}["{said}"]')
    for above, below in _edges(flow):
        lines.append(f"  {numbers[above]} --> {numbers[below]}")
    if stale:
        dashed = ",".join(map(numbers.__getitem__, stale))
        lines.append("  classDef stale stroke-dasharray: 5 3")
        lines.append(f"  class {dashed} stale")
    return "\n".join(lines)


def _edges(flow: Flow) -> Iterator[tuple[str, str]]:
    """Yield each step that another reads, with the one that reads it."""
    for name, step in flow.steps.items():
        for each in step.of:
            yield each, name


def as_svg(flow: Flow, stale: Sequence[str] = ()) -> str:
    """Return a picture of the graph, inputs above what reads them; stale steps are dashed."""
    boxes = {}
    for name, step in flow.steps.items():
        said = told(step)
        look = "stale" if name in stale else ""
        boxes[name] = Box(name, said, step.of, about=f"{name}: {said}", look=look)
    return graph_svg(boxes, "Graph of steps")


def told(step: Step) -> str:
    """Return what a step does, with its parameters."""
    return call_text(step.do, step.parameters)
