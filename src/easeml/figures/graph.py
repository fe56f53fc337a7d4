"""A graph of boxes as an SVG picture: each box stands below those that it is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from html import escape
from operator import attrgetter
from typing import Literal

Look = Literal["", "chosen", "stale", "failed", "live"]

_WIDTH, _HEIGHT = 190, 46  # of a box
_ACROSS, _DOWN = 26, 44  # between boxes
_MARGIN = 12
_BOLD_LETTERS, _LETTERS = 21, 24  # that fit into a box, in wide fonts too

_STYLE = """
  .graph { font: 13px system-ui, sans-serif; color: #1c2430; background: #fff; }
  .graph rect { fill: #eef2f7; stroke: #5b6b80; }
  .graph .stale rect { stroke-dasharray: 5 3; fill: #fff6e0; }
  .graph .line { fill: none; stroke: #5b6b80; }
  .graph .name { font-weight: 600; }
  .graph text { fill: currentColor; }
  @media (prefers-color-scheme: dark) {
    .graph { color: #e6ebf2; background: #161b22; }
    .graph rect { fill: #222b36; stroke: #8fa0b5; }
    .graph .stale rect { fill: #3a3016; }
    .graph .line { stroke: #8fa0b5; }
  }
"""


@dataclass(frozen=True)
class Box:
    """A box with two lines, ``name`` and ``text``, which are cut where they are too long.

    ``of``: ids of the boxes that it is made of. ``about``: what hovering tells. ``link``: where a
    click leads, or empty.
    """

    name: str
    text: str
    of: Sequence[str] = ()
    about: str = ""
    link: str = ""
    look: Look = ""


@dataclass(frozen=True)
class Place:
    """Where a box begins, in pixels."""

    left: int
    top: int


def graph_svg(boxes: Mapping[str, Box], title: str) -> str:
    """Return a graph as an SVG file, or for HTML that has no style for it.

    ``boxes``: by id, one at least; those of one row stand in this order. Raises ``KeyError`` where
    one is made of what is not there, ``graphlib.CycleError`` for a circle.
    """
    return _drawn(boxes, title, f"<style>{_STYLE}</style>")


def graph_element(boxes: Mapping[str, Box], title: str) -> str:
    """Return a graph as ``graph_svg`` does, for a page that has ``figure.css``."""
    return _drawn(boxes, title, "")


def layout(boxes: Mapping[str, Box]) -> dict[str, Place]:
    """Return where each box stands: a row a depth, each row centred below the widest one."""
    depths = _depths(boxes)
    rows: dict[int, list[str]] = {}
    for id in boxes:
        rows.setdefault(depths[id], []).append(id)
    widest = max(map(len, rows.values()))
    places = {}
    for depth, ids in rows.items():
        indent = (widest - len(ids)) * (_WIDTH + _ACROSS) // 2
        top = _MARGIN + depth * (_HEIGHT + _DOWN)
        for number, id in enumerate(ids):
            left = _MARGIN + indent + number * (_WIDTH + _ACROSS)
            places[id] = Place(left, top)
    return places


def _depths(boxes: Mapping[str, Box]) -> dict[str, int]:
    """Return the length of the longest way to each box."""
    made_of = {id: box.of for id, box in boxes.items()}
    depths: dict[str, int] = {}
    for id in TopologicalSorter(made_of).static_order():
        below_inputs = [depths[each] + 1 for each in boxes[id].of]
        depths[id] = max(below_inputs, default=0)
    return depths


def _drawn(boxes: Mapping[str, Box], title: str, style: str) -> str:
    places = layout(boxes)
    right = max(map(attrgetter("left"), places.values())) + _WIDTH + _MARGIN
    bottom = max(map(attrgetter("top"), places.values())) + _HEIGHT + _MARGIN
    # A reader of the screen goes through the links of a group, and sees a picture as one thing.
    leads = any(map(attrgetter("link"), boxes.values()))
    role = "group" if leads else "img"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="graph" viewBox="0 0 {right} {bottom}" '
        f'width="{right}" height="{bottom}" role="{role}" aria-label="{escape(title)}">',
        style,
    ]
    # Lines come first, so that boxes hide where they end.
    for above, below in _edges(boxes):
        parts.append(_line(places[above], places[below]))
    for id, box in boxes.items():
        parts.append(_linked(box, _box(box, places[id])))
    parts.append("</svg>")
    return "\n".join(filter(None, parts))


def _edges(boxes: Mapping[str, Box]) -> Iterator[tuple[str, str]]:
    """Yield each box that another is made of, with that one."""
    for id, box in boxes.items():
        for each in box.of:
            yield each, id


def _line(above: Place, below: Place) -> str:
    start, end = above.left + _WIDTH // 2, below.left + _WIDTH // 2
    top, bottom = above.top + _HEIGHT, below.top
    middle = (top + bottom) // 2
    curve = f"M{start} {top} C{start} {middle} {end} {middle} {end} {bottom}"
    return f'<path class="line" d="{curve}"/>'


def _box(box: Box, place: Place) -> str:
    left = place.left
    top = place.top
    classes = " ".join(filter(None, ("step", box.look)))
    return (
        f'<g class="{classes}"><title>{escape(box.about)}</title>'
        f'<rect x="{left}" y="{top}" width="{_WIDTH}" height="{_HEIGHT}" rx="6"/>'
        f'<text class="name" x="{left + 10}" y="{top + 19}">{_fitting(box.name, _BOLD_LETTERS)}</text>'
        f'<text x="{left + 10}" y="{top + 37}">{_fitting(box.text, _LETTERS)}</text></g>'
    )


def _linked(box: Box, drawn: str) -> str:
    """Return a drawn box as a link, where it leads somewhere."""
    if not box.link:
        return drawn
    current = str(box.look == "chosen").lower()
    return f'<a href="{escape(box.link)}" aria-current="{current}">{drawn}</a>'


def _fitting(text: str, most: int) -> str:
    shown = text if len(text) <= most else text[: most - 1] + "…"
    return escape(shown)
