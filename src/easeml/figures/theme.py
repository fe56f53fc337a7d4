"""What all figures share: colours that colour-blind readers can tell apart, margins, axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import plotly.graph_objects as go

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#555555")
"""The palette of Okabe and Ito (2008), with grey for black."""


def blank(title: str, x: str, y: str) -> go.Figure:
    """Return an empty figure with a title and named axes, in the common style."""
    import plotly.graph_objects as go

    figure = go.Figure()
    figure.update_layout(
        title=title,
        xaxis_title=x,
        yaxis_title=y,
        template="plotly_white",
        colorway=COLOURS,
        margin={"l": 60, "r": 20, "t": 50, "b": 50},
        hovermode="closest",
        legend={"orientation": "h", "y": -0.2},
    )
    return figure


def with_alpha(colour: str, alpha: float) -> str:
    """Return ``#rrggbb`` as ``rgba(...)`` with an opacity in [0, 1], as for the band of an
    interval.
    """
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha})"
