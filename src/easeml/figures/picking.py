"""The picture of a choice among trained models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from easeml.figures.theme import COLOURS, blank

if TYPE_CHECKING:
    import plotly.graph_objects as go


def standings(picking: Mapping[str, Any], *, most: int = 30) -> go.Figure:
    """Draw the estimated accuracy of the ``most`` best models with their intervals, the chosen one
    marked.

    ``picking`` is the JSON form of a ``Picking``.
    """
    import plotly.graph_objects as go

    def place(row: Mapping[str, Any]) -> tuple[bool, float]:
        return row["model"] == picking["model"], row["accuracy"]

    rows = sorted(picking["models"], key=place)[-most:]
    title = (
        f"{picking['model']} is chosen after {picking['labels']} of {picking['examples']} labels"
    )
    figure = blank(title, "accuracy on the pool", "")
    for chosen, name, colour in ((False, "other models", COLOURS[7]), (True, "chosen", COLOURS[0])):
        shown = [row for row in rows if (row["model"] == picking["model"]) == chosen]
        figure.add_trace(
            go.Scatter(
                x=[row["accuracy"] for row in shown],
                y=[row["model"] for row in shown],
                error_x={
                    "type": "data",
                    "symmetric": False,
                    "array": [max(0.0, row["high"] - row["accuracy"]) for row in shown],
                    "arrayminus": [max(0.0, row["accuracy"] - row["low"]) for row in shown],
                },
                mode="markers",
                marker={"color": colour, "size": 9 if chosen else 6},
                name=name,
            )
        )
    figure.update_yaxes(
        type="category", categoryorder="array", categoryarray=[row["model"] for row in rows]
    )
    return figure
