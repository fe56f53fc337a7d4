"""A graph as text, as a Mermaid diagram, and as an SVG picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from easeml.lineage.nodes import call_text, cut
from easeml.lineage.steps import Flow, Step, in_order

_WIDTH, _HEIGHT = 190, 46  # of a box
_ACROSS, _DOWN = 26, 44  # between boxes
_MARGIN = 12
_LETTERS = 24  # that fit into a box, in wide fonts too
_MERMAID_ENTITIES = str.maketrans({"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;"})

_STYLE = """
  svg { font: 13px system-ui, sans-serif; color: #1c2430; background: #fff; }
  rect { fill: #eef2f7; stroke: #5b6b80; }
  .stale rect { stroke-dasharray: 5 3; fill: #fff6e0; }
  .line { fill: none; stroke: #5b6b80; }
  .name { font-weight: 600; }
  text { fill: currentColor; }
  @media (prefers-color-scheme: dark) {
    svg { color: #e6ebf2; background: #161b22; }
    rect { fill: #222b36; stroke: #8fa0b5; }
    .stale rect { fill: #3a3016; }
    .line { stroke: #8fa0b5; }
  }
"""


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
    places = layout(flow)
    right = max(place.left for place in places.values()) + _WIDTH + _MARGIN
    bottom = max(place.top for place in places.values()) + _HEIGHT + _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right} {bottom}" '
        f'width="{right}" height="{bottom}" role="img" aria-label="Graph of steps">',
        f"<style>{_STYLE}</style>",
    ]
    # Lines come first, so that boxes hide where they end.
    for above, below in _edges(flow):
        parts.append(_line(places[above], places[below]))
    for name, step in flow.steps.items():
        parts.append(_box(step, places[name], stale=name in stale))
    parts.append("</svg>")
    return "\n".join(parts)


def told(step: Step) -> str:
    """Return what a step does, with its parameters."""
    return call_text(step.do, step.parameters)


@dataclass(frozen=True)
class Place:
    """Where a box begins."""

    left: int
    top: int


def layout(flow: Flow) -> dict[str, Place]:
    """Return where each step's box stands: a row a depth, steps of one row in order of the file."""
    depths = _depths(flow)
    rows: dict[int, list[str]] = {}
    for name in flow.steps:
        rows.setdefault(depths[name], []).append(name)
    widest = max(map(len, rows.values()))
    places = {}
    for depth, names in rows.items():
        # Each row is centred below the widest one.
        indent = (widest - len(names)) * (_WIDTH + _ACROSS) // 2
        top = _MARGIN + depth * (_HEIGHT + _DOWN)
        for number, name in enumerate(names):
            left = _MARGIN + indent + number * (_WIDTH + _ACROSS)
            places[name] = Place(left, top)
    return places


def _depths(flow: Flow) -> dict[str, int]:
    """Return the length of the longest way to each step."""
    depths: dict[str, int] = {}
    for name in in_order(flow):
        below_inputs = [depths[each] + 1 for each in flow.steps[name].of]
        depths[name] = max(below_inputs, default=0)
    return depths


def _line(above: Place, below: Place) -> str:
    start, end = above.left + _WIDTH // 2, below.left + _WIDTH // 2
    top, bottom = above.top + _HEIGHT, below.top
    middle = (top + bottom) // 2
    curve = f"M{start} {top} C{start} {middle} {end} {middle} {end} {bottom}"
    return f'<path class="line" d="{curve}"/>'


def _box(step: Step, place: Place, *, stale: bool) -> str:
    left = place.left
    top = place.top
    said = told(step)
    title = escape(f"{step.name}: {said}")
    name = escape(cut(step.name, _LETTERS))
    does = escape(cut(said, _LETTERS))
    classes = "step stale" if stale else "step"
    return (
        f'<g class="{classes}"><title>{title}</title>'
        f'<rect x="{left}" y="{top}" width="{_WIDTH}" height="{_HEIGHT}" rx="6"/>'
        f'<text class="name" x="{left + 10}" y="{top + 19}">{name}</text>'
        f'<text x="{left + 10}" y="{top + 37}">{does}</text></g>'
    )
