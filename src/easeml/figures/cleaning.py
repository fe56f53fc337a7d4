"""Figures of ``lifecycle.cleaning``: what is in doubt, and what cleaning takes off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from easeml.figures.theme import COLOURS, blank

if TYPE_CHECKING:
    import plotly.graph_objects as go


def plan(result: Mapping[str, Any]) -> go.Figure:
    """Draw what is left of the doubt when the rows of a plan are cleaned; ``result`` is a
    ``CleaningPlan`` as JSON.
    """
    figure = blank(
        "What cleaning the planned rows takes off",
        "rows cleaned",
        "bits of doubt a prediction, at most",
    )
    left = result["entropy_after"]
    names = ["start", *[f"row {item['row']}" for item in result["planned"]]]
    figure.add_scatter(
        x=list(range(len(left))),
        y=left,
        mode="lines+markers",
        line={"color": COLOURS[0], "shape": "hv"},
        text=names,
        hovertemplate="%{text}: %{y:.4f} bits left<extra></extra>",
    )
    figure.update_yaxes(rangemode="tozero")
    return figure


def suspects(result: Mapping[str, Any]) -> go.Figure:
    """Draw findings by column and method; ``result`` is an ``ErrorReport`` as JSON."""
    figure = blank("Suspicious cells", "column", "findings")
    columns = sorted(result["by_column"], key=lambda name: -result["by_column"][name])
    for method in result["by_method"]:
        found = [cell["column"] for cell in result["cells"] if cell["method"] == method]
        figure.add_bar(
            x=[name or "(whole row)" for name in columns],
            y=[found.count(c) for c in columns],
            name=method,
        )
    figure.update_layout(barmode="stack")
    return figure
