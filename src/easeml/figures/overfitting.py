"""Pictures of the overfitting meter: sizes, readings, bounds, attacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from easeml.figures.theme import COLOURS, blank, with_alpha

if TYPE_CHECKING:
    import plotly.graph_objects as go


def meter_plan(plan: Mapping[str, Any]) -> go.Figure:
    """Bars of the test examples that each way to read the meter needs."""
    published = [
        (f"published: {name}", plan[name])
        for name in ("non_adaptive", "plain", "monotone", "one_bit")
    ]
    own = [(option["mode"], option["size"]) for option in plan["options"]]
    figure = blank(
        f"Test examples for {plan['reports']} reports, ±{plan['tolerance']:g}, delta {plan['delta']:g}",
        "test examples to label",
        "",
    )
    names, sizes = zip(
        *[(name.replace("_", "-"), size) for name, size in published + own], strict=True
    )
    colours = [COLOURS[7]] * len(published) + [
        COLOURS[2] if option["mode"] == plan["default"] else COLOURS[0]
        for option in plan["options"]
    ]
    figure.add_bar(x=sizes, y=names, orientation="h", marker_color=colours, showlegend=False)
    figure.update_layout(margin_l=150, yaxis_autorange="reversed")
    return figure


def reading(reading: Mapping[str, Any]) -> go.Figure:
    """The range of the gap, report by report; the lowest and the highest range are drawn with their
    one edge.
    """
    edges: Sequence[float] = reading["edges"] or [0.0]
    width = (edges[-1] - edges[0]) / max(len(edges) - 1, 1) or 0.05
    bounds = [edges[0] - width, *edges, edges[-1] + width]
    history: Sequence[int] = reading["history"]
    figure = blank(
        "How far validation quality has drifted", "report", "validation quality - true quality"
    )
    for signal in sorted(set(history)):
        reports = [t for t, shown in enumerate(history, start=1) if shown == signal]
        figure.add_bar(
            x=reports,
            y=[bounds[signal] - bounds[signal - 1]] * len(reports),
            base=[bounds[signal - 1]] * len(reports),
            name=f"signal {signal}",
            marker_color=COLOURS[(signal - 1) % len(COLOURS)],
        )
    for edge in edges:
        figure.add_hline(y=edge, line_dash="dot", line_color=with_alpha(COLOURS[7], 0.6))
    figure.update_layout(barmode="overlay")
    return figure


def round_bounds(bounds: Mapping[str, Any]) -> go.Figure:
    """Guaranteed drift after k rounds, one line a way to answer."""
    figure = blank(
        f"Drift that {bounds['examples']:,} validation examples guarantee",
        "adaptive rounds",
        "quality is right to ±",
    )
    for kind in dict.fromkeys(bound["answers"] for bound in bounds["bounds"]):
        chosen = [bound for bound in bounds["bounds"] if bound["answers"] == kind]
        figure.add_scatter(
            x=[b["rounds"] for b in chosen], y=[b["bound"] for b in chosen], name=kind
        )
    figure.update_xaxes(type="log")
    figure.update_yaxes(rangemode="tozero")
    return figure


def attacked(results: Sequence[Mapping[str, Any]]) -> go.Figure:
    """Share of runs in which a keeper of a test set was wrong, with intervals and what was
    promised.
    """
    figure = blank("Promises under attack", "", "share of runs with a wrong answer")
    names = [f"{result['keeper']}<br>{result['developer']}" for result in results]
    rates = [result["rate"] for result in results]
    figure.add_scatter(
        x=names,
        y=rates,
        mode="markers",
        marker={"size": 10},
        name="measured",
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [result["rate_high"] - result["rate"] for result in results],
            "arrayminus": [result["rate"] - result["rate_low"] for result in results],
        },
    )
    figure.add_scatter(
        x=names,
        y=[result["delta"] for result in results],
        mode="markers",
        marker={"symbol": "line-ew-open", "size": 30},
        name="promised",
    )
    return figure
