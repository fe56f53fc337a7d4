"""Figures of ``lifecycle.labeling``: each takes the plain JSON values of a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from easeml.figures.theme import COLOURS, blank, with_alpha

if TYPE_CHECKING:
    import plotly.graph_objects as go

_MOST = 2000  # points that a curve shows at most


def values(answer: Mapping[str, Any]) -> go.Figure:
    """Return the values of rows, sorted, with a band of two standard errors where they are known."""
    numbers, errors = answer["values"], answer["standard_errors"]
    order = _thinned(sorted(range(len(numbers)), key=numbers.__getitem__))
    places = [place for place, _ in order]
    chosen = [row for _, row in order]
    figure = blank("Value of each training row", "rows, least valuable first", "Shapley value")
    if all(errors[row] is not None for row in chosen):
        low = [numbers[row] - 2 * errors[row] for row in chosen]
        high = [numbers[row] + 2 * errors[row] for row in chosen]
        figure.add_scatter(
            x=[*places, *reversed(places)],
            y=[*high, *reversed(low)],
            fill="toself",
            fillcolor=with_alpha(COLOURS[0], 0.2),
            line={"width": 0},
            hoverinfo="skip",
            name="two standard errors",
        )
    figure.add_scatter(
        x=places,
        y=[numbers[row] for row in chosen],
        mode="lines",
        line={"color": COLOURS[0]},
        text=[f"row {row}, {answer['labels'][row]}" for row in chosen],
        name="value",
    )
    return figure.add_hline(y=0, line={"color": COLOURS[7], "dash": "dot"})


def queue(answer: Mapping[str, Any]) -> go.Figure:
    """Return expected value against uncertainty of the rows to label, coloured by their place in
    the queue.
    """
    figure = blank("Rows to label next", "expected value", "uncertainty of the label")
    return figure.add_scatter(
        x=answer["values"],
        y=answer["uncertainties"],
        mode="markers",
        marker={
            "color": list(range(1, len(answer["rows"]) + 1)),
            "colorscale": "Viridis",
            "showscale": True,
            "colorbar": {"title": "place"},
        },
        text=[
            f"row {row}, perhaps {guess}"
            for row, guess in zip(answer["rows"], answer["guesses"], strict=True)
        ],
        name="row",
    )


def suspects(answer: Mapping[str, Any]) -> go.Figure:
    """Return the chances of rows' labels as a histogram, those that are probably wrong apart."""
    figure = blank("Which labels are probably wrong?", "chance of the row's own label", "rows")
    bins = {"start": 0.0, "end": 1.0 + 1e-9, "size": 0.025}
    for flagged, name, colour in (
        (False, "not flagged", COLOURS[0]),
        (True, "probably wrong", COLOURS[5]),
    ):
        chosen = [
            v
            for v, flag in zip(answer["chances"], answer["flagged"], strict=True)
            if flag is flagged
        ]
        figure.add_histogram(x=chosen, name=name, marker={"color": colour}, xbins=bins)
    return figure.update_layout(barmode="overlay").update_traces(opacity=0.7)


def contributions(answer: Mapping[str, Any]) -> go.Figure:
    """Return the value of each owner's data with two standard errors."""
    figure = blank("What each owner contributes", "owner", "Shapley value")
    errors = [None if error is None else 2 * error for error in answer["standard_errors"]]
    return figure.add_bar(
        x=answer["owners"],
        y=answer["values"],
        error_y={"type": "data", "array": errors},
        marker={"color": [COLOURS[0] if value >= 0 else COLOURS[5] for value in answer["values"]]},
        name="value",
    )


def _thinned(order: Sequence[int]) -> list[tuple[int, int]]:
    """Return (place, row), evenly spaced where there are too many, the ends always."""
    step = max(1, len(order) // _MOST)
    places = list(range(0, len(order), step))
    if places and places[-1] != len(order) - 1:
        places.append(len(order) - 1)
    return [(place, order[place]) for place in places]
