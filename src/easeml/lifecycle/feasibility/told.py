"""What an answer says of how it was found: what was tried, what it takes for granted, and notes."""

from __future__ import annotations

import numpy as np

from easeml.lifecycle.feasibility.arms import BLEND, DIRECT, KERNEL, RULES
from easeml.lifecycle.feasibility.competitors import Competitors
from easeml.lifecycle.feasibility.curve import SLOWEST
from easeml.lifecycle.feasibility.inputs import Inputs
from easeml.lifecycle.feasibility.patterns import PERIODS
from easeml.lifecycle.feasibility.race import Track, least_possible
from easeml.lifecycle.feasibility.result import Tried

_WAYS = {
    DIRECT: "own predictions",
    RULES: "patterns alone",
    KERNEL: "adaptive kernel",
    BLEND: "trees and kernel",
}


def tried(track: Track, classes: int) -> Tried:
    """Return how one competitor fared."""
    last = track.last
    way = last.ways[int(last.losses.mean(axis=1).argmin())]
    points = []
    for reading in track.readings:
        nearest = float(reading.losses[reading.ways.index(1)].mean()) if 1 in reading.ways else None
        points.append((reading.count, float(reading.losses.mean(axis=1).min()), nearest))
    return Tried(
        name=track.arm.name,
        rows=last.count,
        way=_WAYS.get(way, f"{way} nearest"),
        error=track.best,
        lower=least_possible(track, classes),
        dropped=track.dropped,
        curve=tuple(points),
    )


def assumptions(competitors: Competitors, rows: int) -> tuple[str, ...]:
    """Return what the bound from below, and so "unrealistic", takes for granted.

    ``rows``: training rows that the last size reads.
    """
    found = [
        "New rows come from where these came from, each drawn on its own.",
        f"With more rows, errors go on falling no slower than rows to the power of -{SLOWEST:g}.",
        f"What decides leaves a trace in one of {len(competitors.arms)} views: linear, "
        "by neighbours, by a kernel, by trees, or by patterns.",
    ]
    patterns = competitors.patterns
    if patterns.columns:
        orders = patterns.orders(rows)
        most = max(orders, default=1)
        parities = ", but for parities of any number" if patterns.parities else ""
        found.append(
            f"No pattern needs more than {most} columns at once{parities}, or more than {PERIODS} "
            f"periods over a column's range ({patterns.tried(rows)} patterns compared)."
        )
    if competitors.names:
        listed = ", ".join(competitors.names)
        found.append(
            "Values that hardly ever repeat say nothing by themselves, but by their length, number "
            f"of words, first and last sign: {listed}."
        )
    return tuple(found)


def notes(inputs: Inputs, there: int) -> tuple[str, ...]:
    """Return what people should know of their rows, ``there`` in all."""
    told = _of_copies(inputs)
    if len(inputs) < there:
        told.insert(0, f"{len(inputs):,} of {there:,} rows were looked at, drawn at random.")
    return tuple(told)


def _of_copies(inputs: Inputs) -> list[str]:
    if not inputs.duplicates:
        return []
    share = f"{inputs.duplicates:.1%} of the rows repeat the inputs of another"
    if (np.diff(np.sort(inputs.groups)) == 0).any():
        return [f"{share}; they are kept on the same side, so that none is its own neighbour."]
    return [f"{share}; that many are taken for the nature of the data, not for copies."]
