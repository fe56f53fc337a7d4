"""Pictures of a model's quality over batches, estimated without labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from easeml.figures.theme import COLOURS, blank, with_alpha

if TYPE_CHECKING:
    import plotly.graph_objects as go

STATUS_COLOURS = {
    "ok": COLOURS[2],
    "watch": COLOURS[1],
    "alert": COLOURS[5],
    "cannot tell": COLOURS[7],
}


def monitored(reports: Sequence[Mapping[str, Any]]) -> go.Figure:
    """Scores of successive batches with their intervals, coloured by status, beside the reference
    quality.
    """
    figure = blank("Quality of the deployed model", "batch", "estimated quality")
    batches = [report["batch"] for report in reports]
    figure.add_scatter(
        x=[*batches, *reversed(batches)],
        y=[*[r["high"] for r in reports], *[r["low"] for r in reversed(reports)]],
        fill="toself",
        fillcolor=with_alpha(COLOURS[0], 0.15),
        line={"width": 0},
        name="interval",
        hoverinfo="skip",
    )
    for status, colour in STATUS_COLOURS.items():
        chosen = [report for report in reports if report["status"] == status]
        if not chosen:
            continue
        figure.add_scatter(
            x=[r["batch"] for r in chosen],
            y=[r["score"] for r in chosen],
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [r["high"] - r["score"] for r in chosen],
                "arrayminus": [r["score"] - r["low"] for r in chosen],
            },
            mode="markers",
            marker={
                "color": colour,
                "size": 9,
                "symbol": "circle-open" if status == "cannot tell" else "circle",
            },
            text=[r["advice"] for r in chosen],
            name=status,
        )
    labelled = [r for r in reports if r["labelled"] is not None]
    if labelled:
        figure.add_scatter(
            x=[r["batch"] for r in labelled],
            y=[r["labelled"] for r in labelled],
            mode="markers",
            marker={"symbol": "x", "color": COLOURS[3]},
            name="queried labels alone",
        )
    if reports:
        figure.add_hline(y=reports[0]["reference"], line_dash="dash", line_color=COLOURS[7])
    figure.update_yaxes(range=[0, 1.02])
    return figure
