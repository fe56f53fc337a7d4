"""How far an evaluation is, shown while a cell runs."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from easeml.lineage import Node


def progress() -> Progress:
    """Return what ``eval(told=...)`` tells how far it is."""
    return Progress()


class Progress:
    """A bar below the cell that moves with each step; the kernel's own stop button ends it."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._bar = Bar("", 0.0)

    def __call__(self, node: Node, share: float) -> None:
        """Show that a node was computed, and the share of the work that is done, in [0, 1]."""
        from IPython.display import display

        self._bar = Bar(node.title, share)
        if self._handle is None:
            self._handle = display(self._bar, display_id=True)
        else:
            self._handle.update(self._bar)


class Bar:
    """A picture of a share. ``title``: what was done last."""

    def __init__(self, title: str, share: float):
        self.title = title
        self.share = share

    def _repr_html_(self) -> str:
        return (
            f'<div><progress value="{self.share:.3f}" max="1">{self.share:.0%}</progress> '
            f"{self.share:.0%} <code>{escape(self.title)}</code></div>"
        )

    def __repr__(self) -> str:
        done = round(20 * self.share)
        return f"[{'#' * done}{'.' * (20 - done)}] {self.share:.0%} {self.title}"
