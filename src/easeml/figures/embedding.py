"""Figures in HTML: for pages that have style and script already, and for those that have nothing."""

from __future__ import annotations

from functools import cache
from html import escape
from pathlib import Path

from easeml.figures.description import Description
from easeml.figures.drawing import label_margin, legend_of, plot, swatch

STATIC = Path(__file__).parent / "static"
"""Where ``figure.css`` and ``figure.js`` are, which pages link."""


def element(figure: Description, id: str = "", titled: bool = False) -> str:
    """Return the HTML element of a figure, for a page that has ``figure.css`` and ``figure.js``.

    ``titled`` shows the title, which is otherwise told to screen readers only.
    """
    title = ""
    if titled:
        title = f'<strong class="fig-name">{escape(figure.title)}</strong>'
    note = ""
    if figure.note:
        note = f'<figcaption class="fig-note">{escape(figure.note)}</figcaption>'
    return (
        f'<figure class="fig fig-left-{label_margin(figure)}">{title}{legend(figure)}'
        f'<div class="fig-box">{plot(figure, id)}</div>{note}</figure>'
    )


def legend(figure: Description) -> str:
    """Return the HTML of what a figure's colours mean, or nothing."""
    parts = []
    for entry in legend_of(figure):
        picture = f'<svg viewBox="0 0 14 14" aria-hidden="true">{swatch(entry)}</svg>'
        parts.append(f"<span>{picture}{escape(entry.name)}</span>")
    if not parts:
        return ""
    return f'<p class="fig-legend">{"".join(parts)}</p>'


def embedded(figure: Description) -> str:
    """Return a figure with style and script, which loads nothing."""
    return f'<div class="fig-page">{style()}{element(figure, titled=True)}{script()}</div>'


@cache
def style() -> str:
    """Return the style of figures as an element."""
    return f"<style>{(STATIC / 'figure.css').read_text(encoding='utf-8')}</style>"


@cache
def script() -> str:
    """Return the script of figures as an element; a second one on a page does nothing."""
    return f"<script>{(STATIC / 'figure.js').read_text(encoding='utf-8')}</script>"
