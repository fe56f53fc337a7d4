"""A graph as text, as a Mermaid diagram, and as an SVG picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from easeml.lineage.nodes import short
from easeml.lineage.steps import Flow, Step

_WIDTH, _HEIGHT = 190, 46  # of a box
_ACROSS, _DOWN = 26, 44  # between boxes
_MARGIN = 12
_LETTERS = 24  # that fit into a box, in wide fonts too
_MERMAID_ENTITIES = {'"': "#quot;", "<": "#lt;", ">": "#gt;"}

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
    widest = max(len(name) for name in flow.steps)
    lines = []
    for name, step in flow.steps.items():
        mark = "*" if name in stale else " "
        inputs = f" <- {', '.join(step.of)}" if step.of else ""
        lines.append(f"{mark} {name:<{widest}}  {told(step)}{inputs}")
        if step.about:
            lines.append(f"  {'':<{widest}}  {step.about}")
        if step.expect:
            lines.append(f"  {'':<{widest}}  expected: {step.expect}")
    return "\n".join(lines)


def as_mermaid(flow: Flow, stale: Sequence[str] = ()) -> str:
    """Return a Mermaid flowchart, which pages of repositories draw; stale steps are dashed."""
    numbers = {name: f"s{number}" for number, name in enumerate(flow.steps)}
    lines = ["flowchart TD"]
    for name, step in flow.steps.items():
        said = f"{name}: {told(step)}".replace("#", "#35;")
        for letter, entity in _MERMAID_ENTITIES.items():
            said = said.replace(letter, entity)
        lines.append(f'  {numbers[name]}["{said}"]')
    for name, step in flow.steps.items():
        for each in step.of:
            lines.append(f"  {numbers[each]} --> {numbers[name]}")
    if stale:
        lines.append("  classDef stale stroke-dasharray: 5 3")
        lines.append(f"  class {','.join(numbers[name] for name in stale)} stale")
    return "\n".join(lines)


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
    for name, step in flow.steps.items():
        for each in step.of:
            parts.append(_line(places[each], places[name]))
    for name, step in flow.steps.items():
        parts.append(_box(step, places[name], stale=name in stale))
    return "\n".join([*parts, "</svg>"])


def told(step: Step) -> str:
    """Return what a step does, with its parameters."""
    given = ", ".join(f"{name}={short(value)}" for name, value in step.parameters.items())
    return f"{step.do}({given})"


@dataclass(frozen=True)
class Place:
    """Where a box begins."""

    left: int
    top: int


def layout(flow: Flow) -> dict[str, Place]:
    """Return where each step's box stands: a row a depth, steps of one row in order of the file."""
    depths = _depths(flow.steps)
    rows: dict[int, list[str]] = {}
    for name in flow.steps:
        rows.setdefault(depths[name], []).append(name)
    widest = max(len(names) for names in rows.values())
    places = {}
    for depth, names in rows.items():
        # Each row is centred below the widest one.
        indent = (widest - len(names)) * (_WIDTH + _ACROSS) // 2
        for number, name in enumerate(names):
            left = _MARGIN + indent + number * (_WIDTH + _ACROSS)
            places[name] = Place(left, _MARGIN + depth * (_HEIGHT + _DOWN))
    return places


def _depths(steps: Mapping[str, Step]) -> dict[str, int]:
    """Return the length of the longest way to each step; the graph has no circles."""
    depths = dict.fromkeys(steps, 0)
    for _ in steps:
        before = dict(depths)
        for name, step in steps.items():
            for each in step.of:
                depths[name] = max(depths[name], depths[each] + 1)
        if depths == before:
            break
    return depths


def _line(above: Place, below: Place) -> str:
    start, end = above.left + _WIDTH // 2, below.left + _WIDTH // 2
    top, bottom = above.top + _HEIGHT, below.top
    middle = (top + bottom) // 2
    curve = f"M{start} {top} C{start} {middle} {end} {middle} {end} {bottom}"
    return f'<path class="line" d="{curve}"/>'


def _box(step: Step, place: Place, *, stale: bool) -> str:
    left, top = place.left, place.top
    classes = "step stale" if stale else "step"
    return (
        f'<g class="{classes}"><title>{escape(f"{step.name}: {told(step)}")}</title>'
        f'<rect x="{left}" y="{top}" width="{_WIDTH}" height="{_HEIGHT}" rx="6"/>'
        f'<text class="name" x="{left + 10}" y="{top + 19}">{escape(_cut(step.name))}</text>'
        f'<text x="{left + 10}" y="{top + 37}">{escape(_cut(told(step)))}</text></g>'
    )


def _cut(text: str) -> str:
    return text if len(text) <= _LETTERS else text[: _LETTERS - 1] + "…"
