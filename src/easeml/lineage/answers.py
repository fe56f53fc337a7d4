"""What an analysis answers: JSON values that show themselves in a notebook and in a terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from easeml.figures import Figure
from easeml.figures.cleaning import plan
from easeml.figures.feasibility import bayes_error_figure
from easeml.figures.labeling import queue
from easeml.figures.lineage import intervals, searched
from easeml.lineage.displays import answer_html, value_text

_FIGURES: Mapping[str, Callable[[Mapping[str, Any]], Figure | None]] = {
    "feasibility": bayes_error_figure,
    "plan_cleaning": plan,
    "label_next": queue,
    "search": searched,
    "gate": intervals,
    "pick": intervals,
    "monitor": intervals,
}


class Answer(dict[str, Any]):
    """The JSON values of an answer, equal to a plain dictionary of them. ``operator``: who gave it."""

    def __init__(self, values: Mapping[str, Any], operator: str):
        super().__init__(values)
        self.operator = operator

    def figure(self) -> Figure | None:
        """Return a picture of the answer, or None where its operator has none."""
        draw = _FIGURES.get(self.operator)
        if draw is None:
            return None
        return draw(self)

    def _repr_html_(self) -> str:
        """Show picture and values; nothing is loaded, and without scripts all can be read."""
        shown = answer_html(self)
        figure = self.figure()
        if figure is not None:
            shown = figure.to_html() + shown
        return shown

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Show the same as HTML, as a picture for paper, and as text."""
        shown = {"text/html": self._repr_html_(), "text/plain": str(self)}
        figure = self.figure()
        if figure is not None:
            shown["image/svg+xml"] = figure.to_svg()
        return shown

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print the same in IPython, which prints every dictionary its own way otherwise."""
        printer.text(str(self))

    def __str__(self) -> str:
        """Return a line a value; lists and tables within are counted."""
        widest = max(map(len, self), default=0)
        lines = [f"Answer of {self.operator}"]
        for name, value in self.items():
            lines.append(f"  {name:<{widest}}  {value_text(value)}")
        return "\n".join(lines)
