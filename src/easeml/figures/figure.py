"""A figure that draws itself: in notebooks, as a file, as a page."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from easeml.figures.description import Description
from easeml.figures.drawing import picture_file
from easeml.figures.embedding import embedded


@dataclass(frozen=True, slots=True)
class Figure(Description):
    """A description with the forms in which it can be shown."""

    def to_svg(self) -> str:
        """Return the text of an SVG file with title, axes and legend, for any document."""
        return picture_file(self)

    def to_html(self) -> str:
        """Return HTML with style and script in it, for notebooks and pages of their own.

        It loads nothing, and values are shown on hover and by arrow keys.
        """
        return embedded(self)

    def to_page(self) -> str:
        """Return an HTML page of its own with the figure, which loads nothing."""
        head = f'<meta charset="utf-8"><title>{escape(self.title)}</title>'
        body = f'<body style="color-scheme: light dark">{self.to_html()}</body>'
        return f'<!doctype html><html lang="en">{head}{body}</html>'

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Show the figure in a notebook: alive where HTML is, as a picture elsewhere."""
        return {
            "text/html": self.to_html(),
            "image/svg+xml": self.to_svg(),
        }
