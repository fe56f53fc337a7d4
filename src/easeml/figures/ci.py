"""Pictures of continuous integration: a plan, a verdict, a ledger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from easeml.figures.theme import COLOURS, blank

if TYPE_CHECKING:
    import plotly.graph_objects as go

_OF_ANSWER = {
    "pass": COLOURS[2],
    "fail": COLOURS[5],
    "unknown": COLOURS[1],
    "undecided": COLOURS[6],
    "abandoned": COLOURS[7],
}


def plan(document: Mapping[str, Any]) -> go.Figure:
    """Return labels at most, and expected, by method."""
    figure = blank(
        f"Labels for {document['steps']:,} commits: {document['condition']}", "labels", ""
    )
    methods = document["methods"][::-1]
    names = [method["name"] for method in methods]
    for key, label, colour in (
        ("labelled", "at most", COLOURS[7]),
        ("expected", "expected", COLOURS[0]),
    ):
        sizes = [method[key] for method in methods]
        text = [f"{size:,}" for size in sizes]
        figure.add_bar(
            x=sizes, y=names, orientation="h", name=label, marker_color=colour, text=text
        )
    return figure.update_layout(barmode="group")


def verdict(document: Mapping[str, Any]) -> go.Figure:
    """Return the interval of each clause; its colour tells whether it counts as true."""
    figure = blank(f"{document['answer']}: {document['condition']}", "value of the expression", "")
    for finding in document["findings"] or []:
        if finding["estimate"] is None:
            continue
        colour = (
            COLOURS[7]
            if finding["truth"] is None
            else COLOURS[2]
            if finding["truth"]
            else COLOURS[5]
        )
        name = {None: "open", True: "true", False: "false"}[finding["truth"]]
        error = {
            "type": "data",
            "symmetric": False,
            "array": [finding["high"] - finding["estimate"]],
            "arrayminus": [finding["estimate"] - finding["low"]],
        }
        figure.add_scatter(
            x=[finding["estimate"]],
            y=[finding["clause"]],
            error_x=error,
            name=name,
            mode="markers",
            marker_color=colour,
        )
        figure.add_scatter(
            x=[_threshold(finding["clause"])],
            y=[finding["clause"]],
            mode="markers",
            marker={"symbol": "line-ns-open", "size": 24, "color": COLOURS[7]},
            name="threshold",
            showlegend=False,
        )
    return figure


def ledger(document: Mapping[str, Any]) -> go.Figure:
    """Return the labels of every step, coloured by its answer."""
    history = document["history"]
    figure = blank(
        f"{len(history):,} of {document['config']['steps']:,} steps spent", "step", "labels needed"
    )
    for answer, colour in _OF_ANSWER.items():
        steps = [
            (place + 1, step["labels"])
            for place, step in enumerate(history)
            if step["answer"] == answer
        ]
        if steps:
            figure.add_bar(
                x=[place for place, _ in steps],
                y=[size for _, size in steps],
                name=answer,
                marker_color=colour,
            )
    return figure


def _threshold(clause: str) -> float:
    """Return the number after the comparison of a clause's text."""
    right = clause.replace("<", ">").partition(">")[2]
    return float(right.partition("+/-")[0])
