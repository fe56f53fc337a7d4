"""Results to figures: descriptions of plain values, and the one renderer that draws them.

A function of ``figures.ci``, ``figures.search`` and so on takes the JSON form of a result and
returns a ``Figure``; it computes nothing that the result does not hold. Pages, notebooks, reports
and documents draw it alike: ``element`` on a page, ``Figure.to_html`` alone, ``Figure.to_svg`` as a
file.
"""

from easeml.figures.description import (
    NAMED_TONES,
    TONES,
    Axis,
    Mark,
    Reference,
    Series,
    column,
    numbers,
    tone_of,
)
from easeml.figures.drawing import small_plot
from easeml.figures.embedding import STATIC, element, legend, script, style
from easeml.figures.figure import Figure
from easeml.figures.graph import Box, graph_element, graph_svg

__all__ = [
    "NAMED_TONES",
    "STATIC",
    "TONES",
    "Axis",
    "Box",
    "Figure",
    "Mark",
    "Reference",
    "Series",
    "column",
    "element",
    "graph_element",
    "graph_svg",
    "legend",
    "numbers",
    "script",
    "small_plot",
    "style",
    "tone_of",
]
