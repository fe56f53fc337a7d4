"""Figures of the overfitting meter: sizes, readings, bounds, attacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from easeml.figures.description import (
    Axis,
    Reference,
    Series,
    column,
    grouped,
    numbers,
    picked,
    tone_of,
)
from easeml.figures.figure import Figure

_KINDS = {"published": "muted", "easeml's": "1", "easeml's default": "good"}  # with their tones
_PUBLISHED = ("non_adaptive", "plain", "monotone", "one_bit")


def meter_plan(plan: Mapping[str, Any]) -> Figure:
    """Return the test examples that each way to read the meter needs; the default is apart."""
    rows = []
    for name in _PUBLISHED:
        rows.append({"name": f"published: {name}", "size": plan[name], "kind": "published"})
    for option in plan["options"]:
        kind = "easeml's default" if option["mode"] == plan["default"] else "easeml's"
        rows.append({"name": option["mode"], "size": option["size"], "kind": kind})

    series = []
    for kind, tone in _KINDS.items():
        places = [place for place, row in enumerate(rows) if row["kind"] == kind]
        if places:
            sizes = column(picked(rows, places), "size")
            series.append(Series(kind, sizes, numbers(places), kind="bars", tone=tone))

    names = tuple(row["name"].replace("_", "-") for row in rows)
    tolerance = f"±{plan['tolerance']:g}, delta {plan['delta']:g}"

    return Figure(
        f"Test examples for {plan['reports']} reports, {tolerance}",
        Axis("test examples to label", low=0.0),
        Axis("way to read", scale="category", categories=names),
        tuple(series),
    )


def reading(reading: Mapping[str, Any]) -> Figure:
    """Return the range of the gap, report by report.

    The lowest and the highest range have one edge only, and are drawn as wide as the others.
    """
    edges: Sequence[float] = reading["edges"] or [0.0]
    width = (edges[-1] - edges[0]) / max(len(edges) - 1, 1) or 0.05
    bounds = [edges[0] - width, *edges, edges[-1] + width]
    history: Sequence[int] = reading["history"]
    series = []
    for signal in sorted(set(history)):
        reports = [number for number, shown in enumerate(history, start=1) if shown == signal]
        series.append(
            Series(
                f"signal {signal}",
                numbers(reports),
                (bounds[signal],) * len(reports),
                kind="bars",
                tone=tone_of(signal - 1),
                base=(bounds[signal - 1],) * len(reports),
                notes=(f"from {bounds[signal - 1]:g} to {bounds[signal]:g}",) * len(reports),
            )
        )

    return Figure(
        "How far validation quality has drifted",
        Axis("report"),
        Axis("validation quality less true quality"),
        tuple(series),
        tuple(Reference(edge, "") for edge in edges),
    )


def round_bounds(bounds: Mapping[str, Any]) -> Figure:
    """Return the guaranteed drift after k rounds, one line a way to answer."""
    series = []
    for number, (kind, chosen) in enumerate(grouped(bounds["bounds"], "answers").items()):
        rounds = column(chosen, "rounds")
        drift = column(chosen, "bound")
        series.append(Series(kind, rounds, drift, tone=tone_of(number)))

    return Figure(
        f"Drift that {bounds['examples']:,} validation examples guarantee",
        Axis("adaptive rounds", scale="log"),
        Axis("quality is right to ±", low=0.0),
        tuple(series),
    )


def attacked(results: Sequence[Mapping[str, Any]]) -> Figure:
    """Return how often a keeper of a test set was wrong, beside what was promised.

    The shares of runs have intervals.
    """
    names = tuple(f"{result['keeper']}, {result['developer']}" for result in results)
    places = numbers(range(len(results)))
    measured = Series(
        "measured",
        column(results, "rate"),
        places,
        kind="points",
        low=column(results, "rate_low"),
        high=column(results, "rate_high"),
    )
    promised = Series(
        "promised, at most",
        column(results, "delta"),
        places,
        kind="points",
        mark="tick",
        tone="bad",
    )

    return Figure(
        "Promises under attack",
        Axis("share of runs with a wrong answer", low=0.0),
        Axis("keeper and developer", scale="category", categories=names),
        (measured, promised),
    )
