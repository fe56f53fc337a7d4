"""Pictures of feasibility: errors over training rows, both bounds, the goal, and the forecast."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from easeml.figures.theme import COLOURS, blank, with_alpha

if TYPE_CHECKING:
    import plotly.graph_objects as go


def bayes_error_figure(result: Mapping[str, Any]) -> go.Figure:
    """Return the picture of a ``BayesError`` in its JSON form."""
    share = "error rate" if result["classes"] else "share of variance unexplained"
    figure = blank(_title(result), "labelled rows (training)", share)
    figure.update_xaxes(type="log")
    running = [tried for tried in result["tried"] if not tried["dropped"]]
    for tried in result["tried"]:
        colour = (
            COLOURS[running.index(tried) % (len(COLOURS) - 1)] if tried in running else COLOURS[-1]
        )
        figure.add_scatter(
            x=[point[0] for point in tried["curve"]],
            y=[point[1] for point in tried["curve"]],
            name=tried["name"] + (" (dropped)" if tried["dropped"] else ""),
            mode="lines+markers",
            line={"color": colour, "width": 1 if tried["dropped"] else 2.5},
            opacity=0.5 if tried["dropped"] else 1.0,
            hovertext=tried["dropped"] or tried["way"],
        )
    _add_forecast(figure, result)
    figure.add_hrect(
        y0=result["lower"],
        y1=result["upper"],
        fillcolor=with_alpha(COLOURS[2], 0.15),
        line_width=0,
        annotation_text="Bayes error",
        annotation_position="top left",
    )
    figure.add_hline(y=result["estimate"], line={"color": COLOURS[2], "width": 1.5})
    if result["goal"] is not None:
        figure.add_hline(
            y=1 - result["goal"], line={"color": COLOURS[5], "dash": "dash"}, annotation_text="goal"
        )
    return figure


def _title(result: Mapping[str, Any]) -> str:
    if result["verdict"] is None:
        return "The least error that can be reached"
    return f"A goal of {result['goal']:g}: {result['verdict']}"


def _add_forecast(figure: go.Figure, result: Mapping[str, Any]) -> None:
    """Continue the best curve; its rows are shares of all rows, as in the study."""
    best = next(tried for tried in result["tried"] if tried["name"] == result["representation"])
    share = best["rows"] / result["rows"]
    rows = [best["rows"], *(forecast["rows"] * share for forecast in result["forecasts"])]
    middle = [result["reached"], *(forecast["error"] for forecast in result["forecasts"])]
    low = [result["reached"], *(forecast["low"] for forecast in result["forecasts"])]
    high = [result["reached"], *(forecast["high"] for forecast in result["forecasts"])]
    figure.add_scatter(
        x=rows, y=middle, name="forecast", mode="lines", line={"color": COLOURS[0], "dash": "dot"}
    )
    figure.add_scatter(
        x=rows + rows[::-1],
        y=high + low[::-1],
        fill="toself",
        fillcolor=with_alpha(COLOURS[0], 0.12),
        line={"width": 0},
        hoverinfo="skip",
        showlegend=False,
    )
